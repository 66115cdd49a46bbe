//! What can go wrong on one connection, by kind: nothing is dropped silently.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Why a connection, or one message on it, failed. Each failure is counted once, and ends its connection; a whole HTTP response on a kept one does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The connect was refused by RST: nobody listens, or somebody refuses in the server's name.
    ConnectRefused,
    /// The connect did not complete within the connect timeout.
    ConnectTimedOut,
    /// The address cannot be reached or assigned (no route, no such file, permission).
    ConnectUnreachable,
    /// No local port was left for this destination (EADDRNOTAVAIL).
    PortsExhausted,
    /// The generator ran out of descriptors (EMFILE, ENFILE).
    DescriptorsExhausted,
    /// The server's certificate is none that is trusted, or of another name, or out of date.
    CertificateRefused,
    /// The TLS handshake failed otherwise: an alert, a server that speaks no TLS, an end of the connection.
    HandshakeFailed,
    /// The TLS handshake did not complete within the connect timeout.
    HandshakeTimedOut,
    /// The peer reset the connection (ECONNRESET, EPIPE).
    Reset,
    /// The peer ended its output while a reply was owed and none of it had come.
    ClosedEarly,
    /// The peer ended its output in the middle of a reply.
    Truncated,
    /// A reply byte differed from the one expected.
    WrongBytes,
    /// An HTTP response whose status is none of those that are right: usually success or redirection.
    HttpStatus,
    /// Bytes came that no request had asked for.
    ExcessBytes,
    /// A line that was due to every connection did not come to this one within the reply timeout.
    NotDelivered,
    /// It came twice.
    DeliveredTwice,
    /// No byte of a reply within the reply timeout.
    ReplyTimedOut,
    /// A part of a reply, and not the rest within the reply timeout.
    ReplyStalled,
    /// No reply within the reply timeout on a kept connection of which the peer's kernel never acknowledged a byte: it does not have it. Where each
    /// message has a connection of its own, `RequestRecord::is_acknowledged` tells this, and the kind is `ReplyTimedOut`.
    NotAcknowledged,
    /// The connection was not closed by the peer after our half-close, within the close timeout.
    CloseTimedOut,
    /// Any other error of the operating system.
    Other,
}

impl ErrorKind {
    /// The kind as a person would read it in a table.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ConnectRefused => "connect refused",
            Self::ConnectTimedOut => "connect timed out",
            Self::ConnectUnreachable => "address unreachable",
            Self::PortsExhausted => "ports exhausted",
            Self::DescriptorsExhausted => "descriptors exhausted",
            Self::CertificateRefused => "certificate refused",
            Self::HandshakeFailed => "TLS handshake failed",
            Self::HandshakeTimedOut => "TLS handshake timed out",
            Self::Reset => "reset",
            Self::ClosedEarly => "closed early",
            Self::Truncated => "reply truncated",
            Self::WrongBytes => "wrong bytes",
            Self::HttpStatus => "HTTP error status",
            Self::ExcessBytes => "excess bytes",
            Self::NotDelivered => "not delivered",
            Self::DeliveredTwice => "delivered twice",
            Self::ReplyTimedOut => "reply timed out",
            Self::ReplyStalled => "reply stalled",
            Self::NotAcknowledged => "not acknowledged",
            Self::CloseTimedOut => "close timed out",
            Self::Other => "other error",
        }
    }
}

/// How often each kind of error happened, and the first example of each in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorCounts {
    /// Occurrences by kind; a kind that did not happen is absent.
    pub counts: BTreeMap<ErrorKind, u64>,
    /// The first occurrence of each kind, in words, with the connection's index.
    pub first_examples: BTreeMap<ErrorKind, String>,
    /// Indices of the first connections that it happened to, ascending, at most sixteen of each kind, where they were told.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub connections: BTreeMap<ErrorKind, Vec<u32>>,
}

/// Indices kept of each kind.
const CONNECTIONS_MAX: usize = 16;

impl ErrorCounts {
    /// Counts one error; `example` is made only for the first of its kind.
    pub fn count(&mut self, kind: ErrorKind, example: impl FnOnce() -> String) {
        *self.counts.entry(kind).or_default() += 1;
        self.first_examples.entry(kind).or_insert_with(example);
    }

    /// Counts one error of the connection with this index within the fleet, which also begins its example.
    pub fn count_at(&mut self, connection: u32, kind: ErrorKind, detail: impl FnOnce() -> String) {
        let is_first = first_of(&self.connections, kind).is_none_or(|first| connection < first);
        if is_first {
            self.first_examples.remove(&kind);
        }
        self.count(kind, || format!("connection {connection}: {}", detail()));
        keep_lowest(self.connections.entry(kind).or_default(), [connection]);
    }

    /// All errors of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Occurrences of one kind.
    #[must_use]
    pub fn of(&self, kind: ErrorKind) -> u64 {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    /// Adds another shard's or phase's errors to these.
    pub fn merge(&mut self, other: &Self) {
        for (&kind, &count) in &other.counts {
            *self.counts.entry(kind).or_default() += count;
        }
        for (&kind, example) in &other.first_examples {
            let ours = first_of(&self.connections, kind);
            let theirs = first_of(&other.connections, kind);
            let is_theirs = ours.zip(theirs).is_some_and(|(ours, theirs)| theirs < ours);
            if is_theirs || !self.first_examples.contains_key(&kind) {
                self.first_examples.insert(kind, example.clone());
            }
        }
        for (&kind, connections) in &other.connections {
            let kept = self.connections.entry(kind).or_default();
            keep_lowest(kept, connections.iter().copied());
        }
    }
}

fn first_of(connections: &BTreeMap<ErrorKind, Vec<u32>>, kind: ErrorKind) -> Option<u32> {
    connections.get(&kind)?.first().copied()
}

fn keep_lowest(kept: &mut Vec<u32>, more: impl IntoIterator<Item = u32>) {
    kept.extend(more);
    kept.sort_unstable();
    kept.dedup();
    kept.truncate(CONNECTIONS_MAX);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_of_the_first_connection_by_index() {
        let mut all = ErrorCounts::default();
        all.count_at(399, ErrorKind::ClosedEarly, || "late".to_owned());
        all.count_at(400, ErrorKind::ClosedEarly, || "later".to_owned());
        let mut other = ErrorCounts::default();
        other.count_at(200, ErrorKind::ClosedEarly, || "second".to_owned());
        other.count_at(179, ErrorKind::ClosedEarly, || "first".to_owned());
        all.merge(&other);
        let example = &all.first_examples[&ErrorKind::ClosedEarly];
        assert_eq!(example, "connection 179: first");
    }

    #[test]
    fn the_first_connections_are_named_whichever_shard_tells_first() {
        let mut all = ErrorCounts::default();
        for shard in [1, 0] {
            let mut errors = ErrorCounts::default();
            for connection in (shard * 100..shard * 100 + 20).rev() {
                errors.count_at(connection, ErrorKind::NotDelivered, String::new);
            }
            all.merge(&errors);
        }
        assert_eq!(all.of(ErrorKind::NotDelivered), 40);
        assert_eq!(
            all.connections[&ErrorKind::NotDelivered],
            (0..16).collect::<Vec<_>>()
        );
    }
}
