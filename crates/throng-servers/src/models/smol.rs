//! *A task for each connection, smol's executor* (M:N): a queue of ready tasks that any number of threads may run, each
//! inside `block_on`. The threads are ours, one for each CPU, the main thread among them; an idle one steals. Whichever
//! of them has nothing to run polls epoll for all, under a lock. Small parts that compose: the executor knows no
//! sockets, the reactor (`async-io`) knows no tasks.
//!
//! *Cost.* A task and its socket's registration are some allocations of a few hundred bytes together, an input buffer of
//! [`INPUT_BYTES`] and an output buffer as large as its largest answer, both kept while it is idle (pages that were
//! never touched are not real): 5 to 17 KiB in all. Interest is one-shot: each wait for input is a failed read first, and then a system
//! call to ask epoll again, so a message costs two more system calls than with the other runtimes. The reactor has a
//! thread of its own for when all workers are busy or blocked.
//!
//! *Slow readers* hold only their own task: it writes all before it reads again, so a connection never has more than
//! one read's answer in memory.
//!
//! *What goes to everyone* is put into each connection's outbox, and sent by that one's own task, which waits for input and
//! for that at once. Whose outbox is full is given up (see [`crate::room`]).
//!
//! *Nobody starves.* The executor counts nothing: a task that never has to wait would keep its thread. So it goes to the
//! end of the queue after every [`ROUNDS`] reads.
//!
//! *A delay* is the reactor's timer, and the task waits for it in an allocation of its own, so that those that never sleep
//! have no room for it.
//!
//! *Termination.* The input of every connection is ended, which wakes its task for its ordinary way out; a delay ends with
//! a channel that is closed then. Who is left at the end of the drain is dropped with the executor.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use slab::Slab;
use smol::channel::{self, Receiver, Sender};
use smol::{Async, Executor, Timer, future};
use throng_record::built_in::{BuiltInModel, Count, Family, Workers};
use throng_sys::socket;

use crate::accept::{self, Failure, Pause};
use crate::drain::Drain;
use crate::linger::{self, Lingering};
use crate::listener::Listener;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::room::{Member, Room};
use crate::served::{ModelError, Served};
use crate::workload::{Audience, Session, Then};

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "smol",
    family: Family::Tasks,
    summary: "a task for each connection, smol's executor on several threads",
    workers: Workers::OnePerCpu,
    // The main thread is one of the workers; the reactor has a thread of its own.
    threads: Count {
        fixed: 1,
        per_worker: 1,
        per_connection: 0,
    },
    ..BuiltInModel::ONE_THREAD
};

/// Bytes that one read takes at most.
const INPUT_BYTES: usize = 16 * 1024;
/// Reads after which a task lets the others run.
const ROUNDS: u32 = 32;

const REMEDY: &str = "the kernel could not watch them: raise fs.epoll.max_user_watches";

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    let workers = opening.workers();
    let executor = Arc::new(Executor::new());
    let shared = Arc::new(Shared::new());
    let (running, ended) = channel::bounded::<()>(1);
    thread::scope(|scope| {
        // Hangs up on the others when this closure ends, however it does.
        let _running = running;
        for _ in 1..workers {
            let (executor, ended) = (Arc::clone(&executor), ended.clone());
            thread::Builder::new()
                .name("smol".to_owned())
                .spawn_scoped(scope, move || {
                    let _ = smol::block_on(executor.run(ended.recv()));
                })?;
        }
        let serving = serve_until::<S>(opening, settings, listeners, stop, &executor, &shared);
        smol::block_on(executor.run(serving))
    })?;
    // Drops the tasks that are left: each adds what it has sent.
    drop(executor);
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

async fn serve_until<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    listeners: Vec<Listener>,
    stop: BorrowedFd<'_>,
    executor: &Arc<Executor<'static>>,
    shared: &Arc<Shared>,
) -> io::Result<()> {
    // The first use of the reactor starts its thread.
    let stop = Async::new_nonblocking(stop)?;
    opening.ready(&listeners);
    let mut acceptors = Vec::new();
    for listener in listeners {
        let listener = Async::new_nonblocking(listener)?;
        let (executor_too, shared) = (Arc::clone(executor), Arc::clone(shared));
        let accepting = accept::<S>(settings.clone(), listener, executor_too, shared);
        acceptors.push(executor.spawn(accepting));
    }
    stop.readable().await?;
    for acceptor in acceptors {
        // Waits until the listener is closed.
        acceptor.cancel().await;
    }
    let (drain, all_closed) = shared.drain();
    let left = Duration::from_nanos(drain.remaining_ns());
    future::or(
        async {
            let _ = all_closed.recv().await;
        },
        async {
            Timer::after(left).await;
        },
    )
    .await;
    Ok(())
}

/// What accepts at one listener; dropped, it closes it.
async fn accept<S: Session>(
    settings: S::Settings,
    listener: Async<Listener>,
    executor: Arc<Executor<'static>>,
    shared: Arc<Shared>,
) {
    loop {
        for _ in 0..accept::BATCH {
            match listener.read_with(Listener::accept).await {
                Ok(socket) => match Entry::new(socket, &shared) {
                    Ok(entry) => {
                        let mut session = S::begin(&settings);
                        match S::AUDIENCE {
                            Audience::Sender => executor.spawn(serve_connection(session, entry)),
                            Audience::Everyone => {
                                let mut greeting = Vec::new();
                                session.greet(&mut greeting);
                                let member = shared.room.join(greeting);
                                executor.spawn(serve_member(session, entry, member))
                            }
                        }
                        .detach();
                    }
                    Err(error) => shared.state().refusals.add(error),
                },
                Err(error) => match accept::failure(&error) {
                    Failure::NoneWaits | Failure::ThisOneOnly => {}
                    Failure::Exhausted => {
                        let left_ns = shared.pause(error);
                        Timer::after(Duration::from_nanos(left_ns)).await;
                    }
                },
            }
        }
        future::yield_now().await;
    }
}

/// A connection's task. An error is a reset: there is nobody left to tell.
async fn serve_connection<S: Session>(mut session: S, mut entry: Entry) {
    let mut input = vec![0; INPUT_BYTES];
    let mut output = Vec::new();
    let mut round = 0;
    loop {
        let reading = entry
            .socket
            .read_with(|socket| socket::receive(socket, &mut input));
        let Ok(received) = reading.await else { return };
        output.clear();
        let mut then = if received == 0 {
            session.end_of_input(&mut output)
        } else {
            session.input(&input[..received], &mut output)
        };
        loop {
            // As `write_all`, but counting: the drop of a task may end it half-way.
            let mut sent = 0;
            while sent < output.len() {
                let writing = entry
                    .socket
                    .write_with(|socket| socket::send(socket, &output[sent..]));
                let Ok(more) = writing.await else { return };
                sent += more;
                entry.bytes += more as u64;
            }
            match then.settled(received == 0) {
                Then::Read => break,
                Then::Wait(delay) => {
                    Box::pin(entry.shared.wait(delay)).await;
                    output.clear();
                    then = session.resume(&mut output);
                }
                Then::Linger => return Box::pin(linger(&entry.socket, &mut input)).await,
                Then::Close => return,
            }
        }
        round += 1;
        if round == ROUNDS {
            round = 0;
            future::yield_now().await;
        }
    }
}

/// What a member's task goes on with.
enum Step {
    /// What there is to send, unless it is given up.
    Send(Option<Vec<u8>>),
    /// What it has read.
    Take(io::Result<usize>),
}

/// A connection's task where what it says goes to everyone. Its session asks for no wait.
async fn serve_member<S: Session>(mut session: S, mut entry: Entry, member: Member) {
    let mut input = vec![0; INPUT_BYTES];
    let mut output = Vec::new();
    let mut round = 0;
    loop {
        let sending = async { Step::Send(member.next().await) };
        let taking = async {
            let reading = entry
                .socket
                .read_with(|socket| socket::receive(socket, &mut input));
            Step::Take(reading.await)
        };
        // In no fixed order: whoever always has something to hear is heard as well.
        match future::race(sending, taking).await {
            Step::Send(None) => return,
            Step::Send(Some(unsent)) => {
                if !send_unsent(&mut entry, &unsent, &member).await {
                    return;
                }
            }
            Step::Take(Ok(received @ 1..)) => {
                output.clear();
                let then = session.input(&input[..received], &mut output);
                member.say(&output);
                if then != Then::Read {
                    break;
                }
            }
            Step::Take(_) => break,
        }
        round += 1;
        if round == ROUNDS {
            round = 0;
            future::yield_now().await;
        }
    }
    // Its own last words among them.
    let unsent = member.take();
    send_unsent(&mut entry, &unsent, &member).await;
}

/// All of it; false where the connection broke, or is given up meanwhile.
async fn send_unsent(entry: &mut Entry, unsent: &[u8], member: &Member) -> bool {
    let mut sent = 0;
    while sent < unsent.len() {
        let writing = entry
            .socket
            .write_with(|socket| socket::send(socket, &unsent[sent..]));
        let given_up = async {
            member.given_up().await;
            Err(io::ErrorKind::TimedOut.into())
        };
        let Ok(more) = future::or(writing, given_up).await else {
            return false;
        };
        sent += more;
        entry.bytes += more as u64;
    }
    true
}

/// Until the peer has ended its output too, within bounds that are shorter than a drain.
async fn linger(socket: &Async<OwnedFd>, input: &mut [u8]) {
    let dropping = async {
        let mut lingering = Lingering::begin(socket.get_ref())?;
        while !lingering.is_over(socket.get_ref(), input) {
            socket.readable().await?;
        }
        io::Result::Ok(())
    };
    let too_long = async {
        Timer::after(linger::LENGTH).await;
        Ok(())
    };
    let _ = future::or(dropping, too_long).await;
}

/// What the tasks share: touched when a connection opens, waits and closes, never for a message.
struct Shared {
    state: Mutex<OpenConnections>,
    room: Arc<Room>,
    /// Nothing is sent: it is closed when the server is told to stop.
    stop: (Sender<()>, Receiver<()>),
}

#[derive(Default)]
struct OpenConnections {
    open: Slab<Arc<Async<OwnedFd>>>,
    /// While a drain waits: dropped when none is open any more.
    draining: Option<Sender<()>>,
    accepted: u64,
    bytes: u64,
    pause: Pause,
    refusals: Refusals,
}

impl Shared {
    fn new() -> Self {
        Self {
            state: Mutex::default(),
            room: Arc::default(),
            stop: channel::bounded(1),
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

    /// Until so long is over, or the server is told to stop.
    async fn wait(&self, delay: Duration) {
        if delay.is_zero() {
            return future::yield_now().await;
        }
        let told = async {
            let _ = self.stop.1.recv().await;
        };
        let over = async {
            Timer::after(delay).await;
        };
        future::or(told, over).await;
    }

    /// Ends the delays, and the input of all that are open; the receiver is hung up on when the last is closed.
    fn drain(&self) -> (Drain, Receiver<()>) {
        self.stop.0.close();
        let (draining, all_closed) = channel::bounded(1);
        let mut state = self.state();
        let drain = Drain::begin(state.open.iter().map(|(_, socket)| socket.get_ref()));
        state.draining = (!state.open.is_empty()).then_some(draining);
        (drain, all_closed)
    }
}

/// An open connection. Dropped, however its task ends, it adds what was sent, and closes the socket.
struct Entry {
    socket: Arc<Async<OwnedFd>>,
    shared: Arc<Shared>,
    key: usize,
    bytes: u64,
}

impl Entry {
    fn new(socket: OwnedFd, shared: &Arc<Shared>) -> io::Result<Self> {
        let socket = Arc::new(Async::new_nonblocking(socket)?);
        let mut state = shared.state();
        state.accepted += 1;
        Ok(Self {
            key: state.open.insert(Arc::clone(&socket)),
            socket,
            shared: Arc::clone(shared),
            bytes: 0,
        })
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.bytes += self.bytes;
        state.open.remove(self.key);
        if state.open.is_empty() {
            state.draining = None;
        }
    }
}
