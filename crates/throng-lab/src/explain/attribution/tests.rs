use proptest::prelude::*;
use throng_record::ErrorKind::{ConnectRefused, ConnectTimedOut, ReplyTimedOut, Reset};

use super::*;
use crate::explain::hand_made::{Flows, MS, PHASE_NS, answered, failed, flow, queue, seen};

fn phase(requests: Vec<RequestRecord>) -> ConnectionsPhase {
    ConnectionsPhase {
        begun: requests.len() as u64,
        started_at_monotonic_ns: PHASE_NS,
        requests,
        ..ConnectionsPhase::default()
    }
}

fn slow_to_connect(connect_ms: u64, syn_retransmissions: u32) -> RequestRecord {
    RequestRecord {
        connect_ns: Some(connect_ms * MS),
        duration_ns: (connect_ms + 40) * MS,
        syn_retransmissions,
        ..answered(40)
    }
}

#[test]
fn causes_stand_in_the_order_of_time_and_each_kind_counts_once() {
    let emptied = queue(&[(0, 6), (1_600, 0)]);
    let seen = Accounts {
        queue: Some(&emptied),
        ..seen()
    };
    let both = RequestRecord {
        connect_ns: Some(1_005 * MS),
        first_byte_ns: Some(700 * MS),
        duration_ns: 1_705 * MS,
        syn_retransmissions: 1,
        data_retransmissions: 1,
        last_data_sent_ns: Some(400 * MS),
        is_acknowledged: true,
        ..RequestRecord::default()
    };
    let mut phase = phase(vec![both]);
    let account = attribute(&mut phase, &seen);
    assert_eq!(
        phase.requests[0].causes,
        [
            Cause::SynRetransmissions {
                retransmissions: 1,
                waited_ns: 1_005 * MS
            },
            Cause::FinalAckDropped {
                data_retransmissions: 1,
                syn_ack_retransmissions: None,
                waited_ns: 400 * MS
            },
            Cause::AcceptQueue {
                waited_ns: 195 * MS,
                depth: 6
            },
            Cause::Service {
                waited_ns: 105 * MS
            },
        ]
    );
    let counts = Attribution {
        connects_slow: 1,
        connects_by_syn_retransmission: 1,
        first_bytes_slow: 1,
        first_bytes_by_final_ack: 1,
        ..Attribution::default()
    };
    assert_eq!(phase.attribution, counts);
    assert_eq!(account.final_acks_dropped, 1);
    assert_eq!(account.final_ack_waited_ns_max, 400 * MS);
}

#[test]
fn quick_requests_go_and_failed_ones_stay_with_or_without_causes() {
    let mut phase = phase(vec![
        answered(45),
        failed(Reset, 1),
        RequestRecord {
            connect_ns: None,
            ..failed(ConnectRefused, 0)
        },
        RequestRecord {
            connect_ns: None,
            syn_retransmissions: 6,
            ..failed(ConnectTimedOut, 10_000)
        },
        slow_to_connect(700, 0),
    ]);
    attribute(&mut phase, &seen());
    let causes: Vec<usize> = phase
        .requests
        .iter()
        .map(|kept| kept.causes.len())
        .collect();
    assert_eq!(causes, [0, 0, 1, 1]);
    let counts = Attribution {
        connects_slow: 2,
        connects_by_syn_retransmission: 1,
        not_explained: 1,
        ..Attribution::default()
    };
    assert_eq!(phase.attribution, counts);
    assert_eq!(phase.requests_left_out, 0);
}

#[test]
fn the_handshakes_of_a_port_that_was_used_before_are_told_apart() {
    let client = "127.0.0.1:40000";
    let mut flows = Flows::default();
    let seen_on_port = flow(&[0, 20_000, 21_001], &[0, 21_001, 22_003, 24_005]);
    flows
        .0
        .insert(client.parse().expect("an address"), seen_on_port);
    let seen = Accounts {
        flows: Some(&flows),
        ..seen()
    };
    let request = RequestRecord {
        local_address: Some(client.to_owned()),
        started_ns: 20_000 * MS,
        connect_ns: Some(1_002 * MS),
        first_byte_ns: Some(3_300 * MS),
        duration_ns: 4_302 * MS,
        syn_retransmissions: 1,
        data_retransmissions: 4,
        last_data_sent_ns: Some(3_250 * MS),
        ..answered(0)
    };
    let mut phase = phase(vec![request]);
    attribute(&mut phase, &seen);
    let causes = &phase.requests[0].causes;
    assert!(
        matches!(
            causes[0],
            Cause::SynRetransmissions {
                retransmissions: 1,
                ..
            }
        ),
        "{causes:?}"
    );
    assert!(
        matches!(
            causes[1],
            Cause::FinalAckDropped {
                syn_ack_retransmissions: Some(2),
                ..
            }
        ),
        "{causes:?}"
    );
}

#[test]
fn a_connect_that_only_the_generator_made_slow_counts_apart() {
    let client = "127.0.0.1:40000";
    let mut flows = Flows::default();
    let address = client.parse().expect("an address");
    flows.0.insert(address, flow(&[0], &[1]));
    let seen = Accounts {
        flows: Some(&flows),
        ..seen()
    };
    let mut phase = phase(vec![RequestRecord {
        local_address: Some(client.to_owned()),
        ..slow_to_connect(700, 0)
    }]);
    attribute(&mut phase, &seen);
    let late = Cause::GeneratorLate {
        waited_ns: 700 * MS,
    };
    assert_eq!(phase.requests[0].causes, [late]);
    let counts = Attribution {
        connects_slow: 1,
        connects_by_generator: 1,
        ..Attribution::default()
    };
    assert_eq!(phase.attribution, counts);
}

#[test]
fn waits_that_are_not_slow_are_counted_where_the_queue_was_observed() {
    let never_empty = queue(&[(0, 3)]);
    let empty = queue(&[(0, 0)]);
    let delays = |queue| {
        let seen = Accounts { queue, ..seen() };
        let mut phase = phase(vec![answered(160), answered(84)]);
        let account = attribute(&mut phase, &seen);
        assert_eq!(phase.attribution, Attribution::default());
        [
            account.delayed,
            account.delayed_by_accept_queue,
            account.delayed_by_service,
        ]
    };
    assert_eq!(delays(Some(&never_empty)), [1, 1, 0]);
    assert_eq!(delays(Some(&empty)), [1, 0, 1]);
    assert_eq!(delays(None), [1, 0, 0]);
}

#[test]
fn an_aborted_final_ack_counts_as_a_first_byte_that_never_came() {
    let seen = Accounts {
        aborts_on_overflow: true,
        ..seen()
    };
    let aborted = RequestRecord {
        is_acknowledged: false,
        ..failed(Reset, 1)
    };
    let mut phase = phase(vec![aborted, failed(ReplyTimedOut, 100)]);
    attribute(&mut phase, &seen);
    assert_eq!(phase.attribution.first_bytes_slow, 2);
    assert_eq!(phase.attribution.first_bytes_by_final_ack, 1);
}

/// How many failures were judged, and how many of them the kernel's account explains: replies that timed out, resets.
fn judged(requests: Vec<RequestRecord>, seen: &Accounts<'_>) -> [(u64, u64); 2] {
    let account = attribute(&mut phase(requests), seen);
    [account.timed_out, account.reset].map(|judged| (judged.seen, judged.explained))
}

#[test]
fn a_failure_is_explained_where_the_server_did_not_have_the_connection() {
    let unknown = |error, after_ms| RequestRecord {
        is_acknowledged: false,
        data_retransmissions: 9,
        ..failed(error, after_ms)
    };
    let (emptied, never_empty) = (queue(&[(0, 3), (120, 0)]), queue(&[(0, 6)]));
    let with = |queue| Accounts {
        queue: Some(queue),
        ..seen()
    };
    let of_both = || {
        vec![
            failed(ReplyTimedOut, 10_000),
            unknown(ReplyTimedOut, 10_000),
            failed(Reset, 400),
            failed(Reset, 0),
            unknown(Reset, 107_000),
        ]
    };
    assert_eq!(judged(of_both(), &with(&never_empty)), [(2, 2), (3, 1)]);
    assert_eq!(judged(of_both(), &with(&emptied)), [(2, 1), (3, 1)]);
    assert_eq!(
        judged(of_both(), &seen()),
        [(1, 1), (3, 1)],
        "one may have waited where nobody looked"
    );
    let never_full = Accounts {
        overflows: Some(0),
        ..with(&emptied)
    };
    assert_eq!(judged(of_both(), &never_full), [(2, 0), (3, 0)]);
    let begun = RequestRecord {
        first_byte_ns: Some(5_000 * MS),
        ..unknown(ReplyTimedOut, 10_000)
    };
    assert_eq!(judged(vec![begun], &with(&never_empty)), [(1, 0), (0, 0)]);
}

fn any_request() -> impl Strategy<Value = RequestRecord> {
    let time = || 0_u64..20_000;
    (
        time(),
        prop::option::of(time()),
        prop::option::of(time()),
        time(),
        0_u32..9,
        0_u32..9,
        prop::option::of(time()),
        any::<bool>(),
        prop::sample::select(vec![
            None,
            Some(ReplyTimedOut),
            Some(Reset),
            Some(ConnectTimedOut),
        ]),
    )
        .prop_map(
            |(started, connect, first_byte, more, syns, data, last, is_acknowledged, error)| {
                let first_byte = first_byte.filter(|_| connect.is_some());
                RequestRecord {
                    started_ns: started * MS,
                    connect_ns: connect.map(|ms| ms * MS),
                    first_byte_ns: first_byte.map(|ms| ms * MS),
                    duration_ns: (connect.unwrap_or(0) + first_byte.unwrap_or(0) + more) * MS,
                    syn_retransmissions: syns,
                    data_retransmissions: data,
                    last_data_sent_ns: last.map(|ms| ms * MS),
                    is_acknowledged,
                    error,
                    ..RequestRecord::default()
                }
            },
        )
}

fn waited_ns(cause: &Cause) -> u64 {
    match *cause {
        Cause::SynRetransmissions { waited_ns, .. }
        | Cause::FinalAckDropped { waited_ns, .. }
        | Cause::AcceptQueue { waited_ns, .. }
        | Cause::Service { waited_ns }
        | Cause::GeneratorLate { waited_ns }
        | Cause::NotExplained { waited_ns } => waited_ns,
    }
}

proptest! {
    #[test]
    fn whatever_was_measured_the_counts_add_up_and_no_time_is_told_twice(
        requests in prop::collection::vec(any_request(), 0..40),
        depths in prop::collection::vec((0_u64..40_000, 0_u32..3), 0..20),
        is_queue_seen in any::<bool>(),
        service_time_ms in prop::option::of(0_u64..500),
        overflows in prop::option::of(0_u64..3),
        aborts_on_overflow in any::<bool>(),
    ) {
        let mut depths = depths;
        depths.sort_unstable();
        let queue = queue(&depths);
        let seen = Accounts {
            service_time_ns: service_time_ms.map(|ms| ms * MS),
            aborts_on_overflow,
            overflows,
            queue: is_queue_seen.then_some(&queue as _),
            ..seen()
        };
        let is_slow = |request: &RequestRecord| {
            request.is_slow_to_connect() || request.is_slow_to_answer(seen.service_time_ns.unwrap_or(0))
        };
        let slow = requests.iter().filter(|request| is_slow(request)).count();
        let mut phase = phase(requests);
        let account = attribute(&mut phase, &seen);
        let counts = phase.attribution;
        prop_assert_eq!(
            counts.connects_slow + counts.first_bytes_slow,
            counts.connects_by_syn_retransmission
                + counts.connects_by_generator
                + counts.first_bytes_by_final_ack
                + counts.first_bytes_by_accept_queue
                + counts.first_bytes_by_service
                + counts.not_explained
        );
        prop_assert!(account.delayed >= account.delayed_by_accept_queue + account.delayed_by_service);
        prop_assert!(phase.requests.iter().filter(|request| is_slow(request)).count() == slow);
        for request in &phase.requests {
            let told_ns: u64 = request.causes.iter().map(waited_ns).sum();
            prop_assert!(told_ns <= request.duration_ns, "{request:?}");
            prop_assert!(!is_slow(request) || !request.causes.is_empty());
        }
    }
}
