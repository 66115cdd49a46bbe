//! A listening socket, with the clean-up that belongs to it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use throng_sys::address::Address;
use throng_sys::socket::{self, ListenError};

/// A listening socket. Dropped, it is closed, and the path that a Unix one was bound to is removed.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    address: Address,
}

impl Listener {
    pub(crate) fn open(address: &Address, backlog: u32) -> Result<Self, ListenError> {
        let (socket, address) = socket::listen(address, backlog)?;
        Ok(Self { socket, address })
    }

    /// Where it listens, the port chosen by the kernel filled in.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// A connection that does not block, or `WouldBlock`.
    pub(crate) fn accept(&self) -> io::Result<OwnedFd> {
        let connection = socket::accept(&self.socket)?;
        self.send_at_once(&connection);
        Ok(connection)
    }

    /// A connection whose reads and writes block. The accept itself does not: `WouldBlock` where none waits.
    pub(crate) fn accept_blocking(&self) -> io::Result<OwnedFd> {
        let connection = socket::accept_blocking(&self.socket)?;
        self.send_at_once(&connection);
        Ok(connection)
    }

    /// Turns Nagle's algorithm off: with it the answer to a pipelined request waits until the peer has acknowledged
    /// the one before, which takes up to 40 ms (delayed acknowledgement) and would be measured as the model's
    /// latency. The same for every model, so that only concurrency differs.
    pub(crate) fn send_at_once(&self, connection: &OwnedFd) {
        if let Address::Tcp(_) = self.address {
            // It fails only on a connection that is already reset, whose first read will say so.
            let _ = socket::set_nodelay(connection);
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Binding fails on an existing path, so what is there is ours. It may have been removed by hand.
        if let Address::Unix(path) = &self.address {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_path_that_was_bound_is_removed() {
        let path =
            std::env::temp_dir().join(format!("throng-listener-{}.sock", std::process::id()));
        let address = Address::Unix(path.clone());
        let listener = Listener::open(&address, 1).expect("listening");
        Listener::open(&address, 1).expect_err("the path is taken");
        assert!(path.exists(), "the failure removed nothing");
        drop(listener);
        assert!(!path.exists());
    }
}
