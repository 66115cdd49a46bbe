//! *One thread, edge-triggered `epoll(7)`.* The kernel keeps the set of descriptors and reports changes, so a turn
//! costs time for the ready connections only, however many are idle.
//!
//! *Readiness is a change:* it is reported once, and what is left unread is never mentioned again by itself. A
//! connection has been read dry when a read returns less than was asked for, which saves the read that would say
//! `EAGAIN`. It is not enough where the event says that the peer has ended its output: that end came *before* the short
//! read, makes no further event, and is only seen by reading on until 0.
//!
//! *Nobody starves.* A connection that never stops sending gets [`ROUNDS`] reads a turn; then it is modified in the
//! set, which puts it at the end of the kernel's ready list if it is still ready.
//!
//! *Slow readers.* What the socket does not take is kept, and the connection is watched for room instead of input until
//! that is gone: never more than one read's answer is kept, for an echo [`INPUT_BYTES`].
//!
//! *Delays* are deadlines, and the loop sleeps until the earliest at most. Events of a connection that waits are passed
//! over, a reset too, and what they told is asked for again when the wait is over.
//!
//! *Slots are reused safely.* A batch holds at most one event of each descriptor, and a connection is closed only while its
//! own event is handled, or after the batch: no event is left for a slot that a new connection has got.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use slab::Slab;
use throng_sys::clock::monotonic_ns;
use throng_sys::epoll::{Epoll, Event, Interest};
use throng_sys::socket;

use crate::accept::{self, Failure, Pause};
use crate::deadlines::Deadlines;
use crate::declaration::{Count, Declaration, ServesAtOnce, Workers};
use crate::drain::Drain;
use crate::linger::{self, Lingering};
use crate::listener::Listener;
use crate::model::Family;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::serve::{ModelError, Served};
use crate::workload::{Echo, Session, Then};

pub(crate) const DECLARATION: Declaration = Declaration {
    name: "epoll-edge",
    family: Family::EventLoop,
    summary: "one thread, edge-triggered epoll(7)",
    workers: Workers::One,
    serves_at_once: ServesAtOnce::Unbounded,
    threads: Count::ONE,
    processes: Count::ONE,
    serves_unix: true,
    takes_accept_threads: false,
    broadcasts: false,
};

/// Bytes that one read takes at most, into a buffer that all connections share.
const INPUT_BYTES: usize = 64 * 1024;
/// Reads that a connection has in one turn.
const ROUNDS: usize = 4;
/// Events taken at once.
const BATCH: usize = 256;

/// Tokens from here on are of the listeners, below are slots of connections.
const FIRST_LISTENER: u64 = 1 << 32;
const STOP: u64 = u64::MAX;

const FOR_INPUT: Interest = Interest::IN.union(Interest::RDHUP).union(Interest::ET);
const FOR_ROOM: Interest = Interest::OUT.union(Interest::ET);
const INPUT_ENDED: Interest = Interest::RDHUP.union(Interest::HUP).union(Interest::ERR);

const REMEDY: &str = "the kernel could not watch them: raise fs.epoll.max_user_watches";

struct Connection<S> {
    socket: OwnedFd,
    session: S,
    stage: Stage,
    input_ended: bool,
}

/// What a connection is about.
enum Stage {
    Reading,
    /// There was no room for all of an answer.
    Sending(Box<(Vec<u8>, Then)>),
    /// Nothing happens before that time of the monotonic clock.
    Waiting {
        until_ns: u64,
    },
    /// Its output is ended, and its input is dropped until then at most.
    Lingering {
        until_ns: u64,
        lingering: Lingering,
    },
}

// An idle connection owns no buffer, only this (and the slab's growth, at most as much again).
const _: () = assert!(size_of::<Connection<Echo>>() <= 48);

/// What becomes of a connection after its turn.
enum Next {
    /// It waits for a change of what it is watched for.
    Wait,
    /// It is watched for this from now on, and reported again if it is ready for it now.
    Watch(Interest),
    /// It is waiting for so long.
    Delay(Duration),
    /// It is closed when that is over.
    Linger(Lingering),
    Close,
}

struct Server<S: Session> {
    settings: S::Settings,
    epoll: Epoll,
    listeners: Vec<Listener>,
    connections: Slab<Connection<S>>,
    deadlines: Deadlines,
    input: Vec<u8>,
    output: Vec<u8>,
    pause: Pause,
    refusals: Refusals,
    drain: Option<Drain>,
    accepted: u64,
    bytes: u64,
}

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    opening.ready(&listeners);
    let mut server = Server::<S>::new(settings, listeners, stop)?;
    while !server.is_done() {
        let timeout_ns = server.timeout_ns();
        let ready = server.epoll.wait(timeout_ns)?;
        for position in 0..ready {
            if let Some(event) = server.epoll.event(position) {
                server.handle(event);
            }
        }
        server.serve_due();
        if server.pause.remaining_ns() == Some(0) {
            server.resume_accepting();
        }
    }
    Ok(Served {
        connections: server.accepted,
        bytes: server.bytes,
        notes: [server.pause.into_note(), server.refusals.into_note(REMEDY)]
            .into_iter()
            .flatten()
            .collect(),
    })
}

impl<S: Session> Server<S> {
    fn new(
        settings: &S::Settings,
        listeners: Vec<Listener>,
        stop: BorrowedFd<'_>,
    ) -> io::Result<Self> {
        let epoll = Epoll::new(BATCH)?;
        epoll.add(stop, STOP, Interest::IN | Interest::ET)?;
        for (listener, token) in listeners.iter().zip(FIRST_LISTENER..) {
            epoll.add(listener, token, Interest::IN | Interest::ET)?;
        }
        Ok(Self {
            settings: settings.clone(),
            epoll,
            listeners,
            connections: Slab::new(),
            deadlines: Deadlines::default(),
            input: vec![0; INPUT_BYTES],
            output: Vec::with_capacity(INPUT_BYTES),
            pause: Pause::default(),
            refusals: Refusals::default(),
            drain: None,
            accepted: 0,
            bytes: 0,
        })
    }

    fn is_done(&self) -> bool {
        self.drain
            .is_some_and(|drain| self.connections.is_empty() || drain.remaining_ns() == 0)
    }

    fn timeout_ns(&self) -> Option<u64> {
        let drain = self.drain.map(Drain::remaining_ns);
        let rest = drain.or_else(|| self.pause.remaining_ns());
        rest.into_iter().chain(self.deadlines.remaining_ns()).min()
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        if event.token < FIRST_LISTENER {
            self.serve_connection(event);
        } else if event.token == STOP {
            self.begin_drain();
        } else if !self.pause.is_on() {
            self.accept_batch((event.token - FIRST_LISTENER) as usize);
        }
    }

    fn serve_connection(&mut self, event: Event) {
        let key = event.token as usize;
        let Some(connection) = self.connections.get_mut(key) else {
            return;
        };
        let next = connection.turn(
            event.ready,
            &mut self.input,
            &mut self.output,
            &mut self.bytes,
        );
        self.go_on(key, next);
    }

    /// Does what a connection's turn has come to.
    #[inline]
    fn go_on(&mut self, key: usize, next: io::Result<Next>) {
        let is_open = match next {
            Ok(Next::Wait) => true,
            Ok(Next::Watch(interest)) => self.watch(key, interest).is_ok(),
            Ok(Next::Delay(delay)) => {
                // While the server drains nobody waits, but for the next turn.
                let delay = self.drain.map_or(delay, |_| Duration::ZERO);
                let until_ns = self.deadlines.add(key, delay);
                self.connections[key].stage = Stage::Waiting { until_ns };
                true
            }
            Ok(Next::Linger(lingering)) => {
                let until_ns = self.deadlines.add(key, linger::LENGTH);
                self.connections[key].stage = Stage::Lingering {
                    until_ns,
                    lingering,
                };
                self.watch(key, FOR_INPUT).is_ok()
            }
            // An error is a reset: there is nobody left to tell.
            Ok(Next::Close) | Err(_) => false,
        };
        if !is_open {
            self.connections.remove(key);
            self.resume_accepting();
        }
    }

    fn watch(&self, key: usize, interest: Interest) -> io::Result<()> {
        let connection = &self.connections[key];
        self.epoll.modify(&connection.socket, key as u64, interest)
    }

    /// Resumes those whose wait is over, and closes those who have lingered for long enough.
    #[inline]
    fn serve_due(&mut self) {
        if self.deadlines.remaining_ns() != Some(0) {
            return;
        }
        let now_ns = monotonic_ns();
        while let Some((key, due_ns)) = self.deadlines.take_due(now_ns) {
            let Some(connection) = self.connections.get_mut(key) else {
                continue;
            };
            let next = match connection.stage {
                Stage::Waiting { until_ns } if until_ns == due_ns => {
                    connection.resume(&mut self.output, &mut self.bytes)
                }
                Stage::Lingering { until_ns, .. } if until_ns == due_ns => Ok(Next::Close),
                // Another connection's, or cut short.
                _ => continue,
            };
            self.go_on(key, next);
        }
    }

    /// Accepts until none waits, since no further event would tell of those left over.
    fn accept_batch(&mut self, index: usize) {
        for _ in 0..accept::BATCH {
            // Gone where the drain began in this batch.
            let Some(listener) = self.listeners.get(index) else {
                return;
            };
            match listener.accept() {
                Ok(socket) => self.admit(socket),
                Err(error) => match accept::failure(&error) {
                    Failure::NoneWaits => return,
                    Failure::ThisOneOnly => {}
                    Failure::Exhausted => return self.pause.begin(error),
                },
            }
        }
        self.report_again(index);
    }

    fn admit(&mut self, socket: OwnedFd) {
        let slot = self.connections.vacant_entry();
        match self.epoll.add(&socket, slot.key() as u64, FOR_INPUT) {
            Ok(()) => {
                slot.insert(Connection {
                    socket,
                    session: S::begin(&self.settings),
                    stage: Stage::Reading,
                    input_ended: false,
                });
                self.accepted += 1;
            }
            Err(error) => self.refusals.add(error),
        }
    }

    fn resume_accepting(&mut self) {
        if self.pause.end() {
            (0..self.listeners.len()).for_each(|index| self.report_again(index));
        }
    }

    /// Lets the kernel report a listener that may still have connections waiting, after everybody else's turn.
    fn report_again(&mut self, index: usize) {
        let token = FIRST_LISTENER + index as u64;
        let interest = Interest::IN | Interest::ET;
        if let Err(error) = self.epoll.modify(&self.listeners[index], token, interest) {
            // Tried again when the pause is over.
            self.pause.begin(error);
        }
    }

    fn begin_drain(&mut self) {
        // Only the first signal counts: a second one would prolong the drain.
        if self.drain.is_none() {
            self.listeners.clear();
            self.pause.end();
            self.drain = Some(Drain::begin(
                self.connections.iter().map(|(_, open)| &open.socket),
            ));
            for (key, connection) in &mut self.connections {
                if let Stage::Waiting { until_ns } = &mut connection.stage {
                    *until_ns = self.deadlines.add(key, Duration::ZERO);
                }
            }
        }
    }
}

impl<S: Session> Connection<S> {
    /// Everything the event calls for, within bounds. `bytes` counts what was sent.
    #[inline]
    fn turn(
        &mut self,
        ready: Interest,
        input: &mut [u8],
        output: &mut Vec<u8>,
        bytes: &mut u64,
    ) -> io::Result<Next> {
        match &mut self.stage {
            Stage::Reading => {}
            Stage::Sending(_) => return self.send_on(bytes),
            Stage::Waiting { .. } => return Ok(Next::Wait),
            Stage::Lingering { lingering, .. } => {
                let is_over = lingering.is_over(&self.socket, input);
                return Ok(if is_over { Next::Close } else { Next::Wait });
            }
        }
        for _ in 0..ROUNDS {
            let received = match socket::receive(&self.socket, input) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Next::Wait),
                result => result?,
            };
            output.clear();
            let then = if received == 0 {
                self.input_ended = true;
                self.session.end_of_input(output)
            } else {
                self.session.input(&input[..received], output)
            };
            if let Some(next) = self.answer(output, then, bytes)? {
                return Ok(next);
            }
            if received < input.len() && !ready.intersects(INPUT_ENDED) {
                return Ok(Next::Wait);
            }
        }
        Ok(Next::Watch(FOR_INPUT))
    }

    /// The wait is over. What events told meanwhile has been passed over, so it is to be told again.
    fn resume(&mut self, output: &mut Vec<u8>, bytes: &mut u64) -> io::Result<Next> {
        self.stage = Stage::Reading;
        output.clear();
        let then = self.session.resume(output);
        let next = self.answer(output, then, bytes)?;
        Ok(next.unwrap_or(Next::Watch(FOR_INPUT)))
    }

    /// Sends; what comes then, if it is not the next read.
    #[inline]
    fn answer(&mut self, output: &[u8], then: Then, bytes: &mut u64) -> io::Result<Option<Next>> {
        if !output.is_empty() {
            let sent = sent(socket::send(&self.socket, output))?;
            *bytes += sent as u64;
            if sent < output.len() {
                let unsent = output[sent..].to_vec();
                self.stage = Stage::Sending(Box::new((unsent, then)));
                return Ok(Some(Next::Watch(FOR_ROOM)));
            }
        }
        self.after(then)
    }

    /// Once all is sent; `None` is the next read.
    #[inline]
    fn after(&self, then: Then) -> io::Result<Option<Next>> {
        Ok(match then.settled(self.input_ended) {
            Then::Read => None,
            Then::Wait(delay) => Some(Next::Delay(delay)),
            Then::Linger => Some(Next::Linger(Lingering::begin(&self.socket)?)),
            Then::Close => Some(Next::Close),
        })
    }

    /// There is room again for what could not be sent.
    #[cold]
    fn send_on(&mut self, bytes: &mut u64) -> io::Result<Next> {
        let Stage::Sending(kept) = &mut self.stage else {
            return Ok(Next::Wait);
        };
        let (unsent, then) = &mut **kept;
        let sent = sent(socket::send(&self.socket, unsent))?;
        *bytes += sent as u64;
        unsent.drain(..sent);
        if !unsent.is_empty() {
            return Ok(Next::Wait);
        }
        let then = *then;
        // The memory goes back.
        self.stage = Stage::Reading;
        Ok(self.after(then)?.unwrap_or(Next::Watch(FOR_INPUT)))
    }
}

/// A full send buffer took nothing, which is no error.
fn sent(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        result => result,
    }
}

#[cfg(test)]
mod tests;
