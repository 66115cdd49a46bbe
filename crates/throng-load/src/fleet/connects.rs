//! From what each shard measured of its connects to the record of them all.

use throng_record::{ConnectPhase, ConnectStop, Histogram};

use super::merge::merged;
use crate::shard::ShardConnect;
use crate::slowest::Slowest;

/// Where all of so many opened, nothing stopped early, whatever became of them since.
pub(super) fn connects(mut shards: Vec<ShardConnect>, all: u32) -> ConnectPhase {
    let started_at_ns = shards.iter().map(|shard| shard.started_at_ns).min();
    let started_at_ns = started_at_ns.unwrap_or(0);
    let ended_at_ns = shards.iter().map(|shard| shard.ended_at_ns).max();
    let opened_at_ns = shards.iter().filter_map(|shard| shard.opened_at_ns).max();
    let stops = shards.iter_mut().filter_map(|shard| shard.stop.take());
    let first_stop = stops.min_by_key(|stop| stop.at_ns);
    let not_begun = shards.iter().map(|shard| shard.not_begun).sum();
    let mut phase = ConnectPhase {
        connected: shards.iter().map(|shard| shard.connected).sum(),
        duration_ns: ended_at_ns.unwrap_or(0).saturating_sub(started_at_ns),
        opened_ns: opened_at_ns.map_or(0, |at_ns| at_ns.saturating_sub(started_at_ns)),
        latency: Histogram::from(&merged(shards.iter().map(|shard| &shard.latency))),
        syn_retransmissions: shards.iter().map(|shard| shard.syn_retransmissions).sum(),
        retransmitted: shards.iter().map(|shard| shard.retransmitted).sum(),
        stop: first_stop.map(|stop| told(stop, started_at_ns, not_begun)),
        not_begun,
        queue_full: shards.iter().map(|shard| shard.queue_full).sum(),
        lost: shards.iter().map(|shard| shard.lost).sum(),
        ..ConnectPhase::default()
    };
    if phase.connected == all {
        phase.stop = None;
    }
    for shard in &shards {
        phase.timeline.merge(shard.timeline.to_record());
        phase.errors.merge(&shard.errors);
    }
    phase.slowest = Slowest::merge(shards.into_iter().map(|shard| shard.slowest));
    phase
}

fn told(stop: ConnectStop, started_at_ns: u64, not_begun: u32) -> ConnectStop {
    let consequence = match not_begun {
        0 => String::new(),
        count => format!("; {count} further connects were not begun"),
    };
    ConnectStop {
        at_ns: stop.at_ns.saturating_sub(started_at_ns),
        message: stop.message + &consequence,
        ..stop
    }
}
