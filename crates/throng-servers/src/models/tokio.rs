//! *A task for each connection, on tokio*, in two forms that differ in the threads that run the tasks: one
//! ([`current_thread`]), or as many as CPUs, which steal ready tasks from each other ([`work_stealing`]). A file each declares
//! its form and builds its runtime; all that follows is the same code.
//!
//! A connection's code is a plain loop that suspends where it would block. The runtime polls epoll where no task is ready, and
//! resumes those whose sockets are.
//!
//! *Cost.* A task is one allocation of some hundred bytes (its state machine, with the socket's registration beside it),
//! an input buffer of [`INPUT_BYTES`] and an output buffer as large as its largest answer, both kept while it is idle
//! (pages that were never touched are not real): 5 to 17 KiB in all, depending on what the allocator has to clear.
//!
//! *Slow readers* hold only their own task: it writes all before it reads again, so a connection never has more than
//! one read's answer in memory.
//!
//! *What goes to everyone* is put into each connection's outbox, and sent by that one's own task, which waits for input and
//! for that at once. Whose outbox is full is given up (see [`crate::room`]).
//!
//! *Nobody starves.* Tokio counts each task's operations, and suspends it after 128 that did not have to wait.
//!
//! *A delay* suspends the task, for tokio's timer to wake it: to the millisecond, and never early. The sleep has an allocation
//! of its own, so that tasks that never sleep have no room for it.
//!
//! *Termination.* Each task also waits for the drop of its own `oneshot` sender, which costs a message an uncontended
//! load (one signal for all would be a lock that all share). A delay is over then; otherwise the task
//! ends its input. Both lead to its ordinary way out.
//! Who is left at the end of the drain is dropped with the runtime.

pub(crate) mod current_thread;
pub(crate) mod work_stealing;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use slab::Slab;
use throng_sys::address::Address;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::unix::pipe::Receiver;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::accept::{self, Failure, Pause};
use crate::drain::{self, Drain};
use crate::linger;
use crate::listener::Listener;
use crate::opening::Opening;
use crate::room::{Member, Room};
use crate::served::{ModelError, Served};
use crate::workload::{Audience, Session, Then};

/// Bytes that one read takes at most.
const INPUT_BYTES: usize = 16 * 1024;

/// Serves on this runtime, which nobody else uses.
fn run<S: Session>(
    runtime: Runtime,
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    opening.ready(&listeners);
    let shared = Arc::new(Shared::default());
    runtime.block_on(serve_until::<S>(settings, listeners, stop, &shared))?;
    // Waits for its threads, and drops the tasks that are left: each adds what it has sent.
    drop(runtime);
    let state = std::mem::take(&mut *shared.state());
    Ok(Served {
        connections: state.accepted,
        bytes: state.bytes,
        notes: state.pause.into_note().into_iter().collect(),
    })
}

async fn serve_until<S: Session>(
    settings: &S::Settings,
    listeners: Vec<Listener>,
    stop: BorrowedFd<'_>,
    shared: &Arc<Shared>,
) -> io::Result<()> {
    // Nothing is sent: it is closed when the last task has dropped its end.
    let (open, mut all_closed) = mpsc::channel::<()>(1);
    let mut acceptors = JoinSet::new();
    // Before anybody accepts: connections may take every descriptor that is left.
    let doors: Vec<Door> = listeners.iter().map(Door::new).collect::<Result<_, _>>()?;
    // Whatever it is, only its readiness is asked for.
    let stop = Receiver::from_owned_fd_unchecked(stop.try_clone_to_owned()?)?;
    for door in doors {
        let accepting = accept::<S>(settings.clone(), door, Arc::clone(shared), open.clone());
        acceptors.spawn(accepting);
    }
    drop(open);
    stop.readable().await?;
    // Waits until each has dropped its door.
    acceptors.shutdown().await;
    drop(listeners);
    let stops = std::mem::take(&mut shared.state().stops);
    drop(stops);
    let left = Duration::from_nanos(Drain::begin_without().remaining_ns());
    let _ = tokio::time::timeout(left, all_closed.recv()).await;
    Ok(())
}

/// A listener as tokio knows it, by a descriptor of its own.
enum Door {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Door {
    fn new(listener: &Listener) -> io::Result<Self> {
        let descriptor = listener.as_fd().try_clone_to_owned()?;
        Ok(match listener.address() {
            Address::Tcp(_) => Self::Tcp(TcpListener::from_std(descriptor.into())?),
            Address::Unix(_) => Self::Unix(UnixListener::from_std(descriptor.into())?),
        })
    }
}

/// What accepts at one listener, and gives each connection its task.
async fn accept<S: Session>(
    settings: S::Settings,
    door: Door,
    shared: Arc<Shared>,
    open: mpsc::Sender<()>,
) {
    loop {
        let accepted = match &door {
            Door::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
                // It fails only on a connection that is already reset, whose first read will say so.
                let _ = stream.set_nodelay(true);
                start::<S, _>(&settings, stream, &shared, open.clone());
            }),
            Door::Unix(listener) => listener.accept().await.map(|(stream, _)| {
                start::<S, _>(&settings, stream, &shared, open.clone());
            }),
        };
        if let Err(error) = accepted
            && accept::failure(&error) == Failure::Exhausted
        {
            let left_ns = shared.pause(error);
            tokio::time::sleep(Duration::from_nanos(left_ns)).await;
        }
    }
}

/// Gives a connection its task.
fn start<S: Session, Stream: AsyncRead + AsyncWrite + AsFd + Unpin + Send + 'static>(
    settings: &S::Settings,
    stream: Stream,
    shared: &Arc<Shared>,
    open: mpsc::Sender<()>,
) {
    let mut session = S::begin(settings);
    let (entry, stop) = Entry::new(shared, open);
    match S::AUDIENCE {
        Audience::Sender => drop(tokio::spawn(serve_connection(session, stream, entry, stop))),
        Audience::Everyone => {
            let mut greeting = Vec::new();
            session.greet(&mut greeting);
            let member = shared.room.join(greeting);
            drop(tokio::spawn(serve_member(
                session, stream, entry, stop, member,
            )));
        }
    }
}

/// A connection's task. An error is a reset: there is nobody left to tell.
async fn serve_connection<S: Session, Stream: AsyncRead + AsyncWrite + AsFd + Unpin>(
    mut session: S,
    mut stream: Stream,
    mut entry: Entry,
    mut stop: oneshot::Receiver<()>,
) {
    let mut input = vec![0; INPUT_BYTES];
    let mut output = Vec::new();
    let mut stopping = false;
    loop {
        let received = tokio::select! {
            biased;
            received = stream.read(&mut input) => received,
            _ = &mut stop, if !stopping => {
                stopping = true;
                drain::end_input(&stream);
                continue;
            }
        };
        let Ok(received) = received else { return };
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
                let Ok(more) = stream.write(&output[sent..]).await else {
                    return;
                };
                sent += more;
                entry.bytes += more as u64;
            }
            match then.settled(received == 0) {
                Then::Read => break,
                Then::Wait(delay) => {
                    if !stopping && Box::pin(is_told_during(delay, &mut stop)).await {
                        stopping = true;
                        drain::end_input(&stream);
                    }
                    output.clear();
                    then = session.resume(&mut output);
                }
                Then::Linger => return Box::pin(linger(&mut stream, &mut input)).await,
                Then::Close => return,
            }
        }
    }
}

/// A connection's task where what it says goes to everyone. Its session asks for no wait.
async fn serve_member<S: Session, Stream: AsyncRead + AsyncWrite + AsFd + Unpin>(
    mut session: S,
    mut stream: Stream,
    mut entry: Entry,
    mut stop: oneshot::Receiver<()>,
    member: Member,
) {
    let mut input = vec![0; INPUT_BYTES];
    let mut output = Vec::new();
    let mut stopping = false;
    loop {
        // In no fixed order: whoever always has something to hear is heard as well.
        let received = tokio::select! {
            unsent = member.next() => {
                let Some(unsent) = unsent else { return };
                if !send_unsent(&mut stream, &unsent, &member, &mut entry.bytes).await {
                    return;
                }
                continue;
            }
            received = stream.read(&mut input) => received,
            _ = &mut stop, if !stopping => {
                stopping = true;
                drain::end_input(&stream);
                continue;
            }
        };
        let Ok(received @ 1..) = received else { break };
        output.clear();
        let then = session.input(&input[..received], &mut output);
        member.say(&output);
        if then != Then::Read {
            break;
        }
    }
    // Its own last words among them.
    let unsent = member.take();
    send_unsent(&mut stream, &unsent, &member, &mut entry.bytes).await;
}

/// All of it; false where the connection broke, or is given up meanwhile.
async fn send_unsent<Stream: AsyncWrite + Unpin>(
    stream: &mut Stream,
    unsent: &[u8],
    member: &Member,
    bytes: &mut u64,
) -> bool {
    let mut sent = 0;
    while sent < unsent.len() {
        let more = tokio::select! {
            more = stream.write(&unsent[sent..]) => more,
            () = member.given_up() => return false,
        };
        let Ok(more) = more else { return false };
        sent += more;
        *bytes += more as u64;
    }
    true
}

/// Sleeps, and is woken where the server is told to stop meanwhile; whether it is.
async fn is_told_during(delay: Duration, stop: &mut oneshot::Receiver<()>) -> bool {
    if delay.is_zero() {
        // The timer would round it up.
        tokio::task::yield_now().await;
        return false;
    }
    tokio::time::timeout(delay, stop).await.is_ok()
}

/// Until the peer has ended its output too, within bounds that are shorter than a drain.
async fn linger<Stream: AsyncRead + AsyncWrite + Unpin>(stream: &mut Stream, input: &mut [u8]) {
    let dropping = async {
        let mut left = linger::BYTES_MAX;
        stream.shutdown().await?;
        while left > 0 {
            match stream.read(input).await? {
                0 => break,
                received => left = left.saturating_sub(received),
            }
        }
        io::Result::Ok(())
    };
    let _ = tokio::time::timeout(linger::LENGTH, dropping).await;
}

/// What the tasks share: touched when a connection opens and when it closes, never for a message.
#[derive(Default)]
struct Shared {
    state: Mutex<OpenConnections>,
    room: Arc<Room>,
}

#[derive(Default)]
struct OpenConnections {
    /// Dropped, one tells its connection's task to end.
    stops: Slab<oneshot::Sender<()>>,
    accepted: u64,
    bytes: u64,
    pause: Pause,
}

impl Shared {
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
}

/// An open connection's place among the others. Dropped, however its task ends, it adds what was sent.
struct Entry {
    shared: Arc<Shared>,
    key: usize,
    bytes: u64,
    _open: mpsc::Sender<()>,
}

impl Entry {
    fn new(shared: &Arc<Shared>, open: mpsc::Sender<()>) -> (Self, oneshot::Receiver<()>) {
        let (sender, stop) = oneshot::channel();
        let mut state = shared.state();
        state.accepted += 1;
        let entry = Self {
            shared: Arc::clone(shared),
            key: state.stops.insert(sender),
            bytes: 0,
            _open: open,
        };
        (entry, stop)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.bytes += self.bytes;
        // Already gone where the drain has begun.
        state.stops.try_remove(self.key);
    }
}
