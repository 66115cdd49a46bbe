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
use crate::passing::Passing;
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
const MAIL: u64 = STOP - 1;

/// The loop; each of those of `epoll-reuseport` is one.
pub(super) struct Loop<'a, S: Session> {
    watched: Watched<S>,
    stop: BorrowedFd<'a>,
    pub(super) listeners: Vec<Listener>,
    /// How many are accepted of each listener's queue when it is told to stop.
    waiting_max: usize,
    passing: Passing,
}

/// Connections, and the set in which the kernel watches them and whatever else a loop waits for. Each loop of `epoll-shared` and of
/// `epoll-reuseport` has the same.
pub(super) struct Watched<S: Session> {
    pub(super) epoll: Epoll,
    pub(super) connections: Connections<S>,
}

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    // Closing the only listeners of a port resets who waits there, whether others are accepted before or not.
    let server = Loop::<S>::new(settings, listeners, 0, stop, Passing::alone())?;
    opening.ready(&server.listeners);
    Ok(server.run()?)
}

impl<'a, S: Session> Loop<'a, S> {
    pub(super) fn new(
        settings: &S::Settings,
        listeners: Vec<Listener>,
        waiting_max: usize,
        stop: BorrowedFd<'a>,
        passing: Passing,
    ) -> io::Result<Self> {
        let watched = Watched::new(settings)?;
        watched.epoll.add(stop, STOP, Interest::IN)?;
        if let Some(post) = passing.post() {
            watched.epoll.add(post, MAIL, Interest::IN)?;
        }
        for (listener, token) in listeners.iter().zip(FIRST_LISTENER..) {
            watched.epoll.add(listener, token, Interest::IN)?;
        }
        Ok(Self {
            watched,
            stop,
            listeners,
            waiting_max,
            passing,
        })
    }

    pub(super) fn run(mut self) -> io::Result<Served> {
        while !self.watched.connections.are_done() {
            let ready = self
                .watched
                .epoll
                .wait(self.watched.connections.timeout_ns())?;
            for position in 0..ready {
                if let Some(event) = self.watched.epoll.event(position) {
                    self.handle(event)?;
                }
            }
            self.pass_on();
            let are_closed = self.watched.serve_due();
            self.after(are_closed)?;
            if self.watched.connections.pause.remaining_ns() == Some(0) {
                self.resume_accepting()?;
            }
        }
        Ok(self.watched.connections.served())
    }

    #[inline]
    fn handle(&mut self, event: Event) -> io::Result<()> {
        if event.token < FIRST_LISTENER {
            self.serve_connection(event.token as usize)
        } else if event.token == MAIL {
            self.take_mail();
            Ok(())
        } else if event.token == STOP {
            self.begin_drain()
        } else {
            self.accept_at_most(accept::BATCH, (event.token - FIRST_LISTENER) as usize)
        }
    }

    #[inline]
    fn serve_connection(&mut self, key: usize) -> io::Result<()> {
        let is_closed = self.watched.serve(key);
        if self.watched.connections.have_gathered_much() {
            self.pass_on();
        }
        self.after(is_closed)
    }

    /// Where some were closed, others can be accepted.
    #[inline]
    fn after(&mut self, are_closed: bool) -> io::Result<()> {
        if are_closed {
            self.resume_accepting()?;
        }
        Ok(())
    }

    /// Sends everyone what has gathered, where that goes to everyone.
    fn pass_on(&mut self) {
        let Watched { epoll, connections } = &mut self.watched;
        self.passing.pass_on(connections, for_room(epoll));
    }

    fn take_mail(&mut self) {
        let Watched { epoll, connections } = &mut self.watched;
        self.passing.take_mail(connections, for_room(epoll));
    }

    /// Those left over keep the listener readable.
    fn accept_at_most(&mut self, most: usize, index: usize) -> io::Result<()> {
        for _ in 0..most {
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
                        self.watched.connections.pause.begin(error);
                        return self.watch_listeners(Interest::empty());
                    }
                },
            }
        }
        Ok(())
    }

    fn admit(&mut self, socket: OwnedFd) -> io::Result<()> {
        let is_closed = match self.watched.admit(socket) {
            Some((key, greeted)) => self.watched.go_on(key, greeted),
            None => false,
        };
        self.after(is_closed)
    }

    fn resume_accepting(&mut self) -> io::Result<()> {
        if self.watched.connections.pause.end() {
            self.watch_listeners(Interest::IN)?;
        }
        Ok(())
    }

    fn watch_listeners(&self, interest: Interest) -> io::Result<()> {
        for (listener, token) in self.listeners.iter().zip(FIRST_LISTENER..) {
            self.watched.epoll.modify(listener, token, interest)?;
        }
        Ok(())
    }

    fn begin_drain(&mut self) -> io::Result<()> {
        self.watched.epoll.delete(self.stop)?;
        for index in 0..self.listeners.len() {
            // Bounded, since others may go on connecting.
            self.accept_at_most(self.waiting_max, index)?;
        }
        self.listeners.clear();
        self.watched.connections.begin_drain();
        Ok(())
    }
}

impl<S: Session> Watched<S> {
    pub(super) fn new(settings: &S::Settings) -> io::Result<Self> {
        Ok(Self {
            epoll: Epoll::new(BATCH)?,
            connections: Connections::new(settings),
        })
    }

    /// A turn of one that is reported. Whether it is closed.
    #[inline]
    pub(super) fn serve(&mut self, key: usize) -> bool {
        match self.connections.turn(key) {
            Some(next) => self.go_on(key, next),
            None => false,
        }
    }

    /// Does what a connection's turn has come to. Whether it is closed.
    #[inline]
    pub(super) fn go_on(&mut self, key: usize, next: io::Result<Next>) -> bool {
        let is_open = match self.connections.settle(key, next) {
            Watch::AsBefore => true,
            Watch::Input => self.watch(key, Interest::IN).is_ok(),
            Watch::Room => self.watch(key, Interest::OUT).is_ok(),
            // Errors and hang-ups are reported of all that is in the set, whatever it is watched for.
            Watch::Nothing => self.epoll.delete(self.connections.socket(key)).is_ok(),
            Watch::Closed => false,
        };
        if !is_open {
            self.connections.close(key);
        }
        !is_open
    }

    fn watch(&self, key: usize, interest: Interest) -> io::Result<()> {
        let socket = self.connections.socket(key);
        self.epoll.modify(socket, key as u64, interest)
    }

    /// Resumes those whose wait is over, and closes those who have lingered for long enough. Whether some are closed.
    #[inline]
    pub(super) fn serve_due(&mut self) -> bool {
        let Some(now_ns) = self.connections.due_ns() else {
            return false;
        };
        let mut are_closed = false;
        while let Some((key, next)) = self.connections.take_due(now_ns) {
            let next = next.and_then(|next| {
                if !matches!(next, Next::Close) {
                    // What has come meanwhile is reported at once.
                    let socket = self.connections.socket(key);
                    self.epoll.add(socket, key as u64, Interest::IN)?;
                }
                Ok(next)
            });
            are_closed |= self.go_on(key, next);
        }
        are_closed
    }

    /// Takes in one that has just been accepted: its slot, and what comes of its greeting.
    pub(super) fn admit(&mut self, socket: OwnedFd) -> Option<(usize, io::Result<Next>)> {
        let watch = |socket: &OwnedFd, key| self.epoll.add(socket, key as u64, Interest::IN);
        self.connections.admit(socket, watch)
    }
}

/// Watches a connection for room instead of input.
pub(super) fn for_room(epoll: &Epoll) -> impl Fn(&OwnedFd, usize) -> io::Result<()> + Copy {
    |socket, key| epoll.modify(socket, key as u64, Interest::OUT)
}
