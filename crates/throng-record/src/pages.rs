//! Pages that are asked for on kept connections: which, and what became of them.

use serde::{Deserialize, Serialize};

/// What is asked for, and which responses are right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PagesSpec {
    /// The requests, at least one. Each connection sends them in turn and begins anew after the last; connection *i* begins with request *i* modulo their number.
    pub requests: Vec<PageRequest>,
    /// The statuses that are right; where none is listed, those of [`StatusRange::USUAL`].
    pub statuses: Vec<StatusRange>,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageRequest {
    /// Method and path, without a query.
    pub page: String,
    /// Its head, up to and including the empty line.
    pub head: String,
    /// What follows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<u8>,
}

impl PageRequest {
    /// All that is sent.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        [self.head.as_bytes(), &self.body].concat()
    }
}

/// Statuses from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusRange {
    /// The first.
    pub from: u16,
    /// The last.
    pub to: u16,
}

impl StatusRange {
    /// Success and redirection.
    pub const USUAL: Self = Self { from: 200, to: 399 };

    /// Whether the status is one of them.
    #[must_use]
    pub fn contains(self, status: u16) -> bool {
        (self.from..=self.to).contains(&status)
    }
}

/// `200`, `2xx` or `200 to 399`.
impl std::fmt::Display for StatusRange {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.from, self.to) {
            (from, last) if from == last => write!(to, "{from}"),
            (from, last) if from % 100 == 0 && last == from + 99 => write!(to, "{}xx", from / 100),
            (from, last) => write!(to, "{from} to {last}"),
        }
    }
}

/// What became of the pages of one exchange.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PagesRecord {
    /// Connections that were opened again after the server had ended them in order: announced in a reply, or between two. Warm-up included.
    pub reconnects: u64,
    /// Requests that were sent a second time, on the new connection, since the old one ended before a byte of their reply had come. Warm-up included.
    pub sent_again: u64,
    /// Responses to measured requests by class of status: 1xx (which come before another), 2xx, 3xx, 4xx, 5xx.
    pub statuses: [u64; 5],
}

impl PagesRecord {
    /// What two parts of a fleet had.
    #[must_use]
    pub fn together(mut self, other: Self) -> Self {
        self.reconnects += other.reconnects;
        self.sent_again += other.sent_again;
        for (own, its) in self.statuses.iter_mut().zip(other.statuses) {
            *own += its;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_written_as_they_are_asked_for() {
        let written = |from, to| StatusRange { from, to }.to_string();
        assert_eq!(written(200, 200), "200");
        assert_eq!(written(200, 299), "2xx");
        assert_eq!(StatusRange::USUAL.to_string(), "200 to 399");
    }
}
