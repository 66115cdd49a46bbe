//! *One thread, `io_uring(7)`.* Nothing is asked "are you ready?": operations are handed to the kernel, which tells of
//! their completion. One accept and one receive per connection stay in force (multishot); a turn submits all sends
//! and collects all completions in one system call.
//!
//! *Memory.* Received bytes come in buffers that the kernel picks from a pool when there is something to put in, so an
//! idle connection owns none. What is sent belongs to the ring until its completion brings the vector back, to be
//! used again: no allocation for a message in the steady state.
//!
//! *One send at a time:* two sends of one connection may overtake each other where the first has to wait for room. What
//! is answered meanwhile gathers in `unsent`.
//!
//! *Slow readers.* A multishot receive goes on by itself: at [`UNSENT_MAX`] it is cancelled, and submitted again when
//! the send before has ended. Until the cancellation takes effect the pool bounds what comes, so a connection keeps at
//! most `UNSENT_MAX` and one pool (2 MiB) in flight, and as much unsent.
//!
//! *What goes to everyone* is gathered while completions are handled, and added to what each connection has unsent once after
//! them: all these sends are submitted together. What is in flight to a slow reader is up to the bound of what is kept,
//! and as much gathers behind it; whoever exceeds that is shut down, which ends its operations.
//!
//! *Nobody starves:* the kernel itself goes on to the next connection after 32 receives of one.
//!
//! *Delays* are deadlines, and the wait for completions lasts until the earliest at most. The receive of one that waits is
//! cancelled, and what comes before that takes effect is kept, its end too: the session is told of it after the delay.
//!
//! *Slots are reused safely.* A connection is removed when none of its operations is left with the kernel, so no
//! completion can come for a slot that a new connection has got.

mod connection;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use slab::Slab;
use throng_record::built_in::{BuiltInModel, Family};
use throng_sys::clock::monotonic_ns;
use throng_sys::poll::READABLE;
use throng_sys::socket;
use throng_sys::uring::{Completion, Kind, Ring, RingOptions};

use crate::accept::{self, Failure, Pause};
use crate::deadlines::Deadlines;
use crate::drain::{self, Drain};
use crate::linger;
use crate::listener::Listener;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::{Audience, GATHERED_BYTES, Session};
use connection::{Act, Connection, Stage};

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "io-uring",
    family: Family::Completions,
    summary: "one thread, io_uring(7): multishot accept and receive, provided buffers",
    ..BuiltInModel::ONE_THREAD
};

/// 2 MiB of buffers, of which only touched pages are real. Running out ends a receive, which is then submitted again.
const RING: RingOptions = RingOptions {
    submission_entries: 512,
    completion_entries: 4096,
    buffer_count: 256,
    buffer_bytes: 8 * 1024,
};
/// Unsent bytes from which on a connection is not read.
const UNSENT_MAX: usize = 64 * 1024;
/// Vectors kept for further sends, and the largest that is worth keeping.
const SPARE_MAX: usize = 1024;
const SPARE_BYTES: usize = RING.buffer_bytes as usize;
/// The token of the stop descriptor's poll, the only one.
const STOP: u64 = 0;

struct Server<S: Session> {
    settings: S::Settings,
    ring: Ring,
    listeners: Vec<Listener>,
    /// Which listeners have their accept in force.
    accepting: Vec<bool>,
    connections: Slab<Connection<S>>,
    spare: Vec<Vec<u8>>,
    /// What goes to everyone, and has not yet.
    said: Vec<u8>,
    deadlines: Deadlines,
    pause: Pause,
    drain: Option<Drain>,
    accepted: u64,
    bytes: u64,
}

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    // First: nobody is told that it is ready on a kernel where it cannot be.
    let mut ring = Ring::new(RING, Arc::from([])).map_err(ModelError::IoUring)?;
    let listeners = opening.listeners()?;
    opening.ready(&listeners);
    ring.poll(stop, READABLE, STOP)?;
    let mut server = Server::<S> {
        settings: settings.clone(),
        ring,
        accepting: vec![false; listeners.len()],
        listeners,
        connections: Slab::new(),
        spare: Vec::new(),
        said: Vec::new(),
        deadlines: Deadlines::default(),
        pause: Pause::default(),
        drain: None,
        accepted: 0,
        bytes: 0,
    };
    server.accept_on_all()?;
    while !server.is_done() {
        let timeout_ns = server.timeout_ns();
        server.ring.submit_and_wait(1, timeout_ns)?;
        while let Some(completion) = server.ring.next_completion() {
            server.handle(completion)?;
        }
        server.pass_on()?;
        server.serve_due()?;
        if server.pause.remaining_ns() == Some(0) {
            server.resume_accepting()?;
        }
    }
    Ok(Served {
        connections: server.accepted,
        bytes: server.bytes,
        notes: server.pause.into_note().into_iter().collect(),
    })
}

impl<S: Session> Server<S> {
    fn is_done(&self) -> bool {
        let is_idle = self.connections.is_empty() && !self.accepting.contains(&true);
        self.drain
            .is_some_and(|drain| is_idle || drain.remaining_ns() == 0)
    }

    fn timeout_ns(&self) -> Option<u64> {
        let drain = self.drain.map(Drain::remaining_ns);
        let rest = drain.or_else(|| self.pause.remaining_ns());
        rest.into_iter().chain(self.deadlines.remaining_ns()).min()
    }

    #[inline]
    fn handle(&mut self, completion: Completion) -> io::Result<()> {
        match completion.kind {
            Kind::Receive => self.received(completion),
            Kind::SendOwned => self.sent(completion),
            Kind::Accept => self.accepted(completion),
            Kind::Poll => self.begin_drain(),
            Kind::Cancel => self.cancelled(completion.token),
            Kind::SendShared | Kind::Alarm => Ok(()),
        }
    }

    #[inline]
    fn received(&mut self, completion: Completion) -> io::Result<()> {
        let key = completion.token as usize;
        if S::AUDIENCE == Audience::Everyone && matches!(completion.bytes(), Ok(0)) {
            // Before it is closed: some of it may be its own.
            self.pass_on()?;
        }
        let Some(connection) = self.connections.get_mut(key) else {
            return Ok(());
        };
        connection.receiving = completion.more;
        if connection.unsent.capacity() == 0 {
            connection.unsent = self.spare.pop().unwrap_or_default();
        }
        match completion.bytes() {
            Ok(0) => connection.end(),
            Ok(length) => {
                if let Some(buffer) = &completion.buffer {
                    connection.take(self.ring.received(buffer, length), &mut self.said);
                }
            }
            // It is submitted again when it may be: at once, or when what is unsent is sent.
            Err(_) if completion.is_cancelled() || completion.is_out_of_buffers() => {}
            Err(_) => connection.fail(),
        }
        if let Some(buffer) = completion.buffer {
            self.ring.recycle(buffer);
        }
        self.go_on(key)?;
        if S::AUDIENCE == Audience::Everyone && self.said.len() >= GATHERED_BYTES {
            self.pass_on()?;
        }
        Ok(())
    }

    /// Has everyone sent what has gathered, where that goes to everyone.
    fn pass_on(&mut self) -> io::Result<()> {
        if S::AUDIENCE == Audience::Sender || self.said.is_empty() {
            return Ok(());
        }
        let mut said = std::mem::take(&mut self.said);
        let last = self.connections.iter().next_back().map(|(key, _)| key);
        for key in 0..=last.unwrap_or(0) {
            let Some(connection) = self.connections.get_mut(key) else {
                continue;
            };
            if connection.unsent.capacity() == 0 {
                connection.unsent = self.spare.pop().unwrap_or_default();
            }
            connection.deliver(&said);
            self.go_on(key)?;
        }
        said.clear();
        self.said = said;
        Ok(())
    }

    #[inline]
    fn sent(&mut self, completion: Completion) -> io::Result<()> {
        let key = completion.token as usize;
        let Some(connection) = self.connections.get_mut(key) else {
            return Ok(());
        };
        let sent = completion.bytes().unwrap_or(0);
        let vector = completion.sent.unwrap_or_default();
        connection.sending = false;
        // The kernel sends all of it unless the connection breaks on the way.
        if sent < vector.len() {
            connection.stage = Stage::Broken;
        }
        self.bytes += sent as u64;
        self.keep(vector);
        self.go_on(key)
    }

    /// Decides what a connection needs next. Called after each of its completions.
    #[inline]
    fn go_on(&mut self, key: usize) -> io::Result<()> {
        let connection = &mut self.connections[key];
        let token = key as u64;
        if !connection.sending && !matches!(connection.stage, Stage::Broken) {
            let answer = std::mem::take(&mut connection.unsent);
            if answer.is_empty() {
                if let Stage::Detour(_) = connection.stage {
                    self.begin_aside(key);
                }
                self.keep(answer);
            } else {
                connection.sending = true;
                self.ring.send_owned(&connection.socket, answer, token)?;
            }
        }
        let connection = &mut self.connections[key];
        let (may_receive, is_over) = match &connection.stage {
            Stage::Reading => (connection.unsent.len() < UNSENT_MAX, false),
            Stage::Detour(detour) => (matches!(detour.act, Act::Lingering { .. }), false),
            Stage::Closing | Stage::Broken => (false, true),
        };
        if connection.receiving {
            if !may_receive && !connection.cancelling {
                connection.cancelling = true;
                self.ring.cancel(Kind::Receive, token)?;
            }
        } else if is_over && !connection.sending {
            self.connections.remove(key);
            self.resume_accepting()?;
        } else if may_receive {
            connection.receiving = true;
            self.ring.receive(&connection.socket, token)?;
        }
        Ok(())
    }

    /// All is sent: what the session wanted then begins, where that is not the next input.
    #[cold]
    fn begin_aside(&mut self, key: usize) {
        let connection = &mut self.connections[key];
        let Stage::Detour(detour) = &mut connection.stage else {
            return;
        };
        match detour.act {
            Act::Wait(delay) => {
                // While the server drains nobody waits, but for the next turn.
                let delay = self.drain.map_or(delay, |_| Duration::ZERO);
                let until_ns = self.deadlines.add(key, delay);
                detour.act = Act::Waiting { until_ns };
            }
            Act::Linger => {
                if connection.input_ended || socket::end_output(&connection.socket).is_err() {
                    connection.stage = Stage::Closing;
                    return;
                }
                detour.act = Act::Lingering {
                    until_ns: self.deadlines.add(key, linger::LENGTH),
                    left: linger::BYTES_MAX,
                };
            }
            Act::Waiting { .. } | Act::Lingering { .. } => {}
        }
    }

    /// Resumes those whose wait is over, and closes those who have lingered for long enough.
    #[inline]
    fn serve_due(&mut self) -> io::Result<()> {
        if self.deadlines.remaining_ns() != Some(0) {
            return Ok(());
        }
        let now_ns = monotonic_ns();
        while let Some((key, due_ns)) = self.deadlines.take_due(now_ns) {
            let Some(connection) = self.connections.get_mut(key) else {
                continue;
            };
            let Stage::Detour(detour) = &connection.stage else {
                continue;
            };
            match detour.act {
                Act::Waiting { until_ns } if until_ns == due_ns => connection.resume(),
                Act::Lingering { until_ns, .. } if until_ns == due_ns => {
                    connection.stage = Stage::Closing;
                }
                // Another connection's, or cut short.
                _ => continue,
            }
            self.go_on(key)?;
        }
        Ok(())
    }

    /// Takes a vector back for a further send, unless a large one or an unusual number of them would stay for good.
    #[inline]
    fn keep(&mut self, mut vector: Vec<u8>) {
        if (1..=SPARE_BYTES).contains(&vector.capacity()) && self.spare.len() < SPARE_MAX {
            vector.clear();
            self.spare.push(vector);
        }
    }

    fn cancelled(&mut self, token: u64) -> io::Result<()> {
        let key = token as usize;
        let Some(connection) = self.connections.get_mut(key) else {
            return Ok(());
        };
        connection.cancelling = false;
        // It may have been another receive that is in force by now.
        self.go_on(key)
    }

    fn accepted(&mut self, mut completion: Completion) -> io::Result<()> {
        let index = completion.token as usize;
        if let Some(accepting) = self.accepting.get_mut(index) {
            *accepting = completion.more;
        }
        match completion.accepted() {
            Ok(socket) => self.admit(socket, index)?,
            Err(error) => match accept::failure(&error) {
                Failure::NoneWaits | Failure::ThisOneOnly => {}
                Failure::Exhausted if self.drain.is_some() => {}
                Failure::Exhausted => self.pause.begin(error),
            },
        }
        if self.pause.is_on() {
            return Ok(());
        }
        self.accept_on_all()
    }

    fn admit(&mut self, socket: OwnedFd, index: usize) -> io::Result<()> {
        if let Some(listener) = self.listeners.get(index) {
            listener.send_at_once(&socket);
        }
        let slot = self.connections.vacant_entry();
        self.ring.receive(&socket, slot.key() as u64)?;
        let key = slot.key();
        let connection = slot.insert(Connection::new(socket, S::begin(&self.settings)));
        let is_greeted = connection.greet();
        self.accepted += 1;
        if self.drain.is_some() {
            // It was accepted before the cancellation reached the listener.
            drain::end_input(&connection.socket);
        }
        if is_greeted {
            self.go_on(key)?;
        }
        Ok(())
    }

    fn resume_accepting(&mut self) -> io::Result<()> {
        if self.pause.end() {
            self.accept_on_all()?;
        }
        Ok(())
    }

    fn accept_on_all(&mut self) -> io::Result<()> {
        for (index, listener) in self.listeners.iter().enumerate() {
            if !self.accepting[index] {
                self.accepting[index] = true;
                self.ring.accept(listener, index as u64)?;
            }
        }
        Ok(())
    }

    /// The accepts are cancelled too: each holds its listening socket open, although the descriptor is closed.
    fn begin_drain(&mut self) -> io::Result<()> {
        for index in 0..self.listeners.len() {
            self.ring.cancel(Kind::Accept, index as u64)?;
        }
        self.listeners.clear();
        self.pause.end();
        self.drain = Some(Drain::begin(
            self.connections.iter().map(|(_, open)| &open.socket),
        ));
        for (key, connection) in &mut self.connections {
            if let Stage::Detour(detour) = &mut connection.stage
                && let Act::Waiting { until_ns } = &mut detour.act
            {
                *until_ns = self.deadlines.add(key, Duration::ZERO);
            }
        }
        Ok(())
    }
}
