//! One point of the sweep, with nothing left open.

use throng_record::plan::Experiment;
use throng_record::{Setting, TargetRecord};

use super::{accept, backlog, churn, exchange, fanout, fleet, hold, not_zero, phases};
use crate::plan::draft::Point;
use crate::plan::{Environment, PlanDraft, PlanError};

pub(super) fn resolve(
    draft: &PlanDraft,
    experiment: Experiment,
    point: Point,
    targets: &[TargetRecord],
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Setting, PlanError> {
    let listen = point.family.unwrap_or_else(|| point.usual("family"));
    let asked = match experiment {
        Experiment::Echo => exchange::asked(&point)?,
        Experiment::Accept => accept::asked(&point, notes)?,
        Experiment::Backlog => backlog::asked(&point, targets, notes)?,
        Experiment::Fanout => fanout::asked(&point)?,
        Experiment::Hold => hold::asked(&point, draft.is_shortened)?,
        Experiment::Churn => churn::asked(&point, targets)?,
        Experiment::Phases => phases::asked(&point, draft)?,
    };
    let source = fleet::source(draft.source.as_deref(), &point, targets, listen)?;
    let (cpus, shards) = match experiment {
        // One process is both ends.
        Experiment::Accept => (accept::cpus(&point, environment)?, 1),
        _ => {
            let cpus = fleet::cpus(&point, environment, targets, notes)?;
            let descriptors = environment.open_files_hard;
            let shards = fleet::shards(&point, asked.connections, &cpus.generator, descriptors)?;
            (cpus, shards)
        }
    };
    let backlog = backlog_asked(&point)?;
    let connects = fleet::connects(&point, experiment, shards, backlog)?;
    let timeouts = fleet::timeouts(&point)?;
    let some_not_zero = |key, value: Option<u32>, why| {
        value
            .map(|value| not_zero(key, Some(value), 1, why, "4"))
            .transpose()
    };
    Ok(Setting {
        connections: asked.connections,
        phases: asked.phases,
        connect_concurrency: connects.concurrency,
        connect_rate_per_second: connects.rate_per_second,
        closing: point.closing.unwrap_or_else(|| point.usual("closing")),
        workload: asked.workload,
        service_time_ns: asked.service_time_ns,
        accept_threads: some_not_zero(
            "accept-threads",
            point.accept_threads,
            "nobody would accept",
        )?,
        delay_inline: point
            .delay_inline
            .unwrap_or_else(|| point.usual("delay-inline")),
        observe: point.observe.unwrap_or_else(|| point.usual("observe")),
        backend: fleet::backend(&point, environment)?,
        shards,
        source,
        nodelay: point.nodelay.unwrap_or_else(|| point.usual("nodelay")),
        connect_timeout_ns: timeouts.connect_ns,
        reply_timeout_ns: timeouts.reply_ns,
        ready_timeout_ns: timeouts.ready_ns,
        server_cpus: cpus.server,
        generator_cpus: cpus.generator,
        listen,
        backlog,
        workers: some_not_zero("workers", point.workers, "nobody would serve")?,
        kernel: point.kernel,
        swept: point.swept,
    })
}

/// In the backlog experiment 0 is a legal queue, which holds one connection.
fn backlog_asked(point: &Point) -> Result<u32, PlanError> {
    match point.backlog.unwrap_or_else(|| point.usual("backlog")) {
        backlog if backlog > 0 || point.experiment == Experiment::Backlog => Ok(backlog),
        _ => Err(PlanError::Zero {
            key: "backlog",
            why: "no connection could wait",
            example: "1024",
        }),
    }
}
