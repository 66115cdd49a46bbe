//! What a generator process is asked to do, in which phases, and what each phase cost both sides.

use serde::{Deserialize, Serialize};

use crate::{AcceptSpec, FanoutSpec, HoldSpec};

/// The kinds of work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "work", rename_all = "kebab-case")]
pub enum Work {
    /// Messages are exchanged with a server, as the job's fleet and exchange say.
    #[default]
    Exchange,
    /// One connection of the fleet speaks, all hear.
    Fanout(FanoutSpec),
    /// The fleet's connections are opened and held.
    Hold(HoldSpec),
    /// No server and no fleet: a multiplexer is timed in the generator's own process.
    Accept(AcceptSpec),
}

impl Work {
    /// Whether its phases are told one by one, and what each costs both sides is read between them.
    #[must_use]
    pub fn has_phases(&self) -> bool {
        matches!(self, Self::Fanout(_) | Self::Hold(_))
    }
}

/// A stretch of a trial that is measured as a whole: on one side by the clock, on both by their CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PhaseName {
    /// Every connection is opened.
    Connect,
    /// Every connection is greeted. It begins with the end of the last connect, without a wait between the two.
    Acknowledge,
    /// One line is put, and comes out of every connection. A reading between the two would hold up those that read.
    Get,
    /// Lines are put at a rate.
    Sustain,
    /// Nothing is sent.
    Hold,
    /// A sample is pinged.
    Ping,
    /// Every connection is closed.
    Close,
}

impl PhaseName {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Acknowledge => "acknowledge",
            Self::Get => "get",
            Self::Sustain => "sustain",
            Self::Hold => "hold",
            Self::Ping => "ping",
            Self::Close => "close",
        }
    }
}

/// What a phase cost both sides. The readings are taken while the generator waits between two phases; only that between the connects and
/// the acknowledgements is taken while it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PhaseCost {
    /// Which.
    pub phase: PhaseName,
    /// From the reading before it to the reading after it, on the wall clock.
    pub window_ns: u64,
    /// The generator.
    pub generator: Option<SideCost>,
    /// The server; absent where its process is not visible from here.
    pub server: Option<SideCost>,
}

/// One side of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SideCost {
    /// CPU time, from the scheduler's nanosecond account.
    pub cpu_ns: u64,
    /// The user part, tick based: below 50 ms it is noise.
    pub user_ns: u64,
    /// The system part, tick based: below 50 ms it is noise.
    pub system_ns: u64,
    /// Threads at its end.
    pub threads: u32,
    /// Resident set at its end, summed over processes.
    pub rss_bytes: u64,
}
