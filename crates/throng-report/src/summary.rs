//! What a run says: one row for each target and setting, ranked; what explains them; what could not be seen.
//!
//! Every report but the CSV of single trials is made from this, and `--format json` is this.
//!
//! **Which trials a row stands on.** Its valid ones, where they are at least as many as the qualified ones; then the row is
//! ranked; of an open loop only if none of its trials missed its rate. Otherwise its valid and qualified ones together, as a bound ("at least X"), since leaving most of the fast
//! trials out would flatter nobody but the slow ones; then it stands apart. A row without either stands on nothing: it has
//! no figures, only a reason. Latencies are those of all its trials merged, so that a percentile is one of messages and not
//! an average of percentiles.
//!
//! **The order.** Closed loop and lockstep: by throughput, greatest first. Open loop: every target that keeps up has the
//! same throughput, so the 99th percentile of latency decides, least first. Ranked rows come first, then bounds, then the rest
//! in the plan's order.

use serde::Serialize;
use throng_record::{Machine, NetworkRecord, Plan, RunRecord};

use crate::answer;
use crate::checks::{self, Remark};
use crate::disturbed::{self, Disturbed};
use crate::figure::Figure;
use crate::figures;
use crate::findings::{self, Found};
use crate::leading::Leading;
use crate::ratio::Compared;
use crate::row::{self, Row};
use crate::slowest::{self, SlowRequest};

/// Version of the form of [`Summary`] as JSON.
const SCHEMA_VERSION: u32 = 2;

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary<'a> {
    /// Version of this form.
    pub schema_version: u32,
    /// Program that made the run.
    pub throng_version: &'a str,
    /// Start, RFC 3339 in UTC.
    pub started_at: &'a str,
    /// Length of the run.
    pub duration_ns: u64,
    /// Trials that the plan asks for.
    pub trials_planned: u32,
    /// Trials that ran to their end, whether their figures hold or not; fewer than planned where the run was cut short.
    pub trials_made: u32,
    /// Ended early by the user.
    pub interrupted: bool,
    /// Name of the target that the others are compared with.
    pub baseline: &'a str,
    /// The answer to the run's question, in sentences.
    pub answer: Vec<String>,
    /// What the numbers of its rows are: every figure that the run may have.
    pub figures: Vec<Figure>,
    /// A row for each setting and target, of every experiment: by setting in the plan's order; where rows are ranked, within a setting the ranked ones
    /// first.
    pub rows: Vec<Row>,
    /// What explains the figures, each kind of finding once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Found<'a>>,
    /// The slowest requests whose causes are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<SlowRequest<'a>>,
    /// What should have been observed and could not, each reason once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Unseen<'a>>,
    /// Targets with a loop for each CPU that got only one, on a machine that has more.
    pub held_to_one_cpu: Vec<&'a str>,
    /// What of it is of a disturbed machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<Disturbed>,
    /// What the checks found, each thing once.
    pub remarks: Vec<Remark>,
    /// The resolved plan.
    pub plan: &'a Plan,
    /// The network of launched targets.
    pub network: &'a NetworkRecord,
    /// The machine.
    pub machine: &'a Machine,
}

/// What could not be observed, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unseen<'a> {
    /// In words, with what would let it.
    pub reason: &'a str,
    /// Trials in which it was so.
    pub trials: u32,
}

/// What a row's figures are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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

impl<'a> Summary<'a> {
    /// Draws the summary of a run; never fails, whatever is missing from the record.
    #[must_use]
    pub fn of(record: &'a RunRecord) -> Self {
        let plan = &record.plan;
        let figures = figures::of_plan(plan);
        let mut summary = Self {
            schema_version: SCHEMA_VERSION,
            throng_version: &record.throng_version,
            started_at: &record.started_at,
            duration_ns: record.duration_ns,
            trials_planned: record.trials_planned,
            trials_made: 0,
            interrupted: record.interrupted,
            baseline: target_name(plan, plan.baseline),
            answer: Vec::new(),
            held_to_one_cpu: held_to_one_cpu(record),
            disturbed: disturbed::of(record),
            remarks: checks::remarks(record),
            rows: rows(record, &figures),
            figures,
            findings: findings::found(record),
            slowest: slowest::slowest(record),
            unseen: unseen(record),
            plan,
            network: &record.network,
            machine: &record.machine,
        };
        summary.trials_made = summary.rows.iter().map(|row| row.trials.made()).sum();
        summary.answer = answer::sentences(&summary);
        summary
    }

    /// Whether trials that the plan asks for are missing.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.trials_made < self.trials_planned
    }

    /// The figure by which its targets are ordered and compared, if they are.
    pub(crate) fn compared(&self) -> Compared {
        let leading = Leading::of(self.plan);
        leading.compared().unwrap_or(Compared::MessagesPerSecond)
    }
}

/// Name of the target at `index`, and a plain word where a damaged record has no such target.
pub(crate) fn target_name(plan: &Plan, index: u32) -> &str {
    plan.targets
        .get(index as usize)
        .map_or("unknown target", |target| target.name.as_str())
}

/// Workers that were asked for are the user's own choice.
fn held_to_one_cpu(record: &RunRecord) -> Vec<&str> {
    let has_one_loop = |index: usize| {
        let mut trials = record
            .counted()
            .filter(|trial| trial.target as usize == index)
            .peekable();
        trials.peek().is_some()
            && trials.all(|trial| {
                let setting = record.plan.settings.get(trial.setting as usize);
                trial.workers == Some(1) && setting.is_some_and(|setting| setting.workers.is_none())
            })
    };
    let targets = record.plan.targets.iter().enumerate();
    targets
        .filter(|(_, target)| target.uses_every_cpu && record.machine.cpus_online > 1)
        .filter(|(index, _)| has_one_loop(*index))
        .map(|(_, target)| target.name.as_str())
        .collect()
}

impl TrialCounts {
    /// What figures carry that are those of a disturbed machine, be it in one of their trials.
    pub(crate) fn mark(&self) -> &'static str {
        if self.disturbed > 0 { "~ " } else { "" }
    }

    /// Those that ran to their end, could not run, or need not.
    fn made(&self) -> u32 {
        self.valid + self.qualified + self.partial + self.invalid + self.failed + self.spared
    }
}

fn rows(record: &RunRecord, figures: &[Figure]) -> Vec<Row> {
    let plan = &record.plan;
    let leading = Leading::of(plan);
    let targets = || 0..u32::try_from(plan.targets.len()).unwrap_or(u32::MAX);
    let settings = (0..).zip(&plan.settings);
    settings
        .flat_map(|(setting, _)| {
            let rows =
                targets().map(|target| row::row(record, figures, leading, (target, setting)));
            row::ranked(rows.collect(), leading)
        })
        .collect()
}

fn unseen(record: &RunRecord) -> Vec<Unseen<'_>> {
    let mut reasons: Vec<Unseen<'_>> = Vec::new();
    for reason in record.counted().flat_map(|trial| &trial.unseen) {
        match reasons.iter_mut().find(|known| known.reason == reason) {
            Some(known) => known.trials += 1,
            None => reasons.push(Unseen { reason, trials: 1 }),
        }
    }
    reasons
}
