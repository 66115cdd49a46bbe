//! The places of a loop that has a descriptor table of its own: how many connections it holds before it stops accepting, and
//! whether any loop of the server has one left.
//!
//! *Method.* `ulimit -n` bounds a table, not a process ([`throng_sys::descriptor_table`]), so each loop has the whole limit to
//! itself, less what it needs besides connections. It counts, rather than wait for an accept to fail: a failed accept leaves its
//! connection in a queue of which the kernel has told nobody else.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use throng_sys::limits;

/// Standard input, output and error, and the loop's epoll.
const OF_EVERY_LOOP: usize = 4;
/// Left free for what a library may open for a moment.
const RESERVE: usize = 4;

/// How many loops a server has, and how many of them are full.
#[derive(Debug)]
pub(crate) struct Fullness {
    loops: usize,
    full: AtomicUsize,
}

/// One loop's places.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    max: usize,
    is_full: bool,
    fullness: &'a Fullness,
}

impl Fullness {
    pub(crate) fn new(loops: usize) -> Self {
        Self {
            loops,
            full: AtomicUsize::new(0),
        }
    }

    /// The places of a loop that keeps so many descriptors besides.
    pub(crate) fn places(&self, kept: usize) -> Places<'_> {
        let limit = usize::try_from(limits::open_files().soft).unwrap_or(usize::MAX);
        // With a limit as low as that, the accept itself may fail.
        let max = limit.saturating_sub(OF_EVERY_LOOP + kept + RESERVE).max(1);
        Places {
            max,
            is_full: false,
            fullness: self,
        }
    }
}

impl Places<'_> {
    /// Whether that many connections take the last place; to be asked after each accept.
    pub(crate) fn are_taken_by(&self, connections: usize) -> bool {
        connections >= self.max
    }

    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The last one is taken. Where no other loop has one left either: why nobody is accepted now.
    pub(crate) fn fill(&mut self) -> Option<io::Error> {
        self.is_full = true;
        let full = self.fullness.full.fetch_add(1, Ordering::Relaxed) + 1;
        (full == self.fullness.loops).then(|| {
            io::Error::other(format!(
                "all loops are full ({full} of them, the last with {} connections); each has the limit on open files \
                 for itself, so more `--workers` hold more",
                self.max
            ))
        })
    }

    /// One is free again; whether none was.
    pub(crate) fn free(&mut self) -> bool {
        let was_full = self.is_full;
        if was_full {
            self.is_full = false;
            self.fullness.full.fetch_sub(1, Ordering::Relaxed);
        }
        was_full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_loop_to_fill_says_so() {
        let fullness = Fullness::new(2);
        let (mut one, mut two) = (fullness.places(10), fullness.places(20));
        assert_eq!(one.max, two.max + 10);
        assert!(!one.are_taken_by(one.max - 1) && one.are_taken_by(one.max));
        assert!(one.fill().is_none());
        assert!(
            two.fill()
                .is_some_and(|why| why.to_string().contains("--workers"))
        );
        assert!(one.is_full() && one.free() && !one.free() && !one.is_full());
        assert!(one.fill().is_some(), "again");
        assert!(two.free());
    }

    #[test]
    fn there_is_always_one_place() {
        assert!(!Fullness::new(1).places(usize::MAX / 2).are_taken_by(0));
    }
}
