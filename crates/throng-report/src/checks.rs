//! What the checks found, each thing once: "3 of 6 trials of poll at 100 connections are invalid (unexpected errors): …".
//!
//! Trials that fail the same check are one remark, with the evidence of the first of them: the figures differ between repeats, the cause seldom
//! does. The evidence of every trial is in the record.

use std::cmp::Reverse;

use serde::Serialize;
use throng_findings::checks;
use throng_record::{CheckKind, CheckResult, Outcome, RunRecord, Trial};

use crate::format::{list, plural};
use crate::setting;
use crate::target;
use crate::text;

/// What is wrong, or to be kept in mind, with some trials.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Remark {
    /// What it is.
    #[serde(flatten)]
    pub kind: RemarkKind,
    /// Where it is so, by setting, then in the plan's order of targets.
    pub rows: Vec<Place>,
    /// The evidence of the first of these trials, with cause and remedy where known.
    pub detail: String,
}

/// A row of the report, and how many of its trials a remark concerns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Place {
    /// Name of the target.
    pub target: String,
    /// Index into the plan's settings.
    pub setting: u32,
    /// The setting in words.
    pub heading: String,
    /// Trials of the row that it concerns.
    pub trials: u32,
    /// Trials of the row that were begun.
    pub trials_begun: u32,
}

/// Of what kind a remark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", content = "check", rename_all = "snake_case")]
pub enum RemarkKind {
    /// The trial could not run.
    Failed,
    /// The trial was not made, since one before has shown what would come of it.
    Spared,
    /// A check says that the figures must not be ranked.
    Invalid(#[cfg_attr(test, schemars(with = "crate::schema::CheckKind"))] CheckKind),
    /// A check says that the figures stand with a reservation.
    Qualified(#[cfg_attr(test, schemars(with = "crate::schema::CheckKind"))] CheckKind),
}

/// Every remark on a run, the gravest and then the likeliest cause first.
#[must_use]
pub fn remarks(record: &RunRecord) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    let mut trials: Vec<&Trial> = record.counted().collect();
    trials.sort_by_key(|trial| (trial.setting, trial.target));
    for trial in trials {
        for (kind, detail) in found(trial) {
            // Trials that fail differ in their message only where they failed in different ways.
            let is_same = |other: &&mut Remark| {
                other.kind == kind && (kind != RemarkKind::Failed || other.detail == detail)
            };
            match remarks.iter_mut().find(is_same) {
                Some(remark) => remark.add(record, trial),
                None => {
                    let mut remark = Remark {
                        kind,
                        rows: vec![],
                        detail: detail.to_owned(),
                    };
                    remark.add(record, trial);
                    remarks.push(remark);
                }
            }
        }
    }
    remarks.sort_by_key(|remark| (gravity(remark.kind), Reverse(remark.trials())));
    remarks
}

fn gravity(kind: RemarkKind) -> (u8, Option<CheckKind>) {
    match kind {
        RemarkKind::Failed => (0, None),
        RemarkKind::Spared => (3, None),
        RemarkKind::Invalid(check) => (1, Some(check)),
        RemarkKind::Qualified(check) => (2, Some(check)),
    }
}

fn found(trial: &Trial) -> Vec<(RemarkKind, &str)> {
    match &trial.outcome {
        Outcome::Failed { message } => vec![(RemarkKind::Failed, message)],
        Outcome::Spared { because } => vec![(RemarkKind::Spared, because)],
        // Cut off in the middle: its checks are of half a trial.
        Outcome::Interrupted => Vec::new(),
        Outcome::Completed => trial
            .checks
            .iter()
            .filter_map(|check| match check.result {
                CheckResult::Failed => {
                    Some((RemarkKind::Invalid(check.kind), check.detail.as_str()))
                }
                CheckResult::Qualified => {
                    Some((RemarkKind::Qualified(check.kind), check.detail.as_str()))
                }
                // The row itself says "serves k of N", and of disturbed trials there is a line for all.
                CheckResult::Passed
                | CheckResult::Partial
                | CheckResult::Disturbed
                | CheckResult::NotApplicable => None,
            })
            .collect(),
    }
}

/// A damaged record may lack the setting.
fn heading(record: &RunRecord, trial: &Trial) -> String {
    let setting = record.plan.settings.get(trial.setting as usize);
    setting.map_or_else(|| "unknown setting".to_owned(), setting::heading)
}

fn begun(record: &RunRecord, of: &Trial) -> u32 {
    let same = |trial: &&Trial| trial.target == of.target && trial.setting == of.setting;
    u32::try_from(record.counted().filter(same).count()).unwrap_or(u32::MAX)
}

impl Remark {
    fn add(&mut self, record: &RunRecord, trial: &Trial) {
        let target = target::name(&record.plan, trial.target);
        let is_same = |row: &&mut Place| row.setting == trial.setting && row.target == target;
        if let Some(row) = self.rows.iter_mut().find(is_same) {
            row.trials += 1;
            return;
        }
        self.rows.push(Place {
            target: target.to_owned(),
            setting: trial.setting,
            heading: heading(record, trial),
            trials: 1,
            trials_begun: begun(record, trial),
        });
    }

    fn trials(&self) -> u32 {
        self.rows.iter().map(|row| row.trials).sum()
    }

    /// The remark as one sentence, followed by the evidence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let first = if self.rows.len() > 1 {
            ". The first of them"
        } else {
            ""
        };
        format!("{}{first}: {}", self.what_and_where(), self.detail)
    }

    /// The same in a line: with evidence only where the kind alone says nothing.
    pub(crate) fn headline(&self) -> String {
        let what = self.what_and_where();
        match self.kind {
            RemarkKind::Failed | RemarkKind::Spared => {
                let why = text::first_clause(&self.detail);
                let end = if why.ends_with('?') { "" } else { "." };
                format!("{what}: {why}{end}")
            }
            RemarkKind::Invalid(_) | RemarkKind::Qualified(_) => format!("{what}."),
        }
    }

    fn what_and_where(&self) -> String {
        let is_one = self.trials() == 1;
        let (are, stand) = if is_one {
            ("is", "stands")
        } else {
            ("are", "stand")
        };
        let what = match self.kind {
            RemarkKind::Failed => "failed".to_owned(),
            RemarkKind::Spared => format!("{} not made", if is_one { "was" } else { "were" }),
            RemarkKind::Invalid(check) => format!("{are} invalid ({})", checks::kind(check).title),
            RemarkKind::Qualified(CheckKind::RateKept) => "did not do what was asked".to_owned(),
            RemarkKind::Qualified(check) => {
                format!("{stand} with a reservation ({})", checks::kind(check).title)
            }
        };
        match self.rows.as_slice() {
            [row] => format!("{} of {} {what}", row.trials_in_words(), row.name()),
            rows => format!(
                "{} {what}: {}",
                plural(self.trials().into(), "trial"),
                some_of(rows.iter().map(Place::counted))
            ),
        }
    }
}

impl Place {
    /// `poll at 100 connections`.
    fn name(&self) -> String {
        format!("{} at {}", self.target, self.heading)
    }

    fn counted(&self) -> String {
        format!("{} ({} of {})", self.name(), self.trials, self.trials_begun)
    }

    fn trials_in_words(&self) -> String {
        match (self.trials, self.trials_begun) {
            (1, 1) => "The only trial".to_owned(),
            (some, all) if some == all => format!("All {all} trials"),
            (some, all) => format!("{some} of {}", plural(all.into(), "trial")),
        }
    }
}

/// The first few of a list, and how many more there are.
pub(crate) fn some_of(all: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 3;
    let mut all: Vec<String> = all.collect();
    // "And 1 more" is no shorter than the one.
    if all.len() > SHOWN + 1 {
        let more = all.len() - SHOWN;
        all.truncate(SHOWN);
        all.push(format!("{more} more"));
    }
    list(&all)
}
