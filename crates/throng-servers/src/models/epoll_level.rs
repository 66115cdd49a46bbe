//! *One thread, level-triggered `epoll(7)`.* The kernel keeps the set of descriptors and reports those that are ready, so a
//! turn costs time for the ready connections only, however many are idle.
//!
//! *Readiness is a state:* as long as there is something to read it is reported at every turn. So one read a turn is right:
//! what it leaves, more bytes or the end of input, is reported again by itself, after everybody else's turn. Nothing has to
//! be read dry, nothing armed again, and nobody starves. Beside `epoll-edge`, which saves the kernel a second look, this is
//! what the state saves the program.
//!
//! *Its price:* the kernel asks each descriptor that it has reported once more at the next wait, only to find that it is not
//! ready any longer; and a state that nobody ends is reported for ever. What must not be acted on now has to leave the set:
//! a paused listener, a connection that waits for room, the stop descriptor during the drain.
//!
//! *Slow readers.* What the socket does not take is kept in `unsent`, and the connection is watched for room instead
//! of input until that is gone, one more system call each way: never more than one read's answer is kept, for an echo
//! [`INPUT_BYTES`].
//!
//! *Slots are reused safely.* A batch holds at most one event of each descriptor, and a connection is closed only
//! while its own event is handled. So no event of the batch can be left for a slot that a new connection has got.
//!
//! *Termination.* The listeners are closed, the input of every connection is ended, and the loop goes on until the last
//! is closed or the drain is over.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use slab::Slab;
use throng_sys::epoll::{Epoll, Event, Interest};
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
    name: "epoll-level",
    family: Family::EventLoop,
    summary: "one thread, level-triggered epoll(7)",
    workers: Workers::One,
    serves_at_once: ServesAtOnce::Unbounded,
    threads: Count::ONE,
    processes: Count::ONE,
    serves_unix: true,
    takes_accept_threads: false,
};

/// Bytes that one read takes at most, into a buffer that all connections share.
const INPUT_BYTES: usize = 64 * 1024;
/// Events taken at once.
const BATCH: usize = 256;

/// Tokens from here on are of the listeners, below are slots of connections.
const FIRST_LISTENER: u64 = 1 << 32;
const STOP: u64 = u64::MAX;

const REMEDY: &str = "the kernel could not watch them: raise fs.epoll.max_user_watches";

struct Connection<S> {
    socket: OwnedFd,
    session: S,
    unsent: Vec<u8>,
    input_ended: bool,
}

// An idle connection owns no buffer, only this (and the slab's growth, at most as much again).
const _: () = assert!(size_of::<Connection<Echo>>() <= 48);

/// What becomes of a connection after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// It is watched for the same as before.
    Wait,
    /// It is watched for this from now on.
    Watch(Interest),
    Close,
}

struct Server<'a, S: Session> {
    settings: S::Settings,
    epoll: Epoll,
    stop: BorrowedFd<'a>,
    listeners: Vec<Listener>,
    connections: Slab<Connection<S>>,
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
    let mut server = Server::<S>::new(settings, listeners, stop)?;
    opening.ready(&server.listeners);
    while !server.is_done() {
        let timeout_ns = server.timeout_ns();
        let ready = server.epoll.wait(timeout_ns)?;
        for position in 0..ready {
            if let Some(event) = server.epoll.event(position) {
                server.handle(event)?;
            }
        }
        if server.pause.remaining_ns() == Some(0) {
            server.resume_accepting()?;
        }
    }
    Ok(Served {
        connections: server.accepted,
        bytes: server.bytes,
        notes: [server.pause.into_note(), server.refusals.into_note(REMEDY)]
            .into_iter()
            .flatten()
            .collect(),
    })
}

impl<'a, S: Session> Server<'a, S> {
    fn new(
        settings: &S::Settings,
        listeners: Vec<Listener>,
        stop: BorrowedFd<'a>,
    ) -> io::Result<Self> {
        let epoll = Epoll::new(BATCH)?;
        epoll.add(stop, STOP, Interest::IN)?;
        for (listener, token) in listeners.iter().zip(FIRST_LISTENER..) {
            epoll.add(listener, token, Interest::IN)?;
        }
        Ok(Self {
            settings: settings.clone(),
            epoll,
            stop,
            listeners,
            connections: Slab::new(),
            input: vec![0; INPUT_BYTES],
            output: Vec::with_capacity(INPUT_BYTES),
            pause: Pause::default(),
            refusals: Refusals::default(),
            drain: None,
            accepted: 0,
            bytes: 0,
        })
    }

    fn is_done(&self) -> bool {
        self.drain
            .is_some_and(|drain| self.connections.is_empty() || drain.remaining_ns() == 0)
    }

    fn timeout_ns(&self) -> Option<u64> {
        let drain = self.drain.map(Drain::remaining_ns);
        drain.or_else(|| self.pause.remaining_ns())
    }

    #[inline]
    fn handle(&mut self, event: Event) -> io::Result<()> {
        if event.token < FIRST_LISTENER {
            self.serve_connection(event.token)
        } else if event.token == STOP {
            self.begin_drain()
        } else {
            self.accept_batch((event.token - FIRST_LISTENER) as usize)
        }
    }

    #[inline]
    fn serve_connection(&mut self, token: u64) -> io::Result<()> {
        let key = token as usize;
        let Some(connection) = self.connections.get_mut(key) else {
            return Ok(());
        };
        let next = connection.turn(&mut self.input, &mut self.output, &mut self.bytes);
        let next = next.and_then(|next| match next {
            Next::Watch(interest) => {
                self.epoll.modify(&connection.socket, token, interest)?;
                Ok(Next::Wait)
            }
            next => Ok(next),
        });
        // An error is a reset: there is nobody left to tell.
        if let Ok(Next::Close) | Err(_) = next {
            self.connections.remove(key);
            return self.resume_accepting();
        }
        Ok(())
    }

    /// Those left over keep the listener readable.
    fn accept_batch(&mut self, index: usize) -> io::Result<()> {
        for _ in 0..accept::BATCH {
            // Gone where the drain began in this batch.
            let Some(listener) = self.listeners.get(index) else {
                return Ok(());
            };
            match listener.accept() {
                Ok(socket) => self.admit(socket),
                Err(error) => match accept::failure(&error) {
                    Failure::NoneWaits => return Ok(()),
                    Failure::ThisOneOnly => {}
                    Failure::Exhausted => {
                        self.pause.begin(error);
                        return self.watch_listeners(Interest::empty());
                    }
                },
            }
        }
        Ok(())
    }

    fn admit(&mut self, socket: OwnedFd) {
        let slot = self.connections.vacant_entry();
        match self.epoll.add(&socket, slot.key() as u64, Interest::IN) {
            Ok(()) => {
                slot.insert(Connection {
                    socket,
                    session: S::begin(&self.settings),
                    unsent: Vec::new(),
                    input_ended: false,
                });
                self.accepted += 1;
            }
            Err(error) => self.refusals.add(error),
        }
    }

    fn resume_accepting(&mut self) -> io::Result<()> {
        if self.pause.end() {
            self.watch_listeners(Interest::IN)?;
        }
        Ok(())
    }

    fn watch_listeners(&self, interest: Interest) -> io::Result<()> {
        for (listener, token) in self.listeners.iter().zip(FIRST_LISTENER..) {
            self.epoll.modify(listener, token, interest)?;
        }
        Ok(())
    }

    fn begin_drain(&mut self) -> io::Result<()> {
        self.epoll.delete(self.stop)?;
        self.listeners.clear();
        self.pause.end();
        self.drain = Some(Drain::begin(
            self.connections.iter().map(|(_, open)| &open.socket),
        ));
        Ok(())
    }
}

impl<S: Session> Connection<S> {
    /// One read and its answer, or, where a part of the last answer is left, one write. `bytes` counts what was sent.
    #[inline]
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
            return Ok(self.next(Interest::OUT));
        }
        let received = match socket::receive(&self.socket, input) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Next::Wait),
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
        Ok(self.next(Interest::IN))
    }

    #[inline]
    fn next(&mut self, watched: Interest) -> Next {
        let wanted = if self.unsent.is_empty() {
            // Idle again: the memory goes back.
            self.unsent = Vec::new();
            if self.input_ended {
                return Next::Close;
            }
            Interest::IN
        } else {
            Interest::OUT
        };
        if wanted == watched {
            Next::Wait
        } else {
            Next::Watch(wanted)
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
