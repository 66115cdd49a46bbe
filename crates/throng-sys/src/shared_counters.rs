//! Counters that a process shares with the children that it forks, so that totals are exact however a child ends.
//!
//! In anonymous shared memory (`mmap(2)`, `MAP_SHARED`), which a fork does not copy. Each lane of counters has a cache
//! line of its own: who counts in one does not slow those down who count in others.

use std::io;
use std::ops::Index;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Counters of one lane.
pub const COUNTERS_PER_LANE: usize = 8;

/// The counters of one process, or of a few.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Lane([AtomicU64; COUNTERS_PER_LANE]);

const _: () = assert!(size_of::<Lane>() == 64);

impl Index<usize> for Lane {
    type Output = AtomicU64;

    fn index(&self, counter: usize) -> &AtomicU64 {
        &self.0[counter]
    }
}

/// Lanes of counters, all 0 at first.
#[derive(Debug)]
pub struct SharedCounters {
    lanes: NonNull<Lane>,
    length: usize,
}

impl SharedCounters {
    /// So many lanes, at least one.
    ///
    /// # Errors
    /// As `mmap(2)`.
    pub fn new(lanes: usize) -> io::Result<Self> {
        let length = lanes.max(1);
        let bytes = length
            .checked_mul(size_of::<Lane>())
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: no address is asked for, so no mapping of ours is replaced.
        let address = unsafe { mmap_anonymous(ptr::null_mut(), bytes, access, MapFlags::SHARED) }?;
        Ok(Self {
            lanes: NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?,
            length,
        })
    }

    /// The lanes, each for one writer or for a few.
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        // SAFETY: the mapping has room for so many, is aligned to a page, is zero at first (which is a valid counter),
        // and lives as long as `self`. Whoever else has it, in another process, uses atomic operations as well.
        unsafe { std::slice::from_raw_parts(self.lanes.as_ptr(), self.length) }
    }

    /// The sum of a counter over all lanes.
    #[must_use]
    pub fn sum(&self, counter: usize) -> u64 {
        self.lanes()
            .iter()
            .map(|lane| lane[counter].load(Relaxed))
            .sum()
    }
}

impl Drop for SharedCounters {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours alone in this process, and no borrow of it outlives `self`.
        let _ = unsafe { munmap(self.lanes.as_ptr().cast(), self.length * size_of::<Lane>()) };
    }
}

// SAFETY: all that can be reached through it is atomic; the mapping is tied to no thread.
unsafe impl Send for SharedCounters {}
// SAFETY: as above.
unsafe impl Sync for SharedCounters {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_begin_at_zero_and_are_summed_by_counter() {
        let counters = SharedCounters::new(100).expect("mapped");
        assert_eq!(counters.lanes().len(), 100);
        assert_eq!(counters.sum(7), 0);
        for (lane, number) in counters.lanes().iter().zip(1..) {
            lane[2].fetch_add(number, Relaxed);
            lane[3].fetch_add(1, Relaxed);
        }
        assert_eq!((counters.sum(2), counters.sum(3)), (5050, 100));
    }

    #[test]
    fn there_is_always_a_lane() {
        assert_eq!(SharedCounters::new(0).expect("mapped").lanes().len(), 1);
        assert!(SharedCounters::new(usize::MAX).is_err());
    }
}
