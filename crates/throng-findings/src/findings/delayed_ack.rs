//! Delayed ACK against Nagle: a reply written in two pieces waits, since the second is not sent before the first is acknowledged
//! (RFC 896) and the peer delays that by 40 ms (`TCP_DELACK_MIN`, include/net/tcp.h; RFC 1122, 4.2.3.2).
//!
//! The generator times it directly: from the read of a reply's first piece to the read of its last. A queue in front of the server, or a
//! server that works for 40 ms, delays the whole reply and not its rest. What could still be mistaken for it is a server that
//! works for 40 ms *between* its two writes. Three things tell that apart: a connection acknowledges its first segments at once (quick
//! ACKs), so that some replies came without the wait; the times stand by themselves, with few a little shorter or longer; and the kernel counts each
//! delayed ACK. Connections of one request hardly ever leave the mode of quick ACKs: they are not looked at.

use throng_record::finding::DelayedAck;
use throng_record::format::{exact, plural};

use super::clause::{percent, time};
use super::{Kind, Words};
use crate::evidence::{Evidence, count_between};

pub(super) const KIND: Kind = Kind {
    name: "delayed-ack",
    title: "Delayed ACK",
    page: include_str!("../../../../docs/findings/delayed-ack.md"),
};

/// Around 40 ms: two of the shorter ticks less, and a tick of 10 ms more.
const WINDOW_NS: std::ops::RangeInclusive<u64> = 38_000_000..=50_000_000;
/// As wide on both sides of it: what stands by itself has at most a quarter as many there.
const BELOW_NS: std::ops::RangeInclusive<u64> = 25_000_000..=37_999_999;
const ABOVE_NS: std::ops::RangeInclusive<u64> = 50_000_001..=63_000_000;
const BESIDE_SHARE_MAX: f64 = 0.25;
/// One reply in five: below that it bounds neither the throughput nor any but the high percentiles.
const SHARE_MIN: f64 = 0.2;
/// Half of the delayed replies must have their delayed ACK in the kernel's count, which misses none but may be shared by two.
const COUNTED_SHARE_MIN: f64 = 0.5;
/// A server that can answer within half the delay does not take that long by itself.
const QUICK_NS: u64 = 20_000_000;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<DelayedAck> {
    if evidence.has_own_connections() {
        return None;
    }
    let exchange = evidence.phases().exchange()?;
    let pieces = exchange.between_pieces.as_ref()?.decode().ok()?;
    let replies = exchange.latency.count;
    let count = |range: std::ops::RangeInclusive<u64>| {
        pieces.count_between(*range.start(), *range.end()) as f64
    };
    let delayed = count(WINDOW_NS);
    let share_of_replies = delayed / replies.max(1) as f64;
    let stands_apart = count(BELOW_NS) + count(ABOVE_NS) <= BESIDE_SHARE_MAX * delayed;
    let delayed_acks = evidence.counter("TcpExt.DelayedACKs");
    let is_counted = delayed_acks as f64 >= COUNTED_SHARE_MIN * delayed;
    let is_quick_server = evidence
        .setting
        .service_time_ns
        .is_none_or(|service_ns| service_ns < QUICK_NS);
    let quick = |histogram| count_between(histogram, 0, QUICK_NS);
    let was_quick = quick(&exchange.latency) + quick(&exchange.warmup_latency) > 0;
    if share_of_replies < SHARE_MIN
        || !stands_apart
        || !is_counted
        || !is_quick_server
        || !was_quick
    {
        return None;
    }
    // The middle one of those in the window.
    let below = pieces.count_between(0, WINDOW_NS.start() - 1) as f64;
    let middle = (below + delayed / 2.0) / pieces.len() as f64;
    Some(DelayedAck {
        share_of_replies,
        gap_ns_median: pieces.value_at_quantile(middle),
        delayed_acks,
        replies,
    })
}

impl Words for DelayedAck {
    fn happened(&self) -> String {
        format!(
            "{} of the replies ({} in all) came in pieces, the last about 40 ms after the first (median of these {}), with {} (DelayedACKs).",
            percent(self.share_of_replies),
            exact(self.replies),
            time(self.gap_ns_median),
            plural(self.delayed_acks, "delayed ACK")
        )
    }

    fn cause(&self) -> &'static str {
        "a message in two writes without TCP_NODELAY: Nagle's algorithm holds the second back until the first is acknowledged, and the peer delays that ACK by 40 ms."
    }

    fn remedy(&self) -> String {
        "set TCP_NODELAY, or send a message with one write (writev, a buffer, MSG_MORE).".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.share_of_replies
    }
}

#[cfg(test)]
mod tests {
    use throng_record::Histogram;

    use super::*;
    use crate::hand_made::{Case, histogram};

    const MS: u64 = 1_000_000;

    /// 100 replies: those in pieces, as many delayed ACKs as there were waits of 40 ms, and the others whole and quick.
    fn case(pieces: &[(u64, u64)]) -> Case {
        let mut case = Case::echo();
        let in_pieces: u64 = pieces.iter().map(|(_, times)| times).sum();
        let mut latency = pieces.to_vec();
        latency.push((MS, 100 - in_pieces));
        case.exchange().latency = histogram(&latency);
        case.exchange().between_pieces = Some(histogram(pieces));
        let delayed = pieces
            .iter()
            .filter(|(gap_ns, _)| WINDOW_NS.contains(gap_ns));
        let delayed: u64 = delayed.map(|(_, times)| times).sum();
        case.counter("TcpExt.DelayedACKs", delayed as i64);
        case
    }

    fn is_found(case: &Case) -> bool {
        find(&case.evidence()).is_some()
    }

    #[test]
    fn replies_whose_rest_came_after_40_ms_are_found() {
        let case = case(&[(1_000, 10), (42 * MS, 49), (200 * MS, 1)]);
        let Some(DelayedAck {
            share_of_replies,
            gap_ns_median,
            delayed_acks: 49,
            replies: 100,
        }) = find(&case.evidence())
        else {
            panic!("{:?}", find(&case.evidence()));
        };
        assert!((share_of_replies - 0.49).abs() < 1e-9);
        assert!(gap_ns_median.abs_diff(42 * MS) < MS / 10);
    }

    /// 3,000 connections at 75,000 messages a second take 40 ms each, and the server's kernel delays an ACK for each: the replies came whole.
    #[test]
    fn a_queue_of_40_ms_is_none_however_many_acks_are_delayed() {
        let mut queue = case(&[]);
        queue.exchange().latency = histogram(&[(MS, 10), (40 * MS, 90)]);
        queue.counter("TcpExt.DelayedACKs", 100);
        assert!(!is_found(&queue));
        queue.exchange().between_pieces = None;
        assert!(!is_found(&queue));
        queue.exchange().between_pieces = Some(histogram(&[(5_000, 90)]));
        assert!(!is_found(&queue), "two writes at once, with TCP_NODELAY");
    }

    #[test]
    fn few_delays_or_uncounted_ones_are_none() {
        assert!(is_found(&case(&[(41 * MS, 20)])));
        assert!(!is_found(&case(&[(41 * MS, 19)])));
        let mut uncounted = case(&[(41 * MS, 20)]);
        uncounted.counter("TcpExt.DelayedACKs", 10);
        assert!(is_found(&uncounted));
        uncounted.counter("TcpExt.DelayedACKs", 9);
        assert!(!is_found(&uncounted));
    }

    #[test]
    fn waits_of_every_length_are_the_servers_own() {
        assert!(is_found(&case(&[
            (30 * MS, 5),
            (41 * MS, 40),
            (55 * MS, 5)
        ])));
        assert!(!is_found(&case(&[
            (30 * MS, 5),
            (41 * MS, 40),
            (55 * MS, 6)
        ])));
        assert!(!is_found(&case(&[(30 * MS, 11), (41 * MS, 40)])));
    }

    #[test]
    fn a_server_that_takes_40_ms_is_no_delayed_ack() {
        let mut always = case(&[(41 * MS, 100)]);
        always.exchange().latency = histogram(&[(41 * MS, 100)]);
        assert!(!is_found(&always));
        always.exchange().warmup_latency = histogram(&[(MS, 8), (41 * MS, 100)]);
        assert!(is_found(&always), "each first was quick");
        always.setting.service_time_ns = Some(40 * MS);
        assert!(!is_found(&always));
        always.exchange().latency = Histogram::default();
        assert!(!is_found(&always));
    }
}
