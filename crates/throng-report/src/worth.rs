//! What trials are worth, and which of them a row stands on; the rule is told in [`crate::summary`].

use throng_record::{CheckKind, CheckResult, Outcome, RunRecord, Trial, Verdict};

use crate::ratio::{Bound, Compared};
use crate::summary::{Standing, TrialCounts};

/// What a trial is worth, its outcome and its verdict taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    Valid,
    Qualified,
    Partial,
    Invalid,
    Failed,
    Interrupted,
}

impl Worth {
    pub(crate) fn of(trial: &Trial) -> Self {
        match (&trial.outcome, trial.verdict) {
            (Outcome::Failed { .. }, _) => Self::Failed,
            (Outcome::Interrupted, _) => Self::Interrupted,
            (Outcome::Completed, Verdict::Valid) => Self::Valid,
            (Outcome::Completed, Verdict::Qualified) => Self::Qualified,
            (Outcome::Completed, Verdict::Partial) => Self::Partial,
            (Outcome::Completed, Verdict::Invalid) => Self::Invalid,
        }
    }
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
            .trials
            .iter()
            .filter(|trial| trial.target == target && trial.setting == setting)
            .collect();
        let number = |worth| all.iter().filter(|trial| Worth::of(trial) == worth).count();
        let (valid, qualified) = (number(Worth::Valid), number(Worth::Qualified));
        let standing = if valid > 0 && valid >= qualified {
            Standing::Ranked
        } else if qualified > 0 {
            Standing::Qualified
        } else if number(Worth::Partial) > 0 {
            Standing::Partial
        } else if number(Worth::Invalid) > 0 {
            Standing::Invalid
        } else if number(Worth::Failed) > 0 {
            Standing::Failed
        } else {
            Standing::NotMeasured
        };
        let stands = |trial: &&Trial| match standing {
            Standing::Ranked => Worth::of(trial) == Worth::Valid,
            Standing::Qualified => {
                matches!(Worth::of(trial), Worth::Valid | Worth::Qualified)
            }
            Standing::Partial | Standing::Invalid | Standing::Failed | Standing::NotMeasured => {
                false
            }
        };
        let basis = all.iter().copied().filter(stands).collect();
        Self {
            all,
            standing,
            basis,
        }
    }

    pub(crate) fn of_worth(&self, worth: Worth) -> impl Iterator<Item = &'a Trial> {
        self.all
            .iter()
            .copied()
            .filter(move |trial| Worth::of(trial) == worth)
    }

    pub(crate) fn counts(&self, planned: u32) -> TrialCounts {
        let number = |worth| u32::try_from(self.of_worth(worth).count()).unwrap_or(u32::MAX);
        TrialCounts {
            planned,
            valid: number(Worth::Valid),
            qualified: number(Worth::Qualified),
            partial: number(Worth::Partial),
            invalid: number(Worth::Invalid),
            failed: number(Worth::Failed),
            interrupted: number(Worth::Interrupted),
        }
    }

    /// What the row's figure says of the true one. A generator at its limit gives too little throughput; one that is late
    /// gives too much latency.
    pub(crate) fn bound(&self, compared: Compared) -> Option<Bound> {
        match (self.standing, compared) {
            (Standing::Ranked, _) => Some(Bound::Exact),
            (Standing::Qualified, Compared::MessagesPerSecond) => Some(Bound::AtLeast),
            (Standing::Qualified, Compared::LatencyP99) => Some(Bound::AtMost),
            _ => None,
        }
    }

    /// The checks that its invalid trials failed, the most frequent first.
    pub(crate) fn failed_checks(&self) -> Vec<CheckKind> {
        let mut counts = std::collections::BTreeMap::<CheckKind, usize>::new();
        for check in self
            .of_worth(Worth::Invalid)
            .flat_map(|trial| &trial.checks)
        {
            if check.result == CheckResult::Failed {
                *counts.entry(check.kind).or_default() += 1;
            }
        }
        let mut kinds: Vec<(CheckKind, usize)> = counts.into_iter().collect();
        kinds.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        kinds.into_iter().map(|(kind, _)| kind).collect()
    }
}
