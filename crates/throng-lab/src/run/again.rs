//! Which trials are made again, and which of two attempts counts.
//!
//! A disturbed trial has true figures of a worse machine, so it is made again while there is patience, and the attempt that was disturbed least
//! counts. One that went wrong counts in any case: what a server did is not undone by asking again.

use std::time::Duration;

use throng_record::{Outcome, Trial, Verdict};

use crate::order::Cell;

/// (target, setting, repeat) of those whose figures stand and were disturbed.
pub(super) fn disturbed(trials: &[Trial]) -> Vec<(u32, u32, u32)> {
    let counted = trials.iter().filter(|trial| !trial.is_superseded);
    let disturbed = counted.filter(|trial| is_whole(trial) && trial.is_disturbed());
    disturbed.map(slot).collect()
}

/// How long these took when they were made last.
pub(super) fn took(trials: &[Trial], unit: &[Cell]) -> Duration {
    let is_of_unit = |trial: &&Trial| {
        let mut cells = unit
            .iter()
            .map(|cell| (cell.target, cell.setting, cell.repeat));
        !trial.is_superseded && cells.any(|cell| cell == slot(trial))
    };
    let of_unit = trials.iter().filter(is_of_unit);
    Duration::from_nanos(of_unit.map(|trial| trial.duration_ns).sum())
}

/// Keeps a trial, and of the same made before at most one counts.
pub(super) fn keep(trials: &mut Vec<Trial>, mut trial: Trial) {
    let before = trials
        .iter_mut()
        .find(|other| !other.is_superseded && slot(other) == slot(&trial));
    if let Some(before) = before {
        if is_better(before, &trial) {
            trial.is_superseded = true;
        } else {
            before.is_superseded = true;
        }
    }
    trials.push(trial);
}

fn slot(trial: &Trial) -> (u32, u32, u32) {
    (trial.target, trial.setting, trial.repeat)
}

fn is_better(before: &Trial, after: &Trial) -> bool {
    match after.outcome {
        Outcome::Interrupted => true,
        Outcome::Failed { .. } | Outcome::Spared { .. } => false,
        Outcome::Completed => is_whole(after) && before.disturbance() <= after.disturbance(),
    }
}

/// Of a part there is nothing to rank, disturbed or not.
fn is_whole(trial: &Trial) -> bool {
    trial.stands() && trial.verdict != Verdict::Partial
}

#[cfg(test)]
mod tests {
    use throng_record::{Check, CheckKind, CheckResult};

    use super::*;
    use crate::run::tests::made;

    /// A trial whose CPUs lost such a share, if any.
    fn lost(share: Option<f64>) -> Trial {
        let mut trial = made();
        trial.checks.clear();
        trial.verdict = Verdict::Valid;
        if let Some(share) = share {
            trial.verdict = Verdict::Disturbed;
            trial.checks.push(Check {
                kind: CheckKind::Steal,
                result: CheckResult::Disturbed,
                measured: Some(share),
                bound: Some(0.02),
                detail: String::new(),
            });
        }
        trial
    }

    fn of(verdict: Verdict) -> Trial {
        Trial {
            verdict,
            ..lost(None)
        }
    }

    /// Which of the attempts counts, by place.
    fn counts(attempts: Vec<Trial>) -> Vec<usize> {
        let mut trials = vec![];
        attempts.into_iter().for_each(|one| keep(&mut trials, one));
        let counted = trials
            .iter()
            .enumerate()
            .filter(|(_, one)| !one.is_superseded);
        counted.map(|(place, _)| place).collect()
    }

    #[test]
    fn the_least_disturbed_attempt_counts() {
        assert_eq!(
            counts(vec![lost(Some(0.3)), lost(Some(0.1)), lost(Some(0.2))]),
            [1]
        );
        assert_eq!(counts(vec![lost(Some(0.3)), lost(None)]), [1]);
        // One process served both: the first was not why they were made again.
        assert_eq!(counts(vec![lost(None), lost(None)]), [0]);
    }

    #[test]
    fn what_went_wrong_counts_and_what_was_cut_off_does_not() {
        assert_eq!(counts(vec![lost(Some(0.3)), of(Verdict::Invalid)]), [1]);
        assert_eq!(counts(vec![lost(Some(0.3)), of(Verdict::Partial)]), [1]);
        let cut_off = Trial {
            outcome: Outcome::Interrupted,
            ..of(Verdict::Invalid)
        };
        assert_eq!(counts(vec![lost(Some(0.3)), cut_off]), [0]);
    }

    #[test]
    fn repeats_are_apart() {
        let second = Trial {
            repeat: 1,
            ..lost(None)
        };
        assert_eq!(counts(vec![lost(Some(0.3)), second]), [0, 1]);
    }

    #[test]
    fn only_what_was_disturbed_and_stands_is_made_again() {
        let mut wrong = lost(Some(0.3));
        wrong.verdict = Verdict::Invalid;
        let superseded = Trial {
            is_superseded: true,
            ..lost(Some(0.3))
        };
        assert_eq!(disturbed(&[lost(Some(0.3))]), [(0, 0, 0)]);
        assert_eq!(disturbed(&[lost(None), wrong, superseded]), []);
    }
}
