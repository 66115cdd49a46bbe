//! *`io_uring(7)`, a thread for each core*: compio's runtime. Each worker thread has a ring and an executor of its own,
//! and tasks stay where they were accepted: nothing is shared between workers, nothing is stolen. An operation is
//! handed to the kernel with its buffer, and both come back on completion; a turn of a worker submits all operations
//! and waits in one system call.
//!
//! *One listener for all*, at which every worker keeps an accept in force. The kernel wakes one of them for a connection,
//! and the accept that is submitted next goes to the end of the line. A listener for each worker (`SO_REUSEPORT`) would
//! balance by hash instead, have an accept queue for each, and have no counterpart for Unix sockets.
//!
//! *Cost.* A task, an input buffer of 16 KiB and an output buffer as large as its largest answer, all kept while
//! it is idle: what waits for input has handed its buffer to the kernel (which touches what it fills: 5 KiB in all
//! where messages are small). Each operation is an allocation of compio's.
//! The ring's memory is not charged to `RLIMIT_MEMLOCK` (since Linux 5.12), however many connections there are.
//!
//! *Slow readers* hold only their own task: it writes all before it reads again, so a connection never has more than
//! one read's answer in memory.
//!
//! *What goes to everyone* is put into each connection's outbox, which those of other workers reach too, and sent by that
//! one's own task: it keeps a read in force, and beside it a write whenever there is something to send. An operation that
//! has begun is not taken back for that. Whose outbox is full is given up (see [`crate::room`]).
//!
//! *Nobody starves.* Every operation goes through the ring, so a task waits its turn at each.
//!
//! *A delay* is a timer of the runtime, which waits for completions until the next one at most. The task waits for it in an
//! allocation of its own, so that those that never sleep have no room for it.
//!
//! *Termination.* The input of every connection is ended, which completes its read for its ordinary way out; a delay ends
//! with a channel that is closed then (smol's: channels are of no runtime). Who is left at the end of the drain is dropped
//! with the runtime, which closes the ring before the buffers.
//!
//! *Why not monoio 0.2*, which was here first? Its tasks hold the ring and the ring holds them: one that is suspended when
//! the runtime is dropped stays for good, with its connection open. And its sockets lend their descriptors as bare
//! numbers only, so that to end another task's input takes `unsafe` code.

mod connection;

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream as HangUp;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use compio::driver::ProactorBuilder;
use compio::io::{AsyncRead, AsyncWrite};
use compio::net::{TcpListener, UnixListener, UnixStream};
use compio::runtime::{RuntimeBuilder, spawn, time};
use slab::Slab;
use smol::channel;
use smol::future::yield_now;
use throng_record::built_in::{BuiltInModel, Count, Family, Workers};
use throng_sys::address::Address;
use throng_sys::poll::{PollSet, READABLE};

use crate::accept::{self, Failure, Pause};
use crate::drain::{self, Drain};
use crate::listener::Listener;
use crate::opening::Opening;
use crate::room::Room;
use crate::served::{ModelError, Served};
use crate::workload::{Audience, Session};
use connection::{serve_connection, serve_member};

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "compio",
    family: Family::Tasks,
    summary: "a task for each connection, compio's io_uring and executor on each core",
    workers: Workers::OnePerCpu,
    // The main thread, which only waits for the end; the blocking pool stays empty.
    threads: Count {
        fixed: 1,
        per_worker: 1,
        per_connection: 0,
    },
    ..BuiltInModel::ONE_THREAD
};

/// How often a drain looks whether all are closed.
const POLL: Duration = Duration::from_millis(5);
/// A century: compio panics where the clock cannot tell when a delay would be over.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    let mut served = Served::default();
    let pause = Arc::new(Mutex::new(Pause::default()));
    let room = Arc::new(Room::default());
    thread::scope(|scope| {
        let mut hang_ups = Vec::new();
        let mut workers = Vec::new();
        let (started, starting) = mpsc::channel();
        for _ in 0..opening.workers() {
            let (ours, theirs) = HangUp::pair()?;
            hang_ups.push(ours);
            let doors: Vec<Door> = listeners.iter().map(Door::new).collect::<Result<_, _>>()?;
            let (started, pause) = (started.clone(), Arc::clone(&pause));
            let room = Arc::clone(&room);
            let worker = thread::Builder::new()
                .name("compio".to_owned())
                .spawn_scoped(scope, move || {
                    work::<S>(settings, doors, theirs, started, pause, room)
                })?;
            workers.push(worker);
        }
        drop(started);
        // Nobody is told that it is ready on a kernel where it cannot be. Where one fails, the others are hung up on.
        for result in starting {
            result.map_err(ModelError::IoUring)?;
        }
        opening.ready(&listeners);
        let mut set = PollSet::new();
        set.push(stop, READABLE);
        while set.wait(None)? == 0 {}
        // Dropping them would leave them open until each ring has cancelled its accepts; this closes them for all.
        listeners.iter().for_each(drain::end_input);
        drop(listeners);
        drop(hang_ups);
        for worker in workers {
            let (accepted, bytes) = worker.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            served.connections += accepted;
            served.bytes += bytes;
        }
        Ok::<_, ModelError>(())
    })?;
    let pause = std::mem::take(&mut *pause.lock().unwrap_or_else(PoisonError::into_inner));
    served.notes.extend(pause.into_note());
    Ok(served)
}

/// A worker's own descriptor of a listener, before there is a runtime that knows it.
enum Door {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

impl Door {
    fn new(listener: &Listener) -> io::Result<Self> {
        let descriptor = listener.as_fd().try_clone_to_owned()?;
        Ok(match listener.address() {
            Address::Tcp(_) => Self::Tcp(descriptor.into()),
            Address::Unix(_) => Self::Unix(descriptor.into()),
        })
    }
}

/// What a worker thread does until it is hung up on; the connections and bytes that it has served.
fn work<S: Session>(
    settings: &S::Settings,
    doors: Vec<Door>,
    hang_up: HangUp,
    started: Sender<io::Result<()>>,
    pause: Arc<Mutex<Pause>>,
    room: Arc<Room>,
) -> io::Result<(u64, u64)> {
    let mut proactor = ProactorBuilder::new();
    // Completions are handled when the worker asks for them, instead of interrupting it (Linux 6.1).
    proactor.single_issuer(true).defer_taskrun(true);
    let runtime = match RuntimeBuilder::new().with_proactor(proactor).build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = started.send(Err(error));
            return Ok((0, 0));
        }
    };
    let shared = Rc::new(Shared {
        state: RefCell::default(),
        stop: channel::bounded(1),
        pause,
        room,
    });
    runtime.block_on(serve_until::<S>(settings, doors, hang_up, started, &shared))?;
    // Drops the tasks that are left: each adds what it has sent.
    drop(runtime);
    let state = shared.state.borrow();
    Ok((state.accepted, state.bytes))
}

async fn serve_until<S: Session>(
    settings: &S::Settings,
    doors: Vec<Door>,
    hang_up: HangUp,
    started: Sender<io::Result<()>>,
    shared: &Rc<Shared>,
) -> io::Result<()> {
    let mut acceptors = Vec::new();
    for door in doors {
        let shared = Rc::clone(shared);
        acceptors.push(match door {
            Door::Tcp(door) => {
                let listener = TcpListener::from_std(door)?;
                spawn(accept_tcp::<S>(settings.clone(), listener, shared))
            }
            Door::Unix(door) => {
                let listener = UnixListener::from_std(door)?;
                spawn(accept_unix::<S>(settings.clone(), listener, shared))
            }
        });
    }
    let _ = started.send(Ok(()));
    // Whoever waits for others to start waits until all of these are dropped.
    drop(started);
    let _ = UnixStream::from_std(hang_up)?.read([0]).await;
    for acceptor in acceptors {
        acceptor.cancel().await;
    }
    shared.stop.0.close();
    let drain = Drain::begin(
        shared
            .state
            .borrow()
            .open
            .iter()
            .map(|(_, stream)| stream.as_fd()),
    );
    let left = Duration::from_nanos(drain.remaining_ns());
    let all_closed = async {
        while !shared.state.borrow().open.is_empty() {
            time::sleep(POLL).await;
        }
    };
    let _ = time::timeout(left, all_closed).await;
    Ok(())
}

async fn accept_tcp<S: Session>(settings: S::Settings, listener: TcpListener, shared: Rc<Shared>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // It fails only on a connection that is already reset, whose first read will say so.
                let _ = stream.set_nodelay(true);
                start(S::begin(&settings), stream, &shared);
            }
            Err(error) if is_closed(&error) => return,
            Err(error) => shared.failed(error).await,
        }
    }
}

async fn accept_unix<S: Session>(
    settings: S::Settings,
    listener: UnixListener,
    shared: Rc<Shared>,
) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                start(S::begin(&settings), stream, &shared);
            }
            Err(error) if is_closed(&error) => return,
            Err(error) => shared.failed(error).await,
        }
    }
}

/// Whether an accept failed because its listener no longer listens (EINVAL, accept(2)).
fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
}

/// Gives a connection its task.
fn start<S: Session, Stream: AsFd + 'static>(mut session: S, stream: Stream, shared: &Rc<Shared>)
where
    for<'a> &'a Stream: AsyncRead + AsyncWrite,
{
    let stream = Rc::new(stream);
    let entry = Entry::new(stream.clone(), shared);
    match S::AUDIENCE {
        Audience::Sender => spawn(async move { serve_connection(session, &*stream, entry).await }),
        Audience::Everyone => {
            let mut greeting = Vec::new();
            session.greet(&mut greeting);
            let member = shared.room.join(greeting);
            spawn(async move { serve_member(session, &*stream, entry, member).await })
        }
    }
    .detach();
}

/// What a worker's tasks share; no other thread sees it, but for the pause and the room.
struct Shared {
    state: RefCell<OpenConnections>,
    /// Nothing is sent: it is closed when the server is told to stop.
    stop: (channel::Sender<()>, channel::Receiver<()>),
    pause: Arc<Mutex<Pause>>,
    room: Arc<Room>,
}

#[derive(Default)]
struct OpenConnections {
    open: Slab<Rc<dyn AsFd>>,
    accepted: u64,
    bytes: u64,
}

impl Shared {
    /// Until so long is over, or the server is told to stop.
    async fn wait(&self, delay: Duration) {
        if delay.is_zero() {
            return yield_now().await;
        }
        let _ = time::timeout(delay.min(FOR_EVER), self.stop.1.recv()).await;
    }

    /// After a failed accept.
    async fn failed(&self, error: io::Error) {
        if accept::failure(&error) == Failure::Exhausted {
            let left_ns = {
                let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
                pause.begin(error);
                pause.remaining_ns().unwrap_or(0)
            };
            time::sleep(Duration::from_nanos(left_ns)).await;
        }
    }
}

/// An open connection's place among the others. Dropped, however its task ends, it adds what was sent.
struct Entry {
    shared: Rc<Shared>,
    key: usize,
    bytes: u64,
}

impl Entry {
    fn new(stream: Rc<dyn AsFd>, shared: &Rc<Shared>) -> Self {
        let mut state = shared.state.borrow_mut();
        state.accepted += 1;
        Self {
            key: state.open.insert(stream),
            shared: Rc::clone(shared),
            bytes: 0,
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut state = self.shared.state.borrow_mut();
        state.bytes += self.bytes;
        drop(state.open.remove(self.key));
    }
}
