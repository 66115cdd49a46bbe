//! Where an exchange is between its warm-up and its end, and how much it may still send: the stop condition, apart from
//! everything else.

use throng_record::{Amount, Stop};
use throng_sys::clock::MILLISECOND_NS;

use crate::connection::Start;
use crate::control::ShardStage;

/// How much longer than asked a warm-up may last, until every connection has had a reply.
const WARMUP_EXTENSION_MAX_NS: u64 = 1_000 * MILLISECOND_NS;

/// The stage of one shard, and the limits of its messages.
#[derive(Debug)]
pub(super) struct Stages {
    stage: ShardStage,
    warmup_left: u64,
    warmup_until_ns: u64,
    measured_left: u64,
    measured_for_ns: u64,
    /// When the measured window began.
    pub(super) measuring_since_ns: u64,
    /// When nothing more was sent.
    pub(super) draining_since_ns: u64,
}

/// A shard's part of a count over the whole fleet: the parts add up to it exactly.
pub(super) fn part(whole: u64, shard: u32, shards: u32) -> u64 {
    let (shard, shards) = (u64::from(shard), u64::from(shards));
    whole / shards + u64::from(shard < whole % shards)
}

impl Stages {
    /// `connections` are those of this shard, each of which is a client where messages have connections of their own.
    pub(super) fn new(
        warmup: Amount,
        stop: Stop,
        (shard, shards): (u32, u32),
        connections: u32,
        now_ns: u64,
    ) -> Self {
        let (warmup_left, warmup_until_ns) = match warmup {
            Amount::Messages(messages) => (part(messages, shard, shards), now_ns),
            Amount::DurationNs(duration_ns) => (u64::MAX, now_ns.saturating_add(duration_ns)),
        };
        let (measured_left, measured_for_ns) = match stop {
            Stop::Messages(messages) => (part(messages, shard, shards), u64::MAX),
            Stop::MessagesEach(each) => (each.saturating_mul(connections.into()), u64::MAX),
            Stop::DurationNs(duration_ns) => (u64::MAX, duration_ns),
            Stop::Confidence {
                max_duration_ns, ..
            } => (u64::MAX, max_duration_ns),
        };
        let mut stages = Self {
            stage: ShardStage::Warmup,
            warmup_left,
            warmup_until_ns,
            measured_left,
            measured_for_ns,
            measuring_since_ns: 0,
            draining_since_ns: 0,
        };
        if warmup_left == 0 || warmup_until_ns <= now_ns && warmup_left == u64::MAX {
            stages.measure(now_ns);
        }
        stages
    }

    #[inline]
    pub(super) fn now(&self) -> ShardStage {
        self.stage
    }

    fn measure(&mut self, now_ns: u64) {
        self.stage = ShardStage::Measuring;
        self.measuring_since_ns = now_ns;
        if self.measured_left == 0 {
            self.drain(now_ns);
        }
    }

    /// Nothing more is sent from now on.
    pub(super) fn drain(&mut self, now_ns: u64) {
        if self.stage == ShardStage::Warmup {
            self.measuring_since_ns = now_ns;
        }
        if self.stage != ShardStage::Draining {
            self.stage = ShardStage::Draining;
            self.draining_since_ns = now_ns;
        }
    }

    /// What the clock changes; called once per turn of the loop. A warm-up by the clock lasts until `all_answered` too, since
    /// a server that is still accepting is not yet the one to be measured.
    #[inline]
    pub(super) fn advance(&mut self, now_ns: u64, all_answered: bool) {
        if self.stage == ShardStage::Warmup
            && self.warmup_left == u64::MAX
            && now_ns >= self.warmup_until_ns
            && (all_answered || now_ns - self.warmup_until_ns >= WARMUP_EXTENSION_MAX_NS)
        {
            self.measure(now_ns);
        }
        if self.stage == ShardStage::Measuring
            && now_ns - self.measuring_since_ns >= self.measured_for_ns
        {
            self.drain(now_ns);
        }
    }

    /// Takes leave to send one message; `None` where no more may be sent, else whether it belongs to the warm-up.
    #[inline]
    pub(super) fn take(&mut self, now_ns: u64) -> Option<bool> {
        match self.stage {
            ShardStage::Measuring => {
                if self.measured_left != u64::MAX {
                    self.measured_left -= 1;
                    if self.measured_left == 0 {
                        self.drain(now_ns);
                    }
                }
                Some(false)
            }
            ShardStage::Warmup => {
                if self.warmup_left != u64::MAX {
                    self.warmup_left -= 1;
                    if self.warmup_left == 0 {
                        self.measure(now_ns);
                    }
                }
                Some(true)
            }
            ShardStage::Draining => None,
        }
    }

    /// A time counted from the begin of the measured window, and cut to it: what was before counts as its begin, what is after as
    /// its end.
    #[inline]
    pub(super) fn in_window_ns(&self, at_ns: u64) -> u64 {
        let at_ns = match self.stage {
            ShardStage::Warmup => return 0,
            ShardStage::Measuring => at_ns,
            ShardStage::Draining => at_ns.min(self.draining_since_ns),
        };
        at_ns.saturating_sub(self.measuring_since_ns)
    }

    /// How long a message that is not answered, or not recorded, was outstanding within the window, up to `at_ns`. One of the
    /// measurement counts from its start, even if that was before the window; one of the warm-up from the window's begin.
    pub(super) fn unrecorded_ns(&self, start: Start, at_ns: u64) -> u128 {
        let at_ns = self.measuring_since_ns + self.in_window_ns(at_ns);
        let since_ns = if start.warmup {
            self.measuring_since_ns
        } else {
            start.at_ns
        };
        at_ns.saturating_sub(since_ns).into()
    }

    /// When the clock alone changes the stage next.
    #[inline]
    pub(super) fn next_change_ns(&self, now_ns: u64) -> Option<u64> {
        match self.stage {
            ShardStage::Warmup if self.warmup_left == u64::MAX => {
                let is_extended = now_ns >= self.warmup_until_ns;
                Some(self.warmup_until_ns + u64::from(is_extended) * WARMUP_EXTENSION_MAX_NS)
            }
            ShardStage::Measuring if self.measured_for_ns != u64::MAX => {
                Some(self.measuring_since_ns.saturating_add(self.measured_for_ns))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_parts_of_a_count_add_up_to_it(whole in 0_u64..1_000_000, shards in 1_u32..64) {
            prop_assert_eq!((0..shards).map(|shard| part(whole, shard, shards)).sum::<u64>(), whole);
        }
    }

    #[test]
    fn exactly_the_asked_numbers_are_sent() {
        let mut stages = Stages::new(Amount::Messages(7), Stop::Messages(13), (0, 1), 1, 100);
        let taken: Vec<bool> = std::iter::from_fn(|| stages.take(200)).collect();
        assert_eq!(taken.iter().filter(|&&warmup| warmup).count(), 7);
        assert_eq!(taken.len(), 20);
        assert_eq!(stages.now(), ShardStage::Draining);
    }

    #[test]
    fn a_number_for_each_client_is_that_of_all_clients_of_the_shard() {
        let mut stages = Stages::new(Amount::Messages(0), Stop::MessagesEach(7), (1, 2), 3, 100);
        let taken = std::iter::from_fn(|| stages.take(200)).count();
        assert_eq!(taken, 21);
    }

    #[test]
    fn the_clock_moves_through_the_stages() {
        let mut stages = Stages::new(
            Amount::DurationNs(50),
            Stop::DurationNs(100),
            (0, 1),
            1,
            1000,
        );
        assert_eq!(stages.next_change_ns(1000), Some(1050));
        stages.advance(1049, true);
        assert_eq!(stages.take(1049), Some(true));
        stages.advance(1050, true);
        assert_eq!(
            (stages.take(1050), stages.measuring_since_ns),
            (Some(false), 1050)
        );
        stages.advance(1150, true);
        assert_eq!((stages.take(1150), stages.draining_since_ns), (None, 1150));
    }

    #[test]
    fn times_are_cut_to_the_window() {
        let (warmup, stop) = (Amount::DurationNs(50), Stop::DurationNs(100));
        let mut stages = Stages::new(warmup, stop, (0, 1), 1, 1000);
        assert_eq!(stages.in_window_ns(1049), 0);
        stages.advance(1050, true);
        let cut = |stages: &Stages| [1040, 1090, 1170].map(|at_ns| stages.in_window_ns(at_ns));
        assert_eq!(cut(&stages), [0, 40, 120]);
        stages.advance(1150, true);
        assert_eq!(cut(&stages), [0, 40, 100]);
        let unrecorded = |at_ns, warmup| {
            let until = |until_ns| stages.unrecorded_ns(Start { at_ns, warmup }, until_ns);
            [until(1090), until(1170)]
        };
        assert_eq!(unrecorded(1010, true), [40, 100]);
        assert_eq!(unrecorded(1060, false), [30, 90]);
        // Due before the window and sent within it: the delay of its send is taken off elsewhere.
        assert_eq!(unrecorded(1040, false), [50, 110]);
    }

    #[test]
    fn a_warmup_waits_for_every_connections_first_reply_but_not_forever() {
        let asked = || {
            Stages::new(
                Amount::DurationNs(50),
                Stop::DurationNs(100),
                (0, 1),
                1,
                1000,
            )
        };
        let mut stages = asked();
        stages.advance(1050, false);
        assert_eq!(stages.now(), ShardStage::Warmup);
        let longest_ns = 1050 + WARMUP_EXTENSION_MAX_NS;
        assert_eq!(stages.next_change_ns(1050), Some(longest_ns));
        stages.advance(1060, true);
        assert_eq!(stages.measuring_since_ns, 1060);
        let mut stages = asked();
        stages.advance(longest_ns, false);
        assert_eq!(stages.now(), ShardStage::Measuring);
    }

    #[test]
    fn without_a_warmup_the_first_message_is_measured() {
        for warmup in [Amount::Messages(0), Amount::DurationNs(0)] {
            let mut stages = Stages::new(warmup, Stop::Messages(1), (0, 1), 1, 5);
            assert_eq!(stages.take(5), Some(false));
            assert_eq!(stages.take(5), None);
        }
    }
}
