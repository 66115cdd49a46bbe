//! `io_uring(7)`: an accept is asked for and waited for in one call; each connection has a receive that stays in force, so that
//! the byte is already in a buffer when the wait ends.
//!
//! The accept is a single one, submitted within the timed part, as the others enter the kernel to accept. The receives are armed
//! outside of it, where the others add a descriptor to their set.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use throng_sys::uring::{Completion, Kind, Ring, RingOptions};

use super::{Ends, Wait, unexpected};

/// One operation completes at a time.
const OPTIONS: RingOptions = RingOptions {
    submission_entries: 8,
    completion_entries: 64,
    buffer_count: 16,
    buffer_bytes: 16,
};
/// Only one accept is ever under way.
const LISTENER: u64 = 0;

pub(in crate::accept) struct UringWait {
    // Before the descriptors: their operations end with the ring.
    ring: Ring,
    ends: Ends,
}

impl UringWait {
    pub(in crate::accept) fn new(ends: Ends) -> io::Result<Self> {
        let ring = Ring::new(OPTIONS, Arc::from([]))?;
        Ok(Self { ring, ends })
    }

    fn wait(&mut self) -> io::Result<Completion> {
        loop {
            self.ring.submit_and_wait(1, None)?;
            if let Some(completion) = self.ring.next_completion() {
                return Ok(completion);
            }
        }
    }
}

impl Wait for UringWait {
    fn accept(&mut self) -> io::Result<OwnedFd> {
        self.ring.accept_once(&self.ends.listener, LISTENER)?;
        // For any other kind it is an error.
        self.wait()?.accepted()
    }

    fn join(&mut self, connection: OwnedFd) -> io::Result<()> {
        let place = self.ends.connections.len() as u64;
        self.ring.receive(&connection, place)?;
        self.ends.connections.push(connection);
        self.ring.submit()
    }

    fn receive(&mut self) -> io::Result<usize> {
        let completion = self.wait()?;
        if completion.kind != Kind::Receive {
            return Err(unexpected());
        }
        let length = completion.bytes();
        if let Some(buffer) = completion.buffer {
            self.ring.recycle(buffer);
        }
        length
    }
}
