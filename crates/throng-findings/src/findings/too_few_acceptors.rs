//! Too few acceptors: connections waited in the accept queue although the server was not busy.

use throng_record::finding::TooFewAcceptors;
use throng_record::format::{exact, plural};

use super::clause::{maybe, percent};
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "too-few-acceptors",
    title: "Too few acceptors",
    page: include_str!("../../../../docs/findings/too-few-acceptors.md"),
};

impl Words for TooFewAcceptors {
    fn happened(&self) -> String {
        format!(
            "{} of {} waited mostly in the accept queue (mean depth {:.1}) of a server that used {} of its CPU; {} at once{}.",
            exact(self.requests),
            plural(self.of_requests, "request"),
            self.depth_mean,
            percent(self.server_busy),
            plural(self.clients.into(), "client"),
            maybe(self.serves_at_once, |at_once| format!(", {at_once} served"))
        )
    }

    fn cause(&self) -> &'static str {
        "the server accepts a connection only when it is done with another, though it mostly waits itself."
    }

    fn remedy(&self) -> String {
        "serve more at once: more workers or threads, or an event loop. A longer backlog only lets more of them wait.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.depth_mean
    }
}
