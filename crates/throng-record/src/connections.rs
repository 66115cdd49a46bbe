//! Messages that each have a connection of their own: what became of each, and why the slow ones were slow.
//!
//! The generator tells of every request what it saw and what `TCP_INFO` said; the lab joins that with the accept queue and
//! the handshakes as observed, attributes the slow ones, and keeps those alone.

use serde::{Deserialize, Serialize};

use crate::{ErrorKind, Histogram, QueueFullWaits};

/// A connect that took longer is attributed to its causes.
pub const SLOW_CONNECT_NS: u64 = 500_000_000;
/// A first byte that came later than this after the service time was over is attributed to its causes.
pub const SLOW_FIRST_BYTE_SPARE_NS: u64 = 200_000_000;

/// The connections of an exchange in which every message has its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConnectionsPhase {
    /// Connects begun: one for each request.
    pub begun: u64,
    /// Connects of the warm-up that were begun. Failures are counted with those of the warm-up.
    pub warmup_begun: u64,
    /// Connects that completed.
    pub connected: u64,
    /// Connects of the warm-up that completed: in none of the other figures here.
    pub warmup_connected: u64,
    /// Requests answered in full and rightly.
    pub answered: u64,
    /// From the first connect after the warm-up to the end of the last request, failed ones included.
    pub duration_ns: u64,
    /// The least that `duration_ns` could have been: the service time of all requests, shared by as many as the server serves
    /// at once and the clients ask at once. Absent where the service time or the server's concurrency is not known.
    pub duration_least_ns: Option<u64>,
    /// `CLOCK_MONOTONIC` of the first connect, by which the observers' accounts are joined.
    pub started_at_monotonic_ns: u64,
    /// From the `connect` call to the established connection, of those that completed.
    pub connect_latency: Histogram,
    /// From the completed connect, when the request is sent, to the first byte of the reply.
    pub first_byte_latency: Histogram,
    /// From the completed connect to the last byte of the reply, answered requests only.
    pub reply_latency: Histogram,
    /// From the `connect` call to the last byte of the reply, answered requests only.
    pub request_latency: Histogram,
    /// Σ over connections of `TCP_INFO.tcpi_total_retrans` when the connect completed or failed: SYNs sent again.
    pub syn_retransmissions: u64,
    /// Connects to a Unix socket whose accept queue was full, warm-up included.
    pub queue_full: QueueFullWaits,
    /// Σ over connections of what `tcpi_total_retrans` grew by afterwards: segments of data, or of the end, sent again.
    pub data_retransmissions: u64,
    /// Connections whose `TCP_INFO` could not be read, of which the two sums know nothing.
    pub without_tcp_info: u64,
    /// From the generator: every request, in the order of their ends, as far as there is room. In a stored run: those that
    /// failed or were slow, attributed.
    pub requests: Vec<RequestRecord>,
    /// Requests that are not in `requests` for want of room, though they failed or were slow.
    pub requests_left_out: u64,
    /// The slow ones by cause.
    pub attribution: Attribution,
}

impl ConnectionsPhase {
    /// Connects begun, warm-up included: of so many are the failures.
    #[must_use]
    pub const fn begun_in_all(&self) -> u64 {
        self.warmup_begun + self.begun
    }

    /// Connects that completed, warm-up included.
    #[must_use]
    pub const fn connected_in_all(&self) -> u64 {
        self.warmup_connected + self.connected
    }
}

/// One request: a connection, what was sent on it, and what came back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RequestRecord {
    /// Index of the client.
    pub client: u32,
    /// Which of its requests, from 0.
    pub number: u32,
    /// Our end of the connection; absent where the connect did not get so far.
    pub local_address: Option<String>,
    /// The `connect` call, since the phase's first.
    pub started_ns: u64,
    /// How long the connect took; absent where it failed.
    pub connect_ns: Option<u64>,
    /// From the completed connect to the first byte of the reply; absent where none came.
    pub first_byte_ns: Option<u64>,
    /// From the `connect` call to the last byte of the reply, or to the failure.
    pub duration_ns: u64,
    /// `TCP_INFO.tcpi_total_retrans` when the connect completed or failed.
    pub syn_retransmissions: u32,
    /// What it grew by until the end.
    pub data_retransmissions: u32,
    /// From the completed connect to the last time that data was sent, retransmissions included (`tcpi_last_data_sent`, to the
    /// kernel's tick, 1 to 10 ms); absent where no data was sent.
    pub last_data_sent_ns: Option<u64>,
    /// Whether the peer's kernel had acknowledged all data at the end: if not, it never took the connection for established.
    pub is_acknowledged: bool,
    /// How it failed; absent where it was answered.
    pub error: Option<ErrorKind>,
    /// Where the time went, in its order; of slow and failed requests only, filled in by the lab.
    pub causes: Vec<Cause>,
}

impl RequestRecord {
    /// Whether the connect was slow, or had failed by time.
    #[must_use]
    pub fn is_slow_to_connect(&self) -> bool {
        self.connect_ns.unwrap_or(self.duration_ns) > SLOW_CONNECT_NS
    }

    /// Whether the first byte came, or failed to come, late after a service of that length.
    #[must_use]
    pub fn is_slow_to_answer(&self, service_time_ns: u64) -> bool {
        let Some(connect_ns) = self.connect_ns else {
            return false;
        };
        let waited_ns = self
            .first_byte_ns
            .unwrap_or_else(|| self.duration_ns.saturating_sub(connect_ns));
        waited_ns > service_time_ns.saturating_add(SLOW_FIRST_BYTE_SPARE_NS)
    }
}

/// A stretch of a request's time, and what it was spent on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// The SYN was dropped, and sent again after the retransmission timeouts.
    SynRetransmissions {
        /// How often it was sent again.
        retransmissions: u32,
        /// The connect's time.
        waited_ns: u64,
    },
    /// The handshake's last ACK was dropped since the accept queue was full: connected as the client sees it, unknown to the server until
    /// data that the client sent again completed the connection.
    FinalAckDropped {
        /// How often the client sent its data again.
        data_retransmissions: u32,
        /// How often the server sent its SYN-ACK again; absent where the handshakes were not observed. None for a SYN cookie.
        syn_ack_retransmissions: Option<u32>,
        /// From the completed connect to the last retransmission.
        waited_ns: u64,
    },
    /// It waited in the accept queue.
    AcceptQueue {
        /// At most so long: until the queue was seen empty, or all that is left beside the service time.
        waited_ns: u64,
        /// The queue's depth when the wait began.
        depth: u32,
    },
    /// The server had accepted it and had not answered: its service, and whatever else it did before.
    Service {
        /// How long.
        waited_ns: u64,
    },
    /// The kernel had the connection at once, as its handshake was seen, and the generator was late to take note.
    GeneratorLate {
        /// The connect's time.
        waited_ns: u64,
    },
    /// Nothing that was seen explains it.
    NotExplained {
        /// How long.
        waited_ns: u64,
    },
}

/// Slow and failed requests by the cause that took most of their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Attribution {
    /// Connects over [`SLOW_CONNECT_NS`], failed ones included.
    pub connects_slow: u64,
    /// Of these, explained by so many retransmissions of the SYN as the kernel's timeouts need for that time.
    pub connects_by_syn_retransmission: u64,
    /// Of these, not the kernel's: the handshake as seen was quick, and the generator late.
    pub connects_by_generator: u64,
    /// First bytes later than [`SLOW_FIRST_BYTE_SPARE_NS`] after the service time, those that never came included.
    pub first_bytes_slow: u64,
    /// Of these, mostly a dropped final ACK.
    pub first_bytes_by_final_ack: u64,
    /// Of these, mostly the wait in the accept queue.
    pub first_bytes_by_accept_queue: u64,
    /// Of these, mostly the server's own time.
    pub first_bytes_by_service: u64,
    /// Slow connects and first bytes that nothing seen explains.
    pub not_explained: u64,
}
