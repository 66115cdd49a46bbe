//! Descriptors exhausted: a table was full (`EMFILE`), or the machine's (`ENFILE`): the generator's, as its connects say, or the server's.

use throng_record::Side;
use throng_record::finding::DescriptorsExhausted;
use throng_record::format::{exact, plural};

use super::clause::maybe;
use super::{Kind, Words};

/// So many descriptors for each connection that it is more than one, whatever a server needs beside them.
const SEVERAL_EACH: f64 = 1.5;

pub(super) const KIND: Kind = Kind {
    name: "descriptors-exhausted",
    title: "Descriptors exhausted",
    page: include_str!("../../../../docs/findings/descriptors-exhausted.md"),
};

impl Words for DescriptorsExhausted {
    fn happened(&self) -> String {
        let (side, were) = match self.side {
            Side::Generator => ("generator", "failed or were not begun"),
            Side::Server => ("server", "were not served"),
        };
        format!(
            "the {side} had no descriptor left{}: {} were open, {} more {were}{}.",
            maybe(self.limit, |limit| format!(
                " (one table holds {})",
                exact(limit)
            )),
            plural(self.open.into(), "connection"),
            exact(self.failed),
            maybe(self.descriptors_per_connection, |each| format!(
                "; the server had {each:.1} descriptors open for each connection that it served"
            ))
        )
    }

    fn cause(&self) -> &'static str {
        match (self.side, self.descriptors_per_connection) {
            (Side::Generator, _) => {
                "each connection takes a descriptor, and a shard's table holds no more than the limit on open files allows (EMFILE)."
            }
            (Side::Server, Some(SEVERAL_EACH..)) => {
                "each connection takes several descriptors in this server (a pipe for splice(2), as in Go's io.Copy between connections; a dup(2) for each direction; a connection to a server behind it), and its table was at its limit on open files: accept(2) fails (EMFILE), and those who come later wait in the accept queue."
            }
            (Side::Server, _) => {
                "each connection takes a descriptor, and the server's table was at its limit on open files: accept(2) fails (EMFILE), and those who come later wait in the accept queue."
            }
        }
    }

    fn remedy(&self) -> String {
        match self.side {
            Side::Generator => {
                "raise the hard limit (ulimit -Hn), or use more shards: each has a descriptor table of its own."
            }
            Side::Server => {
                "raise the server's limit (ulimit -n, LimitNOFILE= of its unit), and fs.nr_open where that is above it; ls -l /proc/PID/fd shows what its descriptors are."
            }
        }
        .to_owned()
    }

    fn gravity(&self) -> f64 {
        self.failed as f64
    }
}
