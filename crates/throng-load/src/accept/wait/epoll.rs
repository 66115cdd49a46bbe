//! `epoll(7)`, by level or by edge: the set stays with the kernel, which hands out only who is ready.

use std::io;
use std::os::fd::OwnedFd;

use throng_sys::epoll::{Epoll, Interest};

use super::{Ends, Wait, unexpected};

/// Tokens of connections are their places.
const LISTENER: u64 = u64::MAX;
/// Room for events. One is ready at a time; a server has room for some.
const BATCH: usize = 64;

pub(in crate::accept) struct EpollWait {
    ends: Ends,
    epoll: Epoll,
    interest: Interest,
}

impl EpollWait {
    /// Told for as long as there is something to take.
    pub(in crate::accept) fn level(ends: Ends) -> io::Result<Self> {
        Self::new(ends, Interest::IN)
    }

    /// Told once when something comes. One accept for each edge of the listener is enough, as one client comes at a time.
    pub(in crate::accept) fn edge(ends: Ends) -> io::Result<Self> {
        Self::new(ends, Interest::IN | Interest::ET)
    }

    fn new(ends: Ends, interest: Interest) -> io::Result<Self> {
        let epoll = Epoll::new(BATCH)?;
        epoll.add(&ends.listener, LISTENER, interest)?;
        Ok(Self {
            ends,
            epoll,
            interest,
        })
    }

    fn wait(&mut self) -> io::Result<u64> {
        while self.epoll.wait(None)? == 0 {}
        let first = self.epoll.event(0).ok_or_else(unexpected)?;
        Ok(first.token)
    }
}

impl Wait for EpollWait {
    fn accept(&mut self) -> io::Result<OwnedFd> {
        match self.wait()? {
            LISTENER => self.ends.accept(),
            _ => Err(unexpected()),
        }
    }

    fn join(&mut self, connection: OwnedFd) -> io::Result<()> {
        let place = self.ends.connections.len() as u64;
        self.epoll.add(&connection, place, self.interest)?;
        self.ends.connections.push(connection);
        Ok(())
    }

    fn receive(&mut self) -> io::Result<usize> {
        match self.wait()? {
            LISTENER => Err(unexpected()),
            place => self.ends.receive(place as usize),
        }
    }
}
