//! One trial's job for the generator.

use throng_record::{ExchangeSpec, FleetSpec, LoadJob, Plan};
use throng_sys::address::Address;

use crate::order::Cell;

/// Connects in flight at once, per shard: enough to keep a listener busy, and far below any backlog.
const CONNECT_CONCURRENCY: u32 = 64;

/// The job of a cell against a server at `address`. Each repeat has payloads and arrivals of its own, the same for all
/// targets.
pub(crate) fn job(plan: &Plan, cell: Cell, address: &Address) -> LoadJob {
    LoadJob {
        fleet: FleetSpec {
            address: address.to_string(),
            connections: cell.connections,
            shards: plan.shards.min(cell.connections),
            backend: plan.backend,
            source: plan.source.clone(),
            cpus: plan.generator_cpus.clone(),
            nodelay: plan.nodelay,
            connect_concurrency: CONNECT_CONCURRENCY,
            connect_timeout_ns: plan.connect_timeout_ns,
            reply_timeout_ns: plan.reply_timeout_ns,
        },
        exchange: ExchangeSpec {
            protocol: plan.protocol.clone(),
            verify: plan.verify,
            pacing: plan.pacing.clone(),
            warmup: plan.warmup,
            stop: plan.stop,
            seed: plan.seed.wrapping_add(u64::from(cell.repeat)),
        },
    }
}
