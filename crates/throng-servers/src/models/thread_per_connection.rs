//! *One thread for each connection.* The main thread accepts; each connection has a thread of its own whose reads and
//! writes block, so its code is a plain loop and the kernel's scheduler does all the multiplexing.
//!
//! *Cost.* A thread per connection: two buffers of [`INPUT_BYTES`], a stack, the kernel's own 16 KiB or so, four memory
//! mappings, and a switch of threads for every message.
//!
//! *Slow readers* hold only their own thread, blocked in its write. Nothing is read meanwhile, so a connection never
//! has more than one read's answer in memory.
//!
//! *Termination.* Ending the input of every connection wakes the blocked reads; who is still blocked in a write at the
//! end of the drain has its output ended too, which wakes that.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

use slab::Slab;
use throng_sys::limits::MachineLimits;
use throng_sys::poll::{PollSet, READABLE};
use throng_sys::socket;

use crate::accept::{self, Failure, Pause};
use crate::declaration::{Count, Declaration, ServesAtOnce, Workers};
use crate::drain::Drain;
use crate::listener::Listener;
use crate::model::Family;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::serve::{ModelError, Served};
use crate::workload::Session;

pub(crate) const DECLARATION: Declaration = Declaration {
    name: "thread-per-connection",
    family: Family::Threads,
    summary: "a thread for each connection, blocking reads and writes",
    workers: Workers::OnePerConnection,
    serves_at_once: ServesAtOnce::Unbounded,
    // The main thread, which accepts, and each connection's own.
    threads: Count {
        fixed: 1,
        per_worker: 0,
        per_connection: 1,
    },
    processes: Count::ONE,
    serves_unix: true,
    takes_accept_threads: true,
};

/// Bytes that one read takes at most.
const INPUT_BYTES: usize = 16 * 1024;

/// The buffers are on the heap and the loop calls little: it uses a few KiB of its stack, also in an unoptimised build.
/// The default of 2 MiB would cost address space only, but that is counted by `ulimit -v` and by overcommit.
const STACK_BYTES: usize = 64 * 1024;

/// A stack and the alternative stack that Rust's runtime gives each thread for reporting an overflow, each with its
/// guard page.
const MAPPINGS_PER_THREAD: u64 = 4;

/// Mappings left to the rest of the process.
const MAPPINGS_RESERVED: u64 = 1024;

const REMEDY: &str = "threads are bounded by kernel.pid_max, kernel.threads-max, vm.max_map_count (four mappings each) \
                      and the cgroup's pids.max: raise the least of them (`throng doctor`), or serve with an event loop";

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    opening.ready(&listeners);
    Ok(serve_at_most::<S>(
        settings,
        threads_max(),
        listeners,
        stop,
    )?)
}

/// The thread that `vm.max_map_count` has no room for is not refused by the kernel in a way that can be handled: it
/// starts, and ends the process when its alternative stack cannot be mapped. So it is not started.
fn threads_max() -> usize {
    let mappings = MachineLimits::read().max_map_count.unwrap_or(u64::MAX);
    let threads = mappings.saturating_sub(MAPPINGS_RESERVED) / MAPPINGS_PER_THREAD;
    usize::try_from(threads).unwrap_or(usize::MAX)
}

fn serve_at_most<S: Session>(
    settings: &S::Settings,
    threads_max: usize,
    listeners: Vec<Listener>,
    stop: BorrowedFd<'_>,
) -> io::Result<Served> {
    let shared = Shared::default();
    let mut acceptor = Acceptor {
        threads_max,
        shared: &shared,
        pause: Pause::default(),
        refusals: Refusals::default(),
        connections: 0,
    };
    // The scope ends when the last thread has: none outlives this call.
    thread::scope(|scope| {
        let result = acceptor.accept_until::<S>(scope, settings, &listeners, stop);
        drop(listeners);
        shared.drain();
        result
    })?;
    Ok(Served {
        connections: acceptor.connections,
        bytes: acceptor.shared.open().bytes,
        notes: [
            acceptor.pause.into_note(),
            acceptor.refusals.into_note(REMEDY),
        ]
        .into_iter()
        .flatten()
        .collect(),
    })
}

/// What the main thread does: it accepts, and starts threads.
struct Acceptor<'a> {
    threads_max: usize,
    shared: &'a Shared,
    pause: Pause,
    refusals: Refusals,
    connections: u64,
}

impl<'a> Acceptor<'a> {
    fn accept_until<'scope, S: Session>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        settings: &'scope S::Settings,
        listeners: &[Listener],
        stop: BorrowedFd<'_>,
    ) -> io::Result<()>
    where
        'a: 'scope,
    {
        let mut set = PollSet::new();
        set.push(stop, READABLE);
        for listener in listeners {
            set.push(listener, READABLE);
        }
        loop {
            let timeout_ms = self
                .pause
                .remaining_ns()
                .map(|left_ns| left_ns.div_ceil(1_000_000) as u32);
            set.wait(timeout_ms)?;
            if set.ready(0) != 0 {
                return Ok(());
            }
            if self.pause.remaining_ns() == Some(0) {
                self.pause.end();
            }
            for (listener, position) in listeners.iter().zip(1..) {
                if set.ready(position) != 0 && !self.pause.is_on() {
                    self.accept_batch::<S>(scope, settings, listener);
                }
            }
            let interest = if self.pause.is_on() { 0 } else { READABLE };
            (1..set.len()).for_each(|position| set.set_interest(position, interest));
        }
    }

    fn accept_batch<'scope, S: Session>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        settings: &'scope S::Settings,
        listener: &Listener,
    ) where
        'a: 'scope,
    {
        for _ in 0..accept::BATCH {
            match listener.accept_blocking() {
                Ok(connection) => match self.start::<S>(scope, settings, connection) {
                    Ok(()) => self.connections += 1,
                    Err(error) => self.refusals.add(error),
                },
                Err(error) => match accept::failure(&error) {
                    Failure::NoneWaits => return,
                    Failure::ThisOneOnly => {}
                    Failure::Exhausted => return self.pause.begin(error),
                },
            }
        }
    }

    /// Gives a connection its thread. Where that fails the connection is dropped, and so closed.
    fn start<'scope, S: Session>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        settings: &'scope S::Settings,
        connection: OwnedFd,
    ) -> io::Result<()>
    where
        'a: 'scope,
    {
        let shared = self.shared;
        let connection = Arc::new(connection);
        let key = {
            let mut open = shared.open();
            if open.connections.len() >= self.threads_max {
                return Err(io::Error::other(
                    "vm.max_map_count has no room for a further thread",
                ));
            }
            open.connections.insert(Arc::clone(&connection))
        };
        let started = thread::Builder::new()
            .name("connection".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, move || {
                let bytes = serve_connection::<S>(settings, &connection);
                drop(connection);
                shared.closed(key, bytes);
            });
        match started {
            Ok(_) => Ok(()),
            Err(error) => {
                shared.open().connections.remove(key);
                Err(error)
            }
        }
    }
}

/// What each of the other threads does; the bytes sent.
fn serve_connection<S: Session>(settings: &S::Settings, connection: &OwnedFd) -> u64 {
    let mut session = S::begin(settings);
    let mut input = vec![0; INPUT_BYTES];
    let mut output = Vec::new();
    let mut bytes = 0;
    // An error is a reset: there is nobody left to tell.
    while let Ok(received) = socket::receive(connection, &mut input) {
        output.clear();
        if received == 0 {
            let _ = session.end_of_input(&mut output);
        } else {
            let _ = session.input(&input[..received], &mut output);
        }
        let mut sent = 0;
        while sent < output.len() {
            let Ok(more) = socket::send(connection, &output[sent..]) else {
                return bytes;
            };
            sent += more;
            bytes += more as u64;
        }
        if received == 0 {
            break;
        }
    }
    bytes
}

/// What the threads share: touched when a connection opens and when it closes, never for a message.
#[derive(Debug, Default)]
struct Shared {
    open: Mutex<Open>,
    one_closed: Condvar,
}

#[derive(Debug, Default)]
struct Open {
    connections: Slab<Arc<OwnedFd>>,
    bytes: u64,
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Open> {
        // Every change under the lock is complete in itself.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last holder of the connection, here, closes it.
    fn closed(&self, key: usize, bytes: u64) {
        let mut open = self.open();
        open.bytes += bytes;
        open.connections.remove(key);
        drop(open);
        self.one_closed.notify_one();
    }

    fn drain(&self) {
        let mut open = self.open();
        let drain = Drain::begin(open.connections.iter().map(|(_, connection)| connection));
        while !open.connections.is_empty() && drain.remaining_ns() > 0 {
            let left = Duration::from_nanos(drain.remaining_ns());
            (open, _) = self
                .one_closed
                .wait_timeout(open, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        for (_, connection) in &open.connections {
            // It fails on a connection that is already reset, whose thread is on its way out.
            let _ = socket::end_output(connection);
        }
    }
}

#[cfg(test)]
mod tests;
