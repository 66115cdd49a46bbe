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
//! *Slow readers.* What the socket does not take is kept in `unsent`, and the connection is registered for room
//! instead of input until that is gone: never more than one read's answer is kept, for an echo [`INPUT_BYTES`].
//!
//! *Nobody starves.* A connection that never stops sending gets [`ROUNDS`] reads a turn; then it is registered again,
//! which puts it at the end of the kernel's ready list if it is still ready.
//!
//! *Termination.* Listeners are closed and every connection's input is ended, so that each takes its ordinary way out;
//! who is left at the end of the drain is dropped with the loop.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token};
use slab::Slab;
use throng_sys::socket;

use crate::accept::{self, Failure, Pause};
use crate::declaration::{Count, Declaration, ServesAtOnce, Workers};
use crate::drain::Drain;
use crate::listener::Listener;
use crate::model::Family;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::serve::{ModelError, Served};
use crate::workload::{Echo, Session};

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
};

/// Bytes that one read takes at most, into a buffer that all connections share.
const INPUT_BYTES: usize = 64 * 1024;
/// Reads that a connection has in one turn.
const ROUNDS: usize = 4;
/// Events taken at once.
const BATCH: usize = 256;

/// Tokens from here on are of the listeners, below are slots of connections.
const FIRST_LISTENER: usize = 1 << 32;
const STOP: Token = Token(usize::MAX);

const REMEDY: &str = "the kernel could not watch them: raise fs.epoll.max_user_watches";

struct Connection<S> {
    socket: OwnedFd,
    session: S,
    unsent: Vec<u8>,
    input_ended: bool,
}

// An idle connection owns no buffer, only this (and the slab's growth, at most as much again).
const _: () = assert!(size_of::<Connection<Echo>>() <= 48);

/// What becomes of a connection after its turn.
enum Next {
    /// It waits for a change of what it is registered for.
    Wait,
    /// It is registered for this from now on, and reported again if it is ready for it now.
    Register(Interest),
    Close,
}

struct Server<S: Session> {
    settings: S::Settings,
    registry: Registry,
    listeners: Vec<Listener>,
    connections: Slab<Connection<S>>,
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
        drain
            .or_else(|| self.pause.remaining_ns())
            .map(Duration::from_nanos)
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
        let token = event.token();
        let Some(connection) = self.connections.get_mut(token.0) else {
            return;
        };
        let next = connection.turn(event, &mut self.input, &mut self.output, &mut self.bytes);
        let next = next.and_then(|next| match next {
            Next::Register(interest) => {
                let descriptor = connection.socket.as_raw_fd();
                self.registry
                    .reregister(&mut SourceFd(&descriptor), token, interest)?;
                Ok(Next::Wait)
            }
            next => Ok(next),
        });
        // An error is a reset: there is nobody left to tell. Closing removes the socket from epoll's set.
        if let Ok(Next::Close) | Err(_) = next {
            self.connections.remove(token.0);
            self.resume_accepting();
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
                slot.insert(Connection {
                    socket,
                    session: S::begin(&self.settings),
                    unsent: Vec::new(),
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
        }
    }
}

impl<S: Session> Connection<S> {
    /// Everything the event calls for, within bounds. `bytes` counts what was sent.
    #[inline]
    fn turn(
        &mut self,
        event: &Event,
        input: &mut [u8],
        output: &mut Vec<u8>,
        bytes: &mut u64,
    ) -> io::Result<Next> {
        if !self.unsent.is_empty() {
            return self.send_on(bytes);
        }
        for _ in 0..ROUNDS {
            let received = match socket::receive(&self.socket, input) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Next::Wait),
                result => result?,
            };
            output.clear();
            if received == 0 {
                self.input_ended = true;
                let _ = self.session.end_of_input(output);
            } else {
                let _ = self.session.input(&input[..received], output);
            }
            if !output.is_empty() {
                let sent = sent(socket::send(&self.socket, output))?;
                *bytes += sent as u64;
                if sent < output.len() {
                    self.unsent = output[sent..].to_vec();
                    return Ok(Next::Register(Interest::WRITABLE));
                }
            }
            if received == 0 {
                return Ok(Next::Close);
            }
            if received < input.len() && !event.is_read_closed() && !event.is_error() {
                return Ok(Next::Wait);
            }
        }
        Ok(Next::Register(Interest::READABLE))
    }

    /// There is room again for what could not be sent.
    #[cold]
    fn send_on(&mut self, bytes: &mut u64) -> io::Result<Next> {
        let sent = sent(socket::send(&self.socket, &self.unsent))?;
        *bytes += sent as u64;
        self.unsent.drain(..sent);
        if !self.unsent.is_empty() {
            return Ok(Next::Wait);
        }
        // Idle again: the memory goes back.
        self.unsent = Vec::new();
        Ok(if self.input_ended {
            Next::Close
        } else {
            Next::Register(Interest::READABLE)
        })
    }
}

/// A full send buffer took nothing, which is no error.
fn sent(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        result => result,
    }
}
