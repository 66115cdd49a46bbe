//! Sending on a connection that somebody else serves, where neither has a queue: the socket's buffer is the only one.
//!
//! *Method.* A line is taken by the kernel now and whole, or the connection is shut down, which wakes whoever reads from it:
//! its reader is too slow. Two senders must not be at it at the same time; the caller's lock sees to that.

use std::os::fd::AsFd;

use throng_sys::socket;

/// Sends all of it without waiting, or shuts the connection down; the bytes that were taken.
pub(crate) fn send_all(connection: impl AsFd, bytes: &[u8]) -> u64 {
    let sent = socket::send_without_waiting(&connection, bytes).unwrap_or(0);
    if sent < bytes.len() {
        // They fail on a connection that is already reset, which wakes its reader too.
        let _ = socket::end_input(&connection);
        let _ = socket::end_output(&connection);
    }
    sent as u64
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_does_not_fit_ends_the_connection() {
        let (mut near, far) = UnixStream::pair().expect("a pair");
        let mut sent = 0;
        loop {
            let taken = send_all(&far, &[7; 4096]);
            sent += taken;
            if taken < 4096 {
                break;
            }
        }
        assert_eq!(send_all(&far, b"more"), 0);
        let mut read = Vec::new();
        near.read_to_end(&mut read).expect("its end");
        assert_eq!(read.len() as u64, sent);
        assert_eq!((&far).read(&mut [0; 1]).expect("woken"), 0);
    }
}
