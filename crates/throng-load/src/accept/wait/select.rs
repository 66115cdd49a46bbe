//! `select(2)`: the set is copied for every call, which leaves only the ready ones in it, and each connection is asked about until
//! one is found.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use throng_sys::select::{FdSet, select};

use super::{Ends, Wait, unexpected};

pub(in crate::accept) struct SelectWait {
    ends: Ends,
    asked: FdSet,
    ready: FdSet,
}

impl SelectWait {
    pub(in crate::accept) fn new(ends: Ends) -> io::Result<Self> {
        let mut asked = FdSet::new();
        asked.insert(&ends.listener)?;
        Ok(Self {
            ends,
            asked,
            ready: FdSet::new(),
        })
    }

    fn wait(&mut self) -> io::Result<()> {
        loop {
            self.ready.clone_from(&self.asked);
            if select(&mut self.ready, &mut FdSet::new(), None)? > 0 {
                return Ok(());
            }
        }
    }

    fn is_ready(&self, descriptor: &OwnedFd) -> bool {
        let number = descriptor.as_raw_fd().cast_unsigned();
        self.ready.contains(number as usize)
    }
}

impl Wait for SelectWait {
    fn accept(&mut self) -> io::Result<OwnedFd> {
        loop {
            self.wait()?;
            if self.is_ready(&self.ends.listener) {
                return self.ends.accept();
            }
        }
    }

    fn join(&mut self, connection: OwnedFd) -> io::Result<()> {
        self.asked.insert(&connection)?;
        self.ends.connections.push(connection);
        Ok(())
    }

    fn receive(&mut self) -> io::Result<usize> {
        self.wait()?;
        let mut connections = self.ends.connections.iter();
        let place = connections.position(|connection| self.is_ready(connection));
        self.ends.receive(place.ok_or_else(unexpected)?)
    }
}
