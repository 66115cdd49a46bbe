//! `poll(2)`: the list is handed over whole in every call, and looked through for the one that is ready.
//!
//! As published, the list has room for every connection there will ever be from the first call on, its unused entries zeroed:
//! they name descriptor 0 and ask for nothing of it. But that a descriptor is hung up is told unasked (`POLLHUP`), and the
//! generator's standard input is a pipe whose writer may go: then every wait would end at once. So descriptor 0 is one end
//! of a socket pair here, whose other end stays open as long as the measurement. Its file is looked at by every unused entry,
//! as any file would be.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use throng_sys::descriptor_table::replace_standard_input;
use throng_sys::poll::{PollSet, READABLE};

use super::{Ends, Wait, unexpected};

const LISTENER: usize = 0;

pub(in crate::accept) struct PollWait {
    ends: Ends,
    set: PollSet,
    /// As published: keeps descriptor 0 from being hung up.
    _peer_of_standard_input: Option<UnixStream>,
}

impl PollWait {
    /// The list holds exactly what is open.
    pub(in crate::accept) fn new(ends: Ends) -> Self {
        let mut set = PollSet::new();
        set.push(&ends.listener, READABLE);
        Self {
            ends,
            set,
            _peer_of_standard_input: None,
        }
    }

    /// As published, with entries for so many connections. Replaces the standard input of the calling thread's table.
    pub(in crate::accept) fn published(ends: Ends, connections: u32) -> io::Result<Self> {
        let (peer, input) = UnixStream::pair()?;
        replace_standard_input(&input)?;
        let mut wait = Self::new(ends);
        for _ in 0..connections {
            wait.set.push(io::stdin(), 0);
        }
        wait._peer_of_standard_input = Some(peer);
        Ok(wait)
    }

    fn wait(&mut self) -> io::Result<()> {
        while self.set.wait(None)? == 0 {}
        Ok(())
    }
}

impl Wait for PollWait {
    fn accept(&mut self) -> io::Result<OwnedFd> {
        loop {
            self.wait()?;
            if self.set.ready(LISTENER) != 0 {
                return self.ends.accept();
            }
        }
    }

    fn join(&mut self, connection: OwnedFd) -> io::Result<()> {
        self.ends.connections.push(connection);
        let (position, connection) = (self.ends.connections.len(), self.ends.connections.last());
        let connection = connection.expect("it was pushed");
        if position < self.set.len() {
            self.set.replace(position, connection, READABLE);
        } else {
            self.set.push(connection, READABLE);
        }
        Ok(())
    }

    fn receive(&mut self) -> io::Result<usize> {
        self.wait()?;
        let position = self.set.next_ready(LISTENER + 1).ok_or_else(unexpected)?;
        self.ends.receive(position - 1)
    }
}
