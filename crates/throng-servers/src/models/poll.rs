//! *One thread, `poll(2)`.* The loop hands the kernel the list of all its descriptors at every turn, and walks it
//! again for the answers.
//!
//! *Cost.* Each turn costs time for every open connection, idle or not: the kernel asks each one, twice copies the
//! list, and the loop looks through it. In memory an idle connection is one list entry and one [`Connection`].
//!
//! *Readiness is level-triggered:* what is not read now is reported again at the next turn. So one read and one write
//! for each ready connection is right without any further care, and nobody starves.
//!
//! *Slow readers.* What the socket does not take is kept in `unsent`, and from then on the list asks whether the
//! connection can be written and no longer whether it can be read: never more than one read's answer is kept, for an
//! echo [`INPUT_BYTES`].

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use throng_sys::clock::MILLISECOND_NS;
use throng_sys::poll::{PollSet, READABLE, WRITABLE};
use throng_sys::socket;

use crate::accept::{self, Failure, Pause};
use crate::declaration::{Count, Declaration, ServesAtOnce, Workers};
use crate::drain::Drain;
use crate::listener::Listener;
use crate::model::Family;
use crate::opening::Opening;
use crate::serve::{ModelError, Served};
use crate::workload::{Echo, Session};

pub(crate) const DECLARATION: Declaration = Declaration {
    name: "poll",
    family: Family::EventLoop,
    summary: "one thread, poll(2) over all connections at every turn",
    workers: Workers::One,
    serves_at_once: ServesAtOnce::Unbounded,
    threads: Count::ONE,
    processes: Count::ONE,
    serves_unix: true,
    takes_accept_threads: false,
};

/// Bytes that one read takes at most, into a buffer that all connections share.
const INPUT_BYTES: usize = 64 * 1024;

struct Connection<S> {
    socket: OwnedFd,
    session: S,
    unsent: Vec<u8>,
    input_ended: bool,
}

// An idle connection owns no buffer, only this and its entry in the list (and their growth, at most as much again).
const _: () = assert!(size_of::<Connection<Echo>>() <= 48);

/// What a connection waits for next.
enum Next {
    Wait { interest: i16 },
    Close,
}

struct Server<S: Session> {
    settings: S::Settings,
    /// The fixed descriptors first, then the connections in the order of `connections`.
    set: PollSet,
    fixed: usize,
    listeners: Vec<Listener>,
    connections: Vec<Connection<S>>,
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
        let timeout_ms = server
            .timeout_ns()
            .map(|timeout_ns| timeout_ns.div_ceil(MILLISECOND_NS));
        let ready = server
            .set
            .wait(timeout_ms.map(|timeout_ms| timeout_ms as u32))?;
        // Before accepting: who is accepted below has no readiness of this turn.
        server.serve_ready(ready);
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

    fn timeout_ns(&self) -> Option<u64> {
        let drain = self.drain.map(Drain::remaining_ns);
        drain.or_else(|| self.pause.remaining_ns())
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
            match self.turn(index) {
                Ok(Next::Wait { interest }) => {
                    self.set.set_interest(position, interest);
                    index += 1;
                }
                // An error is a reset: there is nobody left to tell. The last connection takes the place of the
                // closed one, in both lists and with its readiness: the same index is looked at again.
                Ok(Next::Close) | Err(_) => {
                    self.set.swap_remove(position);
                    self.connections.swap_remove(index);
                    self.resume_accepting();
                }
            }
        }
    }

    /// One read or one write, whichever the connection waited for, and the answer to what was read.
    fn turn(&mut self, index: usize) -> io::Result<Next> {
        let connection = &mut self.connections[index];
        if !connection.unsent.is_empty() {
            let sent = sent(socket::send(&connection.socket, &connection.unsent))?;
            self.bytes += sent as u64;
            connection.unsent.drain(..sent);
            return Ok(connection.next());
        }
        let received = match socket::receive(&connection.socket, &mut self.input) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(connection.next()),
            result => result?,
        };
        self.output.clear();
        if received == 0 {
            connection.input_ended = true;
            let _ = connection.session.end_of_input(&mut self.output);
        } else {
            let _ = connection
                .session
                .input(&self.input[..received], &mut self.output);
        }
        if !self.output.is_empty() {
            let sent = sent(socket::send(&connection.socket, &self.output))?;
            self.bytes += sent as u64;
            connection.unsent.extend_from_slice(&self.output[sent..]);
        }
        Ok(connection.next())
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
                    self.connections.push(Connection {
                        socket,
                        session: S::begin(&self.settings),
                        unsent: Vec::new(),
                        input_ended: false,
                    });
                    self.accepted += 1;
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
        for connection in &self.connections {
            self.set.push(&connection.socket, connection.interest());
        }
    }
}

impl<S> Connection<S> {
    fn next(&mut self) -> Next {
        if self.unsent.is_empty() {
            // Idle again: the memory goes back.
            self.unsent = Vec::new();
            if self.input_ended {
                return Next::Close;
            }
        }
        Next::Wait {
            interest: self.interest(),
        }
    }

    fn interest(&self) -> i16 {
        if self.unsent.is_empty() {
            READABLE
        } else {
            WRITABLE
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
