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
//! that is gone: never more than one read's answer is kept, for an echo 64 KiB.
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
    name: "epoll-edge",
    family: Family::EventLoop,
    summary: "one thread, edge-triggered epoll(7)",
    ..BuiltInModel::ONE_THREAD
};

/// Events taken at once.
const BATCH: usize = 256;

/// Tokens from here on are of the listeners, below are slots of connections.
const FIRST_LISTENER: u64 = 1 << 32;
const STOP: u64 = u64::MAX;

const FOR_INPUT: Interest = Interest::IN.union(Interest::RDHUP).union(Interest::ET);
const FOR_ROOM: Interest = Interest::OUT.union(Interest::ET);
const INPUT_ENDED: Interest = Interest::RDHUP.union(Interest::HUP).union(Interest::ERR);

struct Server<S: Session> {
    epoll: Epoll,
    listeners: Vec<Listener>,
    connections: Connections<S>,
}

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    opening.ready(&listeners);
    let mut server = Server::<S>::new(settings, listeners, stop)?;
    while !server.connections.are_done() {
        let timeout_ns = server.connections.timeout_ns();
        let ready = server.epoll.wait(timeout_ns)?;
        for position in 0..ready {
            if let Some(event) = server.epoll.event(position) {
                server.handle(event);
            }
        }
        server.pass_on();
        server.serve_due();
        if server.connections.pause.remaining_ns() == Some(0) {
            server.resume_accepting();
        }
    }
    Ok(server.connections.served())
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
            epoll,
            listeners,
            connections: Connections::new(settings),
        })
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        if event.token < FIRST_LISTENER {
            self.serve_connection(event);
        } else if event.token == STOP {
            self.begin_drain();
        } else if !self.connections.pause.is_on() {
            self.accept_batch((event.token - FIRST_LISTENER) as usize);
        }
    }

    fn serve_connection(&mut self, event: Event) {
        let key = event.token as usize;
        let input_has_ended = event.ready.intersects(INPUT_ENDED);
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
            Watch::Input => self.watch(key, FOR_INPUT).is_ok(),
            Watch::Room => self.watch(key, FOR_ROOM).is_ok(),
            Watch::Closed => false,
        };
        if !is_open {
            self.connections.close(key);
            self.resume_accepting();
        }
    }

    /// Sends everyone what has gathered, where that goes to everyone.
    fn pass_on(&mut self) {
        let ask = |socket: &OwnedFd, key| self.epoll.modify(socket, key as u64, FOR_ROOM);
        self.connections.pass_on(ask);
    }

    fn watch(&self, key: usize, interest: Interest) -> io::Result<()> {
        let socket = self.connections.socket(key);
        self.epoll.modify(socket, key as u64, interest)
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
        let watch = |socket: &OwnedFd, key| self.epoll.add(socket, key as u64, FOR_INPUT);
        if let Some((key, greeted)) = self.connections.admit(socket, watch) {
            self.go_on(key, greeted);
        }
    }

    fn resume_accepting(&mut self) {
        if self.connections.pause.end() {
            (0..self.listeners.len()).for_each(|index| self.report_again(index));
        }
    }

    /// Lets the kernel report a listener that may still have connections waiting, after everybody else's turn.
    fn report_again(&mut self, index: usize) {
        let token = FIRST_LISTENER + index as u64;
        let interest = Interest::IN | Interest::ET;
        if let Err(error) = self.epoll.modify(&self.listeners[index], token, interest) {
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
