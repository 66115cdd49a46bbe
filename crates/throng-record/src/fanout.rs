//! Fan-out: N connect, all are greeted, one speaks, all hear; then, if asked for, one speaks again and again.

use serde::{Deserialize, Serialize};

use crate::{Arrivals, ErrorCounts, Histogram, SlowConnection, Timeline};

/// A fan-out: one line to one connection comes out of all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FanoutSpec {
    /// The line that each connection is greeted with, its newline included; absent where the server greets nobody.
    pub greeting: Option<Vec<u8>>,
    /// The line that is put, its newline included.
    pub line: Vec<u8>,
    /// Index of the connection that speaks; where it failed to open, the next that did speaks.
    pub speaker: u32,
    /// Lines at a rate, after the single one.
    pub sustain: Option<Sustain>,
}

/// Lines put by an open loop, each due to come out of every connection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sustain {
    /// Lines put per second, above 0.
    pub rate_per_second: f64,
    /// How their due times are spaced.
    pub arrivals: Arrivals,
    /// How long lines are put; what is then under way is still awaited.
    pub duration_ns: u64,
}

/// What the phases of a fan-out measured, as far as it came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FanoutPhases {
    /// The greetings; absent where none is expected. A connection's latency is from its completed connect.
    pub acknowledge: Option<LinePhase>,
    /// Length of the call that put the line.
    pub put_ns: Option<u64>,
    /// Index of the connection that spoke.
    pub speaker: Option<u32>,
    /// The line. A connection's latency is from just before the put.
    pub get: Option<LinePhase>,
    /// Lines at a rate; absent where not asked for.
    pub sustained: Option<SustainedPhase>,
}

impl FanoutPhases {
    /// What went wrong in whichever phase, by kind.
    #[must_use]
    pub fn errors(&self) -> ErrorCounts {
        let mut errors = ErrorCounts::default();
        for phase in self.acknowledge.iter().chain(&self.get) {
            errors.merge(&phase.errors);
        }
        if let Some(sustained) = &self.sustained {
            errors.merge(&sustained.errors);
        }
        errors
    }
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
