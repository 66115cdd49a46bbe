//! *One thread, level-triggered `epoll(7)`.* The kernel keeps the set of descriptors and reports those that are ready, so a
//! turn costs time for the ready connections only, however many are idle.
//!
//! *Readiness is a state:* as long as there is something to read it is reported at every turn. So one read a turn is right:
//! what it leaves, more bytes or the end of input, is reported again by itself, after everybody else's turn. Nothing has to
//! be read dry, nothing armed again, and nobody starves. Beside `epoll-edge`, which saves the kernel a second look, this is
//! what the state saves the program.
//!
//! *Its price:* the kernel asks each descriptor that it has reported once more at the next wait, only to find that it is not
//! ready any longer; and a state that nobody ends is reported for ever. What must not be acted on now has to be watched for
//! no longer: a paused listener, the input of a connection that waits for room, the stop descriptor during the drain.
//!
//! *Slow readers.* What the socket does not take is kept, and the connection is watched for room instead of input until
//! that is gone, one more system call each way: never more than one read's answer is kept, for an echo [`INPUT_BYTES`].
//!
//! *What goes to everyone* is gathered while a batch of events is handled, and sent to each connection once after it. What
//! a socket does not take is kept within bounds, as an answer is; whoever exceeds them is shut down, and so closed at its own
//! event: nobody is closed while another's is handled.
//!
//! *Delays* are deadlines, and the loop sleeps until the earliest at most. A connection that waits leaves the set
//! altogether, since its peer's reset would be reported whatever it is watched for, and at every turn until the wait is
//! over. That is one system call when the wait begins and one when it ends, of which `epoll-edge` has the second only.
//!
//! *Slots are reused safely.* A batch holds at most one event of each descriptor, and a connection is closed only while its
//! own event is handled, or after the batch: no event is left for a slot that a new connection has got.
//!
//! *Termination.* The listeners are closed, the input of every connection is ended, and the loop goes on until the last
//! is closed or the drain is over.

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
use crate::level_triggered::{Connection, Next, Stage};
use crate::linger;
use crate::listener::Listener;
use crate::model::Family;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::serve::{ModelError, Served};
use crate::workload::{Audience, GATHERED_BYTES, Session};

pub(crate) const DECLARATION: Declaration = Declaration {
    name: "epoll-level",
    family: Family::EventLoop,
    summary: "one thread, level-triggered epoll(7)",
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

struct Server<'a, S: Session> {
    settings: S::Settings,
    epoll: Epoll,
    stop: BorrowedFd<'a>,
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
    let mut server = Server::<S>::new(settings, listeners, stop)?;
    opening.ready(&server.listeners);
    while !server.is_done() {
        let timeout_ns = server.timeout_ns();
        let ready = server.epoll.wait(timeout_ns)?;
        for position in 0..ready {
            if let Some(event) = server.epoll.event(position) {
                server.handle(event)?;
            }
        }
        server.pass_on();
        server.serve_due()?;
        if server.pause.remaining_ns() == Some(0) {
            server.resume_accepting()?;
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

impl<'a, S: Session> Server<'a, S> {
    fn new(
        settings: &S::Settings,
        listeners: Vec<Listener>,
        stop: BorrowedFd<'a>,
    ) -> io::Result<Self> {
        let epoll = Epoll::new(BATCH)?;
        epoll.add(stop, STOP, Interest::IN)?;
        for (listener, token) in listeners.iter().zip(FIRST_LISTENER..) {
            epoll.add(listener, token, Interest::IN)?;
        }
        Ok(Self {
            settings: settings.clone(),
            epoll,
            stop,
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
    fn handle(&mut self, event: Event) -> io::Result<()> {
        if event.token < FIRST_LISTENER {
            self.serve_connection(event.token)
        } else if event.token == STOP {
            self.begin_drain()
        } else {
            self.accept_batch((event.token - FIRST_LISTENER) as usize)
        }
    }

    #[inline]
    fn serve_connection(&mut self, token: u64) -> io::Result<()> {
        let key = token as usize;
        let Some(connection) = self.connections.get_mut(key) else {
            return Ok(());
        };
        let next = connection.turn(&mut self.input, &mut self.output, &mut self.bytes);
        self.go_on(key, next)?;
        if S::AUDIENCE == Audience::Everyone && self.output.len() >= GATHERED_BYTES {
            self.pass_on();
        }
        Ok(())
    }

    /// Does what a connection's turn has come to.
    #[inline]
    fn go_on(&mut self, key: usize, next: io::Result<Next>) -> io::Result<()> {
        let is_open = match next {
            Ok(Next::AsBefore) => true,
            Ok(Next::Input) => self.watch(key, Interest::IN).is_ok(),
            Ok(Next::Room) => self.watch(key, Interest::OUT).is_ok(),
            Ok(Next::Delay(delay)) => {
                // While the server drains nobody waits, but for the next turn.
                let delay = self.drain.map_or(delay, |_| Duration::ZERO);
                let until_ns = self.deadlines.add(key, delay);
                let connection = &mut self.connections[key];
                connection.stage = Stage::Waiting { until_ns };
                // Errors and hang-ups are reported of all that is in the set, whatever it is watched for.
                self.epoll.delete(&connection.socket).is_ok()
            }
            Ok(Next::Linger(lingering)) => {
                let until_ns = self.deadlines.add(key, linger::LENGTH);
                self.connections[key].stage = Stage::Lingering {
                    until_ns,
                    lingering,
                };
                self.watch(key, Interest::IN).is_ok()
            }
            // An error is a reset: there is nobody left to tell.
            Ok(Next::Close) | Err(_) => false,
        };
        if is_open {
            return Ok(());
        }
        self.connections.remove(key);
        self.resume_accepting()
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
                    .modify(&connection.socket, key as u64, Interest::OUT)
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
    fn serve_due(&mut self) -> io::Result<()> {
        if self.deadlines.remaining_ns() != Some(0) {
            return Ok(());
        }
        let now_ns = monotonic_ns();
        while let Some((key, due_ns)) = self.deadlines.take_due(now_ns) {
            let Some(connection) = self.connections.get_mut(key) else {
                continue;
            };
            let next = match connection.stage {
                Stage::Waiting { until_ns } if until_ns == due_ns => {
                    let next = connection.resume(&mut self.output, &mut self.bytes);
                    next.and_then(|next| match next {
                        Next::Close => Ok(next),
                        // What has come meanwhile is reported at once.
                        next => {
                            let token = key as u64;
                            self.epoll.add(&connection.socket, token, Interest::IN)?;
                            Ok(next)
                        }
                    })
                }
                Stage::Lingering { until_ns, .. } if until_ns == due_ns => Ok(Next::Close),
                // Another connection's, or cut short.
                _ => continue,
            };
            self.go_on(key, next)?;
        }
        Ok(())
    }

    /// Those left over keep the listener readable.
    fn accept_batch(&mut self, index: usize) -> io::Result<()> {
        for _ in 0..accept::BATCH {
            // Gone where the drain began in this batch.
            let Some(listener) = self.listeners.get(index) else {
                return Ok(());
            };
            match listener.accept() {
                Ok(socket) => self.admit(socket)?,
                Err(error) => match accept::failure(&error) {
                    Failure::NoneWaits => return Ok(()),
                    Failure::ThisOneOnly => {}
                    Failure::Exhausted => {
                        self.pause.begin(error);
                        return self.watch_listeners(Interest::empty());
                    }
                },
            }
        }
        Ok(())
    }

    fn admit(&mut self, socket: OwnedFd) -> io::Result<()> {
        let slot = self.connections.vacant_entry();
        match self.epoll.add(&socket, slot.key() as u64, Interest::IN) {
            Ok(()) => {
                let key = slot.key();
                let connection = slot.insert(Connection::new(socket, &self.settings));
                let greeted = connection.greet(&mut self.bytes);
                self.accepted += 1;
                self.go_on(key, greeted)
            }
            Err(error) => {
                self.refusals.add(error);
                Ok(())
            }
        }
    }

    fn resume_accepting(&mut self) -> io::Result<()> {
        if self.pause.end() {
            self.watch_listeners(Interest::IN)?;
        }
        Ok(())
    }

    fn watch_listeners(&self, interest: Interest) -> io::Result<()> {
        for (listener, token) in self.listeners.iter().zip(FIRST_LISTENER..) {
            self.epoll.modify(listener, token, interest)?;
        }
        Ok(())
    }

    fn begin_drain(&mut self) -> io::Result<()> {
        self.epoll.delete(self.stop)?;
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
        Ok(())
    }
}
