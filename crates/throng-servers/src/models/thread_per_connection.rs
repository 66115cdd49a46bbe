//! *One thread for each connection.* One thread, or several (`--accept-threads`), blocks in accept; each connection has a
//! thread of its own whose reads and writes block, so its code is a plain loop and the kernel's scheduler does all the
//! multiplexing.
//!
//! *Cost.* A thread per connection: two buffers of [`INPUT_BYTES`], a stack, the kernel's own 16 KiB or so, four memory
//! mappings, and a switch of threads for every message.
//!
//! *Several accept threads* take turns at each listener: while one starts a thread for its connection (a stack to map, a
//! lock to take), the next one accepts. The kernel wakes one of them for each connection, so none wakes in vain.
//!
//! *Slow readers* hold only their own thread, blocked in its write. Nothing is read meanwhile, so a connection never
//! has more than one read's answer in memory. *A delay* is its own thread's as well: nobody else knows of it.
//!
//! *What goes to everyone* is sent by its speaker's own thread to each open connection, one speaker after the other: a
//! connection has no queue, and the socket's buffer is the bound. Where a line does not fit there, the connection is shut
//! down, which ends the read of its thread.
//!
//! *Termination.* The main thread waits to be told. It shuts the listeners down, which ends the blocked accepts, and the
//! input of every connection, which ends the blocked reads; who is still blocked in a write at the end of the drain has
//! its output ended too. A delay ends by itself: it is waited for at the descriptor that tells to stop.
//!
//! *Descriptors.* An accept reserves its descriptor before it blocks (`__sys_accept4` in net/socket.c), so each accept
//! thread takes one more, and where there is none it tries again from time to time.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

use slab::Slab;
use throng_record::built_in::{BuiltInModel, Count, Family, Workers};
use throng_sys::poll::{PollSet, READABLE};
use throng_sys::socket;

use crate::accept::{self, Failure, Pause};
use crate::at_once;
use crate::blocking::{self, Buffers, INPUT_BYTES};
use crate::delay;
use crate::drain::{self, Drain};
use crate::listener::Listener;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::threads;
use crate::workload::{Audience, Session, Then};

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "thread-per-connection",
    family: Family::Threads,
    summary: "a thread for each connection, blocking reads and writes",
    workers: Workers::OnePerConnection,
    // The main thread, which waits to be told to stop, and each connection's own, beside those that accept.
    threads: Count {
        fixed: 1,
        per_worker: 0,
        per_connection: 1,
    },
    takes_accept_threads: true,
    ..BuiltInModel::ONE_THREAD
};

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    for listener in &listeners {
        listener.let_accept_block()?;
    }
    let accept_threads = opening.accept_threads() * listeners.len();
    let server = Server::new(threads::threads_max(), stop);
    let ready = || opening.ready(&listeners);
    server.run::<S>(settings, &listeners, accept_threads, ready)?;
    Ok(server.served())
}

fn cannot_start(thread: usize, threads: usize, error: &io::Error) -> io::Error {
    let number = thread + 1;
    io::Error::new(
        error.kind(),
        format!(
            "cannot start accept thread {number} of {threads} (`--accept-threads` may ask for fewer): {error}"
        ),
    )
}

fn wait_for(stop: BorrowedFd<'_>) -> io::Result<()> {
    let mut set = PollSet::new();
    set.push(stop, READABLE);
    while set.wait(None)? == 0 {}
    Ok(())
}

/// What the threads share: touched when a connection opens and when it closes, never for a message.
struct Server<'a> {
    /// Of those that accept and those of the connections together.
    threads_max: usize,
    /// What becomes readable when the server is told to stop: a delay is waited for there.
    stop: BorrowedFd<'a>,
    state: Mutex<OpenConnections>,
    changed: Condvar,
}

#[derive(Default)]
struct OpenConnections {
    stopping: bool,
    /// Accept threads that have not ended.
    accepting: usize,
    open: Slab<Arc<OwnedFd>>,
    connections: u64,
    bytes: u64,
    pause: Pause,
    refusals: Refusals,
}

impl<'a> Server<'a> {
    fn new(threads_max: usize, stop: BorrowedFd<'a>) -> Self {
        Self {
            threads_max,
            stop,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// What the main thread does: it starts those that accept, and ends all of them when it is told to stop.
    fn run<S: Session>(
        &self,
        settings: &S::Settings,
        listeners: &[Listener],
        accept_threads: usize,
        ready: impl FnOnce(),
    ) -> io::Result<()> {
        threads::refuse_more_than_fit(accept_threads, self.threads_max, "accept threads")?;
        // The scope ends when the last thread has: none outlives this call.
        thread::scope(|scope| {
            let told = (0..accept_threads)
                .try_for_each(|thread| {
                    let listener = &listeners[thread % listeners.len()];
                    self.start_accepting::<S>(scope, settings, listener)
                        .map_err(|error| cannot_start(thread, accept_threads, &error))
                })
                .and_then(|()| {
                    ready();
                    wait_for(self.stop)
                });
            // Also where not all of them could be started.
            self.end(listeners);
            told
        })
    }

    fn start_accepting<'scope, S: Session>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        settings: &'scope S::Settings,
        listener: &'scope Listener,
    ) -> io::Result<()> {
        self.state().accepting += 1;
        let started = thread::Builder::new()
            .name("accept".to_owned())
            .spawn_scoped(scope, move || {
                self.accept_until_stopped::<S>(scope, settings, listener);
                self.state().accepting -= 1;
                self.changed.notify_all();
            });
        started
            .map(drop)
            .inspect_err(|_| self.state().accepting -= 1)
    }

    /// What each accept thread does.
    fn accept_until_stopped<'scope, S: Session>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        settings: &'scope S::Settings,
        listener: &Listener,
    ) {
        while !self.is_stopping() {
            match listener.accept_blocking() {
                Ok(connection) => self.start::<S>(scope, settings, connection),
                // The listener has been shut down.
                Err(_) if self.is_stopping() => {}
                Err(error) => match accept::failure(&error) {
                    Failure::ThisOneOnly => {}
                    Failure::NoneWaits | Failure::Exhausted => self.rest(error),
                },
            }
        }
    }

    /// Gives a connection its thread. Where that fails the connection is dropped, and so closed.
    fn start<'scope, S: Session>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        settings: &'scope S::Settings,
        connection: OwnedFd,
    ) {
        let connection = Arc::new(connection);
        let mut session = S::begin(settings);
        let mut greeting = Vec::new();
        session.greet(&mut greeting);
        let Some(key) = self.begin(&connection, &greeting) else {
            return;
        };
        let started = thread::Builder::new()
            .name("connection".to_owned())
            .stack_size(threads::STACK_BYTES)
            .spawn_scoped(scope, move || {
                let bytes = match S::AUDIENCE {
                    Audience::Sender => self.serve_alone(session, &connection),
                    Audience::Everyone => self.serve_member(session, &connection),
                };
                drop(connection);
                self.closed(key, bytes);
            });
        if let Err(error) = started {
            let mut state = self.state();
            state.open.remove(key);
            state.connections -= 1;
            state.refusals.add(error);
        }
    }

    /// Makes a connection known to the main thread, or refuses it where there is no room for its thread. Where the main
    /// thread has been told to stop since it was accepted, it has missed it.
    fn begin(&self, connection: &Arc<OwnedFd>, greeting: &[u8]) -> Option<usize> {
        let mut state = self.state();
        if state.accepting + state.open.len() >= self.threads_max {
            state.refusals.add(threads::no_room());
            return None;
        }
        if state.stopping {
            drain::end_input(connection);
        }
        state.connections += 1;
        if !greeting.is_empty() {
            // Before anybody else can say anything to it.
            state.bytes += at_once::send_all(connection, greeting);
        }
        Some(state.open.insert(Arc::clone(connection)))
    }

    /// What a connection's thread does; the bytes sent.
    fn serve_alone(&self, session: impl Session, connection: &OwnedFd) -> u64 {
        let mut bytes = 0;
        let sit_out = |delay| delay::sit_out(self.stop, delay);
        let sent = |more| bytes += more;
        blocking::serve(session, connection, &mut Buffers::new(), sit_out, sent);
        bytes
    }

    /// What it does where what it says goes to everyone; the bytes sent. Its session asks for no wait.
    fn serve_member<S: Session>(&self, mut session: S, connection: &OwnedFd) -> u64 {
        let mut input = vec![0; INPUT_BYTES];
        let mut output = Vec::new();
        let mut bytes = 0;
        // An error is a reset: there is nobody left to tell.
        while let Ok(received @ 1..) = socket::receive(connection, &mut input) {
            output.clear();
            let then = session.input(&input[..received], &mut output);
            bytes += self.say(&output);
            if then != Then::Read {
                break;
            }
        }
        bytes
    }

    /// Sends it to everyone, one speaker at a time; the bytes sent.
    fn say(&self, said: &[u8]) -> u64 {
        if said.is_empty() {
            return 0;
        }
        let state = self.state();
        let send = |(_, connection): (usize, &Arc<OwnedFd>)| at_once::send_all(connection, said);
        state.open.iter().map(send).sum()
    }

    /// The last holder of the connection, here, closes it.
    fn closed(&self, key: usize, bytes: u64) {
        let mut state = self.state();
        state.bytes += bytes;
        state.open.remove(key);
        drop(state);
        self.changed.notify_all();
    }

    fn is_stopping(&self) -> bool {
        self.state().stopping
    }

    /// Until it is worth trying again, or the server is told to stop.
    fn rest(&self, cause: io::Error) {
        let mut state = self.state();
        state.pause.begin(cause);
        let left = Duration::from_nanos(state.pause.remaining_ns().unwrap_or(0));
        let going_on = |state: &mut OpenConnections| !state.stopping;
        drop(self.changed.wait_timeout_while(state, left, going_on));
    }

    fn end(&self, listeners: &[Listener]) {
        let mut state = self.state();
        state.stopping = true;
        self.changed.notify_all();
        listeners.iter().for_each(Listener::end);
        let drain = Drain::begin(state.open.iter().map(|(_, connection)| connection));
        let left = Duration::from_nanos(drain.remaining_ns());
        // Also for those that accept: a connection that was accepted just now is not among the open ones yet.
        let busy = |state: &mut OpenConnections| state.accepting > 0 || !state.open.is_empty();
        (state, _) = self
            .changed
            .wait_timeout_while(state, left, busy)
            .unwrap_or_else(PoisonError::into_inner);
        for (_, connection) in &state.open {
            // It fails on a connection that is already reset, whose thread is on its way out.
            let _ = socket::end_output(connection);
        }
    }

    /// Once no other thread is left.
    fn served(self) -> Served {
        let state = self.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let notes = [
            state.pause.into_note(),
            state.refusals.into_note(threads::REMEDY),
        ];
        Served {
            connections: state.connections,
            bytes: state.bytes,
            notes: notes.into_iter().flatten().collect(),
        }
    }

    fn state(&self) -> MutexGuard<'_, OpenConnections> {
        // Every change under the lock is complete in itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
