//! The multiplexers: what each does between the two readings of the clock, and what it does while nobody looks.
//!
//! All of them do what a server of that kind would: they wait without a time-out, look up who is ready, and take one connection or one
//! byte. The looking up belongs to the cost: `poll` and `select` hand back everything that they were given, and it takes a
//! search to find who is meant.

mod epoll;
mod poll;
mod select;
mod uring;

use std::io;
use std::os::fd::OwnedFd;

use throng_sys::socket;

pub(super) use epoll::EpollWait;
pub(super) use poll::PollWait;
pub(super) use select::SelectWait;
pub(super) use uring::UringWait;

/// A multiplexer over a listener and a set of connections that only grows.
pub(super) trait Wait {
    /// Timed: waits until a client is there, and accepts it.
    fn accept(&mut self) -> io::Result<OwnedFd>;

    /// Not timed: the connection joins the set.
    fn join(&mut self, connection: OwnedFd) -> io::Result<()>;

    /// Timed: waits until one of the connections has a byte, and reads it; how many were read.
    fn receive(&mut self) -> io::Result<usize>;
}

/// What is waited for.
pub(super) struct Ends {
    listener: OwnedFd,
    connections: Vec<OwnedFd>,
}

impl Ends {
    pub(super) fn new(listener: OwnedFd) -> Self {
        Self {
            listener,
            connections: Vec::new(),
        }
    }

    /// Of a listener that is ready.
    fn accept(&self) -> io::Result<OwnedFd> {
        socket::accept(&self.listener)
    }

    /// Of a connection that is ready, by its place in the order of arrival.
    fn receive(&self, place: usize) -> io::Result<usize> {
        // Room for more than comes: one read is known to have emptied the connection, which edges ask for.
        socket::receive(&self.connections[place], &mut [0; 16])
    }
}

/// Something was ready that nobody made ready.
fn unexpected() -> io::Error {
    io::Error::other("the multiplexer reports somebody who is not ready")
}
