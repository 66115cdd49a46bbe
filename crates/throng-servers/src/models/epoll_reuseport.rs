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
//! that is gone: never more than one read's answer is kept, for an echo [`INPUT_BYTES`].
//!
//! *What goes to everyone* is posted to the other loops' mailboxes (see `passing.rs`), which is all that loops say to each
//! other, and only where the workload asks for it.
//!
//! *Delays* are deadlines of the loop that has the connection, which leaves the set meanwhile.
//!
//! *Nobody starves* within a loop: one read a turn, and the rest is reported again.
//!
//! *Termination.* The loops and the main thread hold the ends of a socket pair. Whoever shuts it down, the main thread on the
//! stop signal or a loop that fails, makes it readable for all of them, and since nobody reads from it, it stays so: no loop
//! can miss it. Closing a listener resets the connections that wait in *its* queue, though another one listens on the port. So
//! each loop first accepts what waits, then closes its listeners, and drains. A connection whose handshake ends between
//! the two is reset all the same.

mod passing;

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::resume_unwind;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use slab::Slab;
use throng_sys::address::Address;
use throng_sys::clock::monotonic_ns;
use throng_sys::epoll::{Epoll, Event, Interest};
use throng_sys::poll::{PollSet, READABLE};

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
use crate::opening::Opening;
use crate::serve::{ModelError, Served};
use crate::workload::{Audience, GATHERED_BYTES, Session};

pub(crate) const DECLARATION: Declaration = Declaration {
    name: "epoll-reuseport",
    family: Family::EventLoops,
    summary: "several epoll(7) loops, each with its own listener on the port (SO_REUSEPORT)",
    workers: Workers::OnePerCpu,
    serves_at_once: ServesAtOnce::Unbounded,
    // The main thread, which waits, and each loop's own.
    threads: Count {
        fixed: 1,
        per_worker: 1,
        per_connection: 0,
    },
    processes: Count::ONE,
    serves_unix: false,
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

const REMEDY: &str = "the kernel could not watch them: raise fs.epoll.max_user_watches";

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
    let (main_end, loops_end) = UnixStream::pair()?;
    let waiting_max = opening.waiting_max();
    let loops = listeners
        .into_iter()
        .map(|own| Loop::<S>::new(settings, own, waiting_max, &loops_end))
        .collect::<io::Result<Vec<_>>>()?;
    let loops = with_post(loops)?;
    // The scope ends when the last loop has: none outlives this call.
    let served = thread::scope(|scope| {
        let started = start(scope, loops, &loops_end);
        let waited = started.is_ok().then(|| {
            opening.ready_at(&addresses);
            wait_for_either(stop, &main_end)
        });
        // On every way out: loops that have started must end.
        shut_down(&main_end);
        let served = join(started?);
        waited.transpose().and(served)
    });
    Ok(served?)
}

/// Gives each loop its mailbox, where what one says goes to all.
fn with_post<S: Session>(mut loops: Vec<Loop<'_, S>>) -> io::Result<Vec<Loop<'_, S>>> {
    if S::AUDIENCE == Audience::Everyone {
        let count = loops.len();
        for (server, post) in loops.iter_mut().zip(Post::for_loops(count)?) {
            server.epoll.add(&post, MAIL, Interest::IN)?;
            server.post = Some(post);
        }
    }
    Ok(loops)
}

type Handle<'scope> = ScopedJoinHandle<'scope, io::Result<Served>>;

fn start<'scope, S: Session + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    loops: Vec<Loop<'scope, S>>,
    loops_end: &'scope UnixStream,
) -> io::Result<Vec<Handle<'scope>>> {
    let start = |(server, index): (Loop<'scope, S>, usize)| {
        thread::Builder::new()
            .name(format!("loop-{index}"))
            .spawn_scoped(scope, move || {
                let result = server.run();
                // After a failure the others end too; after a stop they do already.
                shut_down(loops_end);
                result
            })
    };
    loops.into_iter().zip(0..).map(start).collect()
}

fn wait_for_either(stop: BorrowedFd<'_>, main_end: &UnixStream) -> io::Result<()> {
    let mut set = PollSet::new();
    set.push(stop, READABLE);
    set.push(main_end, READABLE);
    // A signal that is not ours ends a wait too.
    while set.wait(None)? == 0 {}
    Ok(())
}

fn shut_down(end: &UnixStream) {
    // It fails where the other end has been shut down, which has had the effect.
    let _ = end.shutdown(Shutdown::Both);
}

/// What all did together, or the first error, when all have ended.
fn join(loops: Vec<Handle<'_>>) -> io::Result<Served> {
    let join = |server: Handle<'_>| server.join().unwrap_or_else(|panic| resume_unwind(panic));
    let results: Vec<io::Result<Served>> = loops.into_iter().map(join).collect();
    results
        .into_iter()
        .try_fold(Served::default(), |sum, served| Ok(sum.and(served?)))
}

/// What each of the other threads does.
struct Loop<'a, S: Session> {
    settings: S::Settings,
    epoll: Epoll,
    stop: BorrowedFd<'a>,
    listeners: Vec<Listener>,
    waiting_max: usize,
    connections: Slab<Connection<S>>,
    deadlines: Deadlines,
    input: Vec<u8>,
    output: Vec<u8>,
    /// None where nothing goes to everyone.
    post: Option<Post>,
    mail: Vec<u8>,
    pause: Pause,
    refusals: Refusals,
    drain: Option<Drain>,
    accepted: u64,
    bytes: u64,
}

impl<'a, S: Session> Loop<'a, S> {
    fn new(
        settings: &S::Settings,
        listeners: Vec<Listener>,
        waiting_max: usize,
        stop: &'a UnixStream,
    ) -> io::Result<Self> {
        let epoll = Epoll::new(BATCH)?;
        epoll.add(stop, STOP, Interest::IN)?;
        for (listener, token) in listeners.iter().zip(FIRST_LISTENER..) {
            epoll.add(listener, token, Interest::IN)?;
        }
        Ok(Self {
            settings: settings.clone(),
            epoll,
            stop: stop.as_fd(),
            listeners,
            waiting_max,
            connections: Slab::new(),
            deadlines: Deadlines::default(),
            input: vec![0; INPUT_BYTES],
            output: Vec::with_capacity(INPUT_BYTES),
            post: None,
            mail: Vec::new(),
            pause: Pause::default(),
            refusals: Refusals::default(),
            drain: None,
            accepted: 0,
            bytes: 0,
        })
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
            self.serve_due()?;
            if self.pause.remaining_ns() == Some(0) {
                self.resume_accepting()?;
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
            self.serve_connection(event.token)
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
        for index in 0..self.listeners.len() {
            // Bounded, since others may go on connecting.
            self.accept_at_most(self.waiting_max, index)?;
        }
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

#[cfg(test)]
mod tests;
