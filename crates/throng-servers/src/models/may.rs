//! *A stackful coroutine for each connection, may's scheduler* (M:N). A coroutine has a stack of its own, and switching
//! saves a few registers. So its code looks like a thread's, blocking reads and writes without `async`, and any function
//! may suspend it. Each worker thread has an epoll and a queue; a connection belongs to the worker that its descriptor's
//! number selects, and idle workers steal from the queues of others.
//!
//! *Cost.* A stack of [`STACK_WORDS`], of which an idle connection touches two pages or so, with its guard page (two
//! memory mappings, which bounds the number: see [`REMEDY`]); an input buffer of [`INPUT_BYTES`] on the heap, and an
//! output buffer as large as its largest answer: 6 to 15 KiB in all. May keeps a pool of a thousand stacks from the start
//! (8 MiB). A message costs two switches beside its system calls, of which the first read usually fails.
//!
//! *Slow readers* hold only their own coroutine: it writes all before it reads again, so a connection never has more
//! than one read's answer in memory.
//!
//! *Nobody starves.* May counts nothing: a coroutine that never has to wait would keep its worker. So it goes to the end
//! of the queue after every [`ROUNDS`] reads.
//!
//! *A delay* is a sleep of the coroutine, in pieces of [`PIECE`]: a sleep cannot be cut short but by cancelling, so the
//! coroutine looks in between whether the server is told to stop. (One that is parked with a time limit could be
//! woken; but may 0.3 sets the timer before there is anything for it to wake, and a timer that is over by then wakes
//! nobody.) For the same reason one that lingers looks again and again for what has come.
//!
//! *What goes to everyone* is sent by its speaker's own coroutine to each open connection, one speaker after the other: a
//! connection has no queue, and the socket's buffer is the bound. Where a line does not fit there, the connection is shut
//! down, which ends the read of its coroutine.
//!
//! *Termination.* The input of every connection is ended, which wakes its coroutine for its ordinary way out; who is
//! still writing at the end of the drain has its output ended too, which wakes that. The scheduler itself cannot be
//! ended: its threads stay until the process exits. Cancelling a coroutine is `unsafe` in may, and is not used.
//!
//! May's own sockets cannot adopt a descriptor safely, its wrapper for anything that has one ([`CoIo`]) can.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use may::io::{CoIo, WaitIo as _};
use may::{coroutine, go};
use slab::Slab;
use throng_record::built_in::{BuiltInModel, Count, Family, Workers};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};
use throng_sys::poll::{PollSet, READABLE};
use throng_sys::socket;
use throng_sys::sysctl;

use crate::accept::{self, Failure, Pause};
use crate::at_once;
use crate::drain::{self, Drain};
use crate::linger::{self, Lingering};
use crate::listener::Listener;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::{Audience, Session, Then};

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "may",
    family: Family::Tasks,
    summary: "a stackful coroutine for each connection, may's threads",
    workers: Workers::OnePerCpu,
    // The main thread, which only waits for the end, and may's timer.
    threads: Count {
        fixed: 2,
        per_worker: 1,
        per_connection: 0,
    },
    ..BuiltInModel::ONE_THREAD
};

/// Bytes that one read takes at most.
const INPUT_BYTES: usize = 16 * 1024;
/// Reads after which a coroutine lets the others run.
const ROUNDS: u32 = 32;
/// How long a delay sleeps before it looks whether the server is told to stop.
const PIECE: Duration = Duration::from_millis(50);
/// How long one that lingers sleeps at first; then twice as long each time, up to [`PIECE`].
const FIRST_LOOK: Duration = Duration::from_millis(1);

/// May's unit and its default: 32 KiB. The buffers are on the heap and the loop calls little.
const STACK_WORDS: usize = 4 * 1024;
/// A stack and its guard page.
const MAPPINGS_PER_COROUTINE: u64 = 2;
/// Mappings left to the rest of the process, with may's pool of a thousand stacks.
const MAPPINGS_RESERVED: u64 = 4096;

const REMEDY: &str = "each coroutine's stack takes two memory mappings: raise vm.max_map_count (and fs.epoll.max_user_watches \
                      where that is the cause), or serve with stackless tasks (tokio, smol)";

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    may::config()
        .set_workers(opening.workers())
        .set_stack_size(STACK_WORDS)
        // Where a thread runs is left to the kernel, as with every other model.
        .set_worker_pin(false);
    opening.ready(&listeners);
    let shared = Arc::new(Shared::new());
    let listeners: Vec<Arc<Listener>> = listeners.into_iter().map(Arc::new).collect();
    let mut acceptors = Vec::new();
    for listener in &listeners {
        let listener = CoIo::new(Arc::clone(listener)).map_err(io::Error::from)?;
        let (settings, shared) = (settings.clone(), Arc::clone(&shared));
        acceptors.push(go!(move || accept::<S>(&settings, &listener, &shared)));
    }
    let mut set = PollSet::new();
    set.push(stop, READABLE);
    while set.wait(None)? == 0 {}
    shared.stopping.store(true, Ordering::Release);
    // A listener whose input is ended refuses and is accepted from no more: the coroutine that waits at it wakes up.
    listeners.iter().for_each(drain::end_input);
    for acceptor in acceptors {
        let _ = acceptor.join();
    }
    drop(listeners);
    shared.drain();
    let state = std::mem::take(&mut *shared.state());
    Ok(Served {
        connections: state.accepted,
        bytes: state.bytes,
        notes: [state.pause.into_note(), state.refusals.into_note(REMEDY)]
            .into_iter()
            .flatten()
            .collect(),
    })
}

/// What accepts at one listener.
fn accept<S: Session>(
    settings: &S::Settings,
    listener: &CoIo<Arc<Listener>>,
    shared: &Arc<Shared>,
) {
    let mut accepted = 0;
    while !shared.stopping.load(Ordering::Acquire) {
        match listener.inner().accept() {
            Ok(socket) => {
                let mut session = S::begin(settings);
                let mut greeting = Vec::new();
                session.greet(&mut greeting);
                match Entry::new(Arc::new(File::from(socket)), shared, &greeting) {
                    Ok(entry) => drop(match S::AUDIENCE {
                        Audience::Sender => go!(move || serve_connection(session, entry)),
                        Audience::Everyone => go!(move || serve_member(session, entry)),
                    }),
                    Err(error) => shared.state().refusals.add(error),
                }
                accepted += 1;
                if accepted % accept::BATCH == 0 {
                    coroutine::yield_now();
                }
            }
            Err(error) => match accept::failure(&error) {
                Failure::NoneWaits => drop(listener.wait_io()),
                Failure::ThisOneOnly => {}
                Failure::Exhausted if shared.stopping.load(Ordering::Acquire) => return,
                Failure::Exhausted => {
                    let left_ns = shared.pause(error);
                    coroutine::sleep(Duration::from_nanos(left_ns));
                }
            },
        }
    }
}

/// A connection's coroutine. An error is a reset: there is nobody left to tell.
fn serve_connection<S: Session>(mut session: S, mut entry: Entry) {
    let mut input = vec![0; INPUT_BYTES];
    let mut output = Vec::new();
    let mut round = 0;
    while let Ok(received) = entry.socket.read(&mut input) {
        output.clear();
        let mut then = if received == 0 {
            session.end_of_input(&mut output)
        } else {
            session.input(&input[..received], &mut output)
        };
        loop {
            // As `write_all`, but counting: an error may end it half-way.
            let mut sent = 0;
            while sent < output.len() {
                let Ok(more) = entry.socket.write(&output[sent..]) else {
                    return;
                };
                sent += more;
                entry.bytes += more as u64;
            }
            match then.settled(received == 0) {
                Then::Read => break,
                Then::Wait(delay) => {
                    entry.shared.wait(delay);
                    output.clear();
                    then = session.resume(&mut output);
                }
                Then::Linger => return linger(entry.socket.inner(), &mut input),
                Then::Close => return,
            }
        }
        round += 1;
        if round == ROUNDS {
            round = 0;
            coroutine::yield_now();
        }
    }
}

/// A connection's coroutine where what it says goes to everyone. Its session asks for no wait.
fn serve_member<S: Session>(mut session: S, mut entry: Entry) {
    let mut input = vec![0; INPUT_BYTES];
    let mut output = Vec::new();
    let mut round = 0;
    while let Ok(received @ 1..) = entry.socket.read(&mut input) {
        output.clear();
        let then = session.input(&input[..received], &mut output);
        entry.bytes += entry.shared.say(&output);
        if then != Then::Read {
            return;
        }
        round += 1;
        if round == ROUNDS {
            round = 0;
            coroutine::yield_now();
        }
    }
}

/// Until the peer has ended its output too, within bounds that are shorter than a drain.
fn linger(socket: &File, input: &mut [u8]) {
    // An error is a reset.
    let Ok(mut lingering) = Lingering::begin(socket) else {
        return;
    };
    let until_ns = after(linger::LENGTH);
    let mut piece = FIRST_LOOK;
    while !lingering.is_over(socket, input) && monotonic_ns() < until_ns {
        coroutine::sleep(piece);
        piece = PIECE.min(2 * piece);
    }
}

/// So long from now, on the monotonic clock.
fn after(delay: Duration) -> u64 {
    let delay_ns = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
    monotonic_ns().saturating_add(delay_ns)
}

/// What the coroutines share: touched when a connection opens, waits and closes, never for a message. The locks are of
/// the threads, since nobody suspends while holding one.
struct Shared {
    connections_max: usize,
    stopping: AtomicBool,
    state: Mutex<OpenConnections>,
    one_closed: Condvar,
}

#[derive(Default)]
struct OpenConnections {
    /// A `File` is any open descriptor: TCP and Unix sockets alike.
    open: Slab<Arc<File>>,
    accepted: u64,
    bytes: u64,
    pause: Pause,
    refusals: Refusals,
}

impl Shared {
    /// May panics where a stack cannot be mapped, so that is not tried.
    fn new() -> Self {
        let mappings = sysctl::read_value("vm.max_map_count").unwrap_or(u64::MAX);
        let coroutines = mappings.saturating_sub(MAPPINGS_RESERVED) / MAPPINGS_PER_COROUTINE;
        Self {
            connections_max: usize::try_from(coroutines).unwrap_or(usize::MAX),
            stopping: AtomicBool::new(false),
            state: Mutex::default(),
            one_closed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, OpenConnections> {
        // Every change under the lock is complete in itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that accepting rests; for how long.
    fn pause(&self, cause: io::Error) -> u64 {
        let pause = &mut self.state().pause;
        pause.begin(cause);
        pause.remaining_ns().unwrap_or(0)
    }

    /// Sends it to everyone, one speaker at a time; the bytes sent.
    fn say(&self, said: &[u8]) -> u64 {
        if said.is_empty() {
            return 0;
        }
        let state = self.state();
        let send = |(_, socket): (usize, &Arc<File>)| at_once::send_all(socket, said);
        state.open.iter().map(send).sum()
    }

    /// Until so long is over, or the server is told to stop.
    fn wait(&self, delay: Duration) {
        if delay.is_zero() {
            return coroutine::yield_now();
        }
        let until_ns = after(delay);
        while !self.stopping.load(Ordering::Acquire) {
            let left_ns = until_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                return;
            }
            // May keeps a list for each length that was ever slept, so there are only so many.
            let left = Duration::from_millis(left_ns.div_ceil(MILLISECOND_NS));
            coroutine::sleep(PIECE.min(left));
        }
    }

    /// Blocks the main thread, not a worker.
    fn drain(&self) {
        let mut state = self.state();
        let drain = Drain::begin(state.open.iter().map(|(_, socket)| socket));
        while !state.open.is_empty() && drain.remaining_ns() > 0 {
            let left = Duration::from_nanos(drain.remaining_ns());
            (state, _) = self
                .one_closed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        for (_, socket) in &state.open {
            // It fails on a connection that is already reset, whose coroutine is on its way out.
            let _ = socket::end_output(socket);
        }
        // Their coroutines wake up, and count what they have sent.
        while !state.open.is_empty() {
            state = self
                .one_closed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// An open connection. Dropped, however its coroutine ends, it adds what was sent, and closes the socket.
struct Entry {
    socket: CoIo<Arc<File>>,
    /// Dropped after `socket`, which closes its file *before* it removes the number from the epoll: by then the number
    /// may be that of a connection that another worker has just accepted, and which would never be woken.
    _file: Arc<File>,
    shared: Arc<Shared>,
    key: usize,
    bytes: u64,
}

impl Entry {
    /// It is greeted before anybody else can say anything to it.
    fn new(socket: Arc<File>, shared: &Arc<Shared>, greeting: &[u8]) -> io::Result<Self> {
        let mut state = shared.state();
        if state.open.len() >= shared.connections_max {
            return Err(io::Error::other(
                "vm.max_map_count has no room for a further stack",
            ));
        }
        let watched = CoIo::new(Arc::clone(&socket))?;
        state.accepted += 1;
        if !greeting.is_empty() {
            state.bytes += at_once::send_all(&socket, greeting);
        }
        Ok(Self {
            socket: watched,
            _file: Arc::clone(&socket),
            shared: Arc::clone(shared),
            key: state.open.insert(socket),
            bytes: 0,
        })
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.bytes += self.bytes;
        state.open.remove(self.key);
        drop(state);
        self.shared.one_closed.notify_one();
    }
}
