//! What a run of the accept experiment says: a table for each setting, a row for each multiplexer, and its cost along the idle connections.
//!
//! **Which trials a row stands on.** Its valid ones (with the qualified ones where these are more, see [`crate::summary`]); without either its
//! partial ones, since a multiplexer that can hold no more descriptors has told all that it has to tell up to there. How far it came stands
//! beside its figures.
//!
//! **Costs** are medians over the trials of a slice's median: the first slice is the cost with few idle connections, the last one that at the
//! end. The slope with its interval is that of one trial, the one with the median slope: an interval of slopes that were fitted apart would be one
//! of something else.
//!
//! Left out on purpose: ranks. Which multiplexer is cheaper depends on the number of idle connections, which is the question.

pub(crate) mod columns;
pub(crate) mod cost;
pub(crate) mod notes;
pub mod published;

use serde::Serialize;
use throng_record::plan::Experiment;
use throng_record::{CheckKind, RunRecord, SweptValue, Trial};

use crate::setting;
use crate::summary::{Standing, TrialCounts, target_name};
use crate::worth::{Sorted, Worth};
pub use cost::{Cost, CostAt};
use published::Published;

/// Columns of the cost along the idle connections.
const POINTS: u32 = 6;

/// One of the costs of a row.
pub(crate) type PickCost = fn(&Row) -> &Cost;

/// Each cost along the idle connections, with its title.
pub(crate) const CURVES: [(&str, PickCost); 2] = [
    ("accept by idle connections", |row| &row.accept),
    ("data by idle connections", |row| &row.data),
];

/// All multiplexers at one setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table<'a> {
    /// Index into the plan's settings.
    pub setting: u32,
    /// What tells it from the others: `10,000 connections`.
    pub heading: String,
    /// Connections asked for.
    pub connections: u32,
    /// Values of the swept keys.
    pub swept: &'a [SweptValue],
    /// Numbers of idle connections at which every row tells its costs (`accept.at`, `data.at`).
    pub idle: Vec<u32>,
    /// A row for each multiplexer, in the plan's order.
    pub rows: Vec<Row>,
}

/// One multiplexer at one setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the target.
    pub target: String,
    /// What the figures are worth; of a partial row they hold as far as it came.
    pub standing: Standing,
    /// How many trials ended how.
    pub trials: TrialCounts,
    /// Checks that invalid trials failed, the most frequent first.
    pub failed_checks: Vec<CheckKind>,
    /// Connections asked for.
    pub connections: u32,
    /// Connections accepted, the fewest of its trials; absent without figures.
    pub accepted: Option<u32>,
    /// Trials that its figures stand on.
    pub trials_behind: u32,
    /// What stopped trials before all connections were accepted, each reason once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stopped_by: Vec<String>,
    /// From the wait's call to the accepted descriptor.
    pub accept: Cost,
    /// From the wait's call to the end of the read.
    pub data: Cost,
    /// What was published of it.
    pub published: Option<Published>,
}

impl Row {
    /// Whether it has any figure.
    pub(crate) fn has_figures(&self) -> bool {
        self.accepted.is_some()
    }
}

impl Table<'_> {
    /// The rows that have something to show along the idle connections.
    pub(crate) fn drawn(&self, cost: PickCost) -> impl Iterator<Item = &Row> {
        let has_points = move |row: &&Row| cost(row).at.iter().any(Option::is_some);
        self.rows.iter().filter(has_points)
    }
}

/// The tables of a run; none of another experiment.
pub(crate) fn tables(record: &RunRecord) -> Vec<Table<'_>> {
    let plan = &record.plan;
    if plan.experiment != Experiment::Accept {
        return Vec::new();
    }
    let targets = || 0..u32::try_from(plan.targets.len()).unwrap_or(u32::MAX);
    (0..)
        .zip(&plan.settings)
        .map(|(index, setting)| {
            let idle = points(setting.connections);
            let rows = targets().map(|target| row(record, target, index, &idle));
            Table {
                setting: index,
                heading: setting::heading(setting),
                connections: setting.connections,
                swept: &setting.swept,
                rows: rows.collect(),
                idle,
            }
        })
        .collect()
}

/// From none to all in equal steps.
fn points(connections: u32) -> Vec<u32> {
    let step = |number: u32| {
        let point = u64::from(connections) * u64::from(number) / u64::from(POINTS - 1);
        u32::try_from(point).unwrap_or(u32::MAX)
    };
    let mut points: Vec<u32> = (0..POINTS).map(step).collect();
    points.dedup();
    points
}

fn row(record: &RunRecord, target: u32, setting: u32, idle: &[u32]) -> Row {
    let plan = &record.plan;
    let trials = Sorted::new(record, target, setting);
    let connections = plan.settings[setting as usize].connections;
    let basis: Vec<&Trial> = match trials.standing {
        Standing::Partial => trials.of_worth(Worth::Partial).collect(),
        _ => trials.basis.clone(),
    };
    let phases: Vec<_> = basis
        .iter()
        .filter_map(|trial| trial.phases.multiplexer())
        .collect();
    let mut stopped_by: Vec<String> = Vec::new();
    let all = trials
        .all
        .iter()
        .filter_map(|trial| trial.phases.multiplexer());
    for reason in all.filter_map(|phase| phase.stopped_by.as_ref()) {
        if !stopped_by.contains(reason) {
            stopped_by.push(reason.clone());
        }
    }
    Row {
        target: target_name(plan, target).to_owned(),
        standing: trials.standing,
        trials: trials.counts(plan.repeats),
        failed_checks: trials.failed_checks(),
        connections,
        accepted: phases.iter().map(|phase| phase.accepted).min(),
        trials_behind: u32::try_from(phases.len()).unwrap_or(u32::MAX),
        stopped_by,
        accept: cost::of(phases.iter().map(|phase| &phase.accept), idle),
        data: cost::of(phases.iter().map(|phase| &phase.data), idle),
        published: plan
            .targets
            .get(target as usize)
            .and_then(|target| published::beside(target, connections)),
    }
}
