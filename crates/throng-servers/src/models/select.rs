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
//! *Slow readers.* What the socket does not take is kept in `unsent`, and from then on the connection is in the set to write
//! and not in the one to read: never more than one read's answer is kept, for an echo [`INPUT_BYTES`].
//!
//! *Termination.* The listeners are closed, the input of every connection is ended, and the loop goes on until the last
//! is closed or the drain is over.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};

use throng_sys::select::{self, FD_SETSIZE, FdSet};
use throng_sys::socket;

use crate::accept::{self, Failure, Pause};
use crate::declaration::{Count, Declaration, ServesAtOnce, Workers};
use crate::drain::Drain;
use crate::listener::Listener;
use crate::model::Family;
use crate::note::Refusals;
use crate::opening::Opening;
use crate::serve::{ModelError, Served};
use crate::workload::{Echo, Session};

pub(crate) const DECLARATION: Declaration = Declaration {
    name: "select",
    family: Family::EventLoop,
    summary: "one thread, select(2) over all connections at every turn",
    workers: Workers::One,
    serves_at_once: ServesAtOnce::WithinFdSetSize,
    threads: Count::ONE,
    processes: Count::ONE,
    serves_unix: true,
    takes_accept_threads: false,
};

/// Bytes that one read takes at most, into a buffer that all connections share.
const INPUT_BYTES: usize = 64 * 1024;

const REMEDY: &str = "something else in the process took the lower numbers; serve with poll, which has no such limit";

struct Connection<S> {
    socket: OwnedFd,
    session: S,
    unsent: Vec<u8>,
    input_ended: bool,
}

// An idle connection owns no buffer, only this (of which there are as many as a set has bits, used or not).
const _: () = assert!(size_of::<Option<Connection<Echo>>>() <= 48);

/// What a connection waits for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Input,
    Room,
    Close,
}

struct Server<'a, S: Session> {
    settings: S::Settings,
    stop: BorrowedFd<'a>,
    listeners: Vec<Listener>,
    /// By descriptor number; `open` of them are there.
    connections: Vec<Option<Connection<S>>>,
    open: usize,
    open_max: usize,
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
            // Before accepting: who is accepted below has no readiness of this turn, whosever number it gets.
            self.serve_ready();
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
        drain.or_else(|| self.pause.remaining_ns())
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
        // An error is a reset: there is nobody left to tell.
        let next = connection
            .turn(&mut self.input, &mut self.output, &mut self.bytes)
            .unwrap_or(Next::Close);
        if self.ask_for(number, next).is_err() || next == Next::Close {
            self.connections[number] = None;
            self.open -= 1;
            self.pause.end();
        }
    }

    /// Puts a connection in the set of what it waits for, and in no other.
    fn ask_for(&mut self, number: usize, next: Next) -> io::Result<()> {
        let Some(Connection { socket, .. }) = &self.connections[number] else {
            return Ok(());
        };
        let sets = [
            (&mut self.readable_asked, Next::Input),
            (&mut self.writable_asked, Next::Room),
        ];
        for (set, what) in sets {
            if what == next {
                set.insert(socket)?;
            } else {
                set.remove(socket);
            }
        }
        Ok(())
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
        self.connections[number] = Some(Connection {
            socket,
            session: S::begin(&self.settings),
            unsent: Vec::new(),
            input_ended: false,
        });
        self.open += 1;
        self.accepted += 1;
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
    }
}

impl<S: Session> Connection<S> {
    /// One read or one write, whichever the connection waited for, and the answer to what was read. `bytes` counts what
    /// was sent.
    fn turn(
        &mut self,
        input: &mut [u8],
        output: &mut Vec<u8>,
        bytes: &mut u64,
    ) -> io::Result<Next> {
        if !self.unsent.is_empty() {
            let sent = sent(socket::send(&self.socket, &self.unsent))?;
            *bytes += sent as u64;
            self.unsent.drain(..sent);
            return Ok(self.next());
        }
        let received = match socket::receive(&self.socket, input) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Next::Input),
            result => result?,
        };
        output.clear();
        if received == 0 {
            self.input_ended = true;
            let _ = self.session.end_of_input(output);
        } else {
            let _ = self.session.input(&input[..received], output);
        }
        if !output.is_empty() {
            let sent = sent(socket::send(&self.socket, output))?;
            *bytes += sent as u64;
            self.unsent.extend_from_slice(&output[sent..]);
        }
        Ok(self.next())
    }

    fn next(&mut self) -> Next {
        if !self.unsent.is_empty() {
            return Next::Room;
        }
        // Idle again: the memory goes back.
        self.unsent = Vec::new();
        if self.input_ended {
            Next::Close
        } else {
            Next::Input
        }
    }
}

/// A full send buffer took nothing, which is no error.
fn sent(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        result => result,
    }
}

#[cfg(test)]
mod tests;
