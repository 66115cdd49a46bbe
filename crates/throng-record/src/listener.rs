//! The accept queue as observed from outside, and the handshakes.

use serde::{Deserialize, Serialize};

/// The listener's accept queue over the trial, sampled by exact look-up (`sock_diag(7)`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AcceptQueueRecord {
    /// What the launched server was asked to give to `listen(2)`; absent where it was not ours to ask.
    pub backlog_asked: Option<u32>,
    /// `net.core.somaxconn` of the server's network, to which the kernel clamps a backlog; absent where it could not be read.
    pub somaxconn: Option<u32>,
    /// Samples taken.
    pub samples: u64,
    /// The time between two samples as meant.
    pub interval_ns: u64,
    /// The longest time between two samples as it was: what is shorter may have been missed.
    pub gap_ns_max: u64,
    /// Each listener on the port; several share it by `SO_REUSEPORT`.
    pub listeners: Vec<ListenerRecord>,
    /// Where several share the port: share of the time in which one had a queue and another had none, 0 to 1.
    pub uneven_share: Option<f64>,
    /// Depth over time, all listeners together: since the phase's first connect, and from then on; changes only, at most some thousands.
    pub depths: Vec<DepthSample>,
}

/// One listener's queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListenerRecord {
    /// The address that it is bound to.
    pub address: String,
    /// Inode number of its socket.
    pub inode: u64,
    /// The backlog in force: the queue is full when its length exceeds this, so it holds one more.
    pub backlog: u32,
    /// The greatest length seen.
    pub depth_max: u32,
    /// The mean length over time.
    pub depth_mean: f64,
    /// Share of the time in which it was seen full, 0 to 1.
    pub full_share: f64,
}

/// The length of the accept queue from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DepthSample {
    /// Since the phase's first connect.
    pub at_ns: u64,
    /// Connections that waited to be accepted.
    pub depth: u32,
}

/// The handshakes with the server: how many segments of each kind there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HandshakesRecord {
    /// SYNs that began a connection.
    pub syns: u64,
    /// SYNs sent again by clients.
    pub syn_retransmissions: u64,
    /// SYN-ACKs that answered a SYN.
    pub syn_acks: u64,
    /// SYN-ACKs sent again by the server unasked.
    pub syn_ack_retransmissions: u64,
    /// SYN-ACKs sent again as the answer to a SYN that was sent again: counted by the kernel unless they are SYN cookies.
    pub syn_acks_repeated: u64,
    /// RSTs sent by the server's side.
    pub resets_by_server: u64,
    /// RSTs sent by the clients' side.
    pub resets_by_client: u64,
    /// Segments that the observer lost: with any, the counts are too small.
    pub segments_lost: u64,
}
