//! *A fixed number of processes, forked beforehand, that block in accept* on the listeners they share: each takes a
//! connection, serves it from its first byte to its last, and goes back to accepting. A fork for each connection without
//! the fork, a pool of threads without shared memory; the Apache of the nineties.
//!
//! *Cost.* All of it at the start, a process for each worker: its pages are the parent's but for those that it has
//! written to (the stack, two buffers of [`blocking::INPUT_BYTES`], what the allocator touches). A connection costs a descriptor in
//! one of them, a message a switch of processes.
//!
//! *Slow readers* hold one worker, blocked in its write: as many of them as there are workers stop the server.
//!
//! *A delay,* and a lingering close, hold one worker too, for their time. SIGTERM interrupts a delay.
//!
//! *Fairness.* The kernel hands a connection to the worker that has waited longest, and the scheduler is fair to those who
//! are served; the others wait in the accept queue. With several listeners each has its own share of the workers, as a
//! process can block in one accept only.
//!
//! *Termination.* The parent shuts the listeners down, which ends every blocked accept in whatever process, and passes
//! SIGTERM on, since it may have come to itself only. In a worker that ends the connection's input, which wakes the
//! blocked read; workers that are still blocked in a write at the end of the drain have the connection shut under them,
//! count what they sent, and exit. A worker that ends unasked is replaced: nobody else is hurt, which is the point of
//! processes.

use std::io;
use std::num::NonZeroU32;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::process::ExitStatus;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use throng_record::built_in::{BuiltInModel, Count, Family, ServesAtOnce, Workers};
use throng_sys::children::{Children, Leaving};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};
use throng_sys::descriptor_table;
use throng_sys::poll::{PollSet, READABLE};
use throng_sys::shared_counters::{Lane, SharedCounters};

use crate::accept::{self, Failure};
use crate::blocking::{self, Buffers};
use crate::drain::Drain;
use crate::listener::Listener;
use crate::note::Note;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::Session;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "prefork",
    family: Family::Processes,
    summary: "a fixed number of processes that block in accept, each with one connection at a time",
    workers: Workers::Pool(WORKERS),
    serves_at_once: ServesAtOnce::OnePerWorker,
    // The parent, which waits, and the workers.
    threads: PARENT_AND_WORKERS,
    processes: PARENT_AND_WORKERS,
    broadcasts: false,
    ..BuiltInModel::ONE_THREAD
};

const PARENT_AND_WORKERS: Count = Count {
    fixed: 1,
    per_worker: 1,
    per_connection: 0,
};

/// As many as the thread pool has, so that the two can be compared.
const WORKERS: NonZeroU32 = NonZeroU32::new(120).expect("it is not 0");

/// Between two rounds of replacing workers, so that some that die at once do not make the parent spin; and before a
/// worker that had no descriptor or memory to accept with tries again.
const REST_NS: u64 = 50 * MILLISECOND_NS;

// What each worker counts, in a lane of its own that its successor inherits.
const CONNECTIONS: usize = 0;
const BYTES: usize = 1;
const RESTS: usize = 2;
const FIRST_ERROR: usize = 3;

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let workers = opening.workers();
    let children = Children::take_over()?;
    let counters = SharedCounters::new(workers)?;
    let listeners = opening.listeners()?;
    let mut parent = Parent {
        children,
        counters: &counters,
        listeners: &listeners,
        pids: vec![None; workers],
        died: 0,
        first_status: None,
    };
    for listener in &listeners {
        listener.let_accept_block()?;
    }
    for worker in 0..workers {
        parent
            .start::<S>(settings, worker)
            .map_err(|error| cannot_start(worker, workers, &error))?;
    }
    opening.ready(&listeners);
    parent.watch_until::<S>(settings, stop)?;
    parent.drain()?;
    Ok(Served {
        connections: counters.sum(CONNECTIONS),
        bytes: counters.sum(BYTES),
        notes: parent.notes(),
    })
}

fn cannot_start(worker: usize, workers: usize, error: &io::Error) -> io::Error {
    let number = worker + 1;
    io::Error::new(
        error.kind(),
        format!(
            "cannot fork worker {number} of {workers} (`--workers` may ask for fewer): {error}"
        ),
    )
}

/// What the first process does: it serves nobody.
struct Parent<'a> {
    children: Children,
    counters: &'a SharedCounters,
    listeners: &'a [Listener],
    /// Each worker's process, `None` until it has one (again).
    pids: Vec<Option<u32>>,
    died: u64,
    first_status: Option<ExitStatus>,
}

impl Parent<'_> {
    fn start<S: Session>(&mut self, settings: &S::Settings, worker: usize) -> io::Result<()> {
        let listener = &self.listeners[worker % self.listeners.len()];
        let lane = &self.counters.lanes()[worker];
        let body = |leaving: &Leaving| work::<S>(settings, listener, lane, leaving);
        self.pids[worker] = Some(self.children.fork(body)?);
        Ok(())
    }

    /// Replaces workers that have died, until it is told to stop.
    fn watch_until<S: Session>(
        &mut self,
        settings: &S::Settings,
        stop: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let mut set = PollSet::new();
        set.push(stop, READABLE);
        set.push(&self.children, READABLE);
        let mut rests_until_ns = 0_u64;
        loop {
            let rest_ms = self.pids.contains(&None).then(|| {
                let left_ns = rests_until_ns.saturating_sub(monotonic_ns());
                left_ns.div_ceil(MILLISECOND_NS) as u32
            });
            set.wait(rest_ms)?;
            if set.ready(0) != 0 {
                return Ok(());
            }
            self.bury()?;
            if monotonic_ns() >= rests_until_ns && self.pids.contains(&None) {
                self.replace::<S>(settings);
                rests_until_ns = monotonic_ns() + REST_NS;
            }
        }
    }

    fn bury(&mut self) -> io::Result<()> {
        for (pid, status) in self.children.reap()? {
            if let Some(worker) = self.pids.iter_mut().find(|worker| **worker == Some(pid)) {
                *worker = None;
            }
            // One that was asked to leave, by whomever, has left in order.
            if !status.success() {
                self.died += 1;
                self.first_status.get_or_insert(status);
            }
        }
        Ok(())
    }

    /// As far as there is room for them: the next round tries again.
    fn replace<S: Session>(&mut self, settings: &S::Settings) {
        for worker in 0..self.pids.len() {
            if self.pids[worker].is_none() && self.start::<S>(settings, worker).is_err() {
                return;
            }
        }
    }

    /// Until every worker has left, or the time for that is over.
    fn drain(&mut self) -> io::Result<()> {
        self.listeners.iter().for_each(Listener::end);
        self.children.ask_to_leave();
        let drain = Drain::begin([] as [BorrowedFd<'_>; 0]);
        let mut set = PollSet::new();
        set.push(&self.children, READABLE);
        while !self.children.is_empty() && drain.remaining_ns() > 0 {
            let left_ms = drain.remaining_ns().div_ceil(MILLISECOND_NS) as u32;
            set.wait(Some(left_ms))?;
            self.children.reap()?;
        }
        self.children.end()
    }

    fn notes(&self) -> Vec<Note> {
        let replaced = self.first_status.map(|status| Note::WorkersReplaced {
            workers: self.died,
            status,
        });
        let times = self.counters.sum(RESTS);
        let first_error = |lane: &Lane| match lane[FIRST_ERROR].load(Relaxed) {
            0 => None,
            number => Some(io::Error::from_raw_os_error(number as i32)),
        };
        let cause = self.counters.lanes().iter().find_map(first_error);
        let rested = cause.map(|cause| Note::AcceptPaused { times, cause });
        replaced.into_iter().chain(rested).collect()
    }
}

/// What each of the other processes does.
fn work<S: Session>(settings: &S::Settings, listener: &Listener, lane: &Lane, leaving: &Leaving) {
    // The other listeners and whatever else is the parent's. Before Linux 5.9 they stay open here, which harms nobody:
    // the parent shuts the listeners down, not only its own copies.
    let _ = descriptor_table::make_private(&[listener.as_fd()]);
    let mut buffers = Buffers::new();
    while !leaving.is_asked() {
        match listener.accept_blocking() {
            Ok(connection) => {
                lane[CONNECTIONS].fetch_add(1, Relaxed);
                leaving.while_serving(connection.as_fd(), || {
                    let session = S::begin(settings);
                    let sit_out = |delay| leaving.sit_out(delay);
                    let sent = |bytes| {
                        lane[BYTES].fetch_add(bytes, Relaxed);
                    };
                    blocking::serve(session, &connection, &mut buffers, sit_out, sent);
                });
            }
            // The listener has been shut down; being asked to leave is on its way.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return,
            Err(error) => match accept::failure(&error) {
                Failure::ThisOneOnly => {}
                Failure::NoneWaits | Failure::Exhausted => rest(&error, lane),
            },
        }
    }
}

fn rest(cause: &io::Error, lane: &Lane) {
    lane[RESTS].fetch_add(1, Relaxed);
    let number = cause.raw_os_error().unwrap_or_default();
    // Only the first one is kept; nobody else writes to this lane.
    let _ =
        lane[FIRST_ERROR].compare_exchange(0, u64::from(number.unsigned_abs()), Relaxed, Relaxed);
    thread::sleep(Duration::from_nanos(REST_NS));
}
