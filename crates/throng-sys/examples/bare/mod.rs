//! What both `io_uring` floors need: a ring, its buffers, and a push that knows no error.

use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

pub(crate) const BUFFERS: u16 = 1024;
pub(crate) const BUFFER_BYTES: usize = 256;

/// A ring as throng sets its own up, with the pool registered.
pub(crate) fn ring() -> std::io::Result<(IoUring, Pool)> {
    let ring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_cqsize(8192)
        .build(1024)?;
    let pool = Pool::new();
    // SAFETY: the pool lives as long as the process.
    unsafe {
        ring.submitter()
            .register_buf_ring_with_flags(pool.entries as u64, BUFFERS, 0, 0)
    }?;
    Ok((ring, pool))
}

pub(crate) fn push(ring: &mut IoUring, entry: &io_uring::squeue::Entry) {
    // SAFETY: addresses in entries are of memory that lives as long as the process.
    while unsafe { ring.submission().push(entry) }.is_err() {
        ring.submit().expect("a submission");
    }
}

/// Buffers and the ring through which they are given to the kernel; never freed.
pub(crate) struct Pool {
    pub(crate) entries: *mut BufRingEntry,
    memory: *mut u8,
    tail: u16,
}

impl Pool {
    pub(crate) fn new() -> Self {
        let aligned = |bytes: usize| {
            let layout =
                std::alloc::Layout::from_size_align(bytes, 4096).expect("a page is a power of two");
            // SAFETY: the layout is not empty.
            unsafe { std::alloc::alloc_zeroed(layout) }
        };
        let entries = aligned(usize::from(BUFFERS) * size_of::<BufRingEntry>()).cast();
        let mut pool = Self {
            entries,
            memory: aligned(usize::from(BUFFERS) * BUFFER_BYTES),
            tail: 0,
        };
        (0..BUFFERS).for_each(|id| pool.give(id));
        pool
    }

    pub(crate) fn address(&self, id: u16) -> *mut u8 {
        // SAFETY: ids are below the number of buffers.
        unsafe { self.memory.add(usize::from(id) * BUFFER_BYTES) }
    }

    pub(crate) fn give(&mut self, id: u16) {
        let address = self.address(id) as u64;
        // SAFETY: the entry lies within the ring, and the kernel does not look at it before the tail has passed it.
        unsafe {
            let entry = &mut *self.entries.add(usize::from(self.tail & (BUFFERS - 1)));
            entry.set_addr(address);
            entry.set_len(BUFFER_BYTES as u32);
            entry.set_bid(id);
            self.tail = self.tail.wrapping_add(1);
            AtomicU16::from_ptr(BufRingEntry::tail(self.entries).cast_mut())
                .store(self.tail, Ordering::Release);
        }
    }
}
