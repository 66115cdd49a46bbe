//! *One thread, `select(2)`.* The loop hands the kernel a set of descriptors to read and one to write at every turn, a bit for
//! each descriptor *number*, and gets them back with the bits of the ready ones left.
//!
//! *Its limit.* A set has [`FD_SETSIZE`] bits, 1024, so that is how many descriptors there can be, those of the server itself
//! included. The model counts at its start how many numbers below are free, says so, and never accepts more: further
//! connections wait in the accept queue until one closes. A descriptor that gets a higher number nevertheless, since
//! something else in the process has taken one meanwhile, is closed and noted. Programs that do not look write past the
//! end of the set.
//!
//! *Cost.* Each turn costs time for every number up to the highest descriptor, idle or not: the kernel tests each bit and asks
//! each descriptor, and the loop tests each bit again. In memory an idle connection is one [`Connection`] and two bits.
//!
//! *Readiness is level-triggered:* what is not read now is reported again at the next turn. So one read or one write
//! for each ready connection is right without any further care, and nobody starves.
//!
//! *Slow readers.* What the socket does not take is kept, and from then on the connection is in the set to write and not in
//! the one to read: never more than one read's answer is kept, for an echo [`INPUT_BYTES`].
//!
//! *What goes to everyone* is gathered while the ready connections have their turns, and sent to each connection once after them. What
//! a socket does not take is kept within bounds, as an answer is; whoever exceeds them is shut down, and so closed at its own
//! turn.
//!
//! *Delays* are deadlines, and the earliest is the call's time-out. A connection that waits is in neither set, so nothing is
//! reported of it, a reset neither.
//!
//! *Termination.* The listeners are closed, the input of every connection is ended, and the loop goes on until the last
//! is closed or the drain is over.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use throng_record::built_in::{BuiltInModel, Family, ServesAtOnce};
use throng_sys::clock::monotonic_ns;
use throng_sys::select::{self, FD_SETSIZE, FdSet};

use crate::accept::{self, Failure, Pause};
use crate::connection::{Connection, Next, Stage};
use crate::deadlines::Deadlines;
use crate::drain::Drain;
use crate::linger;
use crate::listener::Listener;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::{Audience, GATHERED_BYTES, Session};

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "select",
    family: Family::EventLoop,
    summary: "one thread, select(2) over all connections at every turn",
    serves_at_once: ServesAtOnce::WithinFdSetSize,
    ..BuiltInModel::ONE_THREAD
};

/// Bytes that one read takes at most, into a buffer that all connections share.
const INPUT_BYTES: usize = 64 * 1024;

const REMEDY: &str = "something else in the process took the lower numbers; serve with poll, which has no such limit";

struct Server<'a, S: Session> {
    settings: S::Settings,
    stop: BorrowedFd<'a>,
    listeners: Vec<Listener>,
    /// By descriptor number; `open` of them are there.
    connections: Vec<Option<Connection<S>>>,
    open: usize,
    open_max: usize,
    deadlines: Deadlines,
    /// What is asked at every turn, and what the last one answered: the kernel writes over what it is given.
    readable_asked: FdSet,
    writable_asked: FdSet,
    readable: FdSet,
    writable: FdSet,
    input: Vec<u8>,
    output: Vec<u8>,
    pause: Pause,
    refusals: Refusals,
    drain: Option<Drain>,
    accepted: u64,
    bytes: u64,
}

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    // After everything that the server itself keeps open is open.
    let open_max = select::free_numbers();
    let server = Server::<S>::new(settings, listeners, stop, open_max)?;
    opening.bound(open_max as u64);
    opening.ready(&server.listeners);
    Ok(server.run()?)
}

impl<'a, S: Session> Server<'a, S> {
    fn new(
        settings: &S::Settings,
        listeners: Vec<Listener>,
        stop: BorrowedFd<'a>,
        open_max: usize,
    ) -> io::Result<Self> {
        let mut readable_asked = FdSet::new();
        readable_asked.insert(stop)?;
        for listener in &listeners {
            readable_asked.insert(listener)?;
        }
        Ok(Self {
            settings: settings.clone(),
            stop,
            listeners,
            connections: std::iter::repeat_with(|| None).take(FD_SETSIZE).collect(),
            open: 0,
            open_max,
            deadlines: Deadlines::default(),
            readable_asked,
            writable_asked: FdSet::new(),
            readable: FdSet::new(),
            writable: FdSet::new(),
            input: vec![0; INPUT_BYTES],
            output: Vec::with_capacity(INPUT_BYTES),
            pause: Pause::default(),
            refusals: Refusals::default(),
            drain: None,
            accepted: 0,
            bytes: 0,
        })
    }

    fn run(mut self) -> io::Result<Served> {
        while !self.is_done() {
            self.readable.clone_from(&self.readable_asked);
            self.writable.clone_from(&self.writable_asked);
            let timeout_ns = self.timeout_ns();
            select::select(&mut self.readable, &mut self.writable, timeout_ns)?;
            // Before accepting: who is accepted below has no readiness of this turn, whosever number it gets. And whoever is
            // closed makes a place, which is looked for below only.
            self.serve_ready();
            self.pass_on();
            self.serve_due();
            if self.drain.is_none() {
                self.serve_fixed()?;
            }
        }
        Ok(Served {
            connections: self.accepted,
            bytes: self.bytes,
            notes: [self.pause.into_note(), self.refusals.into_note(REMEDY)]
                .into_iter()
                .flatten()
                .collect(),
        })
    }

    fn is_done(&self) -> bool {
        self.drain
            .is_some_and(|drain| self.open == 0 || drain.remaining_ns() == 0)
    }

    fn timeout_ns(&self) -> Option<u64> {
        let drain = self.drain.map(Drain::remaining_ns);
        let rest = drain.or_else(|| self.pause.remaining_ns());
        rest.into_iter().chain(self.deadlines.remaining_ns()).min()
    }

    /// Gives each ready connection its turn. The set does not say where they are: every bit is tested.
    fn serve_ready(&mut self) {
        let end = self.readable.end().max(self.writable.end());
        for number in 0..end {
            if self.readable.contains(number) || self.writable.contains(number) {
                self.serve_connection(number);
            }
        }
    }

    fn serve_connection(&mut self, number: usize) {
        // None where it is the stop descriptor or a listener.
        let Some(connection) = &mut self.connections[number] else {
            return;
        };
        let next = connection.turn(&mut self.input, &mut self.output, &mut self.bytes);
        self.go_on(number, next);
        if S::AUDIENCE == Audience::Everyone && self.output.len() >= GATHERED_BYTES {
            self.pass_on();
        }
    }

    /// Sends everyone what has gathered, where that goes to everyone.
    fn pass_on(&mut self) {
        if S::AUDIENCE == Audience::Sender || self.output.is_empty() {
            return;
        }
        for connection in self.connections.iter_mut().flatten() {
            if connection.deliver(&self.output, &mut self.bytes) {
                let asked = ask(&mut self.writable_asked, &connection.socket, true)
                    .and_then(|()| ask(&mut self.readable_asked, &connection.socket, false));
                if asked.is_err() {
                    connection.give_up();
                }
            }
        }
        self.output.clear();
    }

    /// Resumes those whose wait is over, and closes those who have lingered for long enough.
    fn serve_due(&mut self) {
        if self.deadlines.remaining_ns() != Some(0) {
            return;
        }
        let now_ns = monotonic_ns();
        while let Some((number, due_ns)) = self.deadlines.take_due(now_ns) {
            let Some(connection) = &mut self.connections[number] else {
                continue;
            };
            let next = match connection.stage {
                Stage::Waiting { until_ns } if until_ns == due_ns => {
                    ask(&mut self.readable_asked, &connection.socket, true)
                        .and_then(|()| connection.resume(&mut self.output, &mut self.bytes))
                }
                Stage::Lingering { until_ns, .. } if until_ns == due_ns => Ok(Next::Close),
                // Another connection's, or cut short.
                _ => continue,
            };
            self.go_on(number, next);
        }
    }

    /// Puts a connection in the set of what it waits for, and in no other.
    fn go_on(&mut self, number: usize, next: io::Result<Next>) {
        let Some(connection) = &mut self.connections[number] else {
            return;
        };
        let mut is_open = true;
        let (for_input, for_room) = match next {
            Ok(Next::AsBefore) => return,
            Ok(Next::Input) => (true, false),
            Ok(Next::Room) => (false, true),
            Ok(Next::Delay(delay)) => {
                // While the server drains nobody waits, but for the next turn.
                let delay = self.drain.map_or(delay, |_| Duration::ZERO);
                let until_ns = self.deadlines.add(number, delay);
                connection.stage = Stage::Waiting { until_ns };
                (false, false)
            }
            Ok(Next::Linger(lingering)) => {
                let until_ns = self.deadlines.add(number, linger::LENGTH);
                connection.stage = Stage::Lingering {
                    until_ns,
                    lingering,
                };
                (true, false)
            }
            // An error is a reset: there is nobody left to tell.
            Ok(Next::Close) | Err(_) => {
                is_open = false;
                (false, false)
            }
        };
        let asked = ask(&mut self.readable_asked, &connection.socket, for_input)
            .and_then(|()| ask(&mut self.writable_asked, &connection.socket, for_room));
        if asked.is_err() || !is_open {
            self.connections[number] = None;
            self.open -= 1;
            self.pause.end();
        }
    }

    fn serve_fixed(&mut self) -> io::Result<()> {
        if self.is_readable(self.stop) {
            self.begin_drain();
            return Ok(());
        }
        if self.pause.remaining_ns() == Some(0) {
            self.pause.end();
        }
        for index in 0..self.listeners.len() {
            if self.is_readable(&self.listeners[index]) {
                self.accept_batch(index);
            }
        }
        // At the limit they are not asked for: the waiting connection would end every wait at once.
        for listener in &self.listeners {
            if self.may_accept() {
                self.readable_asked.insert(listener)?;
            } else {
                self.readable_asked.remove(listener);
            }
        }
        Ok(())
    }

    fn may_accept(&self) -> bool {
        self.open < self.open_max && !self.pause.is_on()
    }

    fn is_readable(&self, fd: impl std::os::fd::AsFd) -> bool {
        let number = fd.as_fd().as_raw_fd();
        self.readable.contains(number.cast_unsigned() as usize)
    }

    fn accept_batch(&mut self, index: usize) {
        for _ in 0..accept::BATCH {
            if !self.may_accept() {
                return;
            }
            match self.listeners[index].accept() {
                Ok(socket) => self.admit(socket),
                Err(error) => match accept::failure(&error) {
                    Failure::NoneWaits => return,
                    Failure::ThisOneOnly => {}
                    Failure::Exhausted => return self.pause.begin(error),
                },
            }
        }
    }

    /// Dropped, and so closed, where its number has no bit.
    fn admit(&mut self, socket: OwnedFd) {
        if let Err(error) = self.readable_asked.insert(&socket) {
            return self.refusals.add(error);
        }
        let number = socket.as_raw_fd().cast_unsigned() as usize;
        let connection = self.connections[number].insert(Connection::new(socket, &self.settings));
        let greeted = connection.greet(&mut self.bytes);
        self.open += 1;
        self.accepted += 1;
        self.go_on(number, greeted);
    }

    /// From here on the sets hold connections only.
    fn begin_drain(&mut self) {
        self.readable_asked.remove(self.stop);
        for listener in self.listeners.drain(..) {
            self.readable_asked.remove(&listener);
        }
        self.pause.end();
        let open = self.connections.iter().flatten();
        self.drain = Some(Drain::begin(open.map(|connection| &connection.socket)));
        for (number, connection) in self.connections.iter_mut().enumerate() {
            if let Some(connection) = connection
                && let Stage::Waiting { until_ns } = &mut connection.stage
            {
                *until_ns = self.deadlines.add(number, Duration::ZERO);
            }
        }
    }
}

fn ask(set: &mut FdSet, socket: &OwnedFd, is_asked: bool) -> io::Result<()> {
    if is_asked {
        set.insert(socket)
    } else {
        set.remove(socket);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
