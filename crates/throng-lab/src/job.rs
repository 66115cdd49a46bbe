//! One trial's job for the generator.

use throng_record::{ConnectionUse, ExchangeSpec, FleetSpec, LoadJob, Plan, Setting};
use throng_sys::address::Address;

use crate::order::Cell;

/// Connects in flight at once, per shard: enough to keep a listener busy, and far below any backlog.
const CONNECT_CONCURRENCY: u32 = 64;

/// A network setting as it is where the trial is: the plan's, or else the host's, which a private network has as well. `None`: this kernel
/// has none of that name, or it is no number.
pub(crate) fn in_force(setting: &Setting, name: &str) -> Option<u32> {
    match setting.kernel.get(name) {
        Some(value) => value.parse().ok(),
        None => throng_sys::sysctl::read_value(name).ok(),
    }
}

/// How many of a setting's connections a server can be given that serves `at_once`: those, and as many as wait in its accept
/// queue. Further ones would find it full, and wait for SYN retransmissions.
pub(crate) fn connectable(setting: &Setting, at_once: u32) -> u32 {
    if setting.connection != ConnectionUse::Kept {
        return setting.connections;
    }
    let queue = in_force(setting, "net.core.somaxconn")
        .map_or(setting.backlog, |most: u32| most.min(setting.backlog));
    setting.connections.min(at_once.saturating_add(queue))
}

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
            connection: setting.connection,
            pacing: setting.pacing.clone(),
            warmup: setting.warmup,
            stop: setting.stop,
            seed: plan.seed.wrapping_add(u64::from(cell.repeat)),
            serves_at_once: None,
        },
    }
}
