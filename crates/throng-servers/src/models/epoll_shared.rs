//! *Several loops, one listener.* Each thread has an epoll of its own, and all of them watch the same listeners. Who accepts a
//! connection keeps it: from then on it is one loop's alone, and the loops share nothing but the listeners. Otherwise each is
//! the level-triggered loop of `epoll-level`. The main thread starts the loops and waits.
//!
//! *Who is woken.* By itself a new connection would wake every loop, of which one finds it and the others nothing (the
//! thundering herd). `EPOLLEXCLUSIVE` (epoll_ctl(2), Linux 4.5) wakes one that is waiting. It can only be given when a
//! descriptor is added, and such an entry cannot be modified: a paused listener is deleted, and added again.
//!
//! *Connections are spread unevenly.* The kernel looks for a waiting loop in an order that does not change, and stops at the
//! first, so one loop has every connection, and one CPU the work, as long as it is idle when the next one comes. Cloudflare
//! describes that of nginx ("Why does one NGINX worker take all the load?", 2017; there it is last in, first out, with the
//! exclusive flag it is the order in which the loops began to watch). So a loop accepts *one* connection a turn and leaves
//! what waits besides to whoever is idle. `epoll-reuseport` spreads them evenly. Left out on purpose: nginx lets a worker
//! add its listener again after every 16th connection, which puts it last.
//!
//! *Each loop has a descriptor table of its own*, and so the whole `ulimit -n`: twice the loops hold twice the connections. Its
//! first act is to leave the common table ([`descriptor_table`]) with what it needs: the listeners, the ends of the socket
//! pairs below, the mailboxes. Those belong to the main thread, which closes them when the last loop has ended.
//!
//! *A full loop leaves the listeners* before an accept can fail, and those who wait to loops that have places left. The kernel has
//! told one loop of each of them, and that may have been this one. So it rings a bell ([`Bell`]), which wakes another loop with
//! places as a new connection does, and that one looks at the listeners anew. When a connection closes, the loop watches them
//! again. Only where all loops are full nobody accepts, which the server notes.
//!
//! *Slow readers.* What the socket does not take is kept, and the connection is watched for room instead of input until
//! that is gone: never more than one read's answer is kept, for an echo 64 KiB.
//!
//! *What goes to everyone* is posted to the other loops' mailboxes ([`Passing`]), which is all that loops say to each
//! other, and only where the workload asks for it.
//!
//! *Delays* are deadlines of the loop that has the connection, which leaves the set meanwhile.
//!
//! *Nobody starves* within a loop: one read a turn, and the rest is reported again. But busy ones stay where they are.
//!
//! *Termination.* All loops watch one [`End`]. The first to see it ends the listeners, for the others too, and each drains its
//! own connections.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use throng_record::built_in::{BuiltInModel, Count, Family, Workers};
use throng_sys::descriptor_table;
use throng_sys::epoll::{Event, Interest};

use crate::accept::{self, Failure};
use crate::bell::Bell;
use crate::listener::Listener;
use crate::loops::{End, serve_in_threads};
use crate::mailbox::Post;
use crate::models::epoll_level::{Watched, for_room};
use crate::opening::Opening;
use crate::passing::Passing;
use crate::places::{Fullness, Places};
use crate::served::{ModelError, Served};
use crate::workload::Session;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "epoll-shared",
    family: Family::EventLoops,
    summary: "several epoll(7) loops that share the listener (EPOLLEXCLUSIVE)",
    workers: Workers::OnePerCpu,
    // The main thread, which waits, and each loop's own.
    threads: Count {
        fixed: 1,
        per_worker: 1,
        per_connection: 0,
    },
    has_private_tables: true,
    ..BuiltInModel::ONE_THREAD
};

/// Tokens from here on are of the listeners, below are slots of connections.
const FIRST_LISTENER: u64 = 1 << 32;
const STOP: u64 = u64::MAX;
const MAIL: u64 = STOP - 1;
const BELL: u64 = STOP - 2;

const FOR_CONNECTIONS: Interest = Interest::IN.union(Interest::EXCLUSIVE);

/// What the loops share. It is the main thread's own: a loop has it in its table, and must not be who closes it.
struct Common {
    listeners: Vec<Listener>,
    /// Rung by whoever leaves the listeners.
    bell: Bell,
    fullness: Fullness,
    loops_end: End,
}

impl Common {
    fn new(listeners: Vec<Listener>, loops: usize, loops_end: End) -> io::Result<Self> {
        Ok(Self {
            listeners,
            bell: Bell::new()?,
            fullness: Fullness::new(loops),
            loops_end,
        })
    }

    /// What each loop needs of it in its table.
    fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let listeners = self.listeners.iter().map(|listener| listener.as_fd());
        let bell = self.bell.descriptors();
        listeners.chain(bell).chain([self.loops_end.as_fd()])
    }
}

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let loops = opening.workers();
    let (main_end, loops_end) = End::pair()?;
    let common = Common::new(opening.listeners()?, loops, loops_end)?;
    let passings = Passing::for_loops::<S>(loops)?;
    // Until the last loop has ended.
    let _mailboxes = passings[0].post().map(Post::all);
    let served = serve_in_threads(
        passings,
        (&main_end, &common.loops_end),
        stop,
        |passing, begun| {
            let server = Loop::<S>::begin(settings, &common, passing)?;
            begun.say();
            server.run()
        },
        || opening.ready(&common.listeners),
    );
    Ok(served?)
}

/// What each of the other threads does.
struct Loop<'a, S: Session> {
    watched: Watched<S>,
    common: &'a Common,
    /// None once they are ended.
    listeners: &'a [Listener],
    places: Places<'a>,
    passing: Passing,
}

impl<'a, S: Session> Loop<'a, S> {
    /// A loop of the calling thread, which has done nothing else yet.
    fn begin(settings: &S::Settings, common: &'a Common, passing: Passing) -> io::Result<Self> {
        let mail = passing.post().into_iter().flat_map(Post::descriptors);
        let mut kept: Vec<BorrowedFd<'_>> = common.descriptors().chain(mail).collect();
        kept.extend(S::descriptor(settings));
        descriptor_table::make_private(&kept)?;
        let places = common.fullness.places(kept.len());
        drop(kept);
        let server = Self {
            watched: Watched::new(settings)?,
            common,
            listeners: &common.listeners,
            places,
            passing,
        };
        // Not exclusively: it concerns every loop.
        server
            .watched
            .epoll
            .add(&common.loops_end, STOP, Interest::IN)?;
        if let Some(post) = server.passing.post() {
            server.watched.epoll.add(post, MAIL, Interest::IN)?;
        }
        server.watch_listeners()?;
        Ok(server)
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
            self.after(are_closed);
            if self.watched.connections.pause.remaining_ns() == Some(0) {
                self.resume_accepting();
            }
        }
        Ok(self.watched.connections.served())
    }

    #[inline]
    fn handle(&mut self, event: Event) -> io::Result<()> {
        if event.token < FIRST_LISTENER {
            self.serve_connection(event.token as usize);
        } else if event.token == MAIL {
            self.take_mail();
        } else if event.token == BELL {
            self.look_again();
        } else if event.token == STOP {
            self.begin_drain()?;
        } else {
            self.accept_one((event.token - FIRST_LISTENER) as usize);
        }
        Ok(())
    }

    #[inline]
    fn serve_connection(&mut self, key: usize) {
        let is_closed = self.watched.serve(key);
        if self.watched.connections.have_gathered_much() {
            self.pass_on();
        }
        self.after(is_closed);
    }

    /// Where some were closed, others can be accepted.
    #[inline]
    fn after(&mut self, are_closed: bool) {
        if are_closed {
            self.resume_accepting();
        }
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

    /// Those left over keep the listener readable. Another loop may have been faster: then none waits.
    fn accept_one(&mut self, index: usize) {
        // Gone where the drain began, and not to be asked where accepting ended, in this batch.
        let rests = self.watched.connections.pause.is_on() || self.places.is_full();
        let Some(listener) = self.listeners.get(index).filter(|_| !rests) else {
            return;
        };
        match listener.accept() {
            Ok(socket) => self.admit(socket),
            // Another loop has ended it: the stop is about to be reported here too.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
            Err(error) => match accept::failure(&error) {
                Failure::NoneWaits | Failure::ThisOneOnly => {}
                Failure::Exhausted => self.rest(error),
            },
        }
    }

    fn admit(&mut self, socket: OwnedFd) {
        if let Some((key, greeted)) = self.watched.admit(socket) {
            self.leave_listeners_if_full();
            let is_closed = self.watched.go_on(key, greeted);
            self.after(is_closed);
        }
    }

    fn leave_listeners_if_full(&mut self) {
        if self.places.are_taken_by(self.watched.connections.len()) {
            self.leave_listeners();
            if let Some(why) = self.places.fill() {
                self.watched.connections.pause.count(why);
            }
        }
    }

    /// The bell has rung: connections may wait of which only another loop knew.
    fn look_again(&mut self) {
        // One that left the listeners in this batch has rung it since.
        if self.watched.connections.pause.is_on() || self.places.is_full() {
            return;
        }
        self.common.bell.silence();
        self.unwatch_listeners();
        if let Err(error) = self.watch_listeners() {
            self.rest(error);
        }
    }

    fn resume_accepting(&mut self) {
        let was_resting = self.places.free() | self.watched.connections.pause.end();
        if was_resting
            && !self.watched.connections.is_draining()
            && let Err(error) = self.watch_listeners()
        {
            // Tried again when the pause is over.
            self.rest(error);
        }
    }

    fn rest(&mut self, cause: io::Error) {
        self.leave_listeners();
        self.watched.connections.pause.begin(cause);
    }

    /// Those who wait may be known to this loop only: another one is told.
    fn leave_listeners(&self) {
        self.unwatch_listeners();
        self.common.bell.ring();
    }

    /// A listener on which connections wait already is reported at once, and a bell that has rung.
    fn watch_listeners(&self) -> io::Result<()> {
        self.watched
            .epoll
            .add(&self.common.bell, BELL, FOR_CONNECTIONS)?;
        for (listener, token) in self.listeners.iter().zip(FIRST_LISTENER..) {
            self.watched.epoll.add(listener, token, FOR_CONNECTIONS)?;
        }
        Ok(())
    }

    fn unwatch_listeners(&self) {
        // It fails where one is not watched, which is what is wanted.
        let _ = self.watched.epoll.delete(&self.common.bell);
        for listener in self.listeners {
            let _ = self.watched.epoll.delete(listener);
        }
    }

    fn begin_drain(&mut self) -> io::Result<()> {
        self.watched.epoll.delete(&self.common.loops_end)?;
        self.unwatch_listeners();
        self.listeners.iter().for_each(Listener::end);
        self.listeners = &[];
        self.watched.connections.begin_drain();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
