//! *Several loops, each with a listener of its own on the same port* (`SO_REUSEPORT`, socket(7)). The kernel chooses the
//! listener, and so the loop, by a hash of each connection's addresses and ports. The loops share nothing at all; otherwise
//! each is the level-triggered loop of `epoll-level`. The main thread starts the loops and waits.
//!
//! *Connections are spread evenly, and blindly:* as evenly as dice fall, and without regard to who is busy. A connection whose
//! loop is stuck waits in that loop's queue though others idle, which is the price beside `epoll-shared`.
//!
//! *The port.* Port 0 is chosen by the kernel for the first listener, and the others follow. A second server on the same port
//! is refused as with every other model, although the option exists to let it in (see [`throng_sys::shared_port`]). There is
//! nothing like it for the path of a Unix socket, so this model serves none. Left out on purpose: binding loops to CPUs,
//! and steering connections to them by a program (`SO_ATTACH_REUSEPORT_EBPF`).
//!
//! *All loops share one descriptor table*, and so one `ulimit -n`, unlike those of `epoll-shared`: the hash knows nothing of a
//! full loop and would go on giving it connections that nobody else can accept. Where the table is full, all of them pause.
//!
//! *Slow readers.* What the socket does not take is kept, and the connection is watched for room instead of input until
//! that is gone: never more than one read's answer is kept, for an echo 64 KiB.
//!
//! *What goes to everyone* is posted to the other loops' mailboxes ([`Passing`]), which is all that loops say to each
//! other, and only where the workload asks for it.
//!
//! *Delays* are deadlines of the loop that has the connection, which leaves the set meanwhile.
//!
//! *Nobody starves* within a loop: one read a turn, and the rest is reported again.
//!
//! *Termination.* All loops watch one [`End`]. Closing a listener resets the connections that wait in *its* queue, though
//! another one listens on the port. So each loop first accepts what waits, then closes its listeners, and drains. A connection
//! whose handshake ends between the two is reset all the same.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use throng_record::built_in::{BuiltInModel, Count, Family, Workers};
use throng_sys::address::Address;
use throng_sys::epoll::{Event, Interest};

use crate::accept::{self, Failure};
use crate::listener::Listener;
use crate::loops::{End, serve_in_threads};
use crate::models::epoll_level::{Watched, for_room};
use crate::opening::Opening;
use crate::passing::Passing;
use crate::served::{ModelError, Served};
use crate::workload::Session;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "epoll-reuseport",
    family: Family::EventLoops,
    summary: "several epoll(7) loops, each with its own listener on the port (SO_REUSEPORT)",
    workers: Workers::OnePerCpu,
    // The main thread, which waits, and each loop's own.
    threads: Count {
        fixed: 1,
        per_worker: 1,
        per_connection: 0,
    },
    serves_unix: false,
    ..BuiltInModel::ONE_THREAD
};

/// Tokens from here on are of the listeners, below are slots of connections.
const FIRST_LISTENER: u64 = 1 << 32;
const STOP: u64 = u64::MAX;
const MAIL: u64 = STOP - 1;

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners_of_each_worker()?;
    let addresses: Vec<Address> = listeners[0]
        .iter()
        .map(|listener| listener.address().clone())
        .collect();
    let (main_end, loops_end) = End::pair()?;
    let waiting_max = opening.waiting_max();
    let passings = Passing::for_loops::<S>(listeners.len())?;
    let parts = listeners.into_iter().zip(passings).collect();
    let served = serve_in_threads(
        parts,
        (&main_end, &loops_end),
        stop,
        |(own, passing), begun| {
            let server = Loop::<S>::new(settings, own, waiting_max, &loops_end, passing)?;
            begun.say();
            server.run()
        },
        || opening.ready_at(&addresses),
    );
    Ok(served?)
}

/// What each of the other threads does.
struct Loop<'a, S: Session> {
    watched: Watched<S>,
    stop: BorrowedFd<'a>,
    listeners: Vec<Listener>,
    waiting_max: usize,
    passing: Passing,
}

impl<'a, S: Session> Loop<'a, S> {
    fn new(
        settings: &S::Settings,
        listeners: Vec<Listener>,
        waiting_max: usize,
        stop: &'a End,
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
            stop: stop.as_fd(),
            listeners,
            waiting_max,
            passing,
        })
    }

    fn run(mut self) -> io::Result<Served> {
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

#[cfg(test)]
mod tests;
