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
//! that is gone, one more system call each way: never more than one read's answer is kept, for an echo 64 KiB.
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

use throng_record::built_in::{BuiltInModel, Family};
use throng_sys::epoll::{Epoll, Event, Interest};

use crate::accept::{self, Failure};
use crate::connection::Next;
use crate::connections::{Connections, Watch};
use crate::listener::Listener;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::Session;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "epoll-level",
    family: Family::EventLoop,
    summary: "one thread, level-triggered epoll(7)",
    ..BuiltInModel::ONE_THREAD
};

/// Events taken at once.
const BATCH: usize = 256;

/// Tokens from here on are of the listeners, below are slots of connections.
const FIRST_LISTENER: u64 = 1 << 32;
const STOP: u64 = u64::MAX;

struct Server<'a, S: Session> {
    epoll: Epoll,
    stop: BorrowedFd<'a>,
    listeners: Vec<Listener>,
    connections: Connections<S>,
}

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    let mut server = Server::<S>::new(settings, listeners, stop)?;
    opening.ready(&server.listeners);
    while !server.connections.are_done() {
        let timeout_ns = server.connections.timeout_ns();
        let ready = server.epoll.wait(timeout_ns)?;
        for position in 0..ready {
            if let Some(event) = server.epoll.event(position) {
                server.handle(event)?;
            }
        }
        server.pass_on();
        server.serve_due()?;
        if server.connections.pause.remaining_ns() == Some(0) {
            server.resume_accepting()?;
        }
    }
    Ok(server.connections.served())
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
            epoll,
            stop,
            listeners,
            connections: Connections::new(settings),
        })
    }

    #[inline]
    fn handle(&mut self, event: Event) -> io::Result<()> {
        if event.token < FIRST_LISTENER {
            self.serve_connection(event.token as usize)
        } else if event.token == STOP {
            self.begin_drain()
        } else {
            self.accept_batch((event.token - FIRST_LISTENER) as usize)
        }
    }

    #[inline]
    fn serve_connection(&mut self, key: usize) -> io::Result<()> {
        if let Some(next) = self.connections.turn(key) {
            self.go_on(key, next)?;
        }
        if self.connections.have_gathered_much() {
            self.pass_on();
        }
        Ok(())
    }

    /// Does what a connection's turn has come to.
    #[inline]
    fn go_on(&mut self, key: usize, next: io::Result<Next>) -> io::Result<()> {
        let is_open = match self.connections.settle(key, next) {
            Watch::AsBefore => true,
            Watch::Input => self.watch(key, Interest::IN).is_ok(),
            Watch::Room => self.watch(key, Interest::OUT).is_ok(),
            // Errors and hang-ups are reported of all that is in the set, whatever it is watched for.
            Watch::Nothing => self.epoll.delete(self.connections.socket(key)).is_ok(),
            Watch::Closed => false,
        };
        if is_open {
            return Ok(());
        }
        self.connections.close(key);
        self.resume_accepting()
    }

    /// Sends everyone what has gathered, where that goes to everyone.
    fn pass_on(&mut self) {
        let ask = |socket: &OwnedFd, key| self.epoll.modify(socket, key as u64, Interest::OUT);
        self.connections.pass_on(ask);
    }

    fn watch(&self, key: usize, interest: Interest) -> io::Result<()> {
        let socket = self.connections.socket(key);
        self.epoll.modify(socket, key as u64, interest)
    }

    /// Resumes those whose wait is over, and closes those who have lingered for long enough.
    #[inline]
    fn serve_due(&mut self) -> io::Result<()> {
        let Some(now_ns) = self.connections.due_ns() else {
            return Ok(());
        };
        while let Some((key, next)) = self.connections.take_due(now_ns) {
            let next = next.and_then(|next| {
                if !matches!(next, Next::Close) {
                    // What has come meanwhile is reported at once.
                    let socket = self.connections.socket(key);
                    self.epoll.add(socket, key as u64, Interest::IN)?;
                }
                Ok(next)
            });
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
                        self.connections.pause.begin(error);
                        return self.watch_listeners(Interest::empty());
                    }
                },
            }
        }
        Ok(())
    }

    fn admit(&mut self, socket: OwnedFd) -> io::Result<()> {
        let watch = |socket: &OwnedFd, key| self.epoll.add(socket, key as u64, Interest::IN);
        match self.connections.admit(socket, watch) {
            Some((key, greeted)) => self.go_on(key, greeted),
            None => Ok(()),
        }
    }

    fn resume_accepting(&mut self) -> io::Result<()> {
        if self.connections.pause.end() {
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
        self.connections.begin_drain();
        Ok(())
    }
}
