//! `poll(2)`: a list of descriptors, all of it looked at by every call.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

use rustix::event::{PollFd, PollFlags, poll};

use crate::clock::{monotonic_ns, timespec};

/// Ready to read, or at end of input.
pub const READABLE: i16 = libc::POLLIN;
/// Ready to write.
pub const WRITABLE: i16 = libc::POLLOUT;
/// In error or hung up; always reported, never asked for (see [`PollSet::set_ignored`]).
pub const BROKEN: i16 = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;

/// The list that is handed to the kernel. Positions are stable but for [`PollSet::swap_remove`].
#[derive(Debug, Default)]
pub struct PollSet {
    entries: Vec<libc::pollfd>,
}

impl PollSet {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a descriptor. It must stay open until it is removed: a closed one is reported as [`BROKEN`], a reused
    /// number is another file's readiness.
    pub fn push(&mut self, fd: impl AsFd, interest: i16) {
        self.entries.push(entry(&fd, interest));
    }

    /// Puts another descriptor at `position`, as [`PollSet::push`] would at the end.
    pub fn replace(&mut self, position: usize, fd: impl AsFd, interest: i16) {
        self.entries[position] = entry(&fd, interest);
    }

    /// Descriptors in the list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Changes what is asked of the descriptor at `position`; 0 asks for nothing.
    pub fn set_interest(&mut self, position: usize, interest: i16) {
        self.entries[position].events = interest;
    }

    /// Whether waits pass the descriptor at `position` over, for which not even [`BROKEN`] is reported then. Asking for
    /// nothing does not do that.
    pub fn set_ignored(&mut self, position: usize, ignored: bool) {
        let fd = &mut self.entries[position].fd;
        // `poll(2)` passes over negative numbers, and no descriptor has one.
        if fd.is_negative() != ignored {
            *fd = !*fd;
        }
    }

    /// What the last wait found at `position`.
    #[must_use]
    pub fn ready(&self, position: usize) -> i16 {
        self.entries[position].revents
    }

    /// The first position at or after `from` at which the last wait found anything. Nothing but looking at one entry after the
    /// other tells it.
    #[must_use]
    pub fn next_ready(&self, from: usize) -> Option<usize> {
        let found = self
            .entries
            .iter()
            .skip(from)
            .position(|entry| entry.revents != 0)?;
        Some(from + found)
    }

    /// Removes the descriptor at `position`; the last one takes its place, readiness included.
    pub fn swap_remove(&mut self, position: usize) {
        self.entries.swap_remove(position);
    }

    /// Waits until a descriptor is ready, at most `timeout_ms` (forever without); the number of ready ones, 0 after a
    /// time-out or a signal.
    ///
    /// # Errors
    /// As `poll(2)`: EINVAL where the list is longer than the limit of open files.
    pub fn wait(&mut self, timeout_ms: Option<u32>) -> io::Result<usize> {
        let timeout = timeout_ms.map_or(-1, |timeout| i32::try_from(timeout).unwrap_or(i32::MAX));
        let length = self.entries.len() as libc::nfds_t;
        // SAFETY: the pointer and the length are of the same live, exclusively borrowed vector.
        match unsafe { libc::poll(self.entries.as_mut_ptr(), length, timeout) } {
            -1 => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {
                    self.entries.iter_mut().for_each(|entry| entry.revents = 0);
                    Ok(0)
                }
                error => Err(error),
            },
            ready => Ok(ready.cast_unsigned() as usize),
        }
    }
}

fn entry(fd: &impl AsFd, interest: i16) -> libc::pollfd {
    libc::pollfd {
        fd: fd.as_fd().as_raw_fd(),
        events: interest,
        revents: 0,
    }
}

/// Waits until one descriptor can be read, is at end of input or is broken, at most until `until_ns` of the monotonic
/// clock and never less; whether it is. A signal does not end the wait.
///
/// # Errors
/// As `ppoll(2)`.
pub fn wait_readable(fd: impl AsFd, until_ns: u64) -> io::Result<bool> {
    let mut set = [PollFd::new(&fd, PollFlags::IN)];
    loop {
        let left_ns = until_ns.saturating_sub(monotonic_ns());
        match poll(&mut set, Some(&timespec(left_ns))) {
            Ok(0) if left_ns > 0 => {}
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn readiness_is_told_by_position() {
        let (mut near, far) = UnixStream::pair().expect("a pair");
        let (_quiet_near, quiet_far) = UnixStream::pair().expect("a pair");
        let mut set = PollSet::new();
        set.push(&quiet_far, READABLE);
        set.push(&far, READABLE);
        assert_eq!(set.wait(Some(0)).expect("poll"), 0);
        near.write_all(b"x").expect("written");
        assert_eq!(set.wait(Some(1000)).expect("poll"), 1);
        assert_eq!((set.ready(0), set.ready(1)), (0, READABLE));
        set.swap_remove(0);
        assert_eq!((set.len(), set.ready(0)), (1, READABLE));
    }

    #[test]
    fn who_takes_a_place_is_found_there() {
        let (mut near, far) = UnixStream::pair().expect("a pair");
        let (_quiet_near, quiet_far) = UnixStream::pair().expect("a pair");
        let mut set = PollSet::new();
        (0..3).for_each(|_| set.push(&quiet_far, 0));
        near.write_all(b"x").expect("written");
        assert_eq!(set.wait(Some(0)).expect("poll"), 0);
        assert_eq!(set.next_ready(0), None);
        set.replace(1, &far, READABLE);
        assert_eq!((set.len(), set.wait(Some(1000)).expect("poll")), (3, 1));
        assert_eq!((set.next_ready(0), set.next_ready(1)), (Some(1), Some(1)));
        assert_eq!((set.next_ready(2), set.next_ready(9)), (None, None));
    }

    #[test]
    fn who_is_ignored_is_not_even_reported_as_broken() {
        let (near, far) = UnixStream::pair().expect("a pair");
        let mut set = PollSet::new();
        set.push(&far, 0);
        drop(near);
        assert_eq!(set.wait(Some(0)).expect("poll"), 1, "asked for nothing");
        for _ in 0..2 {
            set.set_ignored(0, true);
            assert_eq!(set.wait(Some(0)).expect("poll"), 0);
            assert_eq!(set.ready(0), 0);
        }
        set.set_ignored(0, false);
        assert_eq!(set.wait(Some(0)).expect("poll"), 1);
        assert_eq!(set.ready(0) & BROKEN, libc::POLLHUP);
    }

    #[test]
    fn waiting_for_one_is_ended_by_it_or_by_the_time_and_not_before() {
        let (mut near, far) = UnixStream::pair().expect("a pair");
        let until_ns = monotonic_ns() + 3_000_000;
        assert!(!wait_readable(&far, until_ns).expect("poll"));
        assert!(monotonic_ns() >= until_ns);
        near.write_all(b"x").expect("written");
        assert!(wait_readable(&far, u64::MAX).expect("poll"));
        assert!(wait_readable(&far, 0).expect("a time that is over"));
    }
}
