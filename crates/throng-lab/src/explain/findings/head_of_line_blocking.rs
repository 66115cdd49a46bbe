//! Head-of-line blocking: the server had accepted the requests, was not busy, and yet each waited for others' service.

use throng_record::Finding;

use super::Evidence;
use super::idle_server::idle_server;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    let idle = idle_server(evidence)?;
    let service_time_ns = evidence.setting.service_time_ns?;
    let slow = idle.phase.attribution.first_bytes_by_service;
    let delayed = idle.account.delayed_by_service;
    (idle.is_slow(slow) || idle.is_delayed(delayed)).then(|| Finding::HeadOfLineBlocking {
        requests: slow.max(delayed),
        of_requests: idle.phase.begun,
        service_time_ns,
        first_byte_ns_median: idle.phase.first_byte_latency.p50_ns,
        server_busy: idle.busy,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::findings::hand_made::Case;

    fn found(slow: u64, delayed: u64, by_service: u64, busy: Option<f64>) -> Option<u64> {
        let mut case = Case::backlog();
        case.phase.attribution.first_bytes_by_service = slow;
        case.account.delayed = delayed;
        case.account.delayed_by_service = by_service;
        case.busy.server = busy;
        match find(&case.evidence()) {
            Some(Finding::HeadOfLineBlocking { requests, .. }) => Some(requests),
            None => None,
            other => panic!("{other:?}"),
        }
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
    fn a_busy_or_unseen_server_or_an_unknown_service_time_says_nothing() {
        assert_eq!(found(160, 160, 160, Some(0.5)), None);
        assert_eq!(found(160, 160, 160, None), None);
        let mut case = Case::backlog();
        case.phase.attribution.first_bytes_by_service = 160;
        assert!(find(&case.evidence()).is_some());
        case.setting.service_time_ns = None;
        assert_eq!(find(&case.evidence()), None);
        assert_eq!(find(&Case::echo().evidence()), None);
    }
}
