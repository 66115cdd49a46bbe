//! What a row is worth, and how many of its trials ended how.

use serde::Serialize;

/// What a row's figures are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// They hold, and the row is ranked.
    Ranked,
    /// They are bounds ("at least X"); ranked apart.
    Qualified,
    /// Figures would be those of a part: the server serves fewer connections at once than there are ("serves k of N"), or requests failed as the
    /// kernel's account explains ("answered k of N"). Not ranked.
    Partial,
    /// Every trial failed a check; no figures, never ranked.
    Invalid,
    /// No trial could run to its end.
    Failed,
    /// Not tried: trials before have shown what would come of it.
    Spared,
    /// The run was cut short before.
    NotMeasured,
}

/// How many trials of a row ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrialCounts {
    /// Asked for by the plan.
    pub planned: u32,
    /// Ranked.
    pub valid: u32,
    /// Of those with figures, the ones that were disturbed.
    pub disturbed: u32,
    /// Stand with a reservation.
    pub qualified: u32,
    /// Their server serves fewer connections at once than there were.
    pub partial: u32,
    /// Failed a check.
    pub invalid: u32,
    /// Could not run.
    pub failed: u32,
    /// Not made, since trials before have shown what would come of them.
    pub spared: u32,
    /// Under way when the user ended the run.
    pub interrupted: u32,
}

impl TrialCounts {
    /// What figures carry that are those of a disturbed machine, be it in one of their trials.
    pub(crate) fn mark(&self) -> &'static str {
        if self.disturbed > 0 { "~ " } else { "" }
    }

    /// Those that ran to their end, could not run, or need not.
    pub(crate) fn made(&self) -> u32 {
        self.valid + self.qualified + self.partial + self.invalid + self.failed + self.spared
    }
}
