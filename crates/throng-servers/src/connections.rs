//! The connections of one event loop, and its books: slots, deadlines, shared buffers, the drain, and what was served.
//!
//! *Method.* A loop gives a ready connection its turn and settles what comes of it here; what is left for the loop to do is what
//! it is about: to tell the kernel what the connection is watched for ([`Watch`]), in its own way.
//!
//! *Left out on purpose.* Waiting, watching and accepting: they are the loop's, and each model's own.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use slab::Slab;
use throng_sys::clock::monotonic_ns;

use crate::accept::Pause;
use crate::connection::{Connection, Next, Stage};
use crate::deadlines::Deadlines;
use crate::drain::Drain;
use crate::linger;
use crate::note::Refusals;
use crate::served::Served;
use crate::workload::{Audience, GATHERED_BYTES, Session};

/// Bytes that one read takes at most, into a buffer that all connections share.
const INPUT_BYTES: usize = 64 * 1024;

const REMEDY: &str = "the kernel could not watch them: raise fs.epoll.max_user_watches";

/// What a connection is watched for from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the kernel is to be told"]
pub(crate) enum Watch {
    /// The same as before.
    AsBefore,
    /// Input; what is there already is to be reported as well.
    Input,
    /// Room for what could not be sent.
    Room,
    /// Nothing that concerns it: it waits for its deadline.
    Nothing,
    /// It is to be closed.
    Closed,
}

/// All open connections of a loop, by the slots that are their tokens.
pub(crate) struct Connections<S: Session> {
    settings: S::Settings,
    slots: Slab<Connection<S>>,
    deadlines: Deadlines,
    input: Vec<u8>,
    output: Vec<u8>,
    /// Whether accepting rests.
    pub(crate) pause: Pause,
    refusals: Refusals,
    drain: Option<Drain>,
    accepted: u64,
    bytes: u64,
}

impl<S: Session> Connections<S> {
    pub(crate) fn new(settings: &S::Settings) -> Self {
        Self {
            settings: settings.clone(),
            slots: Slab::new(),
            deadlines: Deadlines::default(),
            input: vec![0; INPUT_BYTES],
            output: Vec::with_capacity(INPUT_BYTES),
            pause: Pause::default(),
            refusals: Refusals::default(),
            drain: None,
            accepted: 0,
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// How long the loop may wait; `None`: until something happens.
    #[inline]
    pub(crate) fn timeout_ns(&self) -> Option<u64> {
        let drain = self.drain.map(Drain::remaining_ns);
        let rest = drain.or_else(|| self.pause.remaining_ns());
        rest.into_iter().chain(self.deadlines.remaining_ns()).min()
    }

    /// Whether a drain is over, or has nobody left.
    pub(crate) fn are_done(&self) -> bool {
        self.drain
            .is_some_and(|drain| self.slots.is_empty() || drain.remaining_ns() == 0)
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.drain.is_some()
    }

    /// The socket of one that is open.
    #[inline]
    pub(crate) fn socket(&self, key: usize) -> &OwnedFd {
        &self.slots[key].socket
    }

    /// Takes in one that has just been accepted and greets it: its slot, and what comes next. `watch` has it watched for
    /// input; where that fails it is closed and counted.
    pub(crate) fn admit(
        &mut self,
        socket: OwnedFd,
        watch: impl FnOnce(&OwnedFd, usize) -> io::Result<()>,
    ) -> Option<(usize, io::Result<Next>)> {
        let slot = self.slots.vacant_entry();
        let key = slot.key();
        if let Err(error) = watch(&socket, key) {
            self.refusals.add(error);
            return None;
        }
        let connection = slot.insert(Connection::new(socket, &self.settings));
        let greeted = connection.greet(&mut self.bytes);
        self.accepted += 1;
        Some((key, greeted))
    }

    /// A turn of one whose readiness is told for as long as it lasts; `None` where the slot is empty.
    #[inline]
    pub(crate) fn turn(&mut self, key: usize) -> Option<io::Result<Next>> {
        let connection = self.slots.get_mut(key)?;
        Some(connection.turn(&mut self.input, &mut self.output, &mut self.bytes))
    }

    /// A turn of one of which a change is told ([`Connection::turn_on_change`]).
    #[inline]
    pub(crate) fn turn_on_change(
        &mut self,
        key: usize,
        input_has_ended: bool,
    ) -> Option<io::Result<Next>> {
        let connection = self.slots.get_mut(key)?;
        let (input, output) = (&mut self.input, &mut self.output);
        Some(connection.turn_on_change(input_has_ended, input, output, &mut self.bytes))
    }

    /// Enters what a turn has come to in the books; what the loop is to do.
    #[inline]
    pub(crate) fn settle(&mut self, key: usize, next: io::Result<Next>) -> Watch {
        match next {
            Ok(Next::AsBefore) => Watch::AsBefore,
            Ok(Next::Input) => Watch::Input,
            Ok(Next::Room) => Watch::Room,
            Ok(Next::Delay(delay)) => {
                // While the server drains nobody waits, but for the next turn.
                let delay = self.drain.map_or(delay, |_| Duration::ZERO);
                let until_ns = self.deadlines.add(key, delay);
                self.slots[key].stage = Stage::Waiting { until_ns };
                Watch::Nothing
            }
            Ok(Next::Linger(lingering)) => {
                let until_ns = self.deadlines.add(key, linger::LENGTH);
                self.slots[key].stage = Stage::Lingering {
                    until_ns,
                    lingering,
                };
                Watch::Input
            }
            // An error is a reset: there is nobody left to tell.
            Ok(Next::Close) | Err(_) => Watch::Closed,
        }
    }

    /// Closes one, which removes it from every set of the kernel's.
    pub(crate) fn close(&mut self, key: usize) {
        self.slots.remove(key);
    }

    /// The time, where a deadline is over. Whoever waits again meanwhile is not due at it.
    #[inline]
    pub(crate) fn due_ns(&self) -> Option<u64> {
        (self.deadlines.remaining_ns() == Some(0)).then(monotonic_ns)
    }

    /// The next one whose time is over by then: resumed after its wait, or to be closed after it has lingered. What comes of one
    /// that is resumed is said as to one that is watched for input.
    pub(crate) fn take_due(&mut self, now_ns: u64) -> Option<(usize, io::Result<Next>)> {
        while let Some((key, due_ns)) = self.deadlines.take_due(now_ns) {
            let Some(connection) = self.slots.get_mut(key) else {
                continue;
            };
            match connection.stage {
                Stage::Waiting { until_ns } if until_ns == due_ns => {
                    return Some((key, connection.resume(&mut self.output, &mut self.bytes)));
                }
                Stage::Lingering { until_ns, .. } if until_ns == due_ns => {
                    return Some((key, Ok(Next::Close)));
                }
                // Another connection's, or cut short.
                _ => {}
            }
        }
        None
    }

    /// Whether so much has gathered that goes to everyone that it is to be passed on before anything else.
    #[inline]
    pub(crate) fn have_gathered_much(&self) -> bool {
        S::AUDIENCE == Audience::Everyone && self.output.len() >= GATHERED_BYTES
    }

    /// What has gathered that goes to everyone, where there is something.
    pub(crate) fn take_gathered(&mut self) -> Option<Vec<u8>> {
        let are_any = S::AUDIENCE == Audience::Everyone && !self.output.is_empty();
        are_any.then(|| std::mem::take(&mut self.output))
    }

    /// Gives the buffer back for what gathers next.
    pub(crate) fn give_back(&mut self, mut said: Vec<u8>) {
        said.clear();
        self.output = said;
    }

    /// Sends everyone what has gathered, where that goes to everyone.
    pub(crate) fn pass_on(&mut self, ask_for_room: impl Fn(&OwnedFd, usize) -> io::Result<()>) {
        if let Some(said) = self.take_gathered() {
            self.deliver(&said, ask_for_room);
            self.give_back(said);
        }
    }

    /// Sends it to each connection. Nobody is closed here, since events of this batch may be left of everybody: whoever is too
    /// slow is shut down, and so closed at its own event.
    pub(crate) fn deliver(
        &mut self,
        said: &[u8],
        ask_for_room: impl Fn(&OwnedFd, usize) -> io::Result<()>,
    ) {
        for (key, connection) in &mut self.slots {
            if connection.deliver(said, &mut self.bytes)
                && ask_for_room(&connection.socket, key).is_err()
            {
                connection.give_up();
            }
        }
    }

    /// Ends everybody's input, and every wait, so that each takes its ordinary way out. Who is left at the end of the drain is
    /// dropped with the loop.
    pub(crate) fn begin_drain(&mut self) {
        self.pause.end();
        self.drain = Some(Drain::begin(
            self.slots.iter().map(|(_, open)| &open.socket),
        ));
        for (key, connection) in &mut self.slots {
            if let Stage::Waiting { until_ns } = &mut connection.stage {
                *until_ns = self.deadlines.add(key, Duration::ZERO);
            }
        }
    }

    pub(crate) fn served(self) -> Served {
        let notes = [self.pause.into_note(), self.refusals.into_note(REMEDY)];
        Served {
            connections: self.accepted,
            bytes: self.bytes,
            notes: notes.into_iter().flatten().collect(),
        }
    }
}
