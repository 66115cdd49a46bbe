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
//! told one loop of each of them, and that may have been this one. So it rings a bell ([`Bell`](crate::bell::Bell)), which wakes another loop with
//! places as a new connection does, and that one looks at the listeners anew. When a connection closes, the loop watches them
//! again. Only where all loops are full nobody accepts, which the server notes.
//!
//! *Slow readers.* What the socket does not take is kept, and the connection is watched for room instead of input until
//! that is gone: never more than one read's answer is kept, for an echo [`INPUT_BYTES`].
//!
//! *What goes to everyone* is posted to the other loops' mailboxes (see `passing.rs`), which is all that loops say to each
//! other, and only where the workload asks for it.
//!
//! *Delays* are deadlines of the loop that has the connection, which leaves the set meanwhile.
//!
//! *Nobody starves* within a loop: one read a turn, and the rest is reported again. But busy ones stay where they are.
//!
//! *Termination.* The loops and the main thread hold the ends of a socket pair. Whoever shuts it down, the main thread on the
//! stop signal or a loop that fails, makes it readable for all of them, and since nobody reads from it, it stays so: no loop
//! can miss it. The first to see it ends the listeners, for the others too, and each drains its own connections.

mod main_thread;
mod passing;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use slab::Slab;
use throng_sys::clock::monotonic_ns;
use throng_sys::descriptor_table;
use throng_sys::epoll::{Epoll, Event, Interest};

use crate::accept::{self, Failure, Pause};
use crate::deadlines::Deadlines;
use crate::declaration::{Count, Declaration, ServesAtOnce, Workers};
use crate::drain::Drain;
use crate::level_triggered::{Connection, Next, Stage};
use crate::linger;
use crate::listener::Listener;
use crate::mailbox::Post;
use crate::model::Family;
use crate::note::Refusals;
use crate::places::Places;
use crate::serve::Served;
use crate::workload::{Audience, GATHERED_BYTES, Session};
use main_thread::Common;

pub(crate) use main_thread::serve;

pub(crate) const DECLARATION: Declaration = Declaration {
    name: "epoll-shared",
    family: Family::EventLoops,
    summary: "several epoll(7) loops that share the listener (EPOLLEXCLUSIVE)",
    workers: Workers::OnePerCpu,
    serves_at_once: ServesAtOnce::Unbounded,
    // The main thread, which waits, and each loop's own.
    threads: Count {
        fixed: 1,
        per_worker: 1,
        per_connection: 0,
    },
    processes: Count::ONE,
    serves_unix: true,
    takes_accept_threads: false,
    broadcasts: true,
};

/// Bytes that one read takes at most, into a buffer that all connections of a loop share.
const INPUT_BYTES: usize = 64 * 1024;
/// Events taken at once.
const BATCH: usize = 256;

/// Tokens from here on are of the listeners, below are slots of connections.
const FIRST_LISTENER: u64 = 1 << 32;
const STOP: u64 = u64::MAX;
const MAIL: u64 = STOP - 1;
const BELL: u64 = STOP - 2;

const FOR_CONNECTIONS: Interest = Interest::IN.union(Interest::EXCLUSIVE);

const REMEDY: &str = "the kernel could not watch them: raise fs.epoll.max_user_watches";

/// What each of the other threads does.
struct Loop<'a, S: Session> {
    settings: S::Settings,
    epoll: Epoll,
    common: &'a Common,
    /// None once they are ended.
    listeners: &'a [Listener],
    connections: Slab<Connection<S>>,
    deadlines: Deadlines,
    input: Vec<u8>,
    output: Vec<u8>,
    /// None where nothing goes to everyone.
    post: Option<Post>,
    mail: Vec<u8>,
    places: Places<'a>,
    pause: Pause,
    refusals: Refusals,
    drain: Option<Drain>,
    accepted: u64,
    bytes: u64,
}

impl<'a, S: Session> Loop<'a, S> {
    /// A loop of the calling thread, which has done nothing else yet.
    fn begin(settings: &S::Settings, common: &'a Common, post: Option<Post>) -> io::Result<Self> {
        let mail = post.iter().flat_map(Post::descriptors);
        let mut kept: Vec<BorrowedFd<'_>> = common.descriptors().chain(mail).collect();
        kept.extend(S::descriptor(settings));
        descriptor_table::make_private(&kept)?;
        let places = common.fullness.places(kept.len());
        drop(kept);
        let server = Self {
            settings: settings.clone(),
            epoll: Epoll::new(BATCH)?,
            common,
            listeners: &common.listeners,
            connections: Slab::new(),
            deadlines: Deadlines::default(),
            input: vec![0; INPUT_BYTES],
            output: Vec::with_capacity(INPUT_BYTES),
            post,
            mail: Vec::new(),
            places,
            pause: Pause::default(),
            refusals: Refusals::default(),
            drain: None,
            accepted: 0,
            bytes: 0,
        };
        // Not exclusively: it concerns every loop.
        server.epoll.add(&common.loops_end, STOP, Interest::IN)?;
        if let Some(post) = &server.post {
            server.epoll.add(post, MAIL, Interest::IN)?;
        }
        server.watch_listeners()?;
        Ok(server)
    }

    fn run(mut self) -> io::Result<Served> {
        while !self.is_done() {
            let ready = self.epoll.wait(self.timeout_ns())?;
            for position in 0..ready {
                if let Some(event) = self.epoll.event(position) {
                    self.handle(event)?;
                }
            }
            self.pass_on();
            self.serve_due();
            if self.pause.remaining_ns() == Some(0) {
                self.resume_accepting();
            }
        }
        let notes = [self.pause.into_note(), self.refusals.into_note(REMEDY)];
        Ok(Served {
            connections: self.accepted,
            bytes: self.bytes,
            notes: notes.into_iter().flatten().collect(),
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
            self.serve_connection(event.token);
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
    fn serve_connection(&mut self, token: u64) {
        let key = token as usize;
        let Some(connection) = self.connections.get_mut(key) else {
            return;
        };
        let next = connection.turn(&mut self.input, &mut self.output, &mut self.bytes);
        self.go_on(key, next);
        if S::AUDIENCE == Audience::Everyone && self.output.len() >= GATHERED_BYTES {
            self.pass_on();
        }
    }

    /// Does what a connection's turn has come to.
    #[inline]
    fn go_on(&mut self, key: usize, next: io::Result<Next>) {
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
        if !is_open {
            self.connections.remove(key);
            self.resume_accepting();
        }
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
            self.go_on(key, next);
        }
    }

    /// Those left over keep the listener readable. Another loop may have been faster: then none waits.
    fn accept_one(&mut self, index: usize) {
        // Gone where the drain began, and not to be asked where accepting ended, in this batch.
        let rests = self.pause.is_on() || self.places.is_full();
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
        let slot = self.connections.vacant_entry();
        match self.epoll.add(&socket, slot.key() as u64, Interest::IN) {
            Ok(()) => {
                let key = slot.key();
                let connection = slot.insert(Connection::new(socket, &self.settings));
                let greeted = connection.greet(&mut self.bytes);
                self.accepted += 1;
                self.leave_listeners_if_full();
                self.go_on(key, greeted);
            }
            Err(error) => self.refusals.add(error),
        }
    }

    fn leave_listeners_if_full(&mut self) {
        if self.places.are_taken_by(self.connections.len()) {
            self.leave_listeners();
            if let Some(why) = self.places.fill() {
                self.pause.count(why);
            }
        }
    }

    /// The bell has rung: connections may wait of which only another loop knew.
    fn look_again(&mut self) {
        // One that left the listeners in this batch has rung it since.
        if self.pause.is_on() || self.places.is_full() {
            return;
        }
        self.common.bell.silence();
        self.unwatch_listeners();
        if let Err(error) = self.watch_listeners() {
            self.rest(error);
        }
    }

    fn resume_accepting(&mut self) {
        let was_resting = self.places.free() | self.pause.end();
        if was_resting
            && self.drain.is_none()
            && let Err(error) = self.watch_listeners()
        {
            // Tried again when the pause is over.
            self.rest(error);
        }
    }

    fn rest(&mut self, cause: io::Error) {
        self.leave_listeners();
        self.pause.begin(cause);
    }

    /// Those who wait may be known to this loop only: another one is told.
    fn leave_listeners(&self) {
        self.unwatch_listeners();
        self.common.bell.ring();
    }

    /// A listener on which connections wait already is reported at once, and a bell that has rung.
    fn watch_listeners(&self) -> io::Result<()> {
        self.epoll.add(&self.common.bell, BELL, FOR_CONNECTIONS)?;
        for (listener, token) in self.listeners.iter().zip(FIRST_LISTENER..) {
            self.epoll.add(listener, token, FOR_CONNECTIONS)?;
        }
        Ok(())
    }

    fn unwatch_listeners(&self) {
        // It fails where one is not watched, which is what is wanted.
        let _ = self.epoll.delete(&self.common.bell);
        for listener in self.listeners {
            let _ = self.epoll.delete(listener);
        }
    }

    fn begin_drain(&mut self) -> io::Result<()> {
        self.epoll.delete(&self.common.loops_end)?;
        self.unwatch_listeners();
        self.listeners.iter().for_each(Listener::end);
        self.listeners = &[];
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

#[cfg(test)]
mod tests;
