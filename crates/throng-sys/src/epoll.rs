//! `epoll(7)`: one descriptor that tells which of many are ready, at a cost that does not grow with the idle ones.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData};

use crate::clock::timespec;

pub use rustix::event::epoll::EventFlags as Interest;

/// One ready descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// What the descriptor was registered with.
    pub token: u64,
    /// What it is ready for.
    pub ready: Interest,
}

/// An epoll instance with room for a batch of events.
pub struct Epoll {
    fd: OwnedFd,
    events: Vec<epoll::Event>,
}

// SAFETY: the events hold numbers only. They are written by the kernel during a wait, from data made by `new_u64`, and their
// type is not `Send` for the sake of those who store a pointer in the same place, which nothing here does or reads.
unsafe impl Send for Epoll {}

impl Epoll {
    /// An empty set; up to `batch` events are taken per wait.
    ///
    /// # Errors
    /// EMFILE where the descriptor table is full.
    pub fn new(batch: usize) -> io::Result<Self> {
        Ok(Self {
            fd: epoll::create(CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(batch.max(1)),
        })
    }

    /// Watches a descriptor.
    ///
    /// # Errors
    /// As `epoll_ctl(2)`, for example ENOSPC past `fs.epoll.max_user_watches`.
    pub fn add(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(
            &self.fd,
            fd,
            EventData::new_u64(token),
            interest,
        )?)
    }

    /// Changes what is watched. An edge-triggered descriptor that is ready now is reported again.
    ///
    /// # Errors
    /// As `epoll_ctl(2)`.
    pub fn modify(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(
            &self.fd,
            fd,
            EventData::new_u64(token),
            interest,
        )?)
    }

    /// Watches a descriptor no longer; closing it does the same.
    ///
    /// # Errors
    /// As `epoll_ctl(2)`.
    pub fn delete(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.fd, fd)?)
    }

    /// Waits for readiness, at most `timeout_ns` (forever without); the number of events, to be read with [`Epoll::event`].
    /// A signal ends the wait with none.
    ///
    /// # Errors
    /// As `epoll_pwait2(2)`.
    pub fn wait(&mut self, timeout_ns: Option<u64>) -> io::Result<usize> {
        self.events.clear();
        let timeout = timeout_ns.map(timespec);
        match epoll::wait(
            &self.fd,
            rustix::buffer::spare_capacity(&mut self.events),
            timeout.as_ref(),
        ) {
            Ok(ready) => Ok(ready),
            Err(rustix::io::Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// The event at `position` of the last wait's batch, `None` past its end.
    #[inline]
    #[must_use]
    pub fn event(&self, position: usize) -> Option<Event> {
        self.events.get(position).map(|event| Event {
            token: event.data.u64(),
            ready: event.flags,
        })
    }
}

impl std::fmt::Debug for Epoll {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Epoll")
            .field("fd", &self.fd)
            .finish_non_exhaustive()
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn an_edge_is_reported_once_and_again_after_modify() {
        let (mut near, far) = UnixStream::pair().expect("a pair");
        let mut epoll = Epoll::new(8).expect("an epoll");
        let interest = Interest::IN | Interest::ET;
        epoll.add(&far, 7, interest).expect("added");
        near.write_all(b"x").expect("written");
        assert_eq!(epoll.wait(Some(0)).expect("wait"), 1);
        assert_eq!(epoll.event(0).map(|event| event.token), Some(7));
        assert_eq!(
            epoll.wait(Some(0)).expect("wait"),
            0,
            "the edge was consumed"
        );
        epoll.modify(&far, 9, interest).expect("modified");
        assert_eq!(
            epoll.wait(Some(0)).expect("wait"),
            1,
            "modify reports what is still ready"
        );
        assert_eq!(epoll.event(0).map(|event| event.token), Some(9));
        assert!(epoll.event(1).is_none());
    }
}
