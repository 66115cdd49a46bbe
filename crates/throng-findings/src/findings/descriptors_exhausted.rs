//! Descriptors exhausted: a table was full (`EMFILE`), or the machine's (`ENFILE`): the generator's, as its connects say, or the server's.
//!
//! A built-in server says so itself. Any other is believed to have none left where its process stood at its limit with every connection
//! open, and some connections were not served.

use throng_record::finding::DescriptorsExhausted;
use throng_record::format::{exact, plural};
use throng_record::{ErrorKind, HostPart, Side, TargetKind};

use super::clause::maybe;
use super::{Kind, Words};
use crate::evidence::Evidence;
use crate::server::{Ending, PAUSED};

pub(super) const KIND: Kind = Kind {
    name: "descriptors-exhausted",
    title: "Descriptors exhausted",
    page: include_str!("../../../../docs/findings/descriptors-exhausted.md"),
};

/// So many descriptors for each connection that it is more than one, whatever a server needs beside them.
const SEVERAL_EACH: f64 = 1.5;

/// How the system calls it (`strerror(3)`); `ENFILE` begins with the same words.
const TOO_MANY: &str = "Too many open files";
/// How a built-in server calls it whose loops have tables of their own, and which stops before an accept can fail.
const ALL_FULL: &str = "all loops are full";
/// Servers keep some in reserve, such as one for the connection that they accept only to close it.
const RESERVE_MAX: u64 = 4;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<DescriptorsExhausted> {
    let of_both = [of_generator(evidence), of_server(evidence)];
    of_both.into_iter().flatten().collect()
}

const ERROR: ErrorKind = ErrorKind::DescriptorsExhausted;

/// Whether a host's generator had no descriptor left.
pub(super) fn is_of(host: &HostPart) -> bool {
    host.errors.of(ERROR) > 0
}

fn of_generator(evidence: &Evidence<'_>) -> Option<DescriptorsExhausted> {
    let failed = evidence.errors().of(ERROR);
    if failed == 0 || evidence.requests().is_some() {
        return None;
    }
    let without: Vec<&HostPart> = evidence.hosts().iter().filter(|host| is_of(host)).collect();
    let (limit, open) = match &without[..] {
        // Not those at the first failure: others were in flight then, and had their descriptors.
        [] => (
            Some(evidence.seen.limits.open_files_hard),
            evidence.phases().kept(),
        ),
        hosts => (
            hosts.iter().filter_map(|host| host.open_files_hard).min(),
            hosts.iter().map(|host| host.connected).sum(),
        ),
    };
    Some(DescriptorsExhausted {
        side: Side::Generator,
        limit,
        open,
        failed: evidence.failed_by(ERROR),
        descriptors_per_connection: None,
    })
}

fn of_server(evidence: &Evidence<'_>) -> Option<DescriptorsExhausted> {
    let descriptors = evidence.seen.descriptors;
    let mut notes = evidence.ending().into_iter().flat_map(Ending::notes);
    let says_so = notes.any(|note| {
        note.starts_with(PAUSED) && (note.contains(TOO_MANY) || note.contains(ALL_FULL))
    });
    let stood_at_limit = descriptors.is_some_and(|table| table.open + RESERVE_MAX >= table.limit);
    if evidence.has_own_connections() || !(says_so || stood_at_limit && evidence.not_served() > 0) {
        return None;
    }
    let served = evidence.served().unwrap_or(evidence.phases().kept());
    Some(DescriptorsExhausted {
        side: Side::Server,
        limit: descriptors.map(|table| table.limit),
        open: served,
        failed: evidence.not_served().into(),
        descriptors_per_connection: per_connection(evidence, served),
    })
}

/// What the server's only process had open ÷ connections that it served. Built-in servers take one for each, and their loops may have tables of
/// their own, which are not seen here.
fn per_connection(evidence: &Evidence<'_>, served: u32) -> Option<f64> {
    let is_built_in = evidence.target.kind == TargetKind::BuiltIn;
    let table = evidence
        .seen
        .descriptors
        .filter(|_| !is_built_in && evidence.processes_max() == 1 && served > 0)?;
    Some(table.open as f64 / f64::from(served))
}

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

#[cfg(test)]
mod tests {
    use throng_record::{ConnectStop, Finding};

    use super::*;
    use crate::evidence::Descriptors;
    use crate::hand_made::{Case, ended_with, host};

    #[test]
    fn the_generators_connects_tell_of_its_own() {
        let mut case = Case::echo();
        case.connect().connected = 1_013;
        case.setting.connections = 2_000;
        case.seen.limits.open_files_hard = 1_024;
        assert_eq!(of_generator(&case.evidence()), None);
        for _ in 0..17 {
            let errors = &mut case.connect().errors;
            errors.count(ErrorKind::DescriptorsExhausted, String::new);
        }
        // Another way to fail was the first one, and there were 4 connects in flight then that opened all the same.
        let errors = &mut case.connect().errors;
        errors.count(ErrorKind::ConnectTimedOut, String::new);
        case.connect().not_begun = 969;
        case.connect().stop = Some(ConnectStop {
            connection: 7,
            open: 1_009,
            at_ns: 1,
            kind: ErrorKind::ConnectTimedOut,
            message: String::new(),
        });
        let expected = DescriptorsExhausted {
            side: Side::Generator,
            limit: Some(1_024),
            open: 1_013,
            failed: 986,
            descriptors_per_connection: None,
        };
        assert_eq!(of_generator(&case.evidence()), Some(expected));
        assert_eq!(of_server(&case.evidence()), None);
    }

    #[test]
    fn a_table_is_that_of_the_host_whose_connects_failed() {
        let mut case = Case::echo();
        case.connect().connected = 1_520;
        case.seen.limits.open_files_hard = 9_999;
        case.connect().errors.count(ERROR, String::new);
        case.trial.hosts = vec![host(1, "gen1"), host(2, "gen2")];
        for (host, (limit, connected)) in case
            .trial
            .hosts
            .iter_mut()
            .zip([(512, 500), (1_024, 1_020)])
        {
            (host.open_files_hard, host.connected) = (Some(limit), connected);
        }
        case.trial.hosts[1].errors.count(ERROR, String::new);
        let found = of_generator(&case.evidence()).expect("one");
        assert_eq!((found.limit, found.open), (Some(1_024), 1_020));
        let named = crate::findings::hosts(&Finding::DescriptorsExhausted(found), &case.trial);
        assert_eq!(named, ["gen2"]);
    }

    #[test]
    fn a_built_in_server_says_so_itself() {
        let paused = |cause: &str| {
            let mut case = Case::echo();
            case.setting.connections = 32;
            case.exchange().connections_served = 20;
            case.end(ended_with(&format!(
                "note: accepting was paused 7 times, first because of: {cause}"
            )));
            of_server(&case.evidence())
        };
        let expected = DescriptorsExhausted {
            side: Side::Server,
            limit: None,
            open: 20,
            failed: 12,
            descriptors_per_connection: None,
        };
        let found = paused("Too many open files (os error 24)");
        assert_eq!(found.as_ref(), Some(&expected));
        let full = "all loops are full (2 of them, the last with 243 connections)";
        assert_eq!(paused(full), Some(expected));
        assert_eq!(paused("Cannot allocate memory (os error 12)"), None);
    }

    /// As measured of a Go server whose `io.Copy` splices between connections: a socket and the two ends of a pipe for each.
    #[test]
    fn a_server_that_takes_three_for_each_connection_is_seen_to() {
        let mut case = Case::echo();
        case.setting.connections = 10_000;
        case.seen.descriptors = Some(Descriptors {
            open: 20_000,
            limit: 20_000,
        });
        case.exchange().connections_served = 6_678;
        let each = |case: &Case| match of_server(&case.evidence()) {
            Some(DescriptorsExhausted {
                descriptors_per_connection,
                ..
            }) => descriptors_per_connection,
            other => panic!("{other:?}"),
        };
        let three = each(&case).expect("told");
        assert!((2.99..3.0).contains(&three), "{three}");
        case.server().processes_max = 2;
        assert_eq!(each(&case), None, "of which the table is not known");
        case.server().processes_max = 1;
        case.target.kind = TargetKind::BuiltIn;
        assert_eq!(each(&case), None);
    }

    #[test]
    fn anothers_full_table_counts_only_where_somebody_was_not_served() {
        let found = |open, served| {
            let mut case = Case::echo();
            case.setting.connections = 32;
            case.seen.descriptors = Some(Descriptors { open, limit: 30 });
            case.exchange().connections_served = served;
            of_server(&case.evidence()).is_some()
        };
        assert!(found(30, 20));
        assert!(found(26, 20), "some are kept in reserve");
        assert!(!found(25, 20));
        assert!(!found(30, 32));
    }
}
