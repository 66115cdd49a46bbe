//! What numbers count, and which way of them is better.

use serde::Serialize;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Time.
    Nanoseconds,
    /// Memory.
    Bytes,
    /// Events per second.
    PerSecond,
    /// A part of a whole, 0 to 1.
    Share,
    /// How many times something.
    Times,
    /// Things that can be counted.
    Count,
    /// Which one of several, from 0.
    Index,
}

/// Which way a difference is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The less, the better.
    Less,
    /// The more, the better.
    More,
    /// It says what was done, and nothing of how well.
    Neither,
}
