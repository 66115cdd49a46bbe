//! One point of the sweep, with nothing left open.

use throng_record::plan::ListenFamily;
use throng_record::{Setting, TargetRecord};

use super::{fleet, tls};
use crate::plan::draft::Point;
use crate::plan::error::not_zero;
use crate::plan::experiments::{Asking, Asks};
use crate::plan::keys::own::OwnKeys;
use crate::plan::keys::{self, Usual};
use crate::plan::value::TlsChoice;
use crate::plan::{Environment, PlanDraft, PlanError, Sweep, cpus};

pub(super) fn resolve(
    draft: &PlanDraft,
    asks: &dyn Asks,
    point: Point,
    targets: &[TargetRecord],
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Setting, PlanError> {
    let listen = point.family.unwrap_or_else(|| point.usual("family"));
    let asking = Asking {
        point: &point,
        draft,
        targets,
    };
    let asked = asks.asked(&asking, notes)?;
    let source = fleet::source(draft.source.as_deref(), &point, targets, listen)?;
    let (cpus, shards) = match asks.in_one_process() {
        Some(process) => (process.cpus(&point, environment)?, 1),
        None => {
            let cpus = cpus::of_sides(&point, environment, targets, notes)?;
            let shards = fleet::shards(&point, &asked, &cpus.generator, environment)?;
            (cpus, shards)
        }
    };
    let backlog = backlog(&point, asks, listen)?;
    let all_shards = shards.saturating_mul(environment.number_of_generators());
    let connects = fleet::connects(&point, all_shards, backlog)?;
    let timeouts = fleet::timeouts(&point)?;
    let some_not_zero = |key, value: Option<u32>, why| {
        value
            .map(|value| not_zero(key, Some(value), 1, why, "4"))
            .transpose()
    };
    let mut setting = Setting {
        connections: asked.connections,
        services: asked.services,
        listeners: asked.listeners,
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
        tls: point.tls.unwrap_or_else(|| point.usual("tls")) == TlsChoice::On,
        tls_resumption: point
            .tls_resumption
            .unwrap_or_else(|| point.usual("tls-resumption")),
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
    };
    tls::secure(&mut setting, targets);
    Ok(setting)
}

/// 0 is a legal queue, which holds one connection, and worth asking about.
fn backlog(point: &Point, asks: &dyn Asks, listen: ListenFamily) -> Result<u32, PlanError> {
    let of_most = || keys::usual::<Sweep<u32>>("backlog", &OwnKeys::NONE).values()[0];
    let usual = || match keys::find("backlog").map(|key| key.usual_with(point.own)) {
        Some(Usual::Words(_)) => asks.usual_backlog(listen).unwrap_or_else(of_most),
        _ => point.usual("backlog"),
    };
    match point.backlog.unwrap_or_else(usual) {
        backlog if backlog > 0 || asks.is_about_the_accept_queue() => Ok(backlog),
        _ => Err(PlanError::Zero {
            key: "backlog",
            why: "no connection could wait",
            example: "1024",
        }),
    }
}
