//! What each phase of a fleet measured: connect, exchange, close.

use serde::{Deserialize, Serialize};

use crate::{ErrorCounts, ErrorKind, Histogram, PagesRecord, TasksRecord, Timeline};

/// Opening every connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConnectPhase {
    /// Connections that opened.
    pub connected: u32,
    /// From the first connect to the end of the last, whether that completed or failed.
    pub duration_ns: u64,
    /// From the first connect to the last that completed: a connect that times out afterwards is not in it. 0 where none completed.
    pub opened_ns: u64,
    /// From the `connect` call to the established connection; failed connects are not in it.
    pub latency: Histogram,
    /// Failed connects, and connections that did not stay open to the end of the phase.
    pub errors: ErrorCounts,
    /// Connections that opened and did not stay open to the end of the phase.
    pub lost: u32,
    /// Connects that completed, over time.
    pub timeline: Timeline,
    /// Σ over connections of `TCP_INFO.tcpi_total_retrans` when the connect completed or failed: SYNs sent again.
    pub syn_retransmissions: u64,
    /// Connections whose SYN was sent again.
    pub retransmitted: u32,
    /// Connects to a Unix socket whose accept queue was full.
    pub queue_full: QueueFullWaits,
    /// The slowest that completed, slowest first, ten at most.
    pub slowest: Vec<SlowConnection>,
    /// The first failure; absent where all opened, even if some did not stay open to the end of the phase.
    pub stop: Option<ConnectStop>,
    /// Connects that were never begun. A thread of the generator stops after sixteen in succession that failed for want of local ports or of
    /// descriptors, since each further one costs the kernel a whole search; and everything stops at an interrupt.
    pub not_begun: u32,
}

/// Connects that found the accept queue of a Unix socket full (EAGAIN) and waited until there was room, which is part of their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct QueueFullWaits {
    /// How many, those that were given up included.
    pub connects: u64,
    /// Σ of how long, in nanoseconds.
    pub waited_ns: u64,
}

impl std::iter::Sum for QueueFullWaits {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            connects: sum.connects + one.connects,
            waited_ns: sum.waited_ns + one.waited_ns,
        })
    }
}

/// A connection that waited longer than others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SlowConnection {
    /// Its index.
    pub connection: u32,
    /// How long.
    pub latency_ns: u64,
    /// How often its SYN was sent again (`TCP_INFO.tcpi_total_retrans` when the connect completed).
    pub syn_retransmissions: u32,
}

/// Why connecting came to an end before all were open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Connections whose message had, at the end of the window, waited longer than any reply of the window took, and is in no percentile: it was
    /// sent during the warm-up, or never answered. Waited until the last reply that any connection got.
    pub connections_starved: u32,
    /// How the replies fell on the connections; absent where the window had no length or no replies.
    pub replies_per_connection: Option<RepliesPerConnection>,
}

/// Replies that each connection got within the window, over the connections that never failed: of each the difference between its counts at both ends.
/// Quantiles are by nearest rank: a connection had exactly so many. Over several generators each is the least of theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Connections that had at most a fifth of the median of their thread's connections.
    pub seldom_served: u32,
    /// The mean over the connections of that thread of the generator which got the fewest for each.
    pub shard_mean_min: f64,
    /// The same of that which got the most: where these two differ, the generator may be why.
    pub shard_mean_max: f64,
}

/// Exchanging messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExchangePhase {
    /// Warm-up messages answered before, and kept apart from, the measurement.
    pub warmup_replies: u64,
    /// Length of the warm-up.
    pub warmup_duration_ns: u64,
    /// Latency during the warm-up.
    pub warmup_latency: Histogram,
    /// When all threads of the generator had begun to measure, by `CLOCK_MONOTONIC`.
    pub started_at_monotonic_ns: u64,
    /// When the last reply had come, or sending was over if that was later, by `CLOCK_MONOTONIC`: nothing goes on from then on.
    pub quiet_at_monotonic_ns: u64,
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
    /// bounds these.) 0 where a count ends the window: nothing was asked for beyond it.
    pub due_unsent: u64,
    /// Open loop, lockstep and tasks: the mean number outstanding in the measured window, by two accounts.
    pub outstanding: Option<Outstanding>,
    /// Of replies that came in several reads, the time from the first to the last; absent where every reply came whole.
    pub between_pieces: Option<Histogram>,
    /// Connections that waited, at the end of the window, for longer than any reply of the window took.
    pub starved: StarvedConnections,
    /// Stretches of the window in which no connection got a reply although eight or more waited, in their order; of the shortest that are kept
    /// each is 50 ms long. Of messages on kept connections.
    pub silences: Vec<Silence>,
    /// For Little's law; absent where the pacing is no plain closed loop.
    pub steady: Option<SteadyWindow>,
    /// Replies over the measured window.
    pub timeline: Timeline,
    /// Connections that got at least one reply, warm-up included.
    pub connections_served: u32,
    /// Connections of which not a byte came although they were open, and what was sent was acknowledged, to the end or to the reply timeout. Those
    /// that failed otherwise are among the errors.
    pub connections_silent: u32,
    /// Failures by kind, warm-up included.
    pub errors: ErrorCounts,
    /// What became of clients that have tasks with several services; absent where they have none.
    pub tasks: Option<TasksRecord>,
    /// What became of pages on kept connections; absent where none were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PagesRecord>,
    /// For a stop by confidence: the interval's half-width ÷ mean as reached.
    pub relative_half_width_reached: Option<f64>,
}

/// Connections that waited, at the end of the window, for longer than any reply of the window took. Each wait counts from the send, or from the
/// connection's last reply, to the last reply that any other connection got. Connections that failed are not among them, unless it was for want of a
/// reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StarvedConnections {
    /// How many.
    pub connections: u32,
    /// The longest wait.
    pub waited_ns_max: u64,
    /// The slowest reply of the window, over all connections.
    pub reply_ns_max: u64,
}

/// A stretch of time without a reply on any connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Silence {
    /// Its begin, since the begin of the window: the last reply before it.
    pub at_ns: u64,
    /// To the first reply after it.
    pub duration_ns: u64,
    /// The part of it in which the generator was to run and did not: that part says nothing of the server.
    pub generator_late_ns: u64,
    /// Connections that waited for a reply at its end.
    pub waiting: u32,
}

/// Two accounts of how many messages were outstanding in the measured window, on average over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outstanding {
    /// The integral of the number outstanding over the window ÷ its length: counted at each send and each end, by clock readings
    /// alone.
    pub by_time: f64,
    /// Little's law: Σ over messages of the time from the actual send to the reply ÷ the window's length. The sum is that of the
    /// recorded latencies, less the recorded delay of the sends, and of messages that the window's ends cut through the part within it.
    pub by_records: f64,
}

/// Closing: our half-close, then the end of the peer's output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClosePhase {
    /// Connections whose peer answered our end of input with its own, and sent nothing more.
    pub closed_in_order: u32,
    /// From the first half-close to the last end.
    pub duration_ns: u64,
    /// What went wrong while closing: excess bytes, resets, time-outs.
    pub errors: ErrorCounts,
}
