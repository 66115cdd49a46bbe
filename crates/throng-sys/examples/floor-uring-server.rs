//! The floor under the `io-uring` server: the least that an echo over `io_uring` does. Bytes are sent from the very buffer
//! they were received in, with no copy; it uses the ring bare, without the safe wrapper, handles no short send and no error,
//! and ends when it is killed.
//!
//! Usage: `floor-uring-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]
#![expect(
    unsafe_code,
    reason = "a bare ring: the wrapper's cost is part of what is compared with this"
)]

use std::error::Error;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::{BufRingEntry, Fd};
use io_uring::{IoUring, cqueue, opcode};
use throng_sys::{affinity, socket};

const BUFFERS: u16 = 1024;
const BUFFER_BYTES: usize = 2048;
const ACCEPT: u64 = u64::MAX;
/// Set in the user data of a send; its lower bits are the buffer.
const SEND: u64 = 1 << 62;

/// Buffers and the ring through which they are given to the kernel; never freed.
struct Pool {
    entries: *mut BufRingEntry,
    memory: *mut u8,
    tail: u16,
}

impl Pool {
    fn new() -> Self {
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

    fn address(&self, id: u16) -> *mut u8 {
        // SAFETY: ids are below the number of buffers.
        unsafe { self.memory.add(usize::from(id) * BUFFER_BYTES) }
    }

    fn give(&mut self, id: u16) {
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

fn main() -> Result<(), Box<dyn Error>> {
    let cpu = std::env::args()
        .nth(1)
        .ok_or("usage: floor-uring-server CPU")?;
    affinity::set_current_thread(&[cpu.parse()?])?;
    let (listener, address) = socket::listen(&"127.0.0.1:0".parse()?, 4096)?;
    println!("ready {address}");
    let mut ring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_cqsize(8192)
        .build(1024)?;
    let mut pool = Pool::new();
    // SAFETY: the pool lives as long as the process.
    unsafe {
        ring.submitter()
            .register_buf_ring_with_flags(pool.entries as u64, BUFFERS, 0, 0)
    }?;
    let push = |ring: &mut IoUring, entry: io_uring::squeue::Entry| {
        // SAFETY: addresses in entries are of the pool, which lives as long as the process.
        while unsafe { ring.submission().push(&entry) }.is_err() {
            ring.submit().expect("a submission");
        }
    };
    push(
        &mut ring,
        opcode::AcceptMulti::new(Fd(listener.as_raw_fd()))
            .build()
            .user_data(ACCEPT),
    );
    loop {
        ring.submit_and_wait(1)?;
        while let Some(completion) = { ring.completion().next() } {
            let (data, result) = (completion.user_data(), completion.result());
            if data == ACCEPT {
                rustix::net::sockopt::set_tcp_nodelay(borrowed(&result), true)?;
                push(
                    &mut ring,
                    opcode::RecvMulti::new(Fd(result), 0)
                        .build()
                        .user_data(result as u64),
                );
            } else if data & SEND != 0 {
                pool.give(data as u16);
            } else if let (Some(id), 1..) = (cqueue::buffer_select(completion.flags()), result) {
                let send =
                    opcode::Send::new(Fd(data as i32), pool.address(id), result as u32).build();
                push(&mut ring, send.user_data(SEND | u64::from(id)));
            }
        }
    }
}

fn borrowed(fd: &i32) -> std::os::fd::BorrowedFd<'_> {
    // SAFETY: the kernel has just accepted it, and nothing closes it.
    unsafe { std::os::fd::BorrowedFd::borrow_raw(*fd) }
}
