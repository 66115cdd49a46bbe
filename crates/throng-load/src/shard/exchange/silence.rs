//! Silences: stretches of the window in which no connection of this shard got a reply, although many waited for one.
//!
//! *Method.* The loop looks at each reply's distance from the one before; what is told of a longer one is found out when it has ended,
//! so that a usual reply costs one comparison. A connection that had waited for long when the silence began waited for something of its
//! own, and not for what silenced all: those are counted apart.
//!
//! *The generator's own part.* A turn of the loop that begins later than it was to begin shows that the generator itself did not run. That
//! time is kept beside the silence. What came while the loop slept may be read late by as much as the loop sleeps at most, unseen.

use throng_sys::clock::MILLISECOND_NS;

use super::Exchange;
use crate::backend::Backend;
use crate::control::ShardStage;
use crate::pacing::Pacing;

/// Shorter ones are not kept: a scheduler with much to do makes such, on either side.
pub(crate) const LEAST_NS: u64 = 50 * MILLISECOND_NS;
/// A turn of the loop that begins later than this was held up.
const LATE_NS_MIN: u64 = MILLISECOND_NS;
/// Silences kept of one shard; later ones are not.
const KEPT_MAX: usize = 1024;

/// One silence of one shard, on the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardSilence {
    /// The last reply before it.
    pub(crate) from_ns: u64,
    /// The first reply after it.
    pub(crate) until_ns: u64,
    /// The part of it in which the generator was to run and did not.
    pub(crate) late_ns: u64,
    /// Connections that waited for a reply at its end.
    pub(crate) waiting: u32,
    /// Of these, those that had waited for at most half its length when it began.
    pub(crate) held_up: u32,
}

/// The silences of a shard, and what is known of its loop since the last reply.
#[derive(Debug)]
pub(crate) struct Silences {
    pub(crate) found: Vec<ShardSilence>,
    /// When the loop's turn began.
    turn_at_ns: u64,
    /// Until when its wait was to last.
    until_ns: u64,
    /// How late turns have begun since the last one with a reply.
    late_ns: u64,
}

impl Silences {
    pub(super) fn new(now_ns: u64) -> Self {
        Self {
            found: Vec::with_capacity(KEPT_MAX),
            turn_at_ns: now_ns,
            until_ns: now_ns,
            late_ns: 0,
        }
    }

    /// A turn of the loop begins. It was to begin with the end of the wait, or as soon as the replies of the last turn were dealt with.
    #[inline]
    pub(super) fn turn(&mut self, now_ns: u64, last_reply_at_ns: u64) {
        let due_ns = if last_reply_at_ns > self.turn_at_ns {
            self.late_ns = 0;
            last_reply_at_ns
        } else {
            self.until_ns
        };
        self.late_ns += overslept_ns(now_ns, due_ns);
        self.turn_at_ns = now_ns;
    }

    #[inline]
    pub(super) fn wait_until(&mut self, until_ns: u64) {
        // A wait that only looks ends at once.
        self.until_ns = until_ns.max(self.turn_at_ns);
    }

    fn late_ns(&self, now_ns: u64) -> u64 {
        self.late_ns + overslept_ns(now_ns, self.until_ns)
    }
}

/// A turn's work takes its time; so much of it is no work.
#[inline]
fn overslept_ns(now_ns: u64, due_ns: u64) -> u64 {
    match now_ns.saturating_sub(due_ns) {
        ..LATE_NS_MIN => 0,
        late_ns => late_ns,
    }
}

impl<B: Backend, P: Pacing> Exchange<'_, B, P> {
    /// The first reply after a long time came, and is not yet counted.
    #[cold]
    pub(super) fn note_silence(&mut self, now_ns: u64) {
        let from_ns = self.last_reply_at_ns.max(self.stages.measuring_since_ns);
        let length_ns = now_ns.saturating_sub(from_ns);
        if self.stages.now() != ShardStage::Measuring
            || self.progress.replies == 0
            || length_ns < LEAST_NS
            || self.silences.found.len() == KEPT_MAX
        {
            return;
        }
        let (mut waiting, mut held_up) = (0, 0);
        for connection in &self.shard.connections {
            if connection.is_usable() && connection.outstanding() > 0 {
                let waited_ns = now_ns.saturating_sub(connection.waiting_since_ns);
                waiting += 1;
                held_up += u32::from(waited_ns <= length_ns + length_ns / 2);
            }
        }
        let late_ns = self.silences.late_ns(now_ns);
        self.silences.found.push(ShardSilence {
            from_ns,
            until_ns: now_ns,
            late_ns,
            waiting,
            held_up,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = MILLISECOND_NS;

    #[test]
    fn a_loop_that_sleeps_as_long_as_it_was_to_is_not_late() {
        let mut silences = Silences::new(0);
        silences.turn(0, 0);
        silences.wait_until(20 * MS);
        // A reply at 3 ms ends the wait.
        silences.turn(3 * MS, 3 * MS);
        for turn in 0..5 {
            silences.wait_until((23 + 20 * turn) * MS);
            silences.turn((23 + 20 * turn) * MS, 3 * MS);
        }
        silences.wait_until(123 * MS);
        assert_eq!(silences.late_ns(110 * MS), 0);
    }

    #[test]
    fn what_the_loop_overslept_is_its_own() {
        let mut silences = Silences::new(0);
        silences.turn(0, 0);
        silences.wait_until(20 * MS);
        silences.turn(70 * MS, 0);
        silences.wait_until(90 * MS);
        assert_eq!(silences.late_ns(80 * MS), 50 * MS);
        assert_eq!(silences.late_ns(95 * MS), 55 * MS);
    }

    #[test]
    fn a_loop_that_stood_still_after_a_reply_is_late_from_then_on() {
        let mut silences = Silences::new(0);
        silences.turn(0, 0);
        silences.wait_until(20 * MS);
        silences.turn(62 * MS, 2 * MS);
        assert_eq!(silences.late_ns, 60 * MS);
        silences.wait_until(82 * MS);
        silences.turn(65 * MS, 63 * MS);
        assert_eq!(silences.late_ns, 2 * MS, "a reply came meanwhile");
    }

    #[test]
    fn a_loop_that_spins_is_not_late() {
        let mut silences = Silences::new(0);
        for microseconds in 0..100_000 {
            silences.turn(microseconds * 1_000, 0);
            // Due already, or soon.
            silences.wait_until(50 * MS);
        }
        assert_eq!(silences.late_ns(100_001_000), 0);
    }
}
