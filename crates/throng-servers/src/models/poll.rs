//! *One thread, `poll(2)`.* The loop hands the kernel the list of all its descriptors at every turn, and walks it
//! again for the answers.
//!
//! *Cost.* Each turn costs time for every open connection, idle or not: the kernel asks each one, twice copies the
//! list, and the loop looks through it. In memory an idle connection is one list entry and one [`Connection`].
//!
//! *Readiness is level-triggered:* what is not read now is reported again at the next turn. So one read and one write
//! for each ready connection is right without any further care, and nobody starves.
//!
//! *Slow readers.* What the socket does not take is kept, and from then on the list asks whether the connection can be
//! written and no longer whether it can be read: never more than one read's answer is kept, for an echo [`INPUT_BYTES`].
//!
//! *What goes to everyone* is gathered while the ready connections have their turns, and sent to each connection once after them. What
//! a socket does not take is kept within bounds, as an answer is; whoever exceeds them is shut down, and so closed at its own
//! turn.
//!
//! *Delays* are deadlines, and the earliest, rounded up to a millisecond, is the call's time-out. Which are over is found by
//! walking the list once more. A connection that waits stays in the list with its number made negative, which the kernel
//! passes over: otherwise its peer's reset would be reported at every turn, whatever is asked for.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use throng_record::built_in::{BuiltInModel, Family};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};
use throng_sys::poll::{PollSet, READABLE, WRITABLE};

use crate::accept::{self, Failure, Pause};
use crate::connection::{Connection, Next, Stage};
use crate::drain::Drain;
use crate::linger;
use crate::listener::Listener;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::{Audience, GATHERED_BYTES, Session};

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "poll",
    family: Family::EventLoop,
    summary: "one thread, poll(2) over all connections at every turn",
    ..BuiltInModel::ONE_THREAD
};

/// Bytes that one read takes at most, into a buffer that all connections share.
const INPUT_BYTES: usize = 64 * 1024;

struct Server<S: Session> {
    settings: S::Settings,
    /// The fixed descriptors first, then the connections in the order of `connections`.
    set: PollSet,
    fixed: usize,
    listeners: Vec<Listener>,
    connections: Vec<Connection<S>>,
    /// No deadline is before this.
    earliest_ns: Option<u64>,
    input: Vec<u8>,
    output: Vec<u8>,
    pause: Pause,
    drain: Option<Drain>,
    accepted: u64,
    bytes: u64,
}

const STOP: usize = 0;
const FIRST_LISTENER: usize = 1;

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners()?;
    opening.ready(&listeners);
    let mut server = Server::<S>::new(settings, listeners, stop);
    while !server.is_done() {
        let timeout_ms = server.timeout_ms();
        let ready = server.set.wait(timeout_ms)?;
        // Before accepting: who is accepted below has no readiness of this turn.
        server.serve_ready(ready);
        server.pass_on();
        server.serve_due();
        if server.drain.is_none() {
            server.serve_fixed();
        }
    }
    Ok(Served {
        connections: server.accepted,
        bytes: server.bytes,
        notes: server.pause.into_note().into_iter().collect(),
    })
}

impl<S: Session> Server<S> {
    fn new(settings: &S::Settings, listeners: Vec<Listener>, stop: BorrowedFd<'_>) -> Self {
        let mut set = PollSet::new();
        set.push(stop, READABLE);
        for listener in &listeners {
            set.push(listener, READABLE);
        }
        Self {
            settings: settings.clone(),
            fixed: set.len(),
            set,
            listeners,
            connections: Vec::new(),
            earliest_ns: None,
            input: vec![0; INPUT_BYTES],
            output: Vec::with_capacity(INPUT_BYTES),
            pause: Pause::default(),
            drain: None,
            accepted: 0,
            bytes: 0,
        }
    }

    fn is_done(&self) -> bool {
        self.drain
            .is_some_and(|drain| self.connections.is_empty() || drain.remaining_ns() == 0)
    }

    /// Rounded up: before that time nothing is due.
    fn timeout_ms(&self) -> Option<u32> {
        let drain = self.drain.map(Drain::remaining_ns);
        let rest = drain.or_else(|| self.pause.remaining_ns());
        let due = self.earliest_ns;
        let due = due.map(|earliest_ns| earliest_ns.saturating_sub(monotonic_ns()));
        let timeout_ns = rest.into_iter().chain(due).min()?;
        Some(u32::try_from(timeout_ns.div_ceil(MILLISECOND_NS)).unwrap_or(u32::MAX))
    }

    /// Gives each of the `ready` connections its turn.
    fn serve_ready(&mut self, mut ready: usize) {
        let mut index = 0;
        while ready > 0 && index < self.connections.len() {
            let position = self.fixed + index;
            if self.set.ready(position) == 0 {
                index += 1;
                continue;
            }
            ready -= 1;
            let connection = &mut self.connections[index];
            let next = connection.turn(&mut self.input, &mut self.output, &mut self.bytes);
            if self.go_on(index, next) {
                index += 1;
            }
            if S::AUDIENCE == Audience::Everyone && self.output.len() >= GATHERED_BYTES {
                self.pass_on();
            }
        }
    }

    /// Sends everyone what has gathered, where that goes to everyone.
    fn pass_on(&mut self) {
        if S::AUDIENCE == Audience::Sender || self.output.is_empty() {
            return;
        }
        for (connection, position) in self.connections.iter_mut().zip(self.fixed..) {
            if connection.deliver(&self.output, &mut self.bytes) {
                self.set.set_interest(position, WRITABLE);
            }
        }
        self.output.clear();
    }

    /// Resumes those whose wait is over, and closes those who have lingered for long enough. They are found by looking
    /// through the list, as the ready ones are.
    fn serve_due(&mut self) {
        let Some(earliest_ns) = self.earliest_ns else {
            return;
        };
        let now_ns = monotonic_ns();
        if earliest_ns > now_ns {
            return;
        }
        self.earliest_ns = None;
        let mut index = 0;
        while index < self.connections.len() {
            let connection = &mut self.connections[index];
            let is_open = match connection.stage {
                Stage::Waiting { until_ns } if until_ns <= now_ns => {
                    let position = self.fixed + index;
                    self.set.set_ignored(position, false);
                    self.set.set_interest(position, READABLE);
                    let next = connection.resume(&mut self.output, &mut self.bytes);
                    self.go_on(index, next)
                }
                Stage::Lingering { until_ns, .. } if until_ns <= now_ns => {
                    self.go_on(index, Ok(Next::Close))
                }
                Stage::Waiting { until_ns } | Stage::Lingering { until_ns, .. } => {
                    self.note_deadline(until_ns);
                    true
                }
                Stage::Reading | Stage::Sending(_) => true,
            };
            if is_open {
                index += 1;
            }
        }
    }

    fn note_deadline(&mut self, until_ns: u64) {
        let earliest_ns = self.earliest_ns.unwrap_or(until_ns);
        self.earliest_ns = Some(earliest_ns.min(until_ns));
    }

    /// Has the list ask for what a connection waits for. False where it is closed: the last connection takes its place,
    /// in both lists and with its readiness, and the same index is to be looked at again.
    fn go_on(&mut self, index: usize, next: io::Result<Next>) -> bool {
        let position = self.fixed + index;
        match next {
            Ok(Next::AsBefore) => {}
            Ok(Next::Input) => self.set.set_interest(position, READABLE),
            Ok(Next::Room) => self.set.set_interest(position, WRITABLE),
            Ok(Next::Delay(delay)) => {
                // While the server drains nobody waits, but for the next turn.
                let delay = self.drain.map_or(delay, |_| Duration::ZERO);
                let until_ns = deadline_ns(delay);
                self.connections[index].stage = Stage::Waiting { until_ns };
                self.note_deadline(until_ns);
                self.set.set_ignored(position, true);
            }
            Ok(Next::Linger(lingering)) => {
                let until_ns = deadline_ns(linger::LENGTH);
                self.connections[index].stage = Stage::Lingering {
                    until_ns,
                    lingering,
                };
                self.note_deadline(until_ns);
                self.set.set_interest(position, READABLE);
            }
            // An error is a reset: there is nobody left to tell.
            Ok(Next::Close) | Err(_) => {
                self.set.swap_remove(position);
                self.connections.swap_remove(index);
                self.resume_accepting();
                return false;
            }
        }
        true
    }

    fn serve_fixed(&mut self) {
        if self.set.ready(STOP) != 0 {
            return self.begin_drain();
        }
        if self.pause.remaining_ns() == Some(0) {
            self.resume_accepting();
        }
        for index in 0..self.listeners.len() {
            if self.set.ready(FIRST_LISTENER + index) != 0 && !self.pause.is_on() {
                self.accept_batch(index);
            }
        }
    }

    fn accept_batch(&mut self, index: usize) {
        for _ in 0..accept::BATCH {
            match self.listeners[index].accept() {
                Ok(socket) => {
                    self.set.push(&socket, READABLE);
                    let mut connection = Connection::new(socket, &self.settings);
                    let greeted = connection.greet(&mut self.bytes);
                    self.connections.push(connection);
                    self.accepted += 1;
                    self.go_on(self.connections.len() - 1, greeted);
                }
                Err(error) => match accept::failure(&error) {
                    Failure::NoneWaits => return,
                    Failure::ThisOneOnly => {}
                    Failure::Exhausted => {
                        self.pause.begin(error);
                        return self.watch_listeners(0);
                    }
                },
            }
        }
    }

    fn resume_accepting(&mut self) {
        if self.pause.end() {
            self.watch_listeners(READABLE);
        }
    }

    fn watch_listeners(&mut self, interest: i16) {
        (FIRST_LISTENER..self.fixed).for_each(|position| self.set.set_interest(position, interest));
    }

    /// From here on the list holds connections only.
    fn begin_drain(&mut self) {
        self.listeners.clear();
        self.pause.end();
        self.drain = Some(Drain::begin(
            self.connections.iter().map(|open| &open.socket),
        ));
        self.set = PollSet::new();
        self.fixed = 0;
        for (position, connection) in self.connections.iter_mut().enumerate() {
            let interest = match &mut connection.stage {
                Stage::Sending(_) => WRITABLE,
                _ => READABLE,
            };
            self.set.push(&connection.socket, interest);
            if let Stage::Waiting { until_ns } = &mut connection.stage {
                self.set.set_ignored(position, true);
                *until_ns = 0;
                self.earliest_ns = Some(0);
            }
        }
    }
}

fn deadline_ns(delay: Duration) -> u64 {
    let delay_ns = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
    monotonic_ns().saturating_add(delay_ns)
}
