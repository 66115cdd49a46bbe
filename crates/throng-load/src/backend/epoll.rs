//! Edge-triggered epoll: readiness, then non-blocking reads and writes.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::ops::Range;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use throng_sys::address::Address;
use throng_sys::epoll::{self, Epoll, Interest};
use throng_sys::socket;

use super::{Began, Event, Unsent, What, begin};

/// Events per wait.
const BATCH: usize = 256;
/// Bytes per read: a whole reply of most protocols, a slice of the largest.
const BUFFER_BYTES: usize = 64 * 1024;

/// The readiness back end.
pub(crate) struct EpollBackend {
    epoll: Epoll,
    slots: Vec<Slot>,
    shared: Arc<[u8]>,
    buffer: Box<[u8]>,
    received: usize,
    /// Next event of the batch.
    position: usize,
    /// The connection that is being read, until it has nothing more.
    reading: Option<epoll::Event>,
}

#[derive(Default)]
struct Slot {
    socket: Option<OwnedFd>,
    /// What did not fit into the send buffer; kept when empty, so that it is allocated once.
    #[expect(
        clippy::box_collection,
        reason = "8 bytes in an idle connection instead of 32"
    )]
    unsent: Option<Box<VecDeque<Unsent>>>,
    connecting: bool,
    /// Which of the slot's connections it is. An event is at most one batch old, so that a few numbers suffice.
    generation: u16,
}

impl Slot {
    /// Sends as much as there is room for: nothing while earlier bytes wait.
    #[inline]
    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let Some(socket) = &self.socket else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if self.unsent.as_ref().is_some_and(|all| !all.is_empty()) {
            return Ok(0);
        }
        match socket::send(socket, bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            sent => sent,
        }
    }

    fn keep(&mut self, unsent: Unsent) {
        self.unsent.get_or_insert_default().push_back(unsent);
    }
}

/// What the kernel hands back with each event: slot and generation.
fn token(slot: u32, generation: u16) -> u64 {
    u64::from(generation) << 32 | u64::from(slot)
}

fn slot_of(event: epoll::Event) -> u32 {
    event.token as u32
}

impl EpollBackend {
    pub(crate) fn new(slots: usize, shared: Arc<[u8]>) -> io::Result<Self> {
        Ok(Self {
            epoll: Epoll::new(BATCH)?,
            slots: (0..slots).map(|_| Slot::default()).collect(),
            shared,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            received: 0,
            position: 0,
            reading: None,
        })
    }

    #[inline]
    fn next_ready(&mut self) -> Option<epoll::Event> {
        while self.reading.is_none() {
            let event = self.epoll.event(self.position)?;
            self.position += 1;
            let slot = slot_of(event);
            if event.token == token(slot, self.slots[slot as usize].generation) {
                self.reading = Some(event);
            }
        }
        self.reading
    }

    /// The end of a connect that was under way.
    fn finish_connect(&mut self, event: epoll::Event) -> Option<What> {
        let slot = &mut self.slots[slot_of(event) as usize];
        if !event
            .ready
            .intersects(Interest::OUT | Interest::ERR | Interest::HUP)
        {
            self.reading = None;
            return None;
        }
        slot.connecting = false;
        let socket = slot.socket.as_ref()?;
        // A failed one is always reported as such (tcp_poll in net/ipv4/tcp.c): the others are spared a system call.
        let may_have_failed = event.ready.intersects(Interest::ERR | Interest::HUP);
        let result = may_have_failed.then(|| socket::connect_result(socket));
        match result.unwrap_or(Ok(())) {
            // Input may have come with the connection: the event is looked at once more.
            Ok(()) => Some(What::Connected),
            Err(error) => {
                self.reading = None;
                Some(What::Failed(error))
            }
        }
    }

    /// Sends what had not fitted.
    fn flush(&mut self, slot: usize) -> io::Result<()> {
        let Slot {
            socket: Some(socket),
            unsent: Some(unsent),
            ..
        } = &mut self.slots[slot]
        else {
            return Ok(());
        };
        while let Some(first) = unsent.front_mut() {
            let bytes = match first {
                Unsent::Shared(message) => &self.shared[message.clone()],
                Unsent::Owned(bytes, position) => &bytes[*position..],
            };
            let is_whole = match socket::send(&*socket, bytes) {
                Ok(sent) => {
                    let is_whole = sent == bytes.len();
                    match first {
                        Unsent::Shared(message) => message.start += sent,
                        Unsent::Owned(_, position) => *position += sent,
                    }
                    is_whole
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            if is_whole {
                unsent.pop_front();
            }
        }
        Ok(())
    }

    /// One read; `None` where nothing is left and the next event is to be looked at.
    fn read(&mut self, event: epoll::Event) -> Option<What> {
        let Some(socket) = &self.slots[slot_of(event) as usize].socket else {
            self.reading = None;
            return None;
        };
        match socket::receive(socket, &mut self.buffer) {
            Ok(0) => {
                self.reading = None;
                Some(What::EndOfInput)
            }
            Ok(received) => {
                self.received = received;
                // A short read emptied a stream socket: what comes later is another edge. Only the end of input, whose
                // edge may be this one, is still to be read.
                if received < BUFFER_BYTES
                    && !event
                        .ready
                        .intersects(Interest::RDHUP | Interest::HUP | Interest::ERR)
                {
                    self.reading = None;
                }
                Some(What::Received(received))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.reading = None;
                None
            }
            Err(error) => {
                self.reading = None;
                Some(What::Failed(error))
            }
        }
    }
}

impl super::Backend for EpollBackend {
    const EVENTS_COME_TOGETHER: bool = false;

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
        let generation = self.slots[slot as usize].generation;
        self.epoll.add(
            &socket,
            token(slot, generation),
            Interest::IN | Interest::OUT | Interest::RDHUP | Interest::ET,
        )?;
        self.slots[slot as usize] = Slot {
            socket: Some(socket),
            unsent: None,
            connecting: began == Began::UnderWay,
            generation,
        };
        Ok(began)
    }

    #[inline]
    fn send(&mut self, slot: u32, message: Range<usize>) -> io::Result<()> {
        let place = &mut self.slots[slot as usize];
        let sent = place.send(&self.shared[message.clone()])?;
        if sent < message.len() {
            let rest = message.start + sent..message.end;
            place.keep(Unsent::Shared(rest));
        }
        Ok(())
    }

    #[inline]
    fn send_bytes(&mut self, slot: u32, bytes: &[u8]) -> io::Result<()> {
        let place = &mut self.slots[slot as usize];
        let sent = place.send(bytes)?;
        if sent < bytes.len() {
            place.keep(Unsent::Owned(bytes[sent..].to_vec(), 0));
        }
        Ok(())
    }

    #[inline]
    fn wait(&mut self, now_ns: u64, until_ns: u64) -> io::Result<()> {
        self.position = 0;
        self.epoll.wait(Some(until_ns.saturating_sub(now_ns)))?;
        Ok(())
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        loop {
            let event = self.next_ready()?;
            let slot = slot_of(event) as usize;
            let what = if self.slots[slot].connecting {
                self.finish_connect(event)
            } else if event.ready.contains(Interest::OUT)
                && let Err(error) = self.flush(slot)
            {
                self.reading = None;
                Some(What::Failed(error))
            } else if event
                .ready
                .intersects(Interest::IN | Interest::RDHUP | Interest::ERR | Interest::HUP)
            {
                self.read(event)
            } else {
                self.reading = None;
                None
            };
            if let Some(what) = what {
                return Some(Event {
                    slot: slot_of(event),
                    what,
                });
            }
        }
    }

    #[inline]
    fn received(&self) -> &[u8] {
        &self.buffer[..self.received]
    }

    fn end_output(&mut self, slot: u32) -> io::Result<()> {
        match &self.slots[slot as usize].socket {
            Some(socket) => socket::end_output(socket),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn socket(&self, slot: u32) -> Option<BorrowedFd<'_>> {
        let socket = self.slots[slot as usize].socket.as_ref()?;
        Some(socket.as_fd())
    }

    fn close(&mut self, slot: u32) {
        let generation = self.slots[slot as usize].generation.wrapping_add(1);
        self.slots[slot as usize] = Slot {
            generation,
            ..Slot::default()
        };
        if self.reading.is_some_and(|event| slot_of(event) == slot) {
            self.reading = None;
        }
    }
}
