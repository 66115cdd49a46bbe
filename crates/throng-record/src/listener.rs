//! The accept queue as observed from outside, and the handshakes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The listener's accept queue over the trial, sampled by exact look-up (`sock_diag(7)`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    #[serde(default)]
    pub uneven_share: Option<f64>,
    /// Depth over time, all listeners together: since the phase's first connect, and from then on; changes only, at most some thousands.
    pub depths: Vec<DepthSample>,
}

/// One listener's queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DepthSample {
    /// Since the phase's first connect.
    pub at_ns: u64,
    /// Connections that waited to be accepted.
    pub depth: u32,
}

/// Who told of the handshakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandshakesSeenBy {
    /// A packet socket (`packet(7)`), which sees each SYN, SYN-ACK and RST.
    #[default]
    PacketSocket,
    /// The kernel's trace events `tcp_retransmit_skb` and `tcp_retransmit_synack`: what is sent again alone.
    TraceEvents,
}

/// The handshakes with the server: what was sent again, and where each segment was seen, how many there were of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandshakesRecord {
    /// By what they were seen.
    #[serde(default)]
    pub seen_by: HandshakesSeenBy,
    /// SYNs that began a connection; absent where only what is sent again was seen.
    pub syns: Option<u64>,
    /// SYNs sent again by clients.
    pub syn_retransmissions: u64,
    /// SYN-ACKs that answered a SYN; absent where only what is sent again was seen.
    pub syn_acks: Option<u64>,
    /// SYN-ACKs sent again by the server unasked.
    pub syn_ack_retransmissions: u64,
    /// SYN-ACKs sent again as the answer to a SYN that was sent again: counted by the kernel unless they are SYN cookies, which its
    /// trace events leave out.
    #[serde(default)]
    pub syn_acks_repeated: u64,
    /// RSTs sent by the server's side; absent where only what is sent again was seen.
    pub resets_by_server: Option<u64>,
    /// RSTs sent by the clients' side; likewise.
    pub resets_by_client: Option<u64>,
    /// Segments that the observer lost: with any, the counts are too small.
    pub segments_lost: u64,
}
