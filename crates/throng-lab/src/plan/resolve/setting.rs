//! One point of the sweep, with nothing left open.

use throng_record::plan::ListenFamily;
use throng_record::{ConnectionUse, Setting, TargetRecord};

use super::{exchange, fleet, not_zero};
use crate::plan::draft::Point;
use crate::plan::{Environment, PlanDraft, PlanError};

/// Connections where none are asked for.
const CONNECTIONS: u32 = 100;
/// Accept queue asked of launched servers: more than the generator's connects in flight, below every `somaxconn`.
const BACKLOG: u32 = 1024;

pub(super) fn resolve(
    draft: &PlanDraft,
    point: Point,
    targets: &[TargetRecord],
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Setting, PlanError> {
    let listen = point.family.unwrap_or(ListenFamily::Ipv4);
    let why = "nothing would be sent";
    let connections = not_zero("connections", point.connections, CONNECTIONS, why, "100")?;
    let source = fleet::source(draft.source.as_deref(), &point, targets, listen)?;
    let cpus = fleet::cpus(&point, environment, targets, notes)?;
    let timeouts = fleet::timeouts(&point)?;
    Ok(Setting {
        connections,
        protocol: exchange::protocol(&point)?,
        connection: ConnectionUse::Kept,
        workload: "echo".to_owned(),
        service_time_ns: None,
        accept_threads: None,
        delay_inline: false,
        verify: point.verify.unwrap_or(true),
        pacing: exchange::pacing(&point)?,
        warmup: exchange::warmup(&point),
        stop: exchange::stop(&point)?,
        backend: fleet::backend(&point, environment)?,
        shards: fleet::shards(&point, connections, &cpus.generator)?,
        source,
        nodelay: point.nodelay.unwrap_or(true),
        connect_timeout_ns: timeouts.connect_ns,
        reply_timeout_ns: timeouts.reply_ns,
        ready_timeout_ns: timeouts.ready_ns,
        server_cpus: cpus.server,
        generator_cpus: cpus.generator,
        listen,
        backlog: not_zero(
            "backlog",
            point.backlog,
            BACKLOG,
            "no connection could wait",
            "1024",
        )?,
        workers: point
            .workers
            .map(|workers| not_zero("workers", Some(workers), 1, "nobody would serve", "4"))
            .transpose()?,
        kernel: point.kernel,
        swept: point.swept,
    })
}
