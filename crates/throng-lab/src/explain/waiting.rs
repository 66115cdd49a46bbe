//! How many requests waited at once: what a queue would have had to hold.
//!
//! A request waits from its connect call until its service begins, which is its first byte less the service time; one that failed, until
//! its end. Those that were in the SYN's back-off count as well: with room in the queue they would have been there. Where
//! the service time is not known the service counts as a wait, which makes the number too great by those being served.
//!
//! The number is of this run only. With a longer queue the same clients would have asked at other moments, since each asks again when it
//! is answered; but never more of them at once than there are clients.

use throng_record::{ConnectionsPhase, RequestRecord};

/// The greatest number of requests that waited at once; `None` where not every request is known.
pub(super) fn at_once_max(phase: &ConnectionsPhase, service_time_ns: Option<u64>) -> Option<u32> {
    if phase.requests.is_empty() || phase.requests.len() as u64 != phase.begun {
        return None;
    }
    let mut changes: Vec<(u64, i64)> = Vec::with_capacity(phase.requests.len() * 2);
    for request in &phase.requests {
        let until_ns = request
            .started_ns
            .saturating_add(wait_ns(request, service_time_ns));
        changes.push((request.started_ns, 1));
        changes.push((until_ns.max(request.started_ns.saturating_add(1)), -1));
    }
    // At the same moment a wait that ends comes before one that begins: a client asks again when it has been answered.
    changes.sort_unstable();
    let mut waiting = 0_i64;
    let mut waiting_max = 0_i64;
    for (_, change) in changes {
        waiting += change;
        waiting_max = waiting_max.max(waiting);
    }
    u32::try_from(waiting_max).ok()
}

/// From the connect call until the service begins, or to the failure.
fn wait_ns(request: &RequestRecord, service_time_ns: Option<u64>) -> u64 {
    match (request.connect_ns, request.first_byte_ns) {
        (Some(connect_ns), Some(first_byte_ns)) => {
            connect_ns.saturating_add(first_byte_ns.saturating_sub(service_time_ns.unwrap_or(0)))
        }
        _ => request.duration_ns,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    fn request(started_ms: u64, connect_ms: u64, first_byte_ms: u64) -> RequestRecord {
        RequestRecord {
            started_ns: started_ms * MS,
            connect_ns: Some(connect_ms * MS),
            first_byte_ns: Some(first_byte_ms * MS),
            duration_ns: (connect_ms + first_byte_ms) * MS,
            ..RequestRecord::default()
        }
    }

    fn failed(started_ms: u64, duration_ms: u64) -> RequestRecord {
        RequestRecord {
            started_ns: started_ms * MS,
            duration_ns: duration_ms * MS,
            ..RequestRecord::default()
        }
    }

    fn phase(requests: Vec<RequestRecord>) -> ConnectionsPhase {
        ConnectionsPhase {
            begun: requests.len() as u64,
            requests,
            ..ConnectionsPhase::default()
        }
    }

    #[test]
    fn one_at_a_time_makes_all_but_the_served_one_wait() {
        let clients = (0..8)
            .map(|place| request(0, 0, (place + 1) * 40))
            .collect();
        assert_eq!(at_once_max(&phase(clients), Some(40 * MS)), Some(8));
        let one_after_the_other = (0..5).map(|number| request(number * 40, 0, 40)).collect();
        assert_eq!(
            at_once_max(&phase(one_after_the_other), Some(40 * MS)),
            Some(1)
        );
    }

    #[test]
    fn back_off_and_failure_are_waits() {
        let requests = vec![request(0, 0, 40), request(10, 1_000, 40), failed(20, 500)];
        assert_eq!(at_once_max(&phase(requests), Some(40 * MS)), Some(2));
    }

    #[test]
    fn an_unknown_service_time_counts_as_a_wait() {
        let overlapping = vec![request(0, 0, 40), request(20, 0, 40)];
        assert_eq!(
            at_once_max(&phase(overlapping.clone()), Some(40 * MS)),
            Some(1)
        );
        assert_eq!(at_once_max(&phase(overlapping), None), Some(2));
    }

    #[test]
    fn without_all_requests_it_is_not_known() {
        let mut some = phase(vec![request(0, 0, 40)]);
        some.begun = 2;
        assert_eq!(at_once_max(&some, None), None);
        assert_eq!(at_once_max(&phase(vec![]), None), None);
    }

    proptest! {
        #[test]
        fn a_closed_loop_never_has_more_waiting_than_clients(
            clients in prop::collection::vec(prop::collection::vec((0_u64..2_000, 0_u64..500), 1..9), 1..7),
            service_ms in 0_u64..100,
        ) {
            let count = clients.len() as u32;
            let mut requests = Vec::new();
            for times in clients {
                let mut at_ms = 0;
                for (connect_ms, first_byte_ms) in times {
                    requests.push(request(at_ms, connect_ms, first_byte_ms));
                    at_ms += (connect_ms + first_byte_ms).max(1);
                }
            }
            let most = at_once_max(&phase(requests), Some(service_ms * MS));
            prop_assert!((1..=count).contains(&most.expect("all requests are there")));
        }
    }
}
