//! Connects that wait for room in a Unix listener's queue.
//!
//! A blocking connect sleeps until there is some (`unix_wait_for_peer`, net/unix/af_unix.c). One that does not block gets EAGAIN and no event, so it is
//! tried again every [`PAUSE_NS`], and whenever something else has happened: so much later than a blocking one it may come. Who came first is tried first, and who comes
//! meanwhile waits behind: as of blocking ones, none overtakes. The wait is part of the connect's time.

use std::collections::VecDeque;

use throng_record::QueueFullWaits;
use throng_sys::clock::MILLISECOND_NS;

/// How long a full listener is left alone.
pub(super) const PAUSE_NS: u64 = MILLISECOND_NS / 5;

/// What came of a connect call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// It is connected, under way, or has failed.
    Done,
    QueueFull,
}

/// Who waits, and what came of those that did.
#[derive(Debug, Default)]
pub(super) struct QueueFull {
    /// Slots, and since when; the longest first.
    waiting: VecDeque<(u32, u64)>,
    pub(super) waits: QueueFullWaits,
}

impl QueueFull {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// This one found the queue full just now, or others that wait.
    pub(super) fn wait(&mut self, slot: u32, now_ns: u64) {
        self.waiting.push_back((slot, now_ns));
    }

    /// The next to be tried again, and since when it waits.
    pub(super) fn next(&mut self) -> Option<(u32, u64)> {
        self.waiting.pop_front()
    }

    /// It found the queue full once more.
    pub(super) fn wait_on(&mut self, slot: u32, since_ns: u64) {
        self.waiting.push_front((slot, since_ns));
    }

    /// The wait of one is over, in whichever way.
    pub(super) fn ended(&mut self, since_ns: u64, now_ns: u64) {
        self.waits.connects += 1;
        self.waits.waited_ns += now_ns.saturating_sub(since_ns);
    }

    /// One that is given up does not wait on.
    pub(super) fn give_up(&mut self, slot: u32, now_ns: u64) {
        if let Some(place) = self
            .waiting
            .iter()
            .position(|&(waiting, _)| waiting == slot)
        {
            let (_, since_ns) = self.waiting.remove(place).expect("it is there");
            self.ended(since_ns, now_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_counted_once_with_its_whole_length() {
        let mut queue = QueueFull::default();
        queue.wait(3, 100);
        queue.wait(5, 150);
        assert_eq!(queue.next(), Some((3, 100)));
        queue.wait_on(3, 100);
        assert_eq!(queue.next(), Some((3, 100)), "nobody overtakes");
        queue.ended(100, 400);
        queue.give_up(3, 900);
        queue.give_up(5, 1_150);
        assert!(queue.is_empty());
        let expected = QueueFullWaits {
            connects: 2,
            waited_ns: 1_300,
        };
        assert_eq!(queue.waits, expected);
    }
}
