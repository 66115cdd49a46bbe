//! What trials are worth, and which of them a row stands on; the rule is told in [`crate::summary`].

use std::collections::BTreeSet;

use throng_record::{CheckKind, CheckResult, Outcome, RunRecord, Trial, Verdict};

use crate::rate::is_missed;
use crate::ratio::{Bound, Compared};
use crate::standing::{Standing, TrialCounts};

/// What a trial is worth, its outcome and its verdict taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// Disturbed or not.
    Valid,
    Qualified,
    Partial,
    Invalid,
    Failed,
    Spared,
    Interrupted,
}

impl Worth {
    pub(crate) fn of(trial: &Trial) -> Self {
        match (&trial.outcome, trial.verdict) {
            (Outcome::Failed { .. }, _) => Self::Failed,
            (Outcome::Spared { .. }, _) => Self::Spared,
            (Outcome::Interrupted, _) => Self::Interrupted,
            (Outcome::Completed, Verdict::Valid | Verdict::Disturbed) => Self::Valid,
            (Outcome::Completed, Verdict::Qualified) => Self::Qualified,
            (Outcome::Completed, Verdict::Partial) => Self::Partial,
            (Outcome::Completed, Verdict::Invalid) => Self::Invalid,
        }
    }
}

/// Whether a report may quote a trial: its figures stand, or none of its row do. What an invalid trial showed beside valid ones is most
/// likely what made it invalid.
pub(crate) fn may_be_quoted(record: &RunRecord, trial: &Trial) -> bool {
    let is_of_row = |other: &&Trial| other.target == trial.target && other.setting == trial.setting;
    trial.stands() || !record.counted().filter(is_of_row).any(Trial::stands)
}

/// Whether the generator sent late.
fn is_late(trial: &Trial) -> bool {
    let mut checks = trial.checks.iter();
    checks.any(|check| {
        check.kind == CheckKind::SchedulingError && check.result == CheckResult::Qualified
    })
}

/// The trials of one row, sorted by worth.
pub(crate) struct Sorted<'a> {
    pub(crate) all: Vec<&'a Trial>,
    pub(crate) standing: Standing,
    /// Those whose figures the row shows.
    pub(crate) basis: Vec<&'a Trial>,
}

impl<'a> Sorted<'a> {
    pub(crate) fn new(record: &'a RunRecord, target: u32, setting: u32) -> Self {
        let all: Vec<&Trial> = record
            .counted()
            .filter(|trial| trial.target == target && trial.setting == setting)
            .collect();
        let number = |worth| all.iter().filter(|trial| Worth::of(trial) == worth).count();
        let (valid, qualified) = (number(Worth::Valid), number(Worth::Qualified));
        let partial = number(Worth::Partial);
        // Those that kept a rate say nothing of how often it is kept.
        let misses_rate = all
            .iter()
            .any(|trial| Worth::of(trial) == Worth::Qualified && is_missed(trial));
        // The few in which nobody failed, or nobody had to wait, are not what the server does.
        let standing = if partial > 0 && partial >= valid + qualified {
            Standing::Partial
        } else if valid > 0 && valid >= qualified && !misses_rate {
            Standing::Ranked
        } else if qualified > 0 {
            Standing::Qualified
        } else if number(Worth::Invalid) > 0 {
            Standing::Invalid
        } else if number(Worth::Failed) > 0 {
            Standing::Failed
        } else if number(Worth::Spared) > 0 {
            Standing::Spared
        } else {
            Standing::NotMeasured
        };
        let stands = |trial: &&Trial| match standing {
            Standing::Ranked => Worth::of(trial) == Worth::Valid,
            Standing::Qualified => {
                matches!(Worth::of(trial), Worth::Valid | Worth::Qualified)
            }
            Standing::Partial
            | Standing::Invalid
            | Standing::Failed
            | Standing::Spared
            | Standing::NotMeasured => false,
        };
        let basis = all.iter().copied().filter(stands).collect();
        Self {
            all,
            standing,
            basis,
        }
    }

    /// All whose figures are worth anything, ranked or not.
    pub(crate) fn with_figures(&self) -> Vec<&'a Trial> {
        let all = self.all.iter().copied();
        all.filter(|trial| trial.stands()).collect()
    }

    /// A number of each trial that the row stands on, beside that of the same repeat of the other row.
    pub(crate) fn pairs(
        &self,
        other: &Self,
        of_trial: impl Fn(&Trial) -> Option<f64>,
    ) -> Vec<(f64, f64)> {
        let pair = |trial: &&Trial| {
            let partner = other
                .basis
                .iter()
                .find(|other| other.repeat == trial.repeat)?;
            Some((of_trial(trial)?, of_trial(partner)?))
        };
        self.basis.iter().filter_map(pair).collect()
    }

    pub(crate) fn of_worth(&self, worth: Worth) -> impl Iterator<Item = &'a Trial> {
        self.all
            .iter()
            .copied()
            .filter(move |trial| Worth::of(trial) == worth)
    }

    pub(crate) fn counts(&self, planned: u32) -> TrialCounts {
        let number = |worth| u32::try_from(self.of_worth(worth).count()).unwrap_or(u32::MAX);
        let with_figures = self.with_figures();
        let disturbed = with_figures.iter().filter(|trial| trial.is_disturbed());
        TrialCounts {
            planned,
            valid: number(Worth::Valid),
            disturbed: u32::try_from(disturbed.count()).unwrap_or(u32::MAX),
            qualified: number(Worth::Qualified),
            partial: number(Worth::Partial),
            invalid: number(Worth::Invalid),
            failed: number(Worth::Failed),
            spared: number(Worth::Spared),
            interrupted: number(Worth::Interrupted),
        }
    }

    /// What the row's figure says of the true one. A generator at its limit gives too little throughput; one that is late
    /// gives too much latency. A rate that was not kept gives too little latency, and with both nothing is known.
    pub(crate) fn bound(&self, compared: Compared) -> Option<Bound> {
        let has_missed_rate = self.basis.iter().any(|trial| is_missed(trial));
        let was_late = self.basis.iter().any(|trial| is_late(trial));
        match (self.standing, compared) {
            (Standing::Ranked, _) => Some(Bound::Exact),
            (Standing::Qualified, Compared::MessagesPerSecond | Compared::CapacityPerSecond) => {
                Some(Bound::AtLeast)
            }
            (Standing::Qualified, Compared::LatencyP99) => match (has_missed_rate, was_late) {
                (true, true) => None,
                (true, false) => Some(Bound::AtLeast),
                (false, _) => Some(Bound::AtMost),
            },
            _ => None,
        }
    }

    /// The checks that its invalid trials failed, the likeliest cause first: a server that answers wrongly is not told as one whose CPU was
    /// stolen.
    pub(crate) fn failed_checks(&self) -> Vec<CheckKind> {
        let failed = self
            .of_worth(Worth::Invalid)
            .flat_map(|trial| &trial.checks)
            .filter(|check| check.result == CheckResult::Failed);
        let kinds: BTreeSet<CheckKind> = failed.map(|check| check.kind).collect();
        kinds.into_iter().collect()
    }
}
