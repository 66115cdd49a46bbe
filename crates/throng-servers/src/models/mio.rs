//! *One thread, `mio`*, the readiness library under tokio: a portable, safe face of `epoll(7)`, kqueue and IOCP. There is
//! no runtime: the loop is ours, as in `epoll-edge`, and so is all state. Sockets that were opened elsewhere are
//! registered by descriptor ([`SourceFd`]).
//!
//! *Cost.* As `epoll-edge`: a turn costs time for the ready connections only, and an idle one is one `Connection`
//! beside the kernel's own. What mio adds is a test and a shift for each event.
//!
//! *Readiness is a change*, always: mio offers no level-triggered mode, since not every system has one. What is left
//! unread is not mentioned again by itself. Its portable rule is to read on until `WouldBlock`; on Linux a short read
//! says the same, unless the event also says that the peer has ended its output (tokio relies on this as well).
//!
//! *Slow readers.* What the socket does not take is kept, and the connection is registered for room instead of input
//! until that is gone: never more than one read's answer is kept, for an echo 64 KiB.
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

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token};
use throng_record::built_in::{BuiltInModel, Family};

use crate::accept::{self, Failure};
use crate::connection::Next;
use crate::connections::{Connections, Watch};
use crate::listener::Listener;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::Session;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "mio",
    family: Family::EventLoop,
    summary: "one thread, mio's portable readiness (edge-triggered epoll here)",
    ..BuiltInModel::ONE_THREAD
};

/// Events taken at once.
const BATCH: usize = 256;

/// Tokens from here on are of the listeners, below are slots of connections.
const FIRST_LISTENER: usize = 1 << 32;
const STOP: Token = Token(usize::MAX);

struct Server<S: Session> {
    registry: Registry,
    listeners: Vec<Listener>,
    connections: Connections<S>,
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
    while !server.connections.are_done() {
        let timeout = server.connections.timeout_ns().map(Duration::from_nanos);
        wait(&mut poll, &mut events, timeout)?;
        for event in &events {
            server.handle(event);
        }
        server.pass_on();
        server.serve_due();
        if server.connections.pause.remaining_ns() == Some(0) {
            server.resume_accepting();
        }
    }
    Ok(server.connections.served())
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
            registry,
            listeners,
            connections: Connections::new(settings),
        })
    }

    #[inline]
    fn handle(&mut self, event: &Event) {
        let token = event.token();
        if token.0 < FIRST_LISTENER {
            self.serve_connection(event);
        } else if token == STOP {
            self.begin_drain();
        } else if !self.connections.pause.is_on() {
            self.accept_batch(token.0 - FIRST_LISTENER);
        }
    }

    fn serve_connection(&mut self, event: &Event) {
        let key = event.token().0;
        let input_has_ended = event.is_read_closed() || event.is_error();
        if let Some(next) = self.connections.turn_on_change(key, input_has_ended) {
            self.go_on(key, next);
        }
        if self.connections.have_gathered_much() {
            self.pass_on();
        }
    }

    /// Does what a connection's turn has come to.
    #[inline]
    fn go_on(&mut self, key: usize, next: io::Result<Next>) {
        let is_open = match self.connections.settle(key, next) {
            // Of one that waits nothing is done: what is told of it is passed over.
            Watch::AsBefore | Watch::Nothing => true,
            Watch::Input => self.register_again(key, Interest::READABLE).is_ok(),
            Watch::Room => self.register_again(key, Interest::WRITABLE).is_ok(),
            Watch::Closed => false,
        };
        if !is_open {
            self.connections.close(key);
            self.resume_accepting();
        }
    }

    /// Sends everyone what has gathered, where that goes to everyone.
    fn pass_on(&mut self) {
        let ask = |socket: &OwnedFd, key| {
            let descriptor = socket.as_raw_fd();
            let mut source = SourceFd(&descriptor);
            self.registry
                .reregister(&mut source, Token(key), Interest::WRITABLE)
        };
        self.connections.pass_on(ask);
    }

    fn register_again(&self, key: usize, interest: Interest) -> io::Result<()> {
        let descriptor = self.connections.socket(key).as_raw_fd();
        self.registry
            .reregister(&mut SourceFd(&descriptor), Token(key), interest)
    }

    /// Resumes those whose wait is over, and closes those who have lingered for long enough.
    #[inline]
    fn serve_due(&mut self) {
        let Some(now_ns) = self.connections.due_ns() else {
            return;
        };
        while let Some((key, next)) = self.connections.take_due(now_ns) {
            // What events told meanwhile has been passed over, so it is to be told again.
            let next = next.map(|next| match next {
                Next::AsBefore => Next::Input,
                next => next,
            });
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
                    Failure::Exhausted => return self.connections.pause.begin(error),
                },
            }
        }
        self.report_again(index);
    }

    fn admit(&mut self, socket: OwnedFd) {
        let watch = |socket: &OwnedFd, key| {
            let descriptor = socket.as_raw_fd();
            let mut source = SourceFd(&descriptor);
            self.registry
                .register(&mut source, Token(key), Interest::READABLE)
        };
        if let Some((key, greeted)) = self.connections.admit(socket, watch) {
            self.go_on(key, greeted);
        }
    }

    fn resume_accepting(&mut self) {
        if self.connections.pause.end() {
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
            self.connections.pause.begin(error);
        }
    }

    fn begin_drain(&mut self) {
        // Only the first signal counts: a second one would prolong the drain.
        if !self.connections.is_draining() {
            self.listeners.clear();
            self.connections.begin_drain();
        }
    }
}
