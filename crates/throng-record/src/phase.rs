//! What each phase of a fleet measured: connect, exchange, close.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ErrorCounts, ErrorKind, Histogram, Timeline};

/// Opening every connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectPhase {
    /// Connections that opened.
    pub connected: u32,
    /// From the first connect to the end of the last.
    pub duration_ns: u64,
    /// From the `connect` call to the established connection; failed connects are not in it.
    pub latency: Histogram,
    /// Failed connects, and connections that did not stay open to the end of the phase.
    pub errors: ErrorCounts,
    /// Connections that opened and did not stay open to the end of the phase.
    #[serde(default)]
    pub lost: u32,
    /// Connects that completed, over time.
    #[serde(default)]
    pub timeline: Timeline,
    /// Σ over connections of `TCP_INFO.tcpi_total_retrans` when the connect completed or failed: SYNs sent again.
    #[serde(default)]
    pub syn_retransmissions: u64,
    /// Connections whose SYN was sent again.
    #[serde(default)]
    pub retransmitted: u32,
    /// The slowest that completed, slowest first, ten at most.
    #[serde(default)]
    pub slowest: Vec<SlowConnection>,
    /// The first failure; absent where all opened, even if some did not stay open to the end of the phase.
    #[serde(default)]
    pub stop: Option<ConnectStop>,
    /// Connects that were never begun. A thread of the generator stops after sixteen in succession that failed for want of local ports or of
    /// descriptors, since each further one costs the kernel a whole search; and everything stops at an interrupt.
    #[serde(default)]
    pub not_begun: u32,
}

/// A connection that waited longer than others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowConnection {
    /// Its index.
    pub connection: u32,
    /// How long.
    pub latency_ns: u64,
    /// How often its SYN was sent again (`TCP_INFO.tcpi_total_retrans` when the connect completed).
    pub syn_retransmissions: u32,
}

/// Why connecting came to an end before all were open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectStop {
    /// Index of the first connection that failed.
    pub connection: u32,
    /// Connections that were open then. Where several threads connect at a time, each counts those of the others up to their last wait.
    pub open: u32,
    /// Since the first connect.
    pub at_ns: u64,
    /// How it failed.
    pub kind: ErrorKind,
    /// The kernel's words; and how many connects were therefore not begun, if any.
    pub message: String,
}

/// The part of the measured window in which every connection is active: from its start to the last send. Little's law is checked on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyWindow {
    /// Σ over shards of the windows' replies per second.
    pub replies_per_second: f64,
    /// Σ over all messages of the time within the window in which they were outstanding, ÷ replies recorded in it.
    pub latency_mean_ns: f64,
    /// Σ over shards of throughput × mean latency: what Little's law says is outstanding.
    pub outstanding_by_law: f64,
    /// Connections × outstanding: what is outstanding by construction (closed loop).
    pub outstanding_by_construction: f64,
    /// Replies in the window.
    pub replies: u64,
    /// Connections whose message had, at the end of the window, waited longer than any reply had taken: the percentiles
    /// leave those out.
    #[serde(default)]
    pub connections_starved: u32,
    /// How the replies fell on the connections; absent where the window had no length or no replies.
    #[serde(default)]
    pub replies_per_connection: Option<RepliesPerConnection>,
}

/// Replies that each connection got within the window, over the connections that were open from its begin to its end: of each the difference between
/// its counts at both ends. Quantiles are by nearest rank: a connection had exactly so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepliesPerConnection {
    /// How many connections.
    pub connections: u32,
    /// The fewest.
    pub min: u32,
    /// One connection in ten had no more than this.
    pub p10: u32,
    /// Half of them had no more than this.
    pub median: u32,
    /// Nine in ten had no more than this.
    pub p90: u32,
    /// The most.
    pub max: u32,
    /// The mean.
    pub mean: f64,
    /// The fairness index of Jain, Chiu and Hawe ("A quantitative measure of fairness and discrimination", DEC-TR-301, 1984): (Σx)² ÷ (n Σx²). 1
    /// where all had the same, k ÷ n where k of n shared all of it.
    pub fairness_jain: f64,
    /// The mean over the connections of that thread of the generator which got the fewest for each.
    pub shard_mean_min: f64,
    /// The same of that which got the most: where these two differ, the generator may be why.
    pub shard_mean_max: f64,
}

/// Exchanging messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExchangePhase {
    /// Warm-up messages answered before, and kept apart from, the measurement.
    pub warmup_replies: u64,
    /// Length of the warm-up.
    pub warmup_duration_ns: u64,
    /// Latency during the warm-up.
    pub warmup_latency: Histogram,
    /// Messages sent in the measurement.
    pub sent: u64,
    /// Measured messages answered in full and, where verification is on, rightly.
    pub replies: u64,
    /// Bytes sent, warm-up included.
    pub sent_bytes: u64,
    /// Bytes received, warm-up included.
    pub received_bytes: u64,
    /// Length of the measured window: to the last reply where a count ends it, to the deadline where a duration does.
    pub duration_ns: u64,
    /// Measured replies that came within the window ÷ its length.
    pub replies_per_second: f64,
    /// From the send (closed loop, lockstep) or from the due time (open loop) to the last byte of the reply.
    pub latency: Histogram,
    /// Open loop: how late the generator itself sent: from the due time, or from the moment a connection became free if
    /// that was later, to the send.
    pub scheduling_error: Option<Histogram>,
    /// Open loop: messages that were due while every connection was busy.
    pub waited_for_connection: u64,
    /// Open loop: messages that were due by the window's end and were never sent, because every connection was busy to
    /// the end: the server did not keep up with the offered rate. (Or because the generator looked too late: its scheduling error
    /// bounds these.)
    pub due_unsent: u64,
    /// Open loop and lockstep: mean number outstanding as sampled by an independent observer, and what throughput × mean
    /// time from send to reply says it should be.
    pub outstanding_sampled: Option<OutstandingSampled>,
    /// For Little's law; absent where the pacing is no plain closed loop.
    pub steady: Option<SteadyWindow>,
    /// Replies over the measured window.
    pub timeline: Timeline,
    /// Connections that got at least one right reply, warm-up included.
    pub connections_served: u32,
    /// Failures by kind, warm-up included.
    pub errors: ErrorCounts,
    /// For a stop by confidence: the interval's half-width ÷ mean as reached.
    pub relative_half_width_reached: Option<f64>,
}

/// Two independent accounts of how many messages were outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutstandingSampled {
    /// Samples taken.
    pub samples: u64,
    /// Mean of the samples.
    pub mean: f64,
    /// Standard deviation of the samples.
    pub stdev: f64,
    /// Throughput × mean time from the actual send to the reply.
    pub by_law: f64,
}

/// Closing: our half-close, then the end of the peer's output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClosePhase {
    /// Connections whose peer answered our end of input with its own, and sent nothing more.
    pub closed_in_order: u32,
    /// From the first half-close to the last end.
    pub duration_ns: u64,
    /// What went wrong while closing: excess bytes, resets, time-outs.
    pub errors: ErrorCounts,
}
