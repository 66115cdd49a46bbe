//! Kept connections that an HTTP server ends in order, and that are opened again.
//!
//! A server may end a kept connection after so many requests or so long an idle time, announced by `Connection: close` in a whole reply or by
//! its end of output between two (RFC 9112, section 9.3 and following). The next request on it then opens it anew, as a client's pool of
//! connections would, and waits for that: its latency begins where it would have begun on the old connection.
//!
//! *Requests that were sent and not answered.* Behind an announced end the server has not processed them. Without one, a request and the end
//! crossed on their way. Either is sent again on the new connection, with its first start, and counted; of a reply that has begun, the rest is
//! missed and the connection fails.
//!
//! *What is no order.* A connection that answered fewer than [`REPLIES_MIN`] requests before its end: then more than one request in ten pays for
//! a connect, and what is measured is connecting.

use throng_record::ErrorKind;
use throng_sys::clock::{SECOND_NS, monotonic_ns};

use super::{Exchange, errors};
use crate::backend::{Backend, Began};
use crate::connection::ConnectionState;
use crate::pacing::Pacing;

/// So many replies a connection gives at least, if it is to be called kept.
const REPLIES_MIN: u32 = 10;
/// Unless nothing was asked on it for so long: servers end idle connections.
const IDLE_NS: u64 = SECOND_NS;

/// What is known of connections that were opened again.
#[derive(Debug, Default)]
pub(super) struct Reopening {
    /// Of each connection how many replies it had when it was opened; empty where none is opened again.
    replies_when_opened: Vec<u32>,
    /// Those whose connect found the queue of a Unix listener full.
    waiting: Vec<u32>,
    pub(super) reconnects: u64,
    /// Requests that were sent a second time.
    pub(super) sent_again: u64,
}

impl Reopening {
    /// Memory is taken before the work begins. Of connections with replies in a phase before, those are what they have to show.
    pub(super) fn new(is_on: bool, replies_before: impl Iterator<Item = u32>) -> Self {
        let before = replies_before.map(|replies| 0_u32.wrapping_sub(replies));
        Self {
            replies_when_opened: before.take(if is_on { usize::MAX } else { 0 }).collect(),
            ..Self::default()
        }
    }

    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
}

impl<B: Backend, P: Pacing> Exchange<'_, B, P> {
    /// Replies since the connection was opened; `None` where connections are not opened again.
    fn replies_since_opened(&self, slot: u32) -> Option<u32> {
        let opened = self.reopening.replies_when_opened.get(slot as usize)?;
        let replies = self.shard.connections[slot as usize].replies;
        Some(replies.wrapping_sub(*opened))
    }

    /// Takes the end of an open connection as one in order, where it is: what is not answered goes out again. Whether it is.
    #[cold]
    pub(super) fn ended_in_order(&mut self, slot: u32) -> bool {
        let Some(replies) = self.replies_since_opened(slot) else {
            return false;
        };
        let connection = &mut self.shard.connections[slot as usize];
        let outstanding = connection.outstanding();
        let idle_ns = match outstanding {
            0 => monotonic_ns().saturating_sub(connection.waiting_since_ns),
            _ => 0,
        };
        let is_in_order = replies >= REPLIES_MIN || idle_ns >= IDLE_NS;
        if connection.state != ConnectionState::Open || connection.is_mid_reply() || !is_in_order {
            return false;
        }
        connection.state = ConnectionState::Ended;
        self.shard.backend.close(slot);
        self.reopening.sent_again += u64::from(outstanding);
        let (first, index) = (connection.replies, self.shard.index(slot));
        for back in 0..outstanding {
            let n = first.wrapping_add(back);
            let message = self.shard.assignment.messages.range(index, n);
            self.sent_bytes += message.len() as u64;
        }
        if outstanding > 0 {
            self.reopen(slot);
        }
        true
    }

    /// Whether an end that comes with the next reply is none in order.
    pub(super) fn would_end_too_early(&self, slot: u32) -> bool {
        let replies = self.replies_since_opened(slot);
        replies.is_none_or(|replies| replies + 1 < REPLIES_MIN)
    }

    /// What an end out of order says beside itself.
    pub(super) fn too_few_replies(&self, slot: u32) -> String {
        let Some(replies) = self.replies_since_opened(slot) else {
            return String::new();
        };
        let seen = match replies {
            1 => "1 reply".to_owned(),
            replies => format!("{replies} replies"),
        };
        format!(
            ", after {seen} on this connection (one with {REPLIES_MIN} or more is opened again)"
        )
    }

    /// Begins to open a connection that has ended, for a request that is already counted as sent.
    #[cold]
    pub(super) fn reopen(&mut self, slot: u32) {
        self.shard.connections[slot as usize].state = ConnectionState::Reopening;
        let assignment = &self.shard.assignment;
        let source = assignment.sources.of_connection(self.shard.index(slot));
        let address = assignment.addresses.at(self.shard.address(slot));
        let nodelay = assignment.spec.nodelay;
        match self.shard.backend.connect(slot, address, source, nodelay) {
            Ok(Began::Connected) => self.reopened(slot),
            Ok(Began::UnderWay) => {}
            Ok(Began::QueueFull) => self.reopening.waiting.push(slot),
            Err(error) => self.fail(slot, errors::of_connect(&error), &error.to_string()),
        }
    }

    /// The connection is there: what is not answered is sent, in its order.
    #[cold]
    pub(super) fn reopened(&mut self, slot: u32) {
        let index = self.shard.index(slot);
        let connection = &mut self.shard.connections[slot as usize];
        if connection.state != ConnectionState::Reopening {
            return;
        }
        self.reopening.reconnects += 1;
        connection.state = ConnectionState::Open;
        // What is sent before its handshake is done waits for that.
        if self.shard.assignment.spec.tls.is_some()
            && let Err(error) = self.shard.backend.secure(slot)
        {
            return self.fail(slot, errors::of_connection(&error), &error.to_string());
        }
        let connection = &self.shard.connections[slot as usize];
        let (first, outstanding) = (connection.replies, connection.outstanding());
        self.reopening.replies_when_opened[slot as usize] = first;
        for back in 0..outstanding {
            let n = first.wrapping_add(back);
            let message = self.shard.assignment.messages.range(index, n);
            if let Err(error) = self.shard.backend.send(slot, message) {
                return self.fail(slot, errors::of_connection(&error), &error.to_string());
            }
        }
    }

    /// Tries those again that found a full queue; who finds it full once more waits on.
    #[cold]
    pub(super) fn retry_reopening(&mut self) {
        for slot in std::mem::take(&mut self.reopening.waiting) {
            if self.shard.connections[slot as usize].state == ConnectionState::Reopening {
                self.reopen(slot);
            }
        }
    }

    /// A connection, or its connect, failed.
    #[cold]
    pub(super) fn on_failure(&mut self, slot: u32, error: &std::io::Error) {
        let kind = match self.shard.connections[slot as usize].state {
            ConnectionState::Reopening => errors::of_connect(error),
            _ => errors::of_connection(error),
        };
        // A request that crosses the server's end is answered by a reset.
        if kind == ErrorKind::Reset && self.ended_in_order(slot) {
            return;
        }
        self.fail(slot, kind, &error.to_string());
    }
}
