use throng_record::ErrorKind::{ClosedEarly, ReplyTimedOut, Reset};

use super::*;
use crate::explain::hand_made::{MS, PHASE_NS, Queue, answered, failed, queue, seen};

/// The parts in milliseconds: unknown to the server, in the accept queue, at the server, not explained.
fn parts(request: &RequestRecord, seen: &Accounts<'_>) -> (Option<u64>, u64, u64, u64) {
    let answering = Answering::of(request, PHASE_NS, seen).expect("it was connected");
    let sum_ns = answering.final_ack_ns.unwrap_or(0)
        + answering.accept_queue_ns
        + answering.service_ns
        + answering.not_explained_ns;
    assert_eq!(sum_ns, answering.waited_ns, "the parts are the whole");
    (
        answering.final_ack_ns.map(|ns| ns / MS),
        answering.accept_queue_ns / MS,
        answering.service_ns / MS,
        answering.not_explained_ns / MS,
    )
}

fn mostly(request: &RequestRecord, seen: &Accounts<'_>) -> Mostly {
    Answering::of(request, PHASE_NS, seen)
        .expect("it was connected")
        .mostly()
}

fn sent_again(request: RequestRecord, data_retransmissions: u32, last_ms: u64) -> RequestRecord {
    RequestRecord {
        data_retransmissions,
        last_data_sent_ns: Some(last_ms * MS),
        ..request
    }
}

fn with_queue(queue: &Queue) -> Accounts<'_> {
    Accounts {
        queue: Some(queue),
        ..seen()
    }
}

#[test]
fn a_queue_that_empties_has_let_the_connection_go() {
    let emptied = queue(&[(0, 3), (120, 0)]);
    let seen = with_queue(&emptied);
    assert_eq!(parts(&answered(400), &seen), (None, 120, 280, 0));
    assert_eq!(mostly(&answered(400), &seen), Mostly::Service);
    let answering = Answering::of(&answered(400), PHASE_NS, &seen);
    assert_eq!(answering.map(|answering| answering.depth), Some(3));
}

#[test]
fn a_queue_that_never_empties_holds_it_until_its_service_at_most() {
    let never = queue(&[(0, 7)]);
    let too_late = queue(&[(0, 7), (390, 0)]);
    for queue in [&never, &too_late] {
        assert_eq!(
            parts(&answered(400), &with_queue(queue)),
            (None, 360, 40, 0)
        );
        assert_eq!(
            mostly(&answered(400), &with_queue(queue)),
            Mostly::AcceptQueue
        );
    }
}

#[test]
fn a_sample_from_before_it_came_does_not_count_as_empty() {
    let came_between_samples = queue(&[(0, 0), (5, 2), (300, 0)]);
    let seen = with_queue(&came_between_samples);
    let came_at_ns = PHASE_NS + 4 * MS + MS / 2;
    let answering = Answering::of(&answered(400), came_at_ns, &seen).expect("it was connected");
    assert_eq!(answering.accept_queue_ns, 295 * MS + MS / 2);
    assert_eq!(answering.depth, 2);
    let always_empty = queue(&[(0, 0)]);
    assert_eq!(
        parts(&answered(400), &with_queue(&always_empty)),
        (None, 0, 400, 0)
    );
}

#[test]
fn without_sight_of_the_queue_a_slow_rest_is_not_explained() {
    assert_eq!(parts(&answered(400), &seen()), (None, 0, 40, 360));
    assert_eq!(mostly(&answered(400), &seen()), Mostly::NotExplained);
    assert_eq!(parts(&answered(240), &seen()), (None, 0, 40, 200));
}

#[test]
fn a_gap_as_long_as_most_of_the_wait_leaves_it_unexplained() {
    let with_gap = |gap_ms| Queue {
        gap_ms,
        ..queue(&[(0, 7)])
    };
    let expected = [(50, 360, 0), (180, 360, 0), (181, 0, 360)];
    for (gap_ms, in_queue, not_explained) in expected {
        let queue = with_gap(gap_ms);
        assert_eq!(
            parts(&answered(400), &with_queue(&queue)),
            (None, in_queue, 40, not_explained),
            "{gap_ms} ms"
        );
    }
}

#[test]
fn data_sent_again_tells_until_when_the_server_did_not_know_the_client() {
    let emptied = queue(&[(0, 6), (3_500, 0)]);
    let request = sent_again(answered(3_600), 4, 3_200);
    assert_eq!(
        parts(&request, &with_queue(&emptied)),
        (Some(3_200), 300, 100, 0)
    );
    assert_eq!(mostly(&request, &with_queue(&emptied)), Mostly::FinalAck);
    let at_once = sent_again(answered(3_240), 4, 3_200);
    assert_eq!(parts(&at_once, &seen()), (Some(3_200), 0, 40, 0));
}

#[test]
fn a_queue_empty_within_the_clock_tick_of_a_retransmission_says_nothing() {
    let empty_just_then = queue(&[(0, 6), (3_203, 0), (3_206, 5), (3_500, 0)]);
    let request = sent_again(answered(3_600), 4, 3_200);
    assert_eq!(
        parts(&request, &with_queue(&empty_just_then)),
        (Some(3_200), 300, 100, 0)
    );
}

#[test]
fn an_end_sent_again_or_a_quick_answer_is_no_dropped_ack() {
    let end_sent_again = sent_again(answered(400), 1, 0);
    let emptied = queue(&[(0, 0)]);
    assert_eq!(
        parts(&end_sent_again, &with_queue(&emptied)),
        (None, 0, 400, 0)
    );
    let quick = sent_again(answered(150), 1, 100);
    assert_eq!(parts(&quick, &with_queue(&emptied)), (None, 0, 150, 0));
}

#[test]
fn where_the_queue_never_overflowed_data_was_lost_otherwise() {
    let seen = Accounts {
        overflows: Some(0),
        ..seen()
    };
    let request = sent_again(answered(700), 2, 600);
    assert_eq!(parts(&request, &seen), (None, 0, 40, 660));
    assert_eq!(mostly(&request, &seen), Mostly::NotExplained);
}

#[test]
fn a_reply_that_timed_out_was_unknown_to_the_server_or_waited_there() {
    let unknown = RequestRecord {
        is_acknowledged: false,
        ..sent_again(failed(ReplyTimedOut, 10_000), 5, 6_200)
    };
    let never_empty = queue(&[(0, 6)]);
    let emptied = queue(&[(0, 6), (1_000, 0)]);
    assert_eq!(
        parts(&unknown, &with_queue(&never_empty)),
        (Some(10_000), 0, 0, 0)
    );
    let in_queue = failed(ReplyTimedOut, 10_000);
    assert_eq!(
        parts(&in_queue, &with_queue(&never_empty)),
        (None, 10_000, 0, 0)
    );
    assert_eq!(
        parts(&in_queue, &with_queue(&emptied)),
        (None, 1_000, 9_000, 0)
    );
    let known_late = sent_again(failed(ReplyTimedOut, 10_000), 5, 6_200);
    assert_eq!(
        parts(&known_late, &with_queue(&never_empty)),
        (Some(6_200), 3_800, 0, 0)
    );
}

#[test]
fn a_reset_at_once_is_the_final_ack_answered_where_the_kernel_does_that() {
    let aborting = Accounts {
        aborts_on_overflow: true,
        ..seen()
    };
    let reset = RequestRecord {
        is_acknowledged: false,
        ..failed(Reset, 0)
    };
    assert_eq!(parts(&reset, &aborting), (Some(0), 0, 0, 0));
    assert_eq!(mostly(&reset, &aborting), Mostly::FinalAck);
    assert_eq!(parts(&reset, &seen()), (None, 0, 0, 0));
    let never_full = Accounts {
        overflows: Some(0),
        ..aborting
    };
    assert_eq!(parts(&reset, &never_full), (None, 0, 0, 0));
    assert_eq!(
        parts(&failed(Reset, 0), &aborting),
        (None, 0, 0, 0),
        "the server did"
    );
    assert_eq!(parts(&failed(ClosedEarly, 0), &aborting), (None, 0, 0, 0));
}

#[test]
fn an_unknown_service_time_leaves_the_queue_and_the_server() {
    let emptied = queue(&[(0, 3), (120, 0)]);
    let seen = Accounts {
        service_time_ns: None,
        ..with_queue(&emptied)
    };
    assert_eq!(parts(&answered(400), &seen), (None, 120, 280, 0));
    assert_eq!(
        Answering::of(&RequestRecord::default(), PHASE_NS, &seen),
        None
    );
}

#[test]
fn a_wait_of_no_length_has_no_cause() {
    let at_once = failed(ReplyTimedOut, 0);
    assert_eq!(mostly(&at_once, &seen()), Mostly::NotExplained);
    let answering = Answering::of(&at_once, PHASE_NS, &seen()).expect("it was connected");
    assert_eq!(answering.causes(&at_once, PHASE_NS, None), []);
}

#[test]
fn a_queue_that_never_empties_lets_go_who_came_first() {
    let busy = queue(&[(0, 2), (40, 1), (50, 2), (80, 1), (90, 2)]);
    let timed_out = failed(ReplyTimedOut, 10_000);
    assert_eq!(
        parts(&timed_out, &with_queue(&busy)),
        (None, 80, 9_920, 0),
        "two have left when the second fall was seen"
    );
    assert_eq!(
        parts(&answered(400), &with_queue(&busy)),
        (None, 80, 320, 0)
    );
}

#[test]
fn a_wait_in_an_empty_queue_is_none() {
    let empty = Queue {
        gap_ms: 40,
        ..queue(&[(30, 0)])
    };
    assert_eq!(
        parts(&answered(400), &with_queue(&empty)),
        (None, 0, 400, 0)
    );
}
