//! Provided buffers: memory that the kernel picks from when bytes come, so that idle connections own none
//! (`io_uring_register_buf_ring(3)`).

use std::io;
use std::ptr;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;
use rustix::mm::{MapFlags, ProtFlags};

/// A buffer that holds received bytes. Not copyable: it is either with its holder or with the kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct BufferId(u16);

/// The ring of entries that the kernel reads, and the buffers they point to, in one mapping each.
#[derive(Debug)]
pub struct BufferPool {
    entries: Mapping,
    memory: Mapping,
    count: u16,
    buffer_bytes: usize,
    tail: u16,
    /// Which buffers are with a holder: bytes are only ever shown of these, and each is recycled once.
    taken: Vec<bool>,
}

#[derive(Debug)]
struct Mapping {
    address: ptr::NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping is private memory owned by this value alone; it is not tied to the thread that made it.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(length: usize) -> io::Result<Self> {
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice overlaps nothing.
        let address = unsafe {
            rustix::mm::mmap_anonymous(
                ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        let address = ptr::NonNull::new(address.cast())
            .ok_or_else(|| io::Error::other("a mapping at address 0"))?;
        Ok(Self { address, length })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is the mapping made in `new`, and nobody refers to it any more. A failure leaves it mapped.
        let _ = unsafe { rustix::mm::munmap(self.address.as_ptr().cast(), self.length) };
    }
}

impl BufferPool {
    /// `count` buffers (a power of two) of `buffer_bytes` each, all with the kernel.
    pub(super) fn new(count: u16, buffer_bytes: u32) -> io::Result<Self> {
        if !count.is_power_of_two() || count > 32_768 || buffer_bytes == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the number of buffers is a power of two up to 32,768",
            ));
        }
        let buffer_bytes = buffer_bytes as usize;
        let mut pool = Self {
            entries: Mapping::new(usize::from(count) * size_of::<BufRingEntry>())?,
            memory: Mapping::new(usize::from(count) * buffer_bytes)?,
            count,
            buffer_bytes,
            tail: 0,
            taken: vec![true; usize::from(count)],
        };
        (0..count).for_each(|id| pool.recycle(BufferId(id)));
        Ok(pool)
    }

    pub(super) fn count(&self) -> u16 {
        self.count
    }

    pub(super) fn ring_address(&self) -> u64 {
        self.entries.address.as_ptr() as u64
    }

    /// The kernel has filled this buffer: it is the holder's until recycled.
    #[inline]
    pub(super) fn taken(&mut self, id: u16) -> BufferId {
        self.taken[usize::from(id)] = true;
        BufferId(id)
    }

    /// The first `length` bytes of a buffer that is with its holder.
    #[inline]
    pub(super) fn bytes(&self, id: &BufferId, length: usize) -> &[u8] {
        let index = usize::from(id.0);
        assert!(
            self.taken[index] && length <= self.buffer_bytes,
            "a buffer of this pool, and within it"
        );
        // SAFETY: `index` is below `count` (it indexed `taken`), so the range lies within the mapping; the kernel does
        // not write to a buffer that was taken, and the shared borrow of the pool keeps it from being recycled.
        unsafe {
            std::slice::from_raw_parts(
                self.memory.address.as_ptr().add(index * self.buffer_bytes),
                length,
            )
        }
    }

    /// Gives a buffer back to the kernel.
    #[inline]
    pub(super) fn recycle(&mut self, id: BufferId) {
        let index = usize::from(id.0);
        assert!(
            std::mem::take(&mut self.taken[index]),
            "a buffer is recycled once"
        );
        let slot = usize::from(self.tail & (self.count - 1));
        let ring = self.entries.address.as_ptr().cast::<BufRingEntry>();
        // SAFETY: `slot` is below `count`, so the entry lies within the mapping. The kernel reads an entry only once the
        // tail has passed it, and at most `count` entries are outstanding since each buffer is recycled once, so
        // this one is not being read. The tail overlays the first entry's reserved field, which entries do not set.
        unsafe {
            let entry = &mut *ring.add(slot);
            entry.set_addr(self.memory.address.as_ptr().add(index * self.buffer_bytes) as u64);
            entry.set_len(self.buffer_bytes as u32);
            entry.set_bid(id.0);
            self.tail = self.tail.wrapping_add(1);
            let tail = AtomicU16::from_ptr(BufRingEntry::tail(ring).cast_mut());
            tail.store(self.tail, Ordering::Release);
        }
    }
}
