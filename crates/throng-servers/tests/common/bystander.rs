//! Somebody whose connection is open beside the one that a test is about.

use std::io::Write as _;
use std::thread;
use std::time::Duration;

use super::client::Client;
use super::server::Server;

/// Connected as the second. A server of several connections at once serves it all the while; one that serves a single
/// connection does so once the first has closed, and not before.
pub(crate) struct Bystander {
    client: Client,
    is_served: bool,
    said: Vec<u8>,
}

impl Bystander {
    /// Comes when exactly one connection is open.
    pub(crate) fn of(server: &Server) -> Self {
        Self {
            client: server.connect(),
            is_served: server.at_most(2) == 2,
            said: Vec::new(),
        }
    }

    /// Says something, and hears it at once or not at all.
    pub(crate) fn says(&mut self, message: &[u8]) {
        self.said.extend(message);
        if self.is_served {
            self.client.echo(message);
        } else {
            self.client.write_all(message).expect("sent");
            thread::sleep(Duration::from_millis(20));
            self.client.expect_nothing();
        }
    }

    /// When the first connection has closed: whoever had to wait is answered now. How many bytes it has said.
    pub(crate) fn hears_the_rest(mut self) -> usize {
        if !self.is_served {
            self.client.expect(&self.said);
        }
        self.client.echo(b"at last");
        self.said.len() + b"at last".len()
    }
}
