//! What the generator process is told, and what it tells while and after it works.

use serde::{Deserialize, Serialize};

use crate::{FleetSpec, PhaseName, Phases, Sequence};

/// Everything a generator process needs: read as JSON from its standard input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadJob {
    /// The connections.
    pub fleet: FleetSpec,
    /// What is done with them, in this order.
    pub phases: Sequence,
}

/// What a generator that waits before a phase is told, in a line of its standard input; an empty line is leave to begin at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GoOn {
    /// When the phase begins, by `CLOCK_MONOTONIC`: where there are several generators, all begin at one instant.
    pub at_monotonic_ns: u64,
}

/// One line of the generator's standard output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LoadEvent {
    /// A phase begins as soon as the generator is told to go on: until then it waits, and both sides are read. Only the acknowledgements
    /// are not waited for: they come of the server's own accord, so that the generator goes on at once.
    Phase {
        /// Which.
        phase: PhaseName,
    },
    /// The warm-up is over; the measured window begins.
    Measuring,
    /// Work under way, about ten times a second.
    Progress {
        /// Replies so far, warm-up included.
        replies: u64,
    },
    /// The measured window has ended; replies under way still come in. Where each message has a connection of its own, the last
    /// request has ended.
    Measured,
    /// The work is done, or was ended early.
    Finished {
        /// All that was measured.
        record: Box<LoadRecord>,
    },
    /// The job could not be done at all.
    Failed {
        /// What failed, the likely cause and the next command, in words.
        message: String,
    },
}

impl LoadEvent {
    /// Whether the generator now waits until it is told to go on.
    #[must_use]
    pub fn awaits_answer(&self) -> bool {
        matches!(self, Self::Phase { phase } if *phase != PhaseName::Acknowledge)
    }
}

/// What a generator measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadRecord {
    /// The phases that it came to, in their order.
    pub phases: Phases,
    /// Ended early by request (Ctrl-C): what was measured until then stands.
    pub interrupted: bool,
    /// The generator's own memory per idle connection: growth of its anonymous memory from before the fleet was made to
    /// all connections open, TLS included, ÷ connections. Includes the fixed part, so that it is exact only for large fleets.
    pub user_bytes_per_connection: f64,
}
