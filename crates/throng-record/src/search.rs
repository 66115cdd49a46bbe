//! The search for the greatest rate at which bounds hold: what was asked for, each probe, and what was found.
//!
//! A probe is a trial at one rate. Every repeat of a search finds a rate of its own, and of its probes the one at that rate counts; the others stand beside
//! it in the record, superseded.

use serde::{Deserialize, Serialize};

use crate::Limit;

/// What is searched for, and how closely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchSpec {
    /// What is to hold, as it was written: `p99 < 5ms`.
    pub bounds: Vec<String>,
    /// How wide the interval of the answer may be, as a share of it.
    pub within: f64,
    /// How long the probes of one target at one setting may take together; those of the curve come after it.
    pub time_limit_ns: u64,
    /// Points of the curve of latency over the rate, from a tenth of the answer to beyond it; 0 for none.
    pub curve_points: u32,
    /// How long a probe lasts at the most, however many replies its quantiles would need; at the least as long as its setting says.
    pub duration_max_ns: u64,
}

/// Why a probe was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// As fast as it goes, in a closed loop: how far up to look.
    Saturate,
    /// At a twentieth of that: whether the bounds can hold at all, and what a request takes that meets no other.
    Calm,
    /// A repeat of the search.
    Search,
    /// A point of the curve.
    Curve,
}

/// What a probe says of its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The bounds hold, and the rate was kept.
    Met,
    /// One of the two is not so.
    NotMet,
    /// That cannot be told: the bound lies within the interval of what was measured, or the machine was disturbed.
    Undecided,
    /// It is not so, and it was the generator that came too late.
    GeneratorLate,
    /// Nothing was asked of it.
    NotAsked,
}

/// What a trial was in a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Probe {
    /// Why it was made.
    pub purpose: Purpose,
    /// Messages offered per second; absent in the closed loop.
    pub offered_per_second: Option<f64>,
    /// What it says of that rate, with those before it at the same one.
    pub decision: Decision,
    /// By which figure: `p99 4.21 ms`, `91.3 % of the rate was kept`.
    pub because: String,
}

/// The search at one target and setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchRecord {
    /// Index into the plan's targets.
    pub target: u32,
    /// Index into the plan's settings.
    pub setting: u32,
    /// Replies per second in the closed loop; absent where there were none.
    pub saturated_per_second: Option<f64>,
    /// What each repeat found, in their order.
    pub brackets: Vec<Bracket>,
    /// Why it ended.
    pub ended: SearchEnd,
}

/// Between which rates the answer of one repeat lies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bracket {
    /// The greatest rate at which the bounds held; absent where they held at none.
    pub met_per_second: Option<f64>,
    /// The least above it at which they did not; absent where there is none.
    pub missed_per_second: Option<f64>,
    /// By which figure.
    pub missed_because: String,
    /// Whether it was the generator that came too late there: the answer is then a lower bound.
    pub is_generators: bool,
    /// Which side was the limit there.
    pub limit: Option<Limit>,
}

/// Why a search ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "ended", rename_all = "snake_case")]
pub enum SearchEnd {
    /// The interval of its repeats is as narrow as was asked for.
    Width,
    /// Its time was over.
    TimeLimit,
    /// The bounds held at no rate.
    NoRateMeets {
        /// The least rate that was tried.
        lowest_per_second: f64,
        /// What was measured there.
        because: String,
    },
    /// A server that we did not launch no longer does what it did before.
    Collapsed {
        /// A rate at which the bounds had held.
        held_per_second: f64,
        /// One of half of it, or less, at which they no longer do.
        now_per_second: f64,
        /// What was measured there.
        because: String,
    },
    /// A probe could not be made, or nobody was answered.
    Failed {
        /// In words.
        message: String,
    },
    /// The user ended the run.
    Interrupted,
}
