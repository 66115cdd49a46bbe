//! *One connection at a time.* One thread accepts, serves that connection from its first byte to its last, and accepts
//! the next: the server of every textbook's first chapter, and still right where a connection is one short question.
//!
//! *Cost.* The least that there is: no thread, no process and no event for a connection, two buffers for all of them. The
//! price is paid by those who wait. They are in the accept queue, connected as far as they can tell, and what they send
//! is acknowledged by the kernel and read by nobody.
//!
//! *Slow readers* block the thread in its write, and with it everybody else. Nothing is read meanwhile, so there is
//! never more than one read's answer in memory.
//!
//! *A delay,* and a lingering close, occupy the thread as well: they are part of the connection's time, and the others wait.
//!
//! *Fairness.* First come, first served, for as long as the first one likes. As it blocks in one accept it can have one
//! listener only.
//!
//! *Termination.* A thread that blocks cannot look at anything else, so a second one waits to be told. It shuts the
//! listener down, which ends a blocked accept, and the input of the connection that is being served, which ends a blocked
//! read; at the end of the drain it ends the connection's output, and with it a blocked write. A delay ends by itself: it is
//! waited for at the descriptor that tells to stop.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use throng_record::built_in::{BuiltInModel, Count, Family, ServesAtOnce};
use throng_sys::poll::{PollSet, READABLE};
use throng_sys::socket;

use crate::accept::{self, Failure, Pause};
use crate::blocking::{self, Buffers};
use crate::delay;
use crate::drain::{self, Drain};
use crate::listener::Listener;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::Session;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "iterative",
    family: Family::Threads,
    summary: "one thread, one connection at a time, from its first byte to its last",
    serves_at_once: ServesAtOnce::OnePerWorker,
    // The one that serves, and the one that waits to be told to stop.
    threads: Count {
        fixed: 2,
        per_worker: 0,
        per_connection: 0,
    },
    broadcasts: false,
    ..BuiltInModel::ONE_THREAD
};

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    // There is one: as many listeners as workers is the most that is let through.
    let listener = &listeners[0];
    listener.let_accept_block()?;
    let shared = Shared::default();
    thread::scope(|scope| {
        let watch = thread::Builder::new()
            .name("stop".to_owned())
            .spawn_scoped(scope, || shared.stop_when_told(listener, stop))
            .map_err(|error| cannot_start(&error))?;
        opening.ready(&listeners);
        let served = accept_until_stopped::<S>(settings, listener, &shared, stop);
        shared.served_last();
        watch.join().expect("it does not panic")?;
        Ok(served)
    })
}

fn cannot_start(error: &io::Error) -> io::Error {
    let what = "cannot start the thread that waits to be told to stop";
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// What the thread does that serves.
fn accept_until_stopped<S: Session>(
    settings: &S::Settings,
    listener: &Listener,
    shared: &Shared,
    stop: BorrowedFd<'_>,
) -> Served {
    let mut served = Served::default();
    let mut pause = Pause::default();
    let mut buffers = Buffers::new();
    while !shared.is_stopping() {
        match listener.accept_blocking() {
            Ok(connection) => {
                served.connections += 1;
                let connection = shared.begin(connection);
                let session = S::begin(settings);
                let sit_out = |delay| delay::sit_out(stop, delay);
                let sent = |bytes| served.bytes += bytes;
                blocking::serve(session, &connection, &mut buffers, sit_out, sent);
                shared.end();
            }
            // The listener has been shut down.
            Err(_) if shared.is_stopping() => {}
            Err(error) => match accept::failure(&error) {
                Failure::ThisOneOnly => {}
                Failure::NoneWaits | Failure::Exhausted => {
                    pause.begin(error);
                    shared.rest(&pause);
                }
            },
        }
    }
    served.notes.extend(pause.into_note());
    served
}

/// What the two threads share: touched when a connection begins and when it ends, never for a message.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<Current>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Current {
    stopping: bool,
    has_served_last: bool,
    connection: Option<Arc<OwnedFd>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, Current> {
        // Every change under the lock is complete in itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopping(&self) -> bool {
        self.state().stopping
    }

    /// Makes a connection known to the other thread. Where that has been told to stop since this one was accepted, it
    /// has missed it.
    fn begin(&self, connection: OwnedFd) -> Arc<OwnedFd> {
        let connection = Arc::new(connection);
        let mut state = self.state();
        state.connection = Some(Arc::clone(&connection));
        if state.stopping {
            drain::end_input(&connection);
        }
        connection
    }

    /// The last holder closes it: the caller's, or the other thread that is just shutting it down.
    fn end(&self) {
        self.state().connection = None;
    }

    fn served_last(&self) {
        self.state().has_served_last = true;
        self.changed.notify_all();
    }

    /// Until the pause is over, or the server is told to stop.
    fn rest(&self, pause: &Pause) {
        let left = Duration::from_nanos(pause.remaining_ns().unwrap_or(0));
        let stopping = |state: &mut Current| !state.stopping;
        drop(
            self.changed
                .wait_timeout_while(self.state(), left, stopping),
        );
    }

    /// What the other thread does. Where it cannot wait, the server cannot be told to stop, and so it does not go on.
    fn stop_when_told(&self, listener: &Listener, stop: BorrowedFd<'_>) -> io::Result<()> {
        let told = wait_for(stop);
        let mut state = self.state();
        state.stopping = true;
        self.changed.notify_all();
        listener.end();
        let drain = Drain::begin(&state.connection);
        let left = Duration::from_nanos(drain.remaining_ns());
        let serving = |state: &mut Current| !state.has_served_last;
        let (state, _) = self
            .changed
            .wait_timeout_while(state, left, serving)
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = &state.connection {
            // It fails on a connection that is already reset, whose end is near.
            let _ = socket::end_output(connection);
        }
        told
    }
}

fn wait_for(stop: BorrowedFd<'_>) -> io::Result<()> {
    let mut set = PollSet::new();
    set.push(stop, READABLE);
    while set.wait(None)? == 0 {}
    Ok(())
}
