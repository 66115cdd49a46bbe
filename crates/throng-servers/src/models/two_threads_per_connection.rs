//! *Two threads for each connection*, as the published server of the many-threads experiment had them: a reader blocks in
//! its connection's read and hands every message over, a writer waits for the next one and blocks in its write. Nobody
//! else writes to that connection, so a slow peer blocks its own writer and nobody who speaks.
//!
//! *The hand-over* of what goes to everyone is the model's one question (`--hand-over`, a file each in the model's folder):
//! `condvar` wakes every writer by one condition variable, as the published one did (inferred), and all of them take one
//! mutex; with `queues` the speaker's reader puts the message into each connection's queue; with `broadcaster` one thread
//! does that for all. What goes to its sender alone is put into that one's own queue, whatever the hand-over is.
//!
//! *Cost.* Two threads per connection, a buffer of [`INPUT_BYTES`], and for each delivery the waking of a thread: twice what
//! thread-per-connection has of everything, for writes that hold up nobody.
//!
//! *Slow readers.* What is kept for one is bounded; beyond that its connection is shut down, which ends its writer's blocked
//! write. A reader whose own writer is far behind hands nothing more over, and so reads nothing more.
//!
//! *Descriptors and threads.* An accept reserves its descriptor before it blocks. Where either of the two threads cannot be
//! started, the connection is closed unserved, before its greeting. A delay is waited for by the reader.
//!
//! *Termination.* The main thread waits to be told. It shuts the listeners down and ends the input of every connection; a
//! reader that reads the end tells its writer that nothing more comes, and waits for it. Whose writer is still blocked at the
//! end of the drain has its output ended too. The broadcaster ends when nobody is left who could send it anything.

use std::io;
use std::mem;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use slab::Slab;
use throng_sys::poll::{PollSet, READABLE};
use throng_sys::socket;

use self::member::Member;
use self::room::Room;
use throng_record::built_in::{BuiltInModel, Count, Family, Workers};

use crate::accept::{self, Failure, Pause};
use crate::blocking::{self, INPUT_BYTES};
use crate::delay;
use crate::drain::{self, Drain};
use crate::linger;
use crate::listener::Listener;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::threads;
use crate::workload::{Session, Then};
use throng_record::HandOver;

mod broadcaster;
mod list;
mod member;
mod outbox;
mod queues;
mod room;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "two-threads-per-connection",
    family: Family::Threads,
    summary: "a thread that reads and a thread that writes for each connection, with a hand-over between them",
    workers: Workers::OnePerConnection,
    // The main thread, which waits to be told to stop, and the one that accepts; a broadcaster is the hand-over's own.
    threads: Count {
        fixed: 2,
        per_worker: 0,
        per_connection: 2,
    },
    takes_hand_over: true,
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
    let hand_over = opening.hand_over();
    let fixed = listeners.len() + hand_over.threads() as usize;
    let server = Server::new(threads::threads_max(), fixed, stop);
    let ready = || opening.ready(&listeners);
    server.run::<S>(settings, &listeners, hand_over, ready)?;
    Ok(server.served())
}

fn wait_for(stop: BorrowedFd<'_>) -> io::Result<()> {
    let mut set = PollSet::new();
    set.push(stop, READABLE);
    while set.wait(None)? == 0 {}
    Ok(())
}

/// What the threads share: touched when a connection opens and when it closes. What a message takes is in the [`Room`].
struct Server<'a> {
    /// Of all kinds together, beside the main one.
    threads_max: usize,
    /// Those that accept and hand over, which are there in any case.
    threads_fixed: usize,
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
    fn new(threads_max: usize, threads_fixed: usize, stop: BorrowedFd<'a>) -> Self {
        Self {
            threads_max,
            threads_fixed,
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
        hand_over: HandOver,
        ready: impl FnOnce(),
    ) -> io::Result<()> {
        threads::refuse_more_than_fit(
            self.threads_fixed,
            self.threads_max,
            "threads that accept or broadcast",
        )?;
        // The scope ends when the last thread has: none outlives this call.
        thread::scope(|scope| {
            let room = Room::open::<S>(scope, hand_over)?;
            let accepting = listeners.iter().try_for_each(|listener| {
                let room = room.clone();
                self.start_accepting::<S>(scope, settings, listener, room)
            });
            // From here on only those have it that may hand something over.
            drop(room);
            let told = accepting.and_then(|()| {
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
        room: Room,
    ) -> io::Result<()> {
        self.state().accepting += 1;
        let started = thread::Builder::new()
            .name("accept".to_owned())
            .spawn_scoped(scope, move || {
                self.accept_until_stopped::<S>(scope, settings, listener, &room);
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
        room: &Room,
    ) {
        while !self.is_stopping() {
            match listener.accept_blocking() {
                Ok(connection) => self.start(scope, S::begin(settings), connection, room),
                // The listener has been shut down.
                Err(_) if self.is_stopping() => {}
                Err(error) => match accept::failure(&error) {
                    Failure::ThisOneOnly => {}
                    Failure::NoneWaits | Failure::Exhausted => self.rest(error),
                },
            }
        }
    }

    /// Gives a connection its reader. Where that fails the connection is dropped, and so closed.
    fn start<'scope, S: Session>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        session: S,
        connection: OwnedFd,
        room: &Room,
    ) {
        let connection = Arc::new(connection);
        let Some(key) = self.begin(&connection) else {
            return;
        };
        let room = room.clone();
        let started = thread::Builder::new()
            .name("reader".to_owned())
            .stack_size(threads::STACK_BYTES)
            .spawn_scoped(scope, move || {
                let served = self.read_and_write(scope, session, &connection, &room);
                drop((connection, room));
                self.closed(key, served);
            });
        if let Err(error) = started {
            self.closed(key, Err(error));
        }
    }

    /// Makes a connection known to the main thread, or refuses it where there is no room for its threads. Where the main
    /// thread has been told to stop since it was accepted, it has missed it.
    fn begin(&self, connection: &Arc<OwnedFd>) -> Option<usize> {
        let mut state = self.state();
        if self.threads_fixed + 2 * (state.open.len() + 1) > self.threads_max {
            state.refusals.add(threads::no_room());
            return None;
        }
        if state.stopping {
            drain::end_input(connection);
        }
        Some(state.open.insert(Arc::clone(connection)))
    }

    /// What a connection's reader does: it starts its writer, greets, reads to the end, and waits for the writer. The bytes
    /// sent; an error where there is no writer, and nothing has been done.
    fn read_and_write<'scope, S: Session>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        mut session: S,
        connection: &Arc<OwnedFd>,
        room: &Room,
    ) -> io::Result<u64> {
        let mut greeting = Vec::new();
        session.greet(&mut greeting);
        // It hears what is said from now on, and the greeting before.
        let member = room.join(connection, greeting);
        let writer = start_writer(scope, connection, &member)?;
        let mut input = vec![0; INPUT_BYTES];
        let last = read_to_the_end(session, connection, self.stop, &*member, &mut input);
        member.end();
        let bytes = writer.join().unwrap_or(0);
        if last == Then::Linger {
            linger::sit_out(connection, &mut input);
        }
        Ok(bytes)
    }

    /// The last holder of the connection, here, closes it.
    fn closed(&self, key: usize, served: io::Result<u64>) {
        let mut state = self.state();
        match served {
            Ok(bytes) => {
                state.connections += 1;
                state.bytes += bytes;
            }
            Err(error) => state.refusals.add(error),
        }
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
            // It fails on a connection that is already reset, whose threads are on their way out.
            let _ = socket::end_output(connection);
        }
    }

    /// Once no other thread is left.
    fn served(self) -> Served {
        let state = self.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let refusals = state.refusals.into_note(threads::REMEDY);
        let notes = [state.pause.into_note(), refusals];
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

fn start_writer<'scope>(
    scope: &'scope Scope<'scope, '_>,
    connection: &Arc<OwnedFd>,
    member: &Arc<dyn Member>,
) -> io::Result<ScopedJoinHandle<'scope, u64>> {
    let (connection, member) = (Arc::clone(connection), Arc::clone(member));
    thread::Builder::new()
        .name("writer".to_owned())
        .stack_size(threads::STACK_BYTES)
        .spawn_scoped(scope, move || write_to_the_end(&connection, &*member))
}

/// The reader's part, until it wants no more: how it wants to close.
fn read_to_the_end<S: Session>(
    mut session: S,
    connection: &OwnedFd,
    stop: BorrowedFd<'_>,
    member: &dyn Member,
    input: &mut [u8],
) -> Then {
    let mut output = Vec::new();
    // An error is a reset: there is nobody left to tell.
    while let Ok(received) = socket::receive(connection, input) {
        let mut then = if received == 0 {
            session.end_of_input(&mut output)
        } else {
            session.input(&input[..received], &mut output)
        };
        loop {
            if !output.is_empty() {
                member.say(mem::take(&mut output).into());
            }
            match then.settled(received == 0) {
                Then::Read => break,
                Then::Wait(delay) => {
                    delay::sit_out(stop, delay);
                    then = session.resume(&mut output);
                }
                last @ (Then::Linger | Then::Close) => return last,
            }
        }
    }
    Then::Close
}

/// What a writer does, message by message; the bytes sent.
fn write_to_the_end(connection: &OwnedFd, member: &dyn Member) -> u64 {
    let mut bytes = 0;
    while let Some(message) = member.next() {
        if blocking::send(connection, &message, |more| bytes += more).is_err() {
            member.give_up();
        }
    }
    bytes
}

#[cfg(test)]
mod tests;
