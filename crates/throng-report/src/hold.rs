//! What a run of the hold experiment says: a row for each target at each setting, with its connects over time, the memory of a connection
//! on both sides and in the kernel, and its pings.
//!
//! Which trials a row stands on is told in [`crate::crowd`]. Figures are medians over them, latencies those of all together; the curve of the
//! connects and the kernel's account are those of one of them, the one whose connecting took the median time.
//!
//! Left out on purpose: ranks. How many can be held is one question, at how many bytes each another.

pub(crate) mod columns;
pub mod curve;
pub mod memory;
pub(crate) mod notes;

use serde::Serialize;
use throng_record::plan::Experiment;
use throng_record::{Phases, RunRecord, Trial};

use crate::crowd::{Behind, Crowd};
use crate::median::Estimate;
use crate::phases::{self, Phase, PhaseKind};
use crate::summary::Latency;
use curve::Point;
use memory::KernelMemory;

/// One target at one setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Which, what it is worth, and its connects.
    #[serde(flatten)]
    pub crowd: Crowd,
    /// From the first connect to the last that completed.
    pub opened_ns: Option<Estimate>,
    /// Connects per second until the first 10,000 were open, or the first half of fewer than 20,000.
    pub connects_per_second_first: Option<Estimate>,
    /// Connects per second of the last tenth.
    pub connects_per_second_last: Option<Estimate>,
    /// Connects over time, at most 60 points.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<Point>,
    /// Growth of the server's own memory from before the first connection to all open ÷ connections.
    pub server_bytes_per_connection: Option<Estimate>,
    /// The generator's own memory per idle connection.
    pub generator_bytes_per_connection: Option<Estimate>,
    /// Growth of the kernel's memory ÷ connections, of both ends where both are on this machine.
    pub kernel_bytes_per_connection: Option<Estimate>,
    /// What of the kernel's grew, and what was left of it in the end.
    pub kernel: Option<KernelMemory>,
    /// Pings answered, the fewest of the trials.
    pub answered: Option<u32>,
    /// Connections pinged in that trial.
    pub pinged: Option<u32>,
    /// Connections that were to be pinged in that trial and were not, so many pings before them having timed out.
    pub not_pinged: Option<u32>,
    /// From the first ping to the last answer.
    pub ping_duration_ns: Option<Estimate>,
    /// From each ping to its answer's last byte.
    pub ping_latency: Option<Latency>,
    /// Connections that ended while nothing was sent, over all trials.
    pub lost: u64,
    /// The phases that any trial came to, in their order.
    pub phases: Vec<Phase>,
}

/// The rows of a run, by target and setting in the plan's order; none of another experiment.
pub(crate) fn rows(record: &RunRecord) -> Vec<Row> {
    let plan = &record.plan;
    if plan.experiment != Experiment::Hold {
        return Vec::new();
    }
    let targets = (0..).zip(&plan.targets);
    let pairs = targets.flat_map(|(target, _)| {
        let settings = (0..).zip(&plan.settings);
        settings.map(move |(setting, _)| (target, setting))
    });
    pairs
        .map(|(target, setting)| row(record, target, setting))
        .collect()
}

fn row(record: &RunRecord, target: u32, setting: u32) -> Row {
    let mut behind = Behind::new(record, target, setting);
    let ping_latency = behind.latency("ping latency", |trial| Some(&trial.phases.ping()?.latency));
    let phases = || behind.shown.iter().map(|trial| &trial.phases);
    let pinged = phases().filter_map(Phases::ping);
    let pinged = pinged.filter(|phase| phase.pinged > 0);
    let worst = pinged.min_by_key(|phase| phase.answered);
    let told = typical(&behind.shown);
    Row {
        opened_ns: behind.estimate(|trial| {
            let opened_ns = trial.phases.connect()?.opened_ns;
            (opened_ns > 0).then_some(opened_ns as f64)
        }),
        connects_per_second_first: behind
            .estimate(|trial| curve::rate_first(trial.phases.connect()?)),
        connects_per_second_last: behind
            .estimate(|trial| curve::rate_last(trial.phases.connect()?)),
        curve: told
            .and_then(|trial| trial.phases.connect())
            .map(curve::points)
            .unwrap_or_default(),
        server_bytes_per_connection: behind
            .estimate(|trial| of_many(trial, trial.server.as_ref()?.memory_per_connection_bytes?)),
        generator_bytes_per_connection: behind.estimate(|trial| {
            of_many(
                trial,
                trial.generator.as_ref()?.memory_per_connection_bytes?,
            )
        }),
        kernel_bytes_per_connection: behind
            .estimate(|trial| of_many(trial, trial.kernel_memory.as_ref()?.bytes_per_connection)),
        kernel: told.and_then(memory::of),
        answered: worst.map(|phase| phase.answered),
        pinged: worst.map(|phase| phase.pinged),
        not_pinged: worst.map(|phase| phase.not_pinged),
        ping_duration_ns: behind.estimate(|trial| Some(PhaseKind::Ping.duration_ns(trial)? as f64)),
        ping_latency,
        lost: phases().map(lost).sum(),
        phases: phases::of(&behind, &PhaseKind::OF_HOLD),
        crowd: behind.crowd(record, target, setting),
    }
}

/// The phases of each row.
pub(crate) fn phases(rows: &[Row]) -> impl Iterator<Item = (&Crowd, &[Phase])> {
    rows.iter().map(|row| (&row.crowd, &row.phases[..]))
}

/// Memory grows by pages, slabs and whatever else happens meanwhile: divided by few connections that is noise.
fn of_many(trial: &Trial, bytes: f64) -> Option<f64> {
    const CONNECTIONS_MIN: u32 = 1_000;
    (trial.phases.connect()?.connected >= CONNECTIONS_MIN).then_some(bytes)
}

/// Connections that ended while nothing was sent on them.
pub(crate) fn lost(phases: &Phases) -> u64 {
    let held = phases.hold().map_or(0, |phase| phase.errors.total());
    held + phases.ping().map_or(0, |phase| phase.lost_errors.total())
}

/// The trial whose connecting took the median time; of an even number the shorter of the middle two.
fn typical<'a>(trials: &[&'a Trial]) -> Option<&'a Trial> {
    let length = |trial: &Trial| trial.phases.connect().map(|phase| phase.opened_ns);
    let mut begun: Vec<&Trial> = trials
        .iter()
        .copied()
        .filter(|trial| length(trial).is_some())
        .collect();
    begun.sort_by_key(|trial| length(trial));
    begun.get(begun.len().checked_sub(1)? / 2).copied()
}
