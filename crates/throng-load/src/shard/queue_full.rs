//! Connects that wait for room in a Unix listener's queue.
//!
//! A blocking connect sleeps until there is some (`unix_wait_for_peer`, net/unix/af_unix.c). One that does not block gets EAGAIN and no event, so it is
//! tried again every [`PAUSE_NS`]: that much later than a blocking one it may come, and in another order. The wait is part of the connect's time.

use throng_record::QueueFullWaits;
use throng_sys::clock::MILLISECOND_NS;

/// How long a full listener is left alone.
pub(super) const PAUSE_NS: u64 = MILLISECOND_NS / 5;

/// Who waits, and what came of those that did.
#[derive(Debug, Default)]
pub(super) struct QueueFull {
    /// Slots, and since when; the longest first.
    waiting: Vec<(u32, u64)>,
    pub(super) waits: QueueFullWaits,
}

impl QueueFull {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// This one found the queue full, for the first time then.
    pub(super) fn wait(&mut self, slot: u32, since_ns: u64) {
        self.waiting.push((slot, since_ns));
    }

    /// All of them, to be tried again.
    pub(super) fn take(&mut self) -> Vec<(u32, u64)> {
        std::mem::take(&mut self.waiting)
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
            let (_, since_ns) = self.waiting.remove(place);
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
        for (slot, since_ns) in queue.take() {
            match slot {
                3 => queue.ended(since_ns, 400),
                _ => queue.wait(slot, since_ns),
            }
        }
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
