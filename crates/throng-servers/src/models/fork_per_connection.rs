//! *One process for each connection.* The parent accepts and forks; the child, a copy of it with one thread, serves that
//! connection with reads and writes that block, and exits. This is how servers were written before threads, and how
//! `inetd` and `sshd` still do it: what happens to one connection cannot touch another's memory.
//!
//! *Cost.* A process per connection: the fork, a few hundred µs, and about as much to end it, which connections that live
//! for one request pay in full. An idle child shares the parent's pages but for those that it has written to (the stack,
//! the buffers, what the allocator touches: some 90 KiB), and the kernel keeps nearly as much again for its task and its
//! page tables: about 170 KiB of the machine's memory.
//!
//! *Slow readers* hold only their own process, blocked in its write. Nothing is read meanwhile, so a child never has more
//! than one read's answer in memory.
//!
//! *What goes to everyone* passes through the parent, since no memory is shared: each child tells it by a socket pair of
//! its own, and it tells every child. It waits for none of them, and whoever is too slow is hung up on ([`hub`], [`member`]).
//!
//! *A delay* is its own process's sleep, which SIGTERM interrupts: nobody else knows of it.
//!
//! *Fairness* is the scheduler's. Accepting and serving compete for CPU time only.
//!
//! *Termination.* SIGTERM may come to the parent or to the whole process group, so the parent passes it on. In a child it
//! ends the connection's input, which wakes the blocked read; children that are still blocked in a write at the end of
//! the drain have the connection shut under them, count what they sent, and exit.
//!
//! *Descriptors* do not bound it: the parent holds none for a connection, a child has one. Processes and memory do. Only where
//! what is said goes to everyone the parent holds one for each, its end of the pair.

mod hub;
mod member;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use throng_record::built_in::{BuiltInModel, Count, Family, Workers};
use throng_sys::children::{Children, Leaving};
use throng_sys::clock::MILLISECOND_NS;
use throng_sys::descriptor_table;
use throng_sys::poll::{PollSet, READABLE};
use throng_sys::shared_counters::{Lane, SharedCounters};

use crate::accept::{self, Failure, Pause};
use crate::blocking::{self, Buffers};
use crate::drain::Drain;
use crate::listener::Listener;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::{Audience, Session};
use hub::Hub;
use member::serve_member;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "fork-per-connection",
    family: Family::Processes,
    summary: "a process forked for each connection, blocking reads and writes",
    workers: Workers::OnePerConnection,
    // The parent, which accepts, and each connection's own.
    threads: PARENT_AND_CHILDREN,
    processes: PARENT_AND_CHILDREN,
    ..BuiltInModel::ONE_THREAD
};

const PARENT_AND_CHILDREN: Count = Count {
    fixed: 1,
    per_worker: 0,
    per_connection: 1,
};

/// More than what is said in one read: a line that had begun, of less than 64 KiB, and that read.
const PACKET_BYTES: usize = 96 * 1024;

/// Children that count in the same cache line are this far apart: few are busy at the same time.
const LANES: usize = 64;
const BYTES: usize = 0;

const REMEDY: &str = "processes are bounded by kernel.pid_max, kernel.threads-max, `ulimit -u`, the cgroup's pids.max and \
                      memory: raise the least of them (`throng doctor`), or serve with an event loop";

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let mut parent = Parent {
        children: Children::take_over()?,
        hub: match S::AUDIENCE {
            Audience::Sender => None,
            Audience::Everyone => Some(Hub::new()?),
        },
        counters: SharedCounters::new(LANES)?,
        pause: Pause::default(),
        refusals: Refusals::default(),
        connections: 0,
    };
    let listeners = opening.listeners()?;
    opening.ready(&listeners);
    parent.accept_until::<S>(settings, &listeners, stop)?;
    // A child that has just begun still has its copies of them.
    listeners.iter().for_each(Listener::end);
    drop(listeners);
    parent.drain()?;
    Ok(Served {
        connections: parent.connections,
        bytes: parent.counters.sum(BYTES),
        notes: [parent.pause.into_note(), parent.refusals.into_note(REMEDY)]
            .into_iter()
            .flatten()
            .collect(),
    })
}

/// What the first process does: it accepts, forks, and takes note of children that have ended.
struct Parent {
    children: Children,
    /// Where what one connection says goes to all.
    hub: Option<Hub>,
    counters: SharedCounters,
    pause: Pause,
    refusals: Refusals,
    connections: u64,
}

impl Parent {
    fn accept_until<S: Session>(
        &mut self,
        settings: &S::Settings,
        listeners: &[Listener],
        stop: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let mut set = PollSet::new();
        set.push(stop, READABLE);
        set.push(&self.children, READABLE);
        for listener in listeners {
            set.push(listener, READABLE);
        }
        let after_listeners = set.len();
        if let Some(hub) = &self.hub {
            set.push(hub, READABLE);
        }
        loop {
            let timeout_ms = self
                .pause
                .remaining_ns()
                .map(|left_ns| left_ns.div_ceil(MILLISECOND_NS) as u32);
            set.wait(timeout_ms)?;
            if set.ready(0) != 0 {
                return Ok(());
            }
            if set.ready(1) != 0 && !self.children.reap()?.is_empty() {
                self.pause.end();
            }
            if let Some(hub) = &mut self.hub
                && set.ready(after_listeners) != 0
            {
                hub.turn()?;
            }
            if self.pause.remaining_ns() == Some(0) {
                self.pause.end();
            }
            for (listener, position) in listeners.iter().zip(2..) {
                if set.ready(position) != 0 && !self.pause.is_on() {
                    self.accept_batch::<S>(settings, listener);
                }
            }
            let interest = if self.pause.is_on() { 0 } else { READABLE };
            (2..after_listeners).for_each(|position| set.set_interest(position, interest));
        }
    }

    fn accept_batch<S: Session>(&mut self, settings: &S::Settings, listener: &Listener) {
        for _ in 0..accept::BATCH {
            if let Some(hub) = &mut self.hub
                && let Err(error) = hub.prepare()
            {
                return self.pause.begin(error);
            }
            match listener.accept_blocking() {
                Ok(connection) => match self.start::<S>(settings, &connection) {
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

    /// Gives a connection its process. The caller drops its own copy, and where forking failed so closes the connection.
    fn start<S: Session>(
        &mut self,
        settings: &S::Settings,
        connection: &OwnedFd,
    ) -> io::Result<()> {
        let lanes = self.counters.lanes();
        let lane = &lanes[self.connections as usize % lanes.len()];
        let channel = self.hub.as_mut().and_then(Hub::channel);
        let far = channel.as_ref().map(|(_, far)| far);
        self.children
            .fork(|leaving| serve_in_child::<S>(settings, connection, far, lane, leaving))?;
        match (&mut self.hub, channel) {
            (Some(hub), Some((near, _))) => hub.admit(near),
            _ => Ok(()),
        }
    }

    /// Until every child has left, or the time for that is over.
    fn drain(&mut self) -> io::Result<()> {
        self.children.ask_to_leave();
        let drain = Drain::begin([] as [BorrowedFd<'_>; 0]);
        let mut set = PollSet::new();
        set.push(&self.children, READABLE);
        if let Some(hub) = &self.hub {
            set.push(hub, READABLE);
        }
        while !self.children.is_empty() && drain.remaining_ns() > 0 {
            let left_ms = drain.remaining_ns().div_ceil(MILLISECOND_NS) as u32;
            set.wait(Some(left_ms))?;
            self.children.reap()?;
            if let Some(hub) = &mut self.hub {
                hub.turn()?;
            }
        }
        // Whoever waits for it waits no longer.
        self.hub = None;
        self.children.end()
    }
}

/// What each of the other processes does.
fn serve_in_child<S: Session>(
    settings: &S::Settings,
    connection: &OwnedFd,
    channel: Option<&OwnedFd>,
    lane: &Lane,
    leaving: &Leaving,
) {
    // The listeners and whatever else is the parent's. Before Linux 5.9 they stay open here, which harms nobody: the
    // parent shuts the listeners down, not only its own copies.
    let kept = [Some(connection), channel].map(|descriptor| descriptor.map(AsFd::as_fd));
    let kept: Vec<_> = kept.into_iter().flatten().collect();
    let _ = descriptor_table::make_private(&kept);
    leaving.while_serving(connection.as_fd(), || match channel {
        None => {
            let session = S::begin(settings);
            let sit_out = |delay| leaving.sit_out(delay);
            let mut buffers = Buffers::new();
            blocking::serve(
                session,
                connection,
                &mut buffers,
                sit_out,
                count(&lane[BYTES]),
            );
        }
        Some(channel) => serve_member::<S>(settings, connection, channel, &lane[BYTES]),
    });
}

/// Counts bytes when they are sent: a process may be killed.
fn count(bytes: &AtomicU64) -> impl FnMut(u64) {
    |more| {
        bytes.fetch_add(more, Relaxed);
    }
}
