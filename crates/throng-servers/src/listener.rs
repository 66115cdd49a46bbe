//! A listening socket, with the clean-up that belongs to it.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use throng_sys::address::Address;
use throng_sys::shared_port;
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

    /// So many listeners on one TCP port, each with a queue of its own.
    pub(crate) fn open_sharing(
        address: &Address,
        backlog: u32,
        count: NonZeroUsize,
    ) -> Result<Vec<Self>, ListenError> {
        let (sockets, address) = shared_port::listen(address, backlog, count)?;
        let own = |socket| Self {
            socket,
            address: address.clone(),
        };
        Ok(sockets.into_iter().map(own).collect())
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

    /// A connection whose reads and writes block. The accept itself blocks only after [`Self::let_accept_block`]; before,
    /// it is `WouldBlock` where none waits.
    pub(crate) fn accept_blocking(&self) -> io::Result<OwnedFd> {
        let connection = socket::accept_blocking(&self.socket)?;
        self.send_at_once(&connection);
        Ok(connection)
    }

    /// For a model whose workers wait in accept itself, in whatever process they are.
    pub(crate) fn let_accept_block(&self) -> io::Result<()> {
        socket::set_blocking(&self.socket)
    }

    /// Ends it for every thread and process that has it: a blocked accept returns an error, and nobody connects any more.
    pub(crate) fn end(&self) {
        // It fails only where that has been done.
        let _ = socket::end_listening(&self.socket);
    }

    /// Turns Nagle's algorithm off: with it the answer to a pipelined request waits until the peer has acknowledged
    /// the one before, which takes up to 40 ms (delayed acknowledgement) and would be measured as the model's
    /// latency. The same for every model, so that only concurrency differs.
    pub(crate) fn send_at_once(&self, connection: impl AsFd) {
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

/// For runtimes that watch a descriptor by its number.
impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
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
