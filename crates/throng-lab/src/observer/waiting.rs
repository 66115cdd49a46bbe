//! How many connections the server has left in its accept queue: open for the client, and not served.
//!
//! Looked up when a phase ends, while the generator waits (`sock_diag(7)`; Recv-Q of the listeners at the server's port). A server that is
//! still accepting is given time, where nothing else is being timed.
//!
//! Left out on purpose: handshakes whose last segment the kernel dropped, which the client takes for open. They stand in no queue.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use throng_sys::namespace::Network;
use throng_sys::sock_diag::SocketDiagnostics;

/// Between two looks at a queue that is being emptied.
const LOOK: Duration = Duration::from_millis(20);
/// A queue that has not become shorter for so long is being left alone.
const STILL: Duration = Duration::from_millis(300);
/// However fast it is being emptied.
const SETTLING_MAX: Duration = Duration::from_secs(3);

/// The accept queue of one server.
#[derive(Debug)]
pub(crate) struct Waiting {
    listener: SocketAddr,
    diagnostics: Arc<SocketDiagnostics>,
    /// When last looked at; absent before, and where there was no listener.
    pub(crate) connections: Option<u32>,
}

impl Waiting {
    /// None where the kernel cannot be asked.
    pub(crate) fn at(listener: SocketAddr, network: &Network) -> Option<Self> {
        let diagnostics = network.diagnostics().ok()?;
        Some(Self {
            listener,
            diagnostics,
            connections: None,
        })
    }

    /// Looks once. None wait at a listener that is gone: the kernel reset those that did, and the generator counts them as lost. Where the
    /// kernel does not answer, what was seen before stands.
    pub(crate) fn look(&mut self) {
        match self.now() {
            Ok(Some(connections)) => self.connections = Some(connections),
            Ok(None) => self.connections = self.connections.map(|_| 0),
            Err(_) => {}
        }
    }

    /// Looks until the queue is empty or becomes no shorter.
    pub(crate) fn settle(&mut self) {
        let begun = Instant::now();
        let mut shrunk = begun;
        self.look();
        while self.connections > Some(0)
            && shrunk.elapsed() < STILL
            && begun.elapsed() < SETTLING_MAX
        {
            sleep(LOOK);
            let before = self.connections;
            self.look();
            if self.connections < before {
                shrunk = Instant::now();
            }
        }
    }

    /// Over all listeners that share the address; absent where there is none.
    fn now(&self) -> io::Result<Option<u32>> {
        let Some(found) = self.diagnostics.find_listener(self.listener)? else {
            return Ok(None);
        };
        let all = self.diagnostics.listeners_on(found.address.port())?;
        let of_it = all
            .iter()
            .filter(|listener| listener.address == found.address);
        Ok(Some(of_it.map(|listener| listener.accept_queue).sum()))
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn what_is_not_accepted_is_counted_until_its_listener_leaves() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = Waiting::at(address, &Network::own()).unwrap();
        assert_eq!(waiting.connections, None);
        let _open = [(); 3].map(|()| TcpStream::connect(address).unwrap());
        waiting.look();
        assert_eq!(waiting.connections, Some(3));
        let _accepted = listener.accept().unwrap();
        waiting.settle();
        assert_eq!(waiting.connections, Some(2));
        drop(listener);
        waiting.look();
        assert_eq!(waiting.connections, Some(0));
    }
}
