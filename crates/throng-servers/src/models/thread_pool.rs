//! *A fixed number of threads that block in accept.* Each takes a connection, serves it from its first byte to its last,
//! and goes back to accepting: an iterative server many times over. The kernel hands out the connections, to the thread
//! that has waited longest, so nothing is queued, locked or passed on in user space.
//!
//! *Cost.* All of it at the start: a thread and two buffers of [`blocking::INPUT_BYTES`] for each worker. A connection costs a
//! descriptor, a message a switch of threads. The size is the model's one question: as many workers as connections is
//! thread-per-connection at its worst moment; fewer, and the others wait in the accept queue until a worker is free, with
//! nobody reading what they send.
//!
//! *Slow readers* hold one worker, blocked in its write: as many of them as there are workers stop the server.
//!
//! *A delay,* and a lingering close, hold one worker too, for their time.
//!
//! *Fairness.* The scheduler is fair to those who are served. With several listeners each has its own share of the workers,
//! as a thread can block in one accept only: one listener's workers stand idle while another's connections wait.
//!
//! *Termination.* The main thread waits to be told. It shuts the listeners down, which ends every blocked accept, and
//! the input of all connections, which ends the blocked reads; who is still blocked in a write at the end of the drain has
//! its output ended too. A delay ends by itself: it is waited for at the descriptor that tells to stop.
//!
//! *Descriptors.* An accept reserves its descriptor before it blocks (`__sys_accept4` in net/socket.c), so where there are
//! fewer than workers some workers have none to wait with. They take turns in trying again; the others serve.

use std::io;
use std::mem;
use std::num::NonZeroU32;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use throng_record::built_in::{BuiltInModel, Count, Family, ServesAtOnce, Workers};
use throng_sys::poll::{PollSet, READABLE};
use throng_sys::socket;

use crate::accept::{self, Failure, Pause};
use crate::blocking::{self, Buffers};
use crate::delay;
use crate::drain::{self, Drain};
use crate::listener::Listener;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::threads;
use crate::workload::Session;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "thread-pool",
    family: Family::Threads,
    summary: "a fixed number of threads that block in accept, each with one connection at a time",
    workers: Workers::Pool(WORKERS),
    serves_at_once: ServesAtOnce::OnePerWorker,
    // The main thread, which waits to be told to stop, and the workers.
    threads: Count {
        fixed: 1,
        per_worker: 1,
        per_connection: 0,
    },
    broadcasts: false,
    ..BuiltInModel::ONE_THREAD
};

/// As many as the published thread-pool server had.
const WORKERS: NonZeroU32 = NonZeroU32::new(120).expect("it is not 0");

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let workers = opening.workers();
    threads::refuse_more_than_fit(workers, threads::threads_max(), "workers")?;
    let listeners = opening.listeners()?;
    for listener in &listeners {
        listener.let_accept_block()?;
    }
    let pool = &Pool::new(workers, &listeners, stop);
    thread::scope(|scope| {
        let told = (0..workers)
            .try_for_each(|worker| {
                thread::Builder::new()
                    .name("worker".to_owned())
                    .stack_size(threads::STACK_BYTES)
                    .spawn_scoped(scope, move || pool.work::<S>(settings, worker))
                    .map(drop)
                    .map_err(|error| cannot_start(worker, workers, &error))
            })
            .and_then(|()| {
                opening.ready(&listeners);
                wait_for(stop)
            });
        // Also where not all of them could be started: the scope ends when the last one has.
        pool.stop();
        told
    })?;
    Ok(pool.served())
}

fn cannot_start(worker: usize, workers: usize, error: &io::Error) -> io::Error {
    let number = worker + 1;
    io::Error::new(
        error.kind(),
        format!(
            "cannot start worker {number} of {workers} (`--workers` may ask for fewer): {error}"
        ),
    )
}

fn wait_for(stop: BorrowedFd<'_>) -> io::Result<()> {
    let mut set = PollSet::new();
    set.push(stop, READABLE);
    while set.wait(None)? == 0 {}
    Ok(())
}

/// What the threads share: touched when a connection begins and when it ends, never for a message.
struct Pool<'a> {
    listeners: &'a [Listener],
    /// What becomes readable when the server is told to stop: a delay is waited for there.
    stop: BorrowedFd<'a>,
    state: Mutex<Running>,
    changed: Condvar,
    /// Held by the one worker that waits to try again, of all that have no descriptor to accept with.
    pause: Mutex<Pause>,
}

struct Running {
    stopping: bool,
    running: usize,
    /// What each worker serves.
    open: Vec<Option<Arc<OwnedFd>>>,
    connections: u64,
    bytes: u64,
}

impl<'a> Pool<'a> {
    fn new(workers: usize, listeners: &'a [Listener], stop: BorrowedFd<'a>) -> Self {
        Self {
            listeners,
            stop,
            state: Mutex::new(Running {
                stopping: false,
                running: 0,
                open: vec![None; workers],
                connections: 0,
                bytes: 0,
            }),
            changed: Condvar::new(),
            pause: Mutex::default(),
        }
    }

    /// What each worker does.
    fn work<S: Session>(&self, settings: &S::Settings, worker: usize) {
        self.state().running += 1;
        self.accept_until_stopped::<S>(settings, worker);
        self.state().running -= 1;
        self.changed.notify_all();
    }

    fn accept_until_stopped<S: Session>(&self, settings: &S::Settings, worker: usize) {
        let listener = &self.listeners[worker % self.listeners.len()];
        let mut buffers = Buffers::new();
        while !self.is_stopping() {
            match listener.accept_blocking() {
                Ok(connection) => {
                    let connection = self.begin(worker, connection);
                    let session = S::begin(settings);
                    let sit_out = |delay| delay::sit_out(self.stop, delay);
                    let mut bytes = 0;
                    let sent = |more| bytes += more;
                    blocking::serve(session, &connection, &mut buffers, sit_out, sent);
                    drop(connection);
                    self.end(worker, bytes);
                }
                // The listener has been shut down.
                Err(_) if self.is_stopping() => {}
                Err(error) => match accept::failure(&error) {
                    Failure::ThisOneOnly => {}
                    Failure::NoneWaits | Failure::Exhausted => self.rest(error),
                },
            }
        }
    }

    fn is_stopping(&self) -> bool {
        self.state().stopping
    }

    /// Makes a connection known to the main thread. Where that has been told to stop since this one was accepted, it has
    /// missed it.
    fn begin(&self, worker: usize, connection: OwnedFd) -> Arc<OwnedFd> {
        let connection = Arc::new(connection);
        let mut state = self.state();
        state.connections += 1;
        state.open[worker] = Some(Arc::clone(&connection));
        if state.stopping {
            drain::end_input(&connection);
        }
        connection
    }

    /// The last holder of the connection, here, closes it.
    fn end(&self, worker: usize, bytes: u64) {
        let mut state = self.state();
        state.bytes += bytes;
        state.open[worker] = None;
    }

    /// Until it is this worker's turn to try again, or the server is told to stop.
    fn rest(&self, cause: io::Error) {
        let mut pause = self.pause();
        pause.begin(cause);
        let left = Duration::from_nanos(pause.remaining_ns().unwrap_or(0));
        let going_on = |state: &mut Running| !state.stopping;
        drop(
            self.changed
                .wait_timeout_while(self.state(), left, going_on),
        );
    }

    fn stop(&self) {
        let mut state = self.state();
        state.stopping = true;
        self.changed.notify_all();
        self.listeners.iter().for_each(Listener::end);
        let drain = Drain::begin(state.open.iter().flatten());
        let left = Duration::from_nanos(drain.remaining_ns());
        // Not for the connections: one that was accepted just now is not among them yet.
        (state, _) = self
            .changed
            .wait_timeout_while(state, left, |state| state.running > 0)
            .unwrap_or_else(PoisonError::into_inner);
        for connection in state.open.iter().flatten() {
            // It fails on a connection that is already reset, whose worker is on its way out.
            let _ = socket::end_output(connection);
        }
    }

    /// Once no worker is left.
    fn served(&self) -> Served {
        let state = self.state();
        Served {
            connections: state.connections,
            bytes: state.bytes,
            notes: mem::take(&mut *self.pause())
                .into_note()
                .into_iter()
                .collect(),
        }
    }

    fn state(&self) -> MutexGuard<'_, Running> {
        // Every change under the lock is complete in itself, here and below.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pause(&self) -> MutexGuard<'_, Pause> {
        self.pause.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
