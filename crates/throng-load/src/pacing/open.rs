//! Open loop: messages are due by a schedule that does not wait for replies.
//!
//! ```text
//! constant      due  │    │    │    │    │        gaps of 1 / rate
//! exponential   due  │ │       │  ││       │      gaps of −ln(U) / rate: a Poisson process
//! ```
//!
//! Latency counts from the due time, whatever happened to the message before it was sent, so nothing needs correcting
//! afterwards ("coordinated omission", Gil Tene). Free connections are taken in turn, the longest free first. The schedule is
//! not stored: a message that must wait for a connection is simply the next of it.

use std::collections::VecDeque;

use throng_record::Arrivals;

use super::spacing::{SPIN_NS, Spacing};
use super::{Backlog, Pacing, Send};

/// Without spinning, no sleep is shorter: falling asleep and waking up take about as long, and to give the core back is the
/// point. What becomes due meanwhile is sent together, or with the next reply.
const SLEEP_MIN_NS: u64 = 20_000;

/// A schedule, and the connections that are free.
pub(crate) struct Open {
    spacing: Spacing,
    spin: bool,
    outstanding: u32,
    /// Due time of the next message; a fraction, so that rounding does not add up.
    next_ns: f64,
    /// The start of the schedule: due times count from here, so that the fraction keeps its precision.
    origin_ns: u64,
    offset_ns: f64,
    /// One entry for each message that a connection may still have outstanding.
    free: VecDeque<u32>,
    lost: Vec<bool>,
    waited: u64,
    /// The next message has already been counted as waiting.
    is_waiting: bool,
}

impl Open {
    /// `rate_per_second` is this shard's part of the rate; `offset` (0 to 1) shifts a constant schedule by that part of a gap,
    /// so that shards alternate.
    pub(crate) fn new(
        rate_per_second: f64,
        offset: f64,
        arrivals: Arrivals,
        outstanding: u32,
        spin: bool,
        seed: u64,
    ) -> Self {
        let spacing = Spacing::new(rate_per_second, arrivals, seed);
        Self {
            offset_ns: offset * spacing.mean_gap_ns(),
            spacing,
            spin,
            outstanding,
            next_ns: 0.0,
            origin_ns: 0,
            free: VecDeque::new(),
            lost: Vec::new(),
            waited: 0,
            is_waiting: false,
        }
    }

    #[inline]
    fn next_at_ns(&self) -> u64 {
        self.origin_ns + self.next_ns as u64
    }

    #[inline]
    fn take_free(&mut self) -> Option<u32> {
        loop {
            let slot = self.free.pop_front()?;
            if !self.lost[slot as usize] {
                return Some(slot);
            }
        }
    }

    /// Sends what is due. `freed_ns` is when a connection became free for a message that was waiting for one.
    #[inline]
    fn send_due(&mut self, now_ns: u64, freed_ns: u64, sends: &mut Vec<Send>) {
        while self.next_at_ns() <= now_ns {
            let Some(slot) = self.take_free() else {
                self.waited += u64::from(!self.is_waiting);
                self.is_waiting = true;
                return;
            };
            let start_ns = self.next_at_ns();
            let ready_ns = if self.is_waiting {
                start_ns.max(freed_ns)
            } else {
                start_ns
            };
            sends.push(Send {
                slot,
                start_ns,
                ready_ns,
            });
            self.is_waiting = false;
            self.next_ns += self.spacing.next_gap_ns();
        }
    }
}

impl Pacing for Open {
    fn begin(&mut self, slots: &[u32], now_ns: u64, _sends: &mut Vec<Send>) {
        self.origin_ns = now_ns;
        self.next_ns = self.offset_ns + self.spacing.next_gap_ns();
        self.lost = vec![false; slots.iter().max().map_or(0, |&slot| slot as usize + 1)];
        self.free.reserve(slots.len() * self.outstanding as usize);
        for _ in 0..self.outstanding {
            self.free.extend(slots);
        }
    }

    #[inline]
    fn replied(&mut self, slot: u32, now_ns: u64, sends: &mut Vec<Send>) {
        self.free.push_back(slot);
        if self.is_waiting {
            self.send_due(now_ns, now_ns, sends);
        }
    }

    fn lost(&mut self, slot: u32, _outstanding: u32, _now_ns: u64, _sends: &mut Vec<Send>) {
        self.lost[slot as usize] = true;
    }

    #[inline]
    fn due(&mut self, now_ns: u64, sends: &mut Vec<Send>) {
        self.send_due(now_ns, 0, sends);
    }

    /// `None` while a message is waiting for a connection: only a reply can send it.
    #[inline]
    fn sleep_until_ns(&self, now_ns: u64) -> Option<u64> {
        let due_ns = self.next_at_ns();
        let until_ns = if self.spin {
            due_ns.saturating_sub(SPIN_NS)
        } else {
            due_ns.max(now_ns + SLEEP_MIN_NS)
        };
        (!self.is_waiting).then_some(until_ns)
    }

    /// What waits for a connection, and what became due since the last look at the clock, which may have come late.
    fn backlog(&self, until_ns: u64) -> Backlog {
        let behind_ns = until_ns.checked_sub(self.next_at_ns());
        let after_next = |behind_ns: u64| (behind_ns as f64 / self.spacing.mean_gap_ns()) as u64;
        Backlog {
            unsent: behind_ns.map_or(0, |behind_ns| 1 + after_next(behind_ns)),
            waited: self.waited,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// All due times of the first second with as many free connections as it takes.
    fn due_times(rate: f64, arrivals: Arrivals) -> Vec<u64> {
        let mut pacing = Open::new(rate, 0.0, arrivals, 1, true, 7);
        let slots: Vec<u32> = (0..rate as u32 * 2).collect();
        let mut sends = Vec::new();
        pacing.begin(&slots, 0, &mut sends);
        pacing.due(SECOND_NS, &mut sends);
        sends.iter().map(|send| send.start_ns).collect()
    }

    #[test]
    fn a_constant_schedule_does_not_drift() {
        let due = due_times(30_000.0, Arrivals::Constant);
        assert_eq!(due.len(), 30_000);
        assert!(due.last().expect("some").abs_diff(SECOND_NS) < 1000);
        assert!(
            due.windows(2)
                .all(|pair| (33_333..=33_334).contains(&(pair[1] - pair[0])))
        );
    }

    #[test]
    fn exponential_gaps_have_the_mean_and_the_spread_of_a_poisson_process() {
        let due = due_times(20_000.0, Arrivals::Exponential);
        // The count of a Poisson process has the standard deviation √20000 = 141; five of them.
        assert!((due.len() as f64 - 20_000.0).abs() < 707.0, "{}", due.len());
        let gaps: Vec<f64> = due
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!(
            (variance.sqrt() / mean - 1.0).abs() < 0.05,
            "the coefficient of variation of exponential gaps is 1"
        );
    }

    #[test]
    fn a_message_that_waits_for_a_connection_counts_from_its_due_time() {
        let mut pacing = Open::new(1000.0, 0.0, Arrivals::Constant, 1, true, 7);
        let mut sends = Vec::new();
        pacing.begin(&[0], 0, &mut sends);
        pacing.due(1_000_000, &mut sends);
        assert_eq!(
            sends,
            [Send {
                slot: 0,
                start_ns: 1_000_000,
                ready_ns: 1_000_000
            }]
        );
        sends.clear();
        pacing.due(4_500_000, &mut sends);
        assert!(sends.is_empty(), "the only connection is busy");
        assert_eq!(pacing.sleep_until_ns(4_500_000), None);
        pacing.replied(0, 5_000_000, &mut sends);
        assert_eq!(
            sends,
            [Send {
                slot: 0,
                start_ns: 2_000_000,
                ready_ns: 5_000_000
            }]
        );
        assert_eq!(
            pacing.backlog(5_500_000),
            Backlog {
                unsent: 3,
                waited: 2
            }
        );
    }

    #[test]
    fn what_became_due_since_a_late_look_was_never_sent() {
        let mut pacing = Open::new(1000.0, 0.0, Arrivals::Constant, 1, true, 7);
        let mut sends = Vec::new();
        pacing.begin(&[0, 1, 2, 3], 0, &mut sends);
        pacing.due(1_500_000, &mut sends);
        assert_eq!(sends.len(), 1);
        for (until_ns, unsent) in [(1_999_999, 0), (2_000_000, 1), (4_999_999, 3)] {
            assert_eq!(pacing.backlog(until_ns), Backlog { unsent, waited: 0 });
        }
    }

    #[test]
    fn a_lost_connection_is_never_chosen() {
        let mut pacing = Open::new(1000.0, 0.0, Arrivals::Constant, 1, true, 7);
        let mut sends = Vec::new();
        pacing.begin(&[0, 1, 2], 0, &mut sends);
        pacing.lost(1, 0, 0, &mut sends);
        pacing.due(10_000_000, &mut sends);
        assert_eq!(
            sends.iter().map(|send| send.slot).collect::<Vec<_>>(),
            [0, 2]
        );
    }
}
