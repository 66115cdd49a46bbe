//! What a run of the fan-out experiment says: for each setting a row for each target, with the phases of both sides and the latency of every
//! delivery; and each phase's length along the settings, with the published ones.
//!
//! Which trials a row stands on is told in [`crate::crowd`]. A phase's length is the median over those that have the phase; its CPU times,
//! threads and memory are medians too; latencies are those of all deliveries of all trials merged.
//!
//! Left out on purpose: ranks. Which target is faster depends on the phase, and on the number of connections, which is the question.

pub(crate) mod columns;
pub(crate) mod notes;
pub mod order;
pub(crate) mod overview;
pub mod published;

use serde::Serialize;
use throng_record::plan::Experiment;
use throng_record::{RunRecord, SustainedPhase, SweptValue, Trial};

use crate::crowd::{Behind, Crowd};
use crate::median::Estimate;
use crate::phases::{self, Phase, PhaseKind};
use crate::rate::Rate;
use crate::setting;
use crate::summary::Latency;
use order::Order;
use published::Published;

/// All targets at one setting.
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
    /// A row for each target, in the plan's order.
    pub rows: Vec<Row>,
    /// What was published at this number of connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
}

/// One target at one setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Which, what it is worth, and its connects.
    #[serde(flatten)]
    pub crowd: Crowd,
    /// The phases that any trial came to, in their order.
    pub phases: Vec<Phase>,
    /// From each completed connect to its greeting.
    pub acknowledge_latency: Option<Latency>,
    /// From just before the put to each receipt of the line.
    pub get_latency: Option<Latency>,
    /// Lines at a rate; absent where not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sustained: Option<Sustained>,
    /// Who heard the greeting, and who the line, how late; empty where the record does not tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Order>,
    /// Resident set of the server with every connection open; median.
    pub server_rss_bytes: Option<f64>,
    /// Proportional set of the server with every connection open; median.
    pub server_pss_bytes: Option<f64>,
}

/// Lines at a rate to all connections.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sustained {
    /// Deliveries ÷ time.
    pub deliveries_per_second: Estimate,
    /// How much of the rate was kept.
    pub rate: Option<Rate>,
    /// Lines that were due and did not come, over all trials.
    pub missing: u64,
    /// From the time at which a line was due to be put to each of its deliveries.
    pub latency: Option<Latency>,
    /// How late the generator put the lines, 99th percentile.
    pub scheduling_error_ns_p99: Option<u64>,
}

impl Row {
    /// A phase's length.
    pub(crate) fn duration_ns(&self, kind: PhaseKind) -> Option<Estimate> {
        let mut phases = self.phases.iter();
        phases.find(|phase| phase.phase == kind)?.duration_ns
    }
}

impl Table<'_> {
    /// The phases of each row.
    pub(crate) fn phases(&self) -> impl Iterator<Item = (&Crowd, &[Phase])> {
        self.rows.iter().map(|row| (&row.crowd, &row.phases[..]))
    }
}

/// The tables of a run; none of another experiment.
pub(crate) fn tables(record: &RunRecord) -> Vec<Table<'_>> {
    let plan = &record.plan;
    if plan.experiment != Experiment::Fanout {
        return Vec::new();
    }
    let targets = || 0..u32::try_from(plan.targets.len()).unwrap_or(u32::MAX);
    (0..)
        .zip(&plan.settings)
        .map(|(index, setting)| Table {
            setting: index,
            heading: setting::heading(setting),
            connections: setting.connections,
            swept: &setting.swept,
            rows: targets().map(|target| row(record, target, index)).collect(),
            published: published::at(setting.connections),
        })
        .collect()
}

fn row(record: &RunRecord, target: u32, setting: u32) -> Row {
    let mut behind = Behind::new(record, target, setting);
    let acknowledge_latency = behind.latency("acknowledge latency", |trial| {
        Some(&trial.phases.greeting()?.latency)
    });
    let get_latency = behind.latency("get latency", |trial| {
        Some(&trial.phases.put()?.line.latency)
    });
    let sustained = sustained(&mut behind);
    let memory = |trial: &Trial| Some(trial.server.as_ref()?.memory_connected);
    Row {
        phases: phases::of(&behind, &PhaseKind::OF_FANOUT),
        acknowledge_latency,
        get_latency,
        sustained,
        order: order::of(&behind, record.plan.settings[setting as usize].connections),
        server_rss_bytes: behind.median(|trial| Some(memory(trial)?.rss_bytes as f64)),
        server_pss_bytes: behind.median(|trial| Some(memory(trial)?.pss_bytes? as f64)),
        crowd: behind.crowd(record, target, setting),
    }
}

fn sustained(behind: &mut Behind<'_>) -> Option<Sustained> {
    fn phase(trial: &Trial) -> Option<&SustainedPhase> {
        trial.phases.sustained()
    }
    let per_second = |trial: &Trial| Some(phase(trial)?.deliveries_per_second);
    let latency = behind.latency("latency of sustained lines", |trial| {
        Some(&phase(trial)?.latency)
    });
    let lateness = behind.latency("scheduling error", |trial| {
        Some(&phase(trial)?.scheduling_error)
    });
    Some(Sustained {
        deliveries_per_second: behind.estimate(per_second)?,
        rate: Rate::of(&behind.shown),
        missing: behind
            .shown
            .iter()
            .filter_map(|trial| Some(phase(trial)?.missing))
            .sum(),
        latency,
        scheduling_error_ns_p99: lateness.map(|found| found.latency_ns_p99),
    })
}
