//! When the kernel sends a SYN again.
//!
//! `tcp_retransmit_timer` (net/ipv4/tcp_timer.c, since Linux 6.5) waits the initial timeout, `TCP_TIMEOUT_INIT` of
//! include/net/tcp.h, and doubles it after each further timeout, except after the first `tcp_syn_linear_timeouts` ones. With n linear
//! timeouts that is n + 1 equal steps, then doubling ones: 1, 3, 7, 15 s with none; 1, 2, 3, 4, 5, 7, 11 s with four. A step
//! is never longer than `TCP_RTO_MAX`. Routes and programs that change the initial timeout are not known here.

const TIMEOUT_INITIAL_NS: u64 = 1_000_000_000;
const TIMEOUT_NS_MAX: u64 = 120_000_000_000;

/// A jiffy begun counts as a whole one, and clients' clocks are read before the SYN leaves: two of the longest ticks (HZ = 100).
const EARLY_NS: u64 = 20_000_000;
/// The timer wheel is late by up to an eighth of a timeout (kernel/time/timer.c), and as much again is left for a busy machine.
const LATE_SHARE: u64 = 4;
/// What a busy machine adds to any connect, however short.
const LATE_NS: u64 = 300_000_000;

/// From the SYN to its retransmission of that number; 0 for the SYN itself.
pub(super) fn retransmission_ns(number: u32, linear_timeouts: u32) -> u64 {
    let mut at_ns = 0_u64;
    for step in 0..number {
        at_ns = at_ns.saturating_add(step_ns(step, linear_timeouts));
    }
    at_ns
}

/// The timeout that follows so many retransmissions.
fn step_ns(after: u32, linear_timeouts: u32) -> u64 {
    let doublings = after.saturating_sub(linear_timeouts).min(32);
    (TIMEOUT_INITIAL_NS << doublings).min(TIMEOUT_NS_MAX)
}

/// Whether a connect of that length goes with so many retransmissions: not before the last of them, and not so late that the
/// next one was due.
pub(super) fn fits(waited_ns: u64, retransmissions: u32, linear_timeouts: u32) -> bool {
    let last_ns = retransmission_ns(retransmissions, linear_timeouts);
    let next_ns = retransmission_ns(retransmissions.saturating_add(1), linear_timeouts);
    waited_ns.saturating_add(EARLY_NS) >= last_ns && waited_ns <= with_lateness(next_ns)
}

/// Whether a client still waited for its next timeout so long after that retransmission.
pub(super) fn is_before_next(since_last_ns: u64, retransmissions: u32, linear: u32) -> bool {
    since_last_ns <= with_lateness(step_ns(retransmissions, linear))
}

fn with_lateness(at_ns: u64) -> u64 {
    at_ns
        .saturating_add(at_ns / LATE_SHARE)
        .saturating_add(LATE_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn seconds(linear_timeouts: u32, retransmissions: u32) -> Vec<u64> {
        (1..=retransmissions)
            .map(|number| retransmission_ns(number, linear_timeouts) / SECOND_NS)
            .collect()
    }

    #[test]
    fn the_schedule_is_that_of_the_kernel() {
        assert_eq!(seconds(0, 6), [1, 3, 7, 15, 31, 63]);
        assert_eq!(seconds(0, 7).last(), Some(&127), "the end of six retries");
        assert_eq!(seconds(1, 5), [1, 2, 4, 8, 16]);
        assert_eq!(seconds(4, 10), [1, 2, 3, 4, 5, 7, 11, 19, 35, 67]);
        assert_eq!(seconds(4, 11).last(), Some(&131));
        assert_eq!(
            retransmission_ns(9, 0) - retransmission_ns(8, 0),
            TIMEOUT_NS_MAX,
            "a step has a greatest length"
        );
        assert_eq!(retransmission_ns(0, 4), 0);
    }

    #[test]
    fn a_time_fits_from_its_last_retransmission_to_the_next() {
        let milliseconds = |ms: u64| ms * 1_000_000;
        for (waited_ms, retransmissions, linear, expected) in [
            (1_004, 1, 4, true),
            (985, 1, 4, true),
            (970, 1, 4, false),
            (2_790, 1, 4, true),
            (2_810, 1, 4, false),
            (3_040, 2, 0, true),
            (3_040, 3, 4, true),
            (3_040, 3, 0, false),
            (600, 0, 4, true),
            (1_560, 0, 4, false),
            (u64::MAX / 1_000_000, 60, 0, false),
        ] {
            assert_eq!(
                fits(milliseconds(waited_ms), retransmissions, linear),
                expected,
                "{waited_ms} ms, {retransmissions} of {linear}"
            );
        }
    }
}
