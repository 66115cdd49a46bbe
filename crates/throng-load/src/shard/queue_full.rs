//! Connects that wait for room in a Unix listener's queue.
//!
//! A blocking connect sleeps until there is some (`unix_wait_for_peer`, net/unix/af_unix.c). One that does not block gets EAGAIN and no event, so it is
//! tried again every [`PAUSE_NS`], and whenever something else has happened: so much later than a blocking one it may come. Who came first is tried first, and who comes
//! meanwhile to the same address waits behind: as of blocking ones, none overtakes. The wait is part of the connect's time.

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

/// Who waits where, and what came of those that did.
#[derive(Debug)]
pub(super) struct QueueFull {
    /// For each address the slots, and since when; the longest first.
    waiting: Vec<VecDeque<(u32, u64)>>,
    /// Over all addresses.
    number: usize,
    pub(super) waits: QueueFullWaits,
}

impl QueueFull {
    pub(super) fn new(addresses: usize) -> Self {
        Self {
            waiting: vec![VecDeque::new(); addresses],
            number: 0,
            waits: QueueFullWaits::default(),
        }
    }

    /// Whether nobody waits anywhere.
    pub(super) fn is_empty(&self) -> bool {
        self.number == 0
    }

    /// Whether others wait there.
    pub(super) fn is_waited_for(&self, place: usize) -> bool {
        !self.waiting[place].is_empty()
    }

    /// This one found the queue full just now, or others that wait.
    pub(super) fn wait(&mut self, place: usize, slot: u32, now_ns: u64) {
        self.waiting[place].push_back((slot, now_ns));
        self.number += 1;
    }

    /// Places where somebody may wait.
    pub(super) fn places(&self) -> std::ops::Range<usize> {
        match self.number {
            0 => 0..0,
            _ => 0..self.waiting.len(),
        }
    }

    /// The next to be tried again there, and since when it waits.
    pub(super) fn next(&mut self, place: usize) -> Option<(u32, u64)> {
        let next = self.waiting[place].pop_front();
        self.number -= usize::from(next.is_some());
        next
    }

    /// It found the queue full once more.
    pub(super) fn wait_on(&mut self, place: usize, slot: u32, since_ns: u64) {
        self.waiting[place].push_front((slot, since_ns));
        self.number += 1;
    }

    /// The wait of one is over, in whichever way.
    pub(super) fn ended(&mut self, since_ns: u64, now_ns: u64) {
        self.waits.connects += 1;
        self.waits.waited_ns += now_ns.saturating_sub(since_ns);
    }

    /// One that is given up does not wait on.
    pub(super) fn give_up(&mut self, place: usize, slot: u32, now_ns: u64) {
        let waiting = &mut self.waiting[place];
        if let Some(position) = waiting.iter().position(|&(own, _)| own == slot) {
            let (_, since_ns) = waiting.remove(position).expect("it is there");
            self.number -= 1;
            self.ended(since_ns, now_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_counted_once_with_its_whole_length() {
        let mut queue = QueueFull::new(2);
        queue.wait(1, 3, 100);
        queue.wait(1, 5, 150);
        assert!(!queue.is_waited_for(0), "another address has room");
        assert_eq!((queue.next(0), queue.next(1)), (None, Some((3, 100))));
        queue.wait_on(1, 3, 100);
        assert_eq!(queue.next(1), Some((3, 100)), "nobody overtakes");
        queue.ended(100, 400);
        queue.give_up(1, 3, 900);
        queue.give_up(1, 5, 1_150);
        assert!(queue.is_empty());
        let expected = QueueFullWaits {
            connects: 2,
            waited_ns: 1_300,
        };
        assert_eq!(queue.waits, expected);
    }
}
