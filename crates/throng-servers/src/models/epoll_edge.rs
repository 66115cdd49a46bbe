//! *One thread, edge-triggered `epoll(7)`.* The kernel keeps the set of descriptors and reports changes, so a turn
//! costs time for the ready connections only, however many are idle.
//!
//! *Readiness is a change:* it is reported once, and what is left unread is never mentioned again by itself. A
//! connection has been read dry when a read returns less than was asked for, which saves the read that would say
//! `EAGAIN`. It is not enough where the event says that the peer has ended its output: that end came *before* the short
//! read, makes no further event, and is only seen by reading on until 0.
//!
//! *Nobody starves.* A connection that never stops sending gets a few reads a turn; then it is modified in the
//! set, which puts it at the end of the kernel's ready list if it is still ready.
//!
//! *Slow readers.* What the socket does not take is kept, and the connection is watched for room instead of input until
//! that is gone: never more than one read's answer is kept, for an echo [`INPUT_BYTES`].
//!
//! *What goes to everyone* is gathered while a batch of events is handled, and sent to each connection once after it. What
//! a socket does not take is kept within bounds, as an answer is; whoever exceeds them is shut down, and so closed at its own
//! event: nobody is closed while another's is handled.
//!
//! *Delays* are deadlines, and the loop sleeps until the earliest at most. Events of a connection that waits are passed
//! over, a reset too, and what they told is asked for again when the wait is over.
//!
//! *Slots are reused safely.* A batch holds at most one event of each descriptor, and a connection is closed only while its
//! own event is handled, or after the batch: no event is left for a slot that a new connection has got.

mod connection;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use slab::Slab;
use throng_sys::clock::monotonic_ns;
use throng_sys::epoll::{Epoll, Event, Interest};

use crate::accept::{self, Failure, Pause};
use crate::deadlines::Deadlines;
use crate::declaration::{Count, Declaration, ServesAtOnce, Workers};
use crate::drain::Drain;
use crate::linger;
use crate::listener::Listener;
use crate::model::Family;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::serve::{ModelError, Served};
use crate::workload::{Audience, GATHERED_BYTES, Session};
use connection::{Connection, FOR_INPUT, FOR_ROOM, Next, Stage};

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
    broadcasts: true,
};

/// Bytes that one read takes at most, into a buffer that all connections share.
const INPUT_BYTES: usize = 64 * 1024;
/// Events taken at once.
const BATCH: usize = 256;

/// Tokens from here on are of the listeners, below are slots of connections.
const FIRST_LISTENER: u64 = 1 << 32;
const STOP: u64 = u64::MAX;

const REMEDY: &str = "the kernel could not watch them: raise fs.epoll.max_user_watches";

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
        server.pass_on();
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
        if S::AUDIENCE == Audience::Everyone && self.output.len() >= GATHERED_BYTES {
            self.pass_on();
        }
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

    /// Sends everyone what has gathered, where that goes to everyone.
    fn pass_on(&mut self) {
        if S::AUDIENCE == Audience::Sender || self.output.is_empty() {
            return;
        }
        for (key, connection) in &mut self.connections {
            if connection.deliver(&self.output, &mut self.bytes)
                && self
                    .epoll
                    .modify(&connection.socket, key as u64, FOR_ROOM)
                    .is_err()
            {
                connection.give_up();
            }
        }
        self.output.clear();
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
                let key = slot.key();
                let connection = slot.insert(Connection::new(socket, &self.settings));
                let greeted = connection.greet(&mut self.bytes);
                self.accepted += 1;
                self.go_on(key, greeted);
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
