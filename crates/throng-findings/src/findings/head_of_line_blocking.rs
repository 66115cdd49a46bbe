//! Head-of-line blocking: the server had accepted the requests, was not busy, and yet each waited for others' service.
//!
//! Others are needed for that: a client by itself waits for nobody. And the service time must be true: a server that takes longer for
//! each request than was said keeps nobody waiting. So one request at least, as the first of all is in a loop that blocks, must have been
//! answered in about the service time. (One and not one in twenty: in a closed loop all but the first round wait for all others.)
//!
//! Where the server takes any number of connections and yet leaves them in the accept queue, the loop that would accept them is the
//! one that is blocked: those waits count here too.

use throng_record::finding::HeadOfLineBlocking;
use throng_record::format::{exact, plural, setting_ns};

use super::clause::{percent, time};
use super::idle_server::idle_server;
use super::{Kind, Words};
use crate::account::Account;
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "head-of-line-blocking",
    title: "Head-of-line blocking",
    page: include_str!("../../../../docs/findings/head-of-line-blocking.md"),
};

pub(super) fn find(evidence: &Evidence<'_>) -> Option<HeadOfLineBlocking> {
    let idle = idle_server(evidence)?;
    let service_time_ns = evidence.setting.service_time_ns?;
    let quickest_ns = idle.phase.first_byte_latency.min_ns;
    if Account::is_delayed(quickest_ns, service_time_ns) {
        return None;
    }
    let mut slow = idle.phase.attribution.first_bytes_by_service;
    let mut delayed = idle.account.delayed_by_service;
    if evidence.accepts_any_number() {
        slow += idle.phase.attribution.first_bytes_by_accept_queue;
        delayed += idle.account.delayed_by_accept_queue;
    }
    (idle.is_slow(slow) || idle.is_delayed(delayed)).then(|| HeadOfLineBlocking {
        requests: slow.max(delayed),
        of_requests: idle.phase.begun,
        service_time_ns,
        first_byte_ns_median: idle.phase.first_byte_latency.p50_ns,
        server_busy: idle.busy,
    })
}

impl Words for HeadOfLineBlocking {
    fn happened(&self) -> String {
        format!(
            "{} of {} waited inside a server that used {} of its CPU; the median first byte took {}, the service takes {}.",
            exact(self.requests),
            plural(self.of_requests, "request"),
            percent(self.server_busy),
            time(self.first_byte_ns_median),
            setting_ns(self.service_time_ns)
        )
    }

    fn cause(&self) -> &'static str {
        "accepted requests waited for one another: a handler that blocks holds up every other connection of its loop or thread."
    }

    fn remedy(&self) -> String {
        "do not block in the loop: a timer, asynchronous I/O, a thread pool for what blocks; or more workers.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.first_byte_ns_median as f64
    }
}

#[cfg(test)]
mod tests {
    use throng_record::TargetKind;

    use super::*;
    use crate::hand_made::{Case, histogram};

    fn found(slow: u64, delayed: u64, by_service: u64, busy: Option<f64>) -> Option<u64> {
        let mut case = Case::backlog();
        case.requests().attribution.first_bytes_by_service = slow;
        case.account().delayed = delayed;
        case.account().delayed_by_service = by_service;
        case.server_used(busy);
        find(&case.evidence()).map(|found| found.requests)
    }

    #[test]
    fn one_slow_request_in_twenty_is_enough() {
        assert_eq!(found(8, 0, 0, Some(0.1)), Some(8));
        assert_eq!(found(7, 0, 0, Some(0.1)), None);
    }

    #[test]
    fn delays_that_are_not_slow_must_be_the_typical_case() {
        assert_eq!(found(0, 80, 40, Some(0.1)), Some(40));
        assert_eq!(found(0, 79, 79, Some(0.1)), None);
        assert_eq!(found(0, 80, 39, Some(0.1)), None);
    }

    #[test]
    fn nobody_is_blocked_by_himself() {
        let mut case = Case::backlog();
        case.requests().attribution.first_bytes_by_service = 160;
        case.setting.connections = 2;
        assert!(find(&case.evidence()).is_some());
        case.setting.connections = 1;
        assert_eq!(find(&case.evidence()), None);
    }

    #[test]
    fn a_service_that_takes_longer_than_was_said_blocks_nobody() {
        let mut case = Case::backlog();
        case.requests().attribution.first_bytes_by_service = 160;
        case.requests().first_byte_latency = histogram(&[(300_000_000, 159), (310_000_000, 1)]);
        assert_eq!(find(&case.evidence()), None);
        case.requests().first_byte_latency = histogram(&[(41_000_000, 1), (300_000_000, 159)]);
        assert!(find(&case.evidence()).is_some());
    }

    #[test]
    fn a_loop_that_would_accept_any_number_is_blocked_where_they_queue() {
        let mut case = Case::backlog();
        case.requests().attribution.first_bytes_by_accept_queue = 100;
        case.requests().attribution.first_bytes_by_service = 7;
        assert_eq!(find(&case.evidence()), None);
        case.target.kind = TargetKind::BuiltIn;
        let Some(HeadOfLineBlocking { requests: 107, .. }) = find(&case.evidence()) else {
            panic!("{:?}", find(&case.evidence()));
        };
    }

    #[test]
    fn sides_that_waited_for_a_cpu_say_nothing() {
        let mut case = Case::backlog();
        case.requests().attribution.first_bytes_by_service = 160;
        // Each ran for a twentieth of the window.
        case.server().run_delay_ns = Some(440_000_000);
        assert!(find(&case.evidence()).is_some());
        case.generator().run_delay_ns = Some(450_000_000);
        assert_eq!(find(&case.evidence()), None);
    }

    #[test]
    fn a_busy_or_unseen_server_or_an_unknown_service_time_says_nothing() {
        assert_eq!(found(160, 160, 160, Some(0.5)), None);
        assert_eq!(found(160, 160, 160, None), None);
        let mut case = Case::backlog();
        case.requests().attribution.first_bytes_by_service = 160;
        assert!(find(&case.evidence()).is_some());
        case.setting.service_time_ns = None;
        assert_eq!(find(&case.evidence()), None);
        assert_eq!(find(&Case::echo().evidence()), None);
    }
}
