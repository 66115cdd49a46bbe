//! `io_uring`: multishot receive into provided buffers, sends from shared memory, one system call per turn of the loop.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::ops::Range;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use throng_sys::address::Address;
use throng_sys::poll::WRITABLE;
use throng_sys::socket;
use throng_sys::uring::buffers::BufferId;
use throng_sys::uring::{Completion, Kind, Ring, RingOptions, TOKEN_MAX};

use super::{Began, Event, Unsent, What, begin};

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
    usage: Usage,
    received: Option<(BufferId, usize)>,
    /// Completions that were met in search of a send's, in their order.
    early: VecDeque<Completion>,
    /// The slot whose receive has ended, to be received on again unless it is closed before the next event is asked for.
    receive_next: Option<u32>,
    /// Vectors that have been sent, for further bytes.
    spare: Vec<Vec<u8>>,
    /// When the armed alarm ends a wait; the end of time where none is known to be armed. A later one that is still armed is
    /// forgotten, and ends some wait early.
    alarm_at_ns: u64,
}

/// How connections are used, as far as it decides what is asked of the ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Bytes that usually come at once on a connection.
    pub(crate) reply_bytes: usize,
    /// A connection's next send follows the whole reply to its last: its completion need not be seen.
    pub(crate) silent_sends: bool,
    /// Whether a send is submitted at once, and not with whatever else the turn brings: what is due by the clock, and what is timed
    /// by itself, is to be with the kernel when it is said to be sent.
    pub(crate) sends_at_once: bool,
    /// Connections are short: receives end with each piece. A multishot one would hold the socket open, and the peer without our end,
    /// until it is cancelled.
    pub(crate) is_short: bool,
}

#[derive(Default)]
struct Slot {
    socket: Option<OwnedFd>,
    under_way: UnderWay,
    /// Which of the slot's connections it is: a completion at most a few turns old is told apart by it.
    generation: u16,
    /// Sends that must wait for the one under way; where sends are not silent, from the first on.
    queue: Option<Box<SendQueue>>,
}

/// What a closed socket must be freed of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum UnderWay {
    #[default]
    Nothing,
    Connect,
    Receive,
}

impl Slot {
    /// What the kernel hands back with each completion: slot and generation.
    fn token(&self, slot: u32) -> u64 {
        u64::from(self.generation) << 32 | u64::from(slot)
    }
}

#[derive(Default)]
struct SendQueue {
    under_way: bool,
    waiting: VecDeque<Unsent>,
}

/// Vectors of sends that are over and wait for the next, at most.
const SPARE_MAX: usize = 256;

impl UringBackend {
    pub(crate) fn new(slots: usize, shared: Arc<[u8]>, usage: Usage) -> io::Result<Self> {
        let buffer_bytes = usage
            .reply_bytes
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
            usage,
            received: None,
            early: VecDeque::new(),
            receive_next: None,
            spare: Vec::new(),
            alarm_at_ns: u64::MAX,
        })
    }

    fn receive(&mut self, slot: u32) -> io::Result<()> {
        let place = &mut self.slots[slot as usize];
        let token = place.token(slot);
        let Some(socket) = &place.socket else {
            return Ok(());
        };
        place.under_way = UnderWay::Receive;
        if self.usage.is_short {
            self.ring.receive_once(socket, token)
        } else {
            self.ring.receive(socket, token)
        }
    }

    fn on_connect_end(&mut self, slot: u32) -> Option<What> {
        let place = &mut self.slots[slot as usize];
        place.under_way = UnderWay::Nothing;
        let ended = socket::connect_result(place.socket.as_ref()?);
        Some(match ended.and_then(|()| self.receive(slot)) {
            Ok(()) => What::Connected,
            Err(error) => What::Failed(error),
        })
    }

    #[inline]
    fn on_receive(&mut self, slot: u32, completion: Completion) -> Option<What> {
        if !completion.more {
            self.slots[slot as usize].under_way = UnderWay::Nothing;
        }
        match completion.bytes() {
            Ok(0) => Some(What::EndOfInput),
            Ok(length) => {
                self.received = completion.buffer.map(|buffer| (buffer, length));
                if !completion.more {
                    self.receive_next = Some(slot);
                }
                Some(What::Received(length))
            }
            // No buffer was free: those of this batch come back before the next wait.
            Err(_) if completion.is_out_of_buffers() => {
                self.receive_next = Some(slot);
                None
            }
            Err(error) => Some(What::Failed(error)),
        }
    }

    fn on_sent(&mut self, slot: u32, completion: &mut Completion) -> Option<What> {
        self.keep_spare(completion);
        if let Err(error) = completion.bytes() {
            return Some(What::Failed(error));
        }
        let place = &mut self.slots[slot as usize];
        let token = place.token(slot);
        let Slot {
            socket: Some(socket),
            queue: Some(queue),
            ..
        } = place
        else {
            return None;
        };
        queue.under_way = false;
        let next = queue.waiting.pop_front()?;
        queue.under_way = true;
        let sent = match next {
            Unsent::Shared(message) => self.ring.send_shared(socket, message, token, false),
            Unsent::Owned(bytes, _) => self.ring.send_owned(socket, bytes, token),
        };
        let at_once = self.usage.sends_at_once;
        let submitted = sent.and_then(|()| if at_once { self.ring.submit() } else { Ok(()) });
        submitted.err().map(What::Failed)
    }

    /// Looks whether the slot's last send is complete, which the socket mostly lets it be within the call that submits it.
    fn look_for_sent(&mut self, slot: u32) {
        let is_under_way = |place: &Slot| place.queue.as_ref().is_some_and(|queue| queue.under_way);
        while is_under_way(&self.slots[slot as usize])
            && let Some(mut completion) = self.ring.next_completion()
        {
            let is_send = matches!(completion.kind, Kind::SendShared | Kind::SendOwned);
            let is_sent = is_send && completion.bytes().is_ok();
            let is_of_slot = completion.token as u32 == slot && !self.is_stale(&completion);
            if !(is_sent && is_of_slot && self.on_sent(slot, &mut completion).is_none()) {
                self.early.push_back(completion);
            }
        }
    }

    /// Whether it tells of a connection that has been closed.
    #[inline]
    fn is_stale(&self, completion: &Completion) -> bool {
        let slot = completion.token as u32;
        completion.token != self.slots[slot as usize].token(slot)
    }

    fn keep_spare(&mut self, completion: &mut Completion) {
        if let Some(bytes) = completion.sent.take()
            && self.spare.len() < SPARE_MAX
        {
            self.spare.push(bytes);
        }
    }

    /// These bytes in a vector that can be handed over.
    fn owned(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut own = self.spare.pop().unwrap_or_default();
        own.clear();
        own.extend_from_slice(bytes);
        own
    }

    fn recycle_received(&mut self) {
        if let Some((buffer, _)) = self.received.take() {
            self.ring.recycle(buffer);
        }
    }
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
        let place = &mut self.slots[slot as usize];
        let token = place.token(slot);
        let socket = place.socket.insert(socket);
        if began == Began::Connected {
            self.receive(slot)?;
        } else {
            place.under_way = UnderWay::Connect;
            self.ring.poll(socket, WRITABLE, token)?;
        }
        Ok(began)
    }

    #[inline]
    fn send(&mut self, slot: u32, message: Range<usize>) -> io::Result<()> {
        if self.usage.sends_at_once {
            self.look_for_sent(slot);
        }
        let place = &mut self.slots[slot as usize];
        let token = place.token(slot);
        let Slot {
            socket: Some(socket),
            queue,
            ..
        } = place
        else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if !self.usage.silent_sends {
            let queue = queue.get_or_insert_default();
            if queue.under_way {
                queue.waiting.push_back(Unsent::Shared(message));
                return Ok(());
            }
            queue.under_way = true;
        }
        self.ring
            .send_shared(socket, message, token, self.usage.silent_sends)?;
        if self.usage.sends_at_once {
            self.ring.submit()?;
        }
        Ok(())
    }

    /// One at a time is with the kernel: it goes on by itself after a part of one, and a second could overtake the rest.
    fn send_bytes(&mut self, slot: u32, bytes: &[u8]) -> io::Result<()> {
        if self.usage.sends_at_once {
            self.look_for_sent(slot);
        }
        let is_under_way = |queue: &SendQueue| queue.under_way;
        let place = &mut self.slots[slot as usize];
        if place.queue.as_deref().is_some_and(is_under_way)
            && let Some(queue) = &mut place.queue
        {
            match queue.waiting.back_mut() {
                Some(Unsent::Owned(last, _)) => last.extend_from_slice(bytes),
                _ => queue.waiting.push_back(Unsent::Owned(bytes.to_vec(), 0)),
            }
            return Ok(());
        }
        let own = self.owned(bytes);
        let place = &mut self.slots[slot as usize];
        let token = place.token(slot);
        let Slot {
            socket: Some(socket),
            queue,
            ..
        } = place
        else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        queue.get_or_insert_default().under_way = true;
        self.ring.send_owned(socket, own, token)?;
        if self.usage.sends_at_once {
            self.ring.submit()?;
        }
        Ok(())
    }

    #[inline]
    fn wait(&mut self, now_ns: u64, until_ns: u64) -> io::Result<()> {
        if until_ns <= now_ns || !self.early.is_empty() {
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
            if let Some(slot) = self.receive_next.take()
                && let Err(error) = self.receive(slot)
            {
                let what = What::Failed(error);
                return Some(Event { slot, what });
            }
            let early = self.early.pop_front();
            let mut completion = early.or_else(|| self.ring.next_completion())?;
            let slot = completion.token as u32;
            let what = match completion.kind {
                Kind::Receive | Kind::SendShared | Kind::SendOwned | Kind::Poll
                    if self.is_stale(&completion) =>
                {
                    self.keep_spare(&mut completion);
                    self.received = completion.buffer.map(|buffer| (buffer, 0));
                    None
                }
                Kind::Receive => self.on_receive(slot, completion),
                Kind::SendShared | Kind::SendOwned => self.on_sent(slot, &mut completion),
                Kind::Poll => self.on_connect_end(slot),
                Kind::Alarm => {
                    if completion.token == self.alarm_at_ns & TOKEN_MAX {
                        self.alarm_at_ns = u64::MAX;
                    }
                    None
                }
                Kind::Accept | Kind::Cancel => None,
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
        let place = &self.slots[slot as usize];
        // What is only queued is to be with the kernel before the end.
        if place.queue.as_ref().is_some_and(|queue| queue.under_way) {
            self.ring.submit()?;
        }
        match &place.socket {
            Some(socket) => socket::end_output(socket),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn socket(&self, slot: u32) -> Option<BorrowedFd<'_>> {
        let socket = self.slots[slot as usize].socket.as_ref()?;
        Some(socket.as_fd())
    }

    fn close(&mut self, slot: u32) {
        // A send that is not submitted yet names the socket by its number, which the next connection may get.
        let queue = self.slots[slot as usize].queue.as_ref();
        if !self.usage.sends_at_once && queue.is_some_and(|queue| queue.under_way) {
            // A ring that cannot take it is broken, and then the next wait says so.
            let _ = self.ring.submit();
        }
        let place = &mut self.slots[slot as usize];
        if place.socket.take().is_none() {
            return;
        }
        let token = place.token(slot);
        place.generation = place.generation.wrapping_add(1);
        let under_way = std::mem::take(&mut place.under_way);
        let sending = place.queue.as_mut().is_some_and(|queue| {
            queue.waiting.clear();
            std::mem::take(&mut queue.under_way)
        });
        let sends = [Kind::SendShared, Kind::SendOwned].into_iter();
        self.receive_next = self.receive_next.filter(|&next| next != slot);
        // What is under way holds the socket open until it is cancelled. A ring that cannot take the request is broken, and
        // then the next wait says so.
        let receiving = match under_way {
            UnderWay::Nothing => None,
            UnderWay::Connect => Some(Kind::Poll),
            UnderWay::Receive => Some(Kind::Receive),
        };
        for kind in receiving.into_iter().chain(sends.filter(|_| sending)) {
            let _ = self.ring.cancel(kind, token);
        }
    }
}
