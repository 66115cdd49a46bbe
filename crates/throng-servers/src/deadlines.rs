//! Whose time is over next, for models in which many connections share a thread: a list, and no loop. It tells times; who
//! looks at it when, and what happens then, is the model's.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use throng_sys::clock::monotonic_ns;

/// Deadlines on the monotonic clock, each of a connection's slot. None is taken out before its time: a model keeps
/// the one that holds in the connection, and passes over whatever differs from it.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    earliest_first: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Deadlines {
    /// Enters one that is so far from now; when that is.
    pub(crate) fn add(&mut self, key: usize, delay: Duration) -> u64 {
        let delay_ns = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        let until_ns = monotonic_ns().saturating_add(delay_ns);
        self.earliest_first.push(Reverse((until_ns, key)));
        until_ns
    }

    /// How long it is to the earliest, 0 when that is over; `None` where there is none.
    #[inline]
    pub(crate) fn remaining_ns(&self) -> Option<u64> {
        let Reverse((until_ns, _)) = self.earliest_first.peek()?;
        Some(until_ns.saturating_sub(monotonic_ns()))
    }

    /// Takes the earliest where it is not after `now_ns`: which slot's, and when it was.
    pub(crate) fn take_due(&mut self, now_ns: u64) -> Option<(usize, u64)> {
        let Reverse((until_ns, _)) = self.earliest_first.peek()?;
        if *until_ns > now_ns {
            return None;
        }
        let Reverse((until_ns, key)) = self.earliest_first.pop()?;
        Some((key, until_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_due_in_their_order_and_never_early() {
        let mut deadlines = Deadlines::default();
        assert_eq!(deadlines.remaining_ns(), None);
        let late_ns = deadlines.add(1, Duration::from_secs(3600));
        let soon_ns = deadlines.add(2, Duration::ZERO);
        assert_eq!(deadlines.remaining_ns(), Some(0));
        assert_eq!(deadlines.take_due(soon_ns - 1), None);
        assert_eq!(deadlines.take_due(soon_ns), Some((2, soon_ns)));
        assert_eq!(deadlines.take_due(late_ns - 1), None);
        assert_eq!(deadlines.take_due(late_ns), Some((1, late_ns)));
    }
}
