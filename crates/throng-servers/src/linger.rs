//! The lingering close: what a [`crate::workload::Then::Linger`] is. A socket that is closed with unread input resets its
//! connection, and a reset destroys what the peer has not read yet. So the output is ended, and what comes is read and
//! dropped until the peer has ended its own, for [`LENGTH`] and [`BYTES_MAX`] at most.
//!
//! Runtimes do it in their own way, within the same bounds.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use throng_sys::clock::{SECOND_NS, monotonic_ns};
use throng_sys::poll::wait_readable;
use throng_sys::socket;

/// How long a peer has to end its output.
pub(crate) const LENGTH: Duration = Duration::from_secs(1);

/// Bytes that are dropped at most.
pub(crate) const BYTES_MAX: usize = 1024 * 1024;

/// For a connection that has a thread: returns when it may be closed. A drain ends its input, and with it this.
pub(crate) fn sit_out(connection: impl AsFd, buffer: &mut [u8]) {
    let until_ns = monotonic_ns() + LENGTH.as_secs() * SECOND_NS;
    let mut left = BYTES_MAX;
    // Errors mean that the connection is gone.
    if socket::end_output(&connection).is_err() {
        return;
    }
    while left > 0 && matches!(wait_readable(&connection, until_ns), Ok(true)) {
        match socket::receive(&connection, buffer) {
            Ok(0) | Err(_) => return,
            Ok(received) => left = left.saturating_sub(received),
        }
    }
}

/// For a connection that shares a thread with others, and does not block. How long it lasts is its model's part, which
/// has a timer.
#[derive(Debug)]
pub(crate) struct Lingering {
    left: usize,
}

impl Lingering {
    /// Ends the output.
    pub(crate) fn begin(connection: impl AsFd) -> io::Result<Self> {
        socket::end_output(connection)?;
        Ok(Self { left: BYTES_MAX })
    }

    /// Drops what has come, all of it; whether the connection may be closed.
    pub(crate) fn is_over(&mut self, connection: impl AsFd, buffer: &mut [u8]) -> bool {
        while self.left > 0 {
            match socket::receive(&connection, buffer) {
                Ok(received @ 1..) => self.left = self.left.saturating_sub(received),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Ok(0) | Err(_) => return true,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    #[test]
    fn the_peer_reads_an_end_and_may_go_on_sending_within_bounds() {
        let (mut near, far) = UnixStream::pair().expect("a pair");
        let server = thread::spawn(move || sit_out(&far, &mut [0; 4096]));
        assert_eq!(near.read(&mut [0; 1]).expect("the end"), 0);
        near.write_all(&[1; 10_000]).expect("taken");
        socket::end_output(&near).expect("ended");
        server.join().expect("it returns");
    }

    #[test]
    fn whoever_never_ends_is_left_after_so_many_bytes() {
        let (mut near, far) = UnixStream::pair().expect("a pair");
        let server = thread::spawn(move || sit_out(&far, &mut [0; 4096]));
        let mut taken = 0;
        while near.write_all(&[1; 4096]).is_ok() {
            taken += 4096;
            assert!(taken < 100 * BYTES_MAX);
        }
        server.join().expect("it returns");
    }

    #[test]
    fn one_that_does_not_block_is_over_when_the_peer_ends() {
        let (mut near, far) = UnixStream::pair().expect("a pair");
        far.set_nonblocking(true).expect("set");
        let mut lingering = Lingering::begin(&far).expect("begun");
        assert_eq!(near.read(&mut [0; 1]).expect("the end"), 0);
        near.write_all(&[1; 10_000]).expect("taken");
        assert!(!lingering.is_over(&far, &mut [0; 4096]));
        socket::end_output(&near).expect("ended");
        assert!(lingering.is_over(&far, &mut [0; 4096]));
    }

    #[test]
    fn one_that_does_not_block_is_over_after_so_many_bytes() {
        let (mut near, far) = UnixStream::pair().expect("a pair");
        far.set_nonblocking(true).expect("set");
        let mut lingering = Lingering::begin(&far).expect("begun");
        let mut taken = 0;
        while !lingering.is_over(&far, &mut [0; 4096]) {
            near.write_all(&[1; 4096]).expect("taken");
            taken += 4096;
        }
        assert_eq!(taken, BYTES_MAX);
    }
}
