//! The summary of a run, made from its record.

use throng_record::{Outcome, RunRecord};

use super::{Summary, Unseen};
use crate::experiment::Experiment;
use crate::figure::Figure;
use crate::row::{self, Row};
use crate::{checks, disturbed, experiments, figures, findings, hosts, ranking, slowest, target};

/// Version of the form of [`Summary`] as JSON.
const SCHEMA_VERSION: u32 = 2;

impl<'a> Summary<'a> {
    /// Draws the summary of a run; never fails, whatever is missing from the record.
    #[must_use]
    pub fn of(record: &'a RunRecord) -> Self {
        let plan = &record.plan;
        let experiment = experiments::of(plan.experiment);
        let figures = figures::of_plan(plan);
        let mut summary = Self {
            schema_version: SCHEMA_VERSION,
            throng_version: &record.throng_version,
            started_at: &record.started_at,
            duration_ns: record.duration_ns,
            trials_planned: record.trials_planned,
            trials_made: 0,
            interrupted: record.interrupted,
            baseline: target::name(plan, plan.baseline),
            answer: Vec::new(),
            held_to_one_cpu: held_to_one_cpu(record),
            disturbed: disturbed::of(record),
            remarks: checks::remarks(record),
            rows: rows(record, &figures, experiment),
            figures,
            findings: findings::found(record),
            slowest: slowest::slowest(record),
            unseen: unseen(record),
            plan,
            network: &record.network,
            machine: &record.machine,
            hosts: hosts::rows(record),
            leading: experiment.leading(plan),
            unit: experiment.unit(),
        };
        summary.trials_made = match record.plan.search {
            // Most of its probes stand behind no row.
            Some(_) => ended(record),
            None => summary.rows.iter().map(|row| row.trials.made()).sum(),
        };
        summary.answer = experiment.answer(&summary);
        summary
    }
}

/// Trials that were not cut off by the user.
fn ended(record: &RunRecord) -> u32 {
    let trials = record.trials.iter();
    let ended = trials.filter(|trial| trial.outcome != Outcome::Interrupted);
    u32::try_from(ended.count()).unwrap_or(u32::MAX)
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

fn rows(record: &RunRecord, figures: &[Figure], experiment: &dyn Experiment) -> Vec<Row> {
    let plan = &record.plan;
    let leading = experiment.leading(plan);
    let targets = || 0..u32::try_from(plan.targets.len()).unwrap_or(u32::MAX);
    let settings = (0..).zip(&plan.settings);
    settings
        .flat_map(|(setting, _)| {
            let measured = targets().filter(|&target| plan.is_measured(target, setting));
            let rows =
                measured.map(|target| row::row(record, figures, experiment, (target, setting)));
            ranking::ranked(rows.collect(), leading)
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
