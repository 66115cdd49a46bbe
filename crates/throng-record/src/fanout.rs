//! Fan-out: N connect, all are greeted, one speaks, all hear; then, if asked for, one speaks again and again.

use serde::{Deserialize, Serialize};

use crate::{ErrorCounts, Histogram, SlowConnection, Timeline};

/// One line put, and awaited on every connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PutPhase {
    /// Length of the call that put it; absent where nobody was there to speak.
    pub put_ns: Option<u64>,
    /// Index of the connection that spoke.
    pub speaker: Option<u32>,
    /// How it came out. A connection's latency is from just before the put.
    pub line: LinePhase,
}

/// One line awaited on every connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LinePhase {
    /// Connections that the line was due to.
    pub due: u32,
    /// Connections to which exactly this line came.
    pub received: u32,
    /// From the phase's start to the last line. 0 where all had come before it, as greetings may, and where it came to nobody.
    pub duration_ns: u64,
    /// Of each connection to which it came.
    pub latency: Histogram,
    /// The same by the connections' indices, which is the order of their connects: at most 128 slices of equal length.
    pub by_index: Vec<IndexSlice>,
    /// The slowest, slowest first, ten at most.
    pub slowest: Vec<SlowConnection>,
    /// Connections to which it did not come, or came wrong, or twice.
    pub errors: ErrorCounts,
}

/// Latencies of neighbouring connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IndexSlice {
    /// Index of the first.
    pub first: u32,
    /// How many have a latency.
    pub connections: u32,
    /// The smallest.
    pub latency_ns_min: u64,
    /// The mean.
    pub latency_ns_mean: u64,
    /// The greatest.
    pub latency_ns_max: u64,
}

/// Lines put at a rate, each delivered to every connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SustainedPhase {
    /// Lines put.
    pub sent: u64,
    /// Lines that came out, over all connections.
    pub deliveries: u64,
    /// Lines that were due to come out and did not: `sent` × connections that were open at its start − `deliveries`.
    pub missing: u64,
    /// From the first due time to the last delivery.
    pub duration_ns: u64,
    /// Deliveries ÷ duration.
    pub deliveries_per_second: f64,
    /// From the time at which a line was due to be put to each of its deliveries.
    pub latency: Histogram,
    /// How late the generator put each line.
    pub scheduling_error: Histogram,
    /// Deliveries over time.
    pub timeline: Timeline,
    /// What went wrong, by kind.
    pub errors: ErrorCounts,
}
