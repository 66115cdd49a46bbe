//! *One thread, `mio`*, the readiness library under tokio: a portable, safe face of `epoll(7)`, kqueue and IOCP. There is
//! no runtime: the loop is ours, as in `epoll-edge`, and so is all state. Sockets that were opened elsewhere are
//! registered by descriptor ([`SourceFd`]).
//!
//! *Cost.* As `epoll-edge`: a turn costs time for the ready connections only, and an idle one is one [`Connection`]
//! beside the kernel's own. What mio adds is a test and a shift for each event.
//!
//! *Readiness is a change*, always: mio offers no level-triggered mode, since not every system has one. What is left
//! unread is not mentioned again by itself. Its portable rule is to read on until `WouldBlock`; on Linux a short read
//! says the same, unless the event also says that the peer has ended its output (tokio relies on this as well).
//!
//! *Slow readers.* What the socket does not take is kept, and the connection is registered for room instead of input
//! until that is gone: never more than one read's answer is kept, for an echo [`INPUT_BYTES`].
//!
//! *What goes to everyone* is gathered while a batch of events is handled, and sent to each connection once after it. What
//! a socket does not take is kept within bounds, as an answer is; whoever exceeds them is shut down, and so closed at its own
//! event: nobody is closed while another's is handled.
//!
//! *Delays* are deadlines of ours, since mio has no timer, only the time-out of its poll, which it rounds up to a millisecond.
//! Events of a connection that waits are passed over; registered again when the wait is over, it is reported anew.
//!
//! *Nobody starves.* A connection that never stops sending gets a few reads a turn; then it is registered again,
//! which puts it at the end of the kernel's ready list if it is still ready.
//!
//! *Termination.* Listeners are closed and every connection's input is ended, so that each takes its ordinary way out;
//! who is left at the end of the drain is dropped with the loop.

mod connection;

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token};
use slab::Slab;
use throng_sys::clock::monotonic_ns;

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
use connection::{Connection, Next, Stage};

pub(crate) const DECLARATION: Declaration = Declaration {
    name: "mio",
    family: Family::EventLoop,
    summary: "one thread, mio's portable readiness (edge-triggered epoll here)",
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
const FIRST_LISTENER: usize = 1 << 32;
const STOP: Token = Token(usize::MAX);

const REMEDY: &str = "the kernel could not watch them: raise fs.epoll.max_user_watches";

struct Server<S: Session> {
    settings: S::Settings,
    registry: Registry,
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
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(BATCH);
    let registry = poll.registry().try_clone()?;
    let mut server = Server::<S>::new(settings, registry, listeners, stop)?;
    opening.ready(&server.listeners);
    while !server.is_done() {
        wait(&mut poll, &mut events, server.timeout())?;
        for event in &events {
            server.handle(event);
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

/// mio hands interruptions (a stop and a continuation, a tracer) to its caller; they are empty turns.
fn wait(poll: &mut Poll, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
    match poll.poll(events, timeout) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
            events.clear();
            Ok(())
        }
        result => result,
    }
}

impl<S: Session> Server<S> {
    fn new(
        settings: &S::Settings,
        registry: Registry,
        listeners: Vec<Listener>,
        stop: BorrowedFd<'_>,
    ) -> io::Result<Self> {
        registry.register(&mut SourceFd(&stop.as_raw_fd()), STOP, Interest::READABLE)?;
        for (listener, token) in listeners.iter().zip(FIRST_LISTENER..) {
            let descriptor = listener.as_fd().as_raw_fd();
            registry.register(&mut SourceFd(&descriptor), Token(token), Interest::READABLE)?;
        }
        Ok(Self {
            settings: settings.clone(),
            registry,
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

    fn timeout(&self) -> Option<Duration> {
        let drain = self.drain.map(Drain::remaining_ns);
        let rest = drain.or_else(|| self.pause.remaining_ns());
        let earliest_ns = rest.into_iter().chain(self.deadlines.remaining_ns()).min();
        earliest_ns.map(Duration::from_nanos)
    }

    #[inline]
    fn handle(&mut self, event: &Event) {
        let token = event.token();
        if token.0 < FIRST_LISTENER {
            self.serve_connection(event);
        } else if token == STOP {
            self.begin_drain();
        } else if !self.pause.is_on() {
            self.accept_batch(token.0 - FIRST_LISTENER);
        }
    }

    fn serve_connection(&mut self, event: &Event) {
        let key = event.token().0;
        let Some(connection) = self.connections.get_mut(key) else {
            return;
        };
        let next = connection.turn(event, &mut self.input, &mut self.output, &mut self.bytes);
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
            Ok(Next::Register(interest)) => self.register_again(key, interest).is_ok(),
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
                self.register_again(key, Interest::READABLE).is_ok()
            }
            // An error is a reset: there is nobody left to tell.
            Ok(Next::Close) | Err(_) => false,
        };
        if !is_open {
            // Closing removes the socket from epoll's set.
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
            if connection.deliver(&self.output, &mut self.bytes) {
                let descriptor = connection.socket.as_raw_fd();
                let mut source = SourceFd(&descriptor);
                let asked = self
                    .registry
                    .reregister(&mut source, Token(key), Interest::WRITABLE);
                if asked.is_err() {
                    connection.give_up();
                }
            }
        }
        self.output.clear();
    }

    fn register_again(&self, key: usize, interest: Interest) -> io::Result<()> {
        let descriptor = self.connections[key].socket.as_raw_fd();
        self.registry
            .reregister(&mut SourceFd(&descriptor), Token(key), interest)
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
        let descriptor = socket.as_raw_fd();
        let registered = self.registry.register(
            &mut SourceFd(&descriptor),
            Token(slot.key()),
            Interest::READABLE,
        );
        match registered {
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

    /// Has a listener reported that may still have connections waiting, after everybody else's turn.
    fn report_again(&mut self, index: usize) {
        let descriptor = self.listeners[index].as_fd().as_raw_fd();
        let token = Token(FIRST_LISTENER + index);
        let mut source = SourceFd(&descriptor);
        if let Err(error) = self
            .registry
            .reregister(&mut source, token, Interest::READABLE)
        {
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
