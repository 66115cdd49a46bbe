//! `io_uring`: multishot receive into provided buffers, sends from shared memory, one system call per turn of the loop.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use throng_sys::address::Address;
use throng_sys::poll::WRITABLE;
use throng_sys::socket;
use throng_sys::uring::buffers::BufferId;
use throng_sys::uring::{Completion, Kind, Ring, RingOptions, TOKEN_MAX};

use super::{Began, Event, What, begin};

const SUBMISSION_ENTRIES: u32 = 1024;
const COMPLETION_ENTRIES: u32 = 8192;
/// Buffers for received bytes are with the kernel until bytes come, whatever the number of connections. They are used in
/// turn, so all of them together should fit into a near cache where messages are small.
const BUFFER_BYTES_MIN: usize = 256;
const BUFFER_BYTES_MAX: usize = 64 << 10;
const POOL_BYTES: usize = 4 << 20;
const BUFFERS_MAX: usize = 1024;

/// Longer waits are bounded by an alarm that stays armed over many waits, shorter ones by a time-out of their own, which is
/// cheaper where it is likely to be what ends the wait.
const ALARM_FROM_NS: u64 = 1_000_000;

/// The completion back end.
pub(crate) struct UringBackend {
    ring: Ring,
    slots: Vec<Slot>,
    /// Whether at most one send per connection can be under way by the way messages are paced, so that its completion
    /// need not be seen.
    silent_sends: bool,
    received: Option<(BufferId, usize)>,
    /// When the armed alarm ends a wait; the end of time where none is known to be armed. A later one that is still armed is
    /// forgotten, and ends some wait early.
    alarm_at_ns: u64,
}

#[derive(Default)]
struct Slot {
    socket: Option<OwnedFd>,
    /// Sends that must wait for the one under way; where sends are not silent.
    queue: Option<Box<SendQueue>>,
}

#[derive(Default)]
struct SendQueue {
    under_way: bool,
    waiting: VecDeque<Range<usize>>,
}

impl UringBackend {
    /// `reply_bytes` is what usually comes at once on a connection; `silent_sends` promises that a connection's next send
    /// follows the whole reply to its last.
    pub(crate) fn new(
        slots: usize,
        shared: Arc<[u8]>,
        reply_bytes: usize,
        silent_sends: bool,
    ) -> io::Result<Self> {
        let buffer_bytes = reply_bytes
            .min(BUFFER_BYTES_MAX)
            .next_power_of_two()
            .clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX);
        let options = RingOptions {
            submission_entries: SUBMISSION_ENTRIES,
            completion_entries: COMPLETION_ENTRIES,
            buffer_count: (POOL_BYTES / buffer_bytes).min(BUFFERS_MAX) as u16,
            buffer_bytes: buffer_bytes as u32,
        };
        Ok(Self {
            ring: Ring::new(options, shared)?,
            slots: (0..slots).map(|_| Slot::default()).collect(),
            silent_sends,
            received: None,
            alarm_at_ns: u64::MAX,
        })
    }

    fn on_connect_end(&mut self, slot: u32) -> Option<What> {
        let socket = self.slots[slot as usize].socket.as_ref()?;
        Some(
            match socket::connect_result(socket)
                .and_then(|()| self.ring.receive(socket, u64::from(slot)))
            {
                Ok(()) => What::Connected,
                Err(error) => What::Failed(error),
            },
        )
    }

    #[inline]
    fn on_receive(&mut self, slot: u32, completion: Completion) -> Option<What> {
        let Some(socket) = &self.slots[slot as usize].socket else {
            self.received = completion.buffer.map(|buffer| (buffer, 0));
            return None;
        };
        match completion.bytes() {
            Ok(0) => Some(What::EndOfInput),
            Ok(length) => {
                self.received = completion.buffer.map(|buffer| (buffer, length));
                if !completion.more
                    && let Err(error) = self.ring.receive(socket, u64::from(slot))
                {
                    return Some(What::Failed(error));
                }
                Some(What::Received(length))
            }
            // No buffer was free: those of this batch come back before the next wait.
            Err(error) if is_out_of_buffers(&error) => self
                .ring
                .receive(socket, u64::from(slot))
                .err()
                .map(What::Failed),
            Err(error) => Some(What::Failed(error)),
        }
    }

    fn on_sent(&mut self, slot: u32, completion: &Completion) -> Option<What> {
        if let Err(error) = completion.bytes() {
            return self.slots[slot as usize]
                .socket
                .is_some()
                .then_some(What::Failed(error));
        }
        let Slot {
            socket: Some(socket),
            queue: Some(queue),
        } = &mut self.slots[slot as usize]
        else {
            return None;
        };
        queue.under_way = false;
        let message = queue.waiting.pop_front()?;
        queue.under_way = true;
        self.ring
            .send_shared(socket, message, u64::from(slot), false)
            .err()
            .map(What::Failed)
    }

    fn recycle_received(&mut self) {
        if let Some((buffer, _)) = self.received.take() {
            self.ring.recycle(buffer);
        }
    }
}

/// ENOBUFS has no `io::ErrorKind`.
fn is_out_of_buffers(error: &io::Error) -> bool {
    error.raw_os_error() == Some(105)
}

impl super::Backend for UringBackend {
    const EVENTS_COME_TOGETHER: bool = true;

    fn connect(
        &mut self,
        slot: u32,
        address: &Address,
        source: Option<IpAddr>,
        nodelay: bool,
    ) -> io::Result<Began> {
        let (began, Some(socket)) = begin(address, source, nodelay)? else {
            return Ok(Began::QueueFull);
        };
        match began {
            Began::Connected => self.ring.receive(&socket, u64::from(slot))?,
            _ => self.ring.poll(&socket, WRITABLE, u64::from(slot))?,
        }
        let queue = (!self.silent_sends).then(Box::default);
        self.slots[slot as usize] = Slot {
            socket: Some(socket),
            queue,
        };
        Ok(began)
    }

    #[inline]
    fn send(&mut self, slot: u32, message: Range<usize>) -> io::Result<()> {
        let Slot {
            socket: Some(socket),
            queue,
        } = &mut self.slots[slot as usize]
        else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if let Some(queue) = queue {
            if queue.under_way {
                queue.waiting.push_back(message);
                return Ok(());
            }
            queue.under_way = true;
        }
        self.ring
            .send_shared(socket, message, u64::from(slot), self.silent_sends)
    }

    #[inline]
    fn wait(&mut self, now_ns: u64, until_ns: u64) -> io::Result<()> {
        if until_ns <= now_ns {
            return self.ring.submit_and_wait(0, Some(0));
        }
        let wait_ns = until_ns - now_ns;
        if wait_ns < ALARM_FROM_NS {
            return self.ring.submit_and_wait(1, Some(wait_ns));
        }
        if until_ns < self.alarm_at_ns {
            self.ring.alarm(until_ns, until_ns & TOKEN_MAX)?;
            self.alarm_at_ns = until_ns;
        }
        self.ring.submit_and_wait(1, None)
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        loop {
            self.recycle_received();
            let completion = self.ring.next_completion()?;
            let slot = completion.token as u32;
            let what = match completion.kind {
                Kind::Receive => self.on_receive(slot, completion),
                Kind::SendShared => self.on_sent(slot, &completion),
                Kind::Poll => self.on_connect_end(slot),
                Kind::Alarm => {
                    if completion.token == self.alarm_at_ns & TOKEN_MAX {
                        self.alarm_at_ns = u64::MAX;
                    }
                    None
                }
                Kind::Accept | Kind::SendOwned | Kind::Cancel => None,
            };
            if let Some(what) = what {
                return Some(Event { slot, what });
            }
        }
    }

    #[inline]
    fn received(&self) -> &[u8] {
        self.received
            .as_ref()
            .map_or(&[], |(buffer, length)| self.ring.received(buffer, *length))
    }

    fn end_output(&mut self, slot: u32) -> io::Result<()> {
        match &self.slots[slot as usize].socket {
            Some(socket) => socket::end_output(socket),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn close(&mut self, slot: u32) {
        if self.slots[slot as usize].socket.take().is_some() {
            // The receive under way holds the socket open until it is cancelled. A ring that cannot take the request
            // is broken, and then the next wait says so.
            let _ = self.ring.cancel(Kind::Receive, u64::from(slot));
            self.slots[slot as usize] = Slot::default();
        }
    }
}
