//! One trial's job for the generator.

use throng_record::{ExchangeSpec, FleetSpec, LoadJob, Plan};
use throng_sys::address::Address;

use crate::order::Cell;

/// Connects in flight at once, per shard: enough to keep a listener busy, and far below any backlog.
const CONNECT_CONCURRENCY: u32 = 64;

/// The job of a cell against a server at `address`. Each repeat has payloads and arrivals of its own, the same for all
/// targets.
pub(crate) fn job(plan: &Plan, cell: Cell, address: &Address) -> LoadJob {
    let setting = &plan.settings[cell.setting as usize];
    LoadJob {
        fleet: FleetSpec {
            address: address.to_string(),
            connections: setting.connections,
            shards: setting.shards,
            backend: setting.backend,
            source: setting.source.clone(),
            cpus: setting.generator_cpus.clone(),
            nodelay: setting.nodelay,
            connect_concurrency: CONNECT_CONCURRENCY,
            connect_timeout_ns: setting.connect_timeout_ns,
            reply_timeout_ns: setting.reply_timeout_ns,
        },
        exchange: ExchangeSpec {
            protocol: setting.protocol.clone(),
            verify: setting.verify,
            pacing: setting.pacing.clone(),
            warmup: setting.warmup,
            stop: setting.stop,
            seed: plan.seed.wrapping_add(u64::from(cell.repeat)),
            serves_at_once: None,
        },
    }
}
