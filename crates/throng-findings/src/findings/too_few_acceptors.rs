//! Too few acceptors: connections waited in the accept queue although the server was not busy.
//!
//! Not where the server takes any number of connections, or as many as there are clients: what keeps *its* queue from being emptied is a
//! loop that blocks, and more acceptors of that kind are no remedy.

use throng_record::finding::TooFewAcceptors;
use throng_record::format::{exact, plural};

use super::clause::{maybe, percent};
use super::idle_server::idle_server;
use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "too-few-acceptors",
    title: "Too few acceptors",
    page: include_str!("../../../../docs/findings/too-few-acceptors.md"),
};

/// Where delays are short, one connection or more must have waited all the time: a burst that is taken at once leaves the queue empty.
const DEPTH_MEAN_MIN: f64 = 1.0;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<TooFewAcceptors> {
    let idle = idle_server(evidence)?;
    let queue = evidence.trial.accept_queue.as_ref()?;
    if evidence.accepts_any_number() {
        return None;
    }
    let of_each = queue.listeners.iter().map(|listener| listener.depth_mean);
    let depth_mean: f64 = of_each.sum();
    let slow = idle.phase.attribution.first_bytes_by_accept_queue;
    let delayed = idle.account.delayed_by_accept_queue;
    let is_long = depth_mean >= DEPTH_MEAN_MIN;
    (idle.is_slow(slow) || is_long && idle.is_delayed(delayed)).then(|| TooFewAcceptors {
        requests: slow.max(delayed),
        of_requests: idle.phase.begun,
        serves_at_once: evidence.serves_at_once(),
        clients: evidence.setting.connections,
        depth_mean,
        server_busy: idle.busy,
    })
}

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

#[cfg(test)]
mod tests {
    use throng_record::TargetKind;

    use super::*;
    use crate::hand_made::{Case, listener};

    fn found(slow: u64, delayed: u64, depth_mean: f64, busy: Option<f64>) -> Option<u64> {
        let mut case = Case::backlog();
        case.requests().attribution.first_bytes_by_accept_queue = slow;
        case.account().delayed = delayed;
        case.account().delayed_by_accept_queue = delayed;
        case.queue().listeners = vec![listener(256, 8, depth_mean)];
        case.server_used(busy);
        find(&case.evidence()).map(|found| found.requests)
    }

    #[test]
    fn one_slow_request_in_twenty_is_enough() {
        assert_eq!(found(8, 0, 0.1, Some(0.1)), Some(8));
        assert_eq!(found(7, 0, 9.0, Some(0.1)), None);
    }

    #[test]
    fn shorter_delays_take_a_queue_that_is_hardly_ever_empty() {
        assert_eq!(found(0, 120, 1.0, Some(0.1)), Some(120));
        assert_eq!(found(0, 120, 0.9, Some(0.1)), None);
        assert_eq!(found(0, 79, 3.0, Some(0.1)), None);
    }

    #[test]
    fn one_client_or_a_server_that_takes_any_number_lacks_no_acceptors() {
        let mut case = Case::backlog();
        case.requests().attribution.first_bytes_by_accept_queue = 160;
        assert!(find(&case.evidence()).is_some());
        case.target.kind = TargetKind::BuiltIn;
        assert_eq!(find(&case.evidence()), None);
        case.target.kind = TargetKind::Command;
        case.setting.connections = 1;
        assert_eq!(find(&case.evidence()), None);
    }

    #[test]
    fn a_busy_server_or_an_unseen_queue_says_nothing() {
        assert_eq!(found(160, 160, 7.0, Some(0.5)), None);
        assert_eq!(found(160, 160, 7.0, None), None);
        let mut case = Case::backlog();
        case.requests().attribution.first_bytes_by_accept_queue = 160;
        assert!(find(&case.evidence()).is_some());
        case.trial.accept_queue = None;
        assert_eq!(find(&case.evidence()), None);
    }
}
