//! What the checks found, each thing once: "3 of 6 trials of poll at 100 connections are invalid (drift): …".
//!
//! Trials of one row that fail the same check are one remark, with the evidence of the first of them: the figures differ
//! between repeats, the cause seldom does. The evidence of every trial is in the record.

use std::cmp::Reverse;

use serde::Serialize;
use throng_record::{CheckKind, CheckResult, Outcome, RunRecord, Trial};

use crate::format::plural;
use crate::setting;
use crate::summary::target_name;

/// What is wrong, or to be kept in mind, with some trials of one row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remark {
    /// Name of the target.
    pub target: String,
    /// Index into the plan's settings.
    pub setting: u32,
    /// The setting in words.
    pub heading: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: RemarkKind,
    /// Trials of the row that it concerns.
    pub trials: u32,
    /// Trials of the row that were begun.
    pub trials_begun: u32,
    /// The evidence of the first of these trials, with cause and remedy where known.
    pub detail: String,
}

/// Of what kind a remark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "check", rename_all = "snake_case")]
pub enum RemarkKind {
    /// The trial could not run.
    Failed,
    /// A check says that the figures must not be ranked.
    Invalid(CheckKind),
    /// A check says that the figures stand with a reservation.
    Qualified(CheckKind),
}

/// The check as a person would name it.
#[must_use]
pub fn words(kind: CheckKind) -> &'static str {
    match kind {
        CheckKind::LittlesLaw => "Little's law",
        CheckKind::OutstandingSampled => "number outstanding",
        CheckKind::GeneratorBound => "generator-bound",
        CheckKind::SchedulingError => "scheduling error",
        CheckKind::Steal => "CPU time stolen",
        CheckKind::UnservedConnections => "unserved connections",
        CheckKind::Drift => "drift",
        CheckKind::UnexpectedErrors => "unexpected errors",
        CheckKind::HandshakeAccount => "handshake account",
        CheckKind::ServerCount => "server's own count",
        CheckKind::ServerDied => "server died",
        CheckKind::Contract => "contract",
    }
}

/// Every remark on a run, by setting, then in the plan's order of targets, the gravest and
/// then the most frequent first.
#[must_use]
pub fn remarks(record: &RunRecord) -> Vec<Remark> {
    let mut keyed: Vec<(Key, Remark)> = Vec::new();
    for trial in &record.trials {
        for (kind, detail) in found(trial) {
            // Trials that fail differ in their message only where they failed in different ways.
            let key = Key(trial.setting, trial.target, kind, failure(kind, detail));
            if let Some((_, remark)) = keyed.iter_mut().find(|(other, _)| *other == key) {
                remark.trials += 1;
            } else {
                let remark = Remark {
                    target: target_name(&record.plan, trial.target).to_owned(),
                    setting: trial.setting,
                    heading: heading(record, trial),
                    kind,
                    trials: 1,
                    trials_begun: begun(record, trial),
                    detail: detail.to_owned(),
                };
                keyed.push((key, remark));
            }
        }
    }
    keyed.sort_by_key(|(Key(setting, target, kind, _), remark)| {
        (*setting, *target, gravity(*kind), Reverse(remark.trials))
    });
    keyed.into_iter().map(|(_, remark)| remark).collect()
}

/// Setting, target, kind, and for a failure its message.
#[derive(PartialEq, Eq)]
struct Key(u32, u32, RemarkKind, String);

fn gravity(kind: RemarkKind) -> u8 {
    match kind {
        RemarkKind::Failed => 0,
        RemarkKind::Invalid(_) => 1,
        RemarkKind::Qualified(_) => 2,
    }
}

fn failure(kind: RemarkKind, detail: &str) -> String {
    match kind {
        RemarkKind::Failed => detail.to_owned(),
        RemarkKind::Invalid(_) | RemarkKind::Qualified(_) => String::new(),
    }
}

fn found(trial: &Trial) -> Vec<(RemarkKind, &str)> {
    match &trial.outcome {
        Outcome::Failed { message } => vec![(RemarkKind::Failed, message)],
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
                // The row itself says "serves k of N".
                CheckResult::Passed | CheckResult::Partial | CheckResult::NotApplicable => None,
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
    u32::try_from(record.trials.iter().filter(same).count()).unwrap_or(u32::MAX)
}

impl Remark {
    /// The remark as one sentence, followed by the evidence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let what = match self.kind {
            RemarkKind::Failed => "failed".to_owned(),
            RemarkKind::Invalid(check) if self.trials == 1 => {
                format!("is invalid ({})", words(check))
            }
            RemarkKind::Invalid(check) => format!("are invalid ({})", words(check)),
            RemarkKind::Qualified(check) if self.trials == 1 => {
                format!("stands with a reservation ({})", words(check))
            }
            RemarkKind::Qualified(check) => {
                format!("stand with a reservation ({})", words(check))
            }
        };
        let trials = match (self.trials, self.trials_begun) {
            (1, 1) => "The only trial".to_owned(),
            (some, all) if some == all => format!("All {all} trials"),
            (some, all) => format!("{some} of {}", plural(all.into(), "trial")),
        };
        let Self {
            target,
            heading,
            detail,
            ..
        } = self;
        format!("{trials} of {target} at {heading} {what}: {detail}")
    }
}
