//! Delayed ACK against Nagle: a reply written in two pieces waits, since the second is not sent before the first is acknowledged
//! (RFC 896) and the peer delays that by 40 ms (`TCP_DELACK_MIN`, include/net/tcp.h; RFC 1122, 4.2.3.2).
//!
//! A server that works or sleeps for 40 ms shows the same time *and* delays an ACK for each request. Three things tell it apart: the
//! service time, where it is known; that a connection acknowledges its first segments at once (quick ACKs), so that some replies
//! came without any wait; and the pieces themselves, `TCPOrigDataSent` (segments with data, those sent again left out), which has one
//! for a request and one or two for its reply. That takes a network in which nobody else sends, and messages that fit into a segment.
//! Connections of one request hardly ever leave the mode of quick ACKs: they are not looked at.

use throng_record::{Finding, Network};

use super::{Evidence, count_between};

/// Around 40 ms: two of the shorter ticks less, and a tick of 10 ms more.
const WINDOW_NS: std::ops::RangeInclusive<u64> = 38_000_000..=50_000_000;
/// One reply in five: below that it bounds neither the throughput nor any but the high percentiles.
const SHARE_MIN: f64 = 0.2;
/// Half of the delayed replies must have their delayed ACK in the kernel's count, which misses none but may be shared by two.
const COUNTED_SHARE_MIN: f64 = 0.5;
/// And half of them must have come in a second piece.
const IN_PIECES_SHARE_MIN: f64 = 0.5;
/// Half of what a segment holds on loopback (MTU 65,536): longer messages come in pieces whatever the server does.
const MESSAGE_BYTES_MAX: u64 = 32_768;
/// A server that can answer within half the delay does not take that long by itself.
const QUICK_NS: u64 = 20_000_000;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    if evidence.connections.is_some() {
        return None;
    }
    let exchange = evidence.exchange;
    let live = exchange.latency.decode().ok()?;
    let replies = live.len();
    let delayed = live.count_between(*WINDOW_NS.start(), *WINDOW_NS.end());
    let share_of_replies = delayed as f64 / replies.max(1) as f64;
    let delayed_acks = evidence.counter("TcpExt.DelayedACKs");
    let is_counted = delayed_acks as f64 >= COUNTED_SHARE_MIN * delayed as f64;
    let is_quick_server = evidence
        .setting
        .service_time_ns
        .is_none_or(|service_ns| service_ns < QUICK_NS);
    let warmup_quick = count_between(&exchange.warmup_latency, 0, QUICK_NS);
    let was_quick = live.count_between(0, QUICK_NS) + warmup_quick > 0;
    let is_in_pieces = second_pieces(evidence)? >= IN_PIECES_SHARE_MIN * share_of_replies;
    if share_of_replies < SHARE_MIN
        || !is_in_pieces
        || !is_counted
        || !is_quick_server
        || !was_quick
    {
        return None;
    }
    // The middle one of those in the window.
    let below = live.count_between(0, WINDOW_NS.start() - 1);
    let middle = (below as f64 + delayed as f64 / 2.0) / replies as f64;
    Some(Finding::DelayedAck {
        share_of_replies,
        latency_ns_median: live.value_at_quantile(middle),
        delayed_acks,
        replies,
    })
}

/// Segments of data for each reply beyond its first, on average; `None` where that cannot be told.
fn second_pieces(evidence: &Evidence<'_>) -> Option<f64> {
    let exchange = evidence.exchange;
    let requests = exchange.sent + exchange.warmup_replies;
    let replies = exchange.replies + exchange.warmup_replies;
    let longest_bytes = exchange.sent_bytes.max(exchange.received_bytes) / replies.max(1);
    if evidence.network != Network::Private || longest_bytes > MESSAGE_BYTES_MAX || replies == 0 {
        return None;
    }
    let segments = evidence.counter("TcpExt.TCPOrigDataSent");
    let of_replies = segments.saturating_sub(requests);
    Some(of_replies as f64 / replies as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use throng_record::Histogram;

    use super::*;
    use crate::explain::findings::hand_made::{Case, histogram};

    const MS: u64 = 1_000_000;

    fn case(latency: Histogram, delayed_acks: i64) -> Case {
        let mut case = Case::echo();
        case.exchange.sent = latency.count;
        case.exchange.replies = latency.count;
        case.counter("TcpExt.TCPOrigDataSent", latency.count as i64 * 3);
        case.exchange.latency = latency;
        case.counter("TcpExt.DelayedACKs", delayed_acks);
        case
    }

    #[test]
    fn a_mode_at_40_ms_with_its_acks_counted_is_found() {
        let case = case(histogram(&[(MS, 50), (42 * MS, 49), (200 * MS, 1)]), 49);
        let Some(Finding::DelayedAck {
            share_of_replies,
            latency_ns_median,
            delayed_acks: 49,
            replies: 100,
        }) = find(&case.evidence())
        else {
            panic!("{:?}", find(&case.evidence()));
        };
        assert!((share_of_replies - 0.49).abs() < 1e-9);
        assert!(latency_ns_median.abs_diff(42 * MS) < MS / 10);
    }

    #[test]
    fn few_delays_or_uncounted_ones_are_none() {
        let some = |delayed| histogram(&[(MS, 100 - delayed), (41 * MS, delayed)]);
        assert!(find(&case(some(20), 10).evidence()).is_some());
        assert!(find(&case(some(19), 19).evidence()).is_none());
        assert!(find(&case(some(20), 9).evidence()).is_none());
        assert!(find(&case(Histogram::default(), 9).evidence()).is_none());
    }

    #[test]
    fn replies_in_one_piece_are_no_delayed_ack_however_many_are_counted() {
        let mut case = case(histogram(&[(MS, 50), (46 * MS, 50)]), 50);
        assert!(find(&case.evidence()).is_some());
        for (segments, is_found) in [(204, false), (225, true)] {
            case.counter("TcpExt.TCPOrigDataSent", segments);
            assert_eq!(find(&case.evidence()).is_some(), is_found, "{segments}");
        }
        case.network = Network::Host;
        assert_eq!(find(&case.evidence()), None, "others send there too");
    }

    #[test]
    fn long_messages_come_in_pieces_anyway() {
        let mut case = case(histogram(&[(MS, 50), (46 * MS, 50)]), 50);
        case.exchange.received_bytes = 100 * 100_000;
        assert_eq!(find(&case.evidence()), None);
    }

    #[test]
    fn a_server_that_takes_40_ms_is_no_delayed_ack() {
        let mut always = case(histogram(&[(41 * MS, 100)]), 100);
        assert_eq!(find(&always.evidence()), None);
        always.exchange.warmup_latency = histogram(&[(MS, 8), (41 * MS, 100)]);
        always.exchange.warmup_replies = 108;
        always.counter("TcpExt.TCPOrigDataSent", 208 * 3);
        assert!(find(&always.evidence()).is_some(), "each first was quick");
        always.setting.service_time_ns = Some(40 * MS);
        assert_eq!(find(&always.evidence()), None);
    }
}
