//! `io_uring(7)`, made safe for stream sockets: multishot accept and receive into provided buffers, sends from memory
//! that the ring itself owns.
//!
//! *Method.* Memory safety of a completion interface is a question of who owns the bytes while the kernel uses them.
//! Here the ring owns all of them: received bytes live in its [`buffers::BufferPool`] until recycled, sent bytes either
//! in an immutable block that lives as long as the ring ([`Ring::send_shared`]) or in a vector that is handed over and
//! comes back with the completion ([`Ring::send_owned`]). So no caller needs `unsafe`.
//!
//! *Left out on purpose.* Direct descriptors (`TCP_INFO` needs real ones) and kernel-side polling (it burns a core).

pub mod buffers;
mod completion;
mod in_flight;

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd as _, RawFd};
use std::sync::Arc;

use io_uring::{IoUring, cqueue, opcode, squeue, types};

use crate::clock::timespec;
use buffers::{BufferId, BufferPool};
use completion::{kind_of, user_data};
use in_flight::InFlight;

pub use completion::{Completion, Kind, TOKEN_MAX};

/// The block that multishot receives draw their buffers from.
const BUFFER_GROUP: u16 = 0;

/// Sizes of a ring.
#[derive(Clone, Copy, Debug)]
pub struct RingOptions {
    /// Entries of the submission queue, a power of two.
    pub submission_entries: u32,
    /// Entries of the completion queue, a power of two.
    pub completion_entries: u32,
    /// Provided buffers, a power of two up to 32,768.
    pub buffer_count: u16,
    /// Bytes of each provided buffer.
    pub buffer_bytes: u32,
}

/// A ring used by one thread (`IORING_SETUP_SINGLE_ISSUER`), whose work is done when that thread waits
/// (`IORING_SETUP_DEFER_TASKRUN`; Linux 6.1).
pub struct Ring {
    // Declared first so that it is dropped first: the kernel must let go of the memory below before that is freed.
    ring: IoUring,
    buffers: BufferPool,
    shared: Arc<[u8]>,
    in_flight: InFlight,
    /// Read by the kernel when an alarm is submitted.
    alarm_time: Box<types::Timespec>,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Ring")
            .field("buffers", &self.buffers)
            .finish_non_exhaustive()
    }
}

impl Ring {
    /// A ring that sends shared bytes from `shared`. Make it in the thread that uses it, after that thread's
    /// descriptor table has been made private.
    ///
    /// # Errors
    /// ENOSYS or EINVAL on an older kernel, EPERM where `kernel.io_uring_disabled` or a seccomp filter forbids it, ENOMEM.
    pub fn new(options: RingOptions, shared: Arc<[u8]>) -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_cqsize(options.completion_entries)
            .build(options.submission_entries)?;
        let buffers = BufferPool::new(options.buffer_count, options.buffer_bytes)?;
        // SAFETY: the pool's ring lies in its own page-aligned mapping of that many entries; the pool is a field
        // declared after the ring, so it outlives the registration.
        unsafe {
            ring.submitter().register_buf_ring_with_flags(
                buffers.ring_address(),
                buffers.count(),
                BUFFER_GROUP,
                0,
            )?;
        }
        Ok(Self {
            ring,
            buffers,
            shared,
            in_flight: InFlight::default(),
            alarm_time: Box::default(),
        })
    }

    /// Accepts every connection from now on, one completion each.
    ///
    /// # Errors
    /// As [`Ring::submit_and_wait`], where the submission queue had to be emptied first.
    pub fn accept(&mut self, listener: impl AsFd, token: u64) -> io::Result<()> {
        let operation = opcode::AcceptMulti::new(target(&listener))
            .flags(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        self.push(operation.build(), Kind::Accept, token)
    }

    /// Accepts one connection: one completion, and nothing is under way after it.
    ///
    /// # Errors
    /// As [`Ring::accept`].
    pub fn accept_once(&mut self, listener: impl AsFd, token: u64) -> io::Result<()> {
        let nowhere = std::ptr::null_mut();
        let operation = opcode::Accept::new(target(&listener), nowhere, nowhere.cast())
            .flags(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        self.push(operation.build(), Kind::Accept, token)
    }

    /// Receives from now on, one completion for each piece that comes.
    ///
    /// # Errors
    /// As [`Ring::accept`].
    pub fn receive(&mut self, socket: impl AsFd, token: u64) -> io::Result<()> {
        self.push(
            opcode::RecvMulti::new(target(&socket), BUFFER_GROUP).build(),
            Kind::Receive,
            token,
        )
    }

    /// Receives once: one completion, with a buffer if bytes came. Nothing is under way after it, so that the socket can be
    /// closed at once.
    ///
    /// # Errors
    /// As [`Ring::accept`].
    pub fn receive_once(&mut self, socket: impl AsFd, token: u64) -> io::Result<()> {
        // No address, and the length 0: the kernel takes a provided buffer and as much as it holds.
        let operation = opcode::Recv::new(target(&socket), std::ptr::null_mut(), 0)
            .buf_group(BUFFER_GROUP)
            .build()
            .flags(squeue::Flags::BUFFER_SELECT);
        self.push(operation, Kind::Receive, token)
    }

    /// Sends a range of the shared bytes, whole. A `silent` one has a completion only where it fails; do not have two
    /// under way on one socket, since the second may overtake the rest of a first that did not fit at once.
    ///
    /// # Errors
    /// As [`Ring::accept`].
    ///
    /// # Panics
    /// Where the range is not within the shared bytes.
    pub fn send_shared(
        &mut self,
        socket: impl AsFd,
        range: Range<usize>,
        token: u64,
        silent: bool,
    ) -> io::Result<()> {
        let bytes = &self.shared[range];
        // MSG_WAITALL: the kernel itself goes on after a partial send, in order.
        let operation = opcode::Send::new(target(&socket), bytes.as_ptr(), bytes.len() as u32)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build();
        let flags = if silent {
            squeue::Flags::SKIP_SUCCESS
        } else {
            squeue::Flags::empty()
        };
        self.push(operation.flags(flags), Kind::SendShared, token)
    }

    /// Sends a vector whole; it comes back with the completion.
    ///
    /// # Errors
    /// As [`Ring::accept`].
    pub fn send_owned(&mut self, socket: impl AsFd, bytes: Vec<u8>, token: u64) -> io::Result<()> {
        let operation = opcode::Send::new(target(&socket), bytes.as_ptr(), bytes.len() as u32)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build();
        // The vector's heap block does not move when the vector itself does.
        let index = self.in_flight.insert(token, bytes);
        self.push(operation, Kind::SendOwned, index)
    }

    /// Waits, once, for readiness of a descriptor (`poll(2)` flags).
    ///
    /// # Errors
    /// As [`Ring::accept`].
    pub fn poll(&mut self, fd: impl AsFd, interest: i16, token: u64) -> io::Result<()> {
        let flags = u32::from(interest.cast_unsigned());
        self.push(
            opcode::PollAdd::new(target(&fd), flags).build(),
            Kind::Poll,
            token,
        )
    }

    /// Completes once at that time of the monotonic clock. Unlike a time-out of the wait, which is armed and disarmed by every
    /// wait, an alarm stays armed across waits: on a virtual machine each arming leaves the guest. At most one may be
    /// queued between two submissions.
    ///
    /// # Errors
    /// As [`Ring::accept`].
    pub fn alarm(&mut self, at_ns: u64, token: u64) -> io::Result<()> {
        let at = timespec(at_ns);
        *self.alarm_time = types::Timespec::new()
            .sec(at.tv_sec.cast_unsigned())
            .nsec(at.tv_nsec.cast_unsigned() as u32);
        let operation = opcode::Timeout::new(&raw const *self.alarm_time)
            .flags(types::TimeoutFlags::ABS)
            .build();
        self.push(operation, Kind::Alarm, token)
    }

    /// Cancels the operation of that kind and token, where one is under way; its completion then comes with ECANCELED.
    ///
    /// # Errors
    /// As [`Ring::accept`].
    pub fn cancel(&mut self, kind: Kind, token: u64) -> io::Result<()> {
        let under_way = match kind {
            Kind::SendOwned => self.in_flight.number_of(token),
            _ => Some(token),
        };
        let Some(number) = under_way else {
            return Ok(());
        };
        self.push(
            opcode::AsyncCancel::new(user_data(kind, number)).build(),
            Kind::Cancel,
            token,
        )
    }

    fn push(&mut self, entry: squeue::Entry, kind: Kind, token: u64) -> io::Result<()> {
        debug_assert!(token <= TOKEN_MAX, "the token's upper bits are the kind's");
        let entry = entry.user_data(user_data(kind, token));
        loop {
            // SAFETY: every address in an entry is of memory that this ring owns until the completion (see the module's text).
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                return Ok(());
            }
            ignore_interrupts(self.ring.submit())?;
        }
    }

    /// Submits what was asked for, and does not wait.
    ///
    /// # Errors
    /// As `io_uring_enter(2)`.
    pub fn submit(&mut self) -> io::Result<()> {
        ignore_interrupts(self.ring.submit())
    }

    /// Submits what was asked for, and waits until at least `want` completions are there, at most `timeout_ns` (forever
    /// without). A signal or the time-out ends the wait early and is no error.
    ///
    /// # Errors
    /// As `io_uring_enter(2)`.
    #[inline]
    pub fn submit_and_wait(&mut self, want: usize, timeout_ns: Option<u64>) -> io::Result<()> {
        match timeout_ns {
            None => ignore_interrupts(self.ring.submit_and_wait(want)),
            Some(0) => ignore_interrupts(self.submit_and_look()),
            Some(timeout_ns) => {
                let timeout = timespec(timeout_ns);
                let timeout = types::Timespec::new()
                    .sec(timeout.tv_sec.cast_unsigned())
                    .nsec(timeout.tv_nsec.cast_unsigned() as u32);
                let arguments = types::SubmitArgs::new().timespec(&timeout);
                ignore_interrupts(self.ring.submitter().submit_with_args(want, &arguments))
            }
        }
    }

    /// Submits, and lets the kernel post what is complete: with deferred task work that happens only in a call that asks
    /// for events, which the crate makes only where it also waits for some.
    fn submit_and_look(&mut self) -> io::Result<usize> {
        const GET_EVENTS: u32 = 1;
        let queued = self.ring.submission().len() as u32;
        // SAFETY: that many entries are in the queue, each valid as said in `push`; no argument is passed.
        unsafe {
            self.ring
                .submitter()
                .enter::<libc::sigset_t>(queued, 0, GET_EVENTS, None)
        }
    }

    /// The next completion that is already there.
    #[inline]
    pub fn next_completion(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        Some(self.read(&entry))
    }

    #[inline]
    fn read(&mut self, entry: &cqueue::Entry) -> Completion {
        let kind = kind_of(entry.user_data());
        let value = entry.user_data() & TOKEN_MAX;
        let (token, sent) = match kind {
            Kind::SendOwned => self.in_flight.remove(value),
            _ => (value, None),
        };
        Completion {
            kind,
            token,
            result: entry.result(),
            more: cqueue::more(entry.flags()),
            buffer: cqueue::buffer_select(entry.flags()).map(|id| self.buffers.taken(id)),
            sent,
        }
    }

    /// The received bytes of a completion: `length` is its result.
    #[inline]
    #[must_use]
    pub fn received(&self, buffer: &BufferId, length: usize) -> &[u8] {
        self.buffers.bytes(buffer, length)
    }

    /// Gives a buffer back for further receives.
    #[inline]
    pub fn recycle(&mut self, buffer: BufferId) {
        self.buffers.recycle(buffer);
    }
}

fn target(fd: &impl AsFd) -> types::Fd {
    let raw: RawFd = fd.as_fd().as_raw_fd();
    types::Fd(raw)
}

fn ignore_interrupts(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Ok(_) => Ok(()),
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(libc::EINTR | libc::ETIME | libc::EBUSY)
            ) =>
        {
            Ok(())
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
