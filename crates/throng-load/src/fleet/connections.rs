//! From what each shard measured of its requests' connections to the record of them all.

use throng_record::{ConnectionsPhase, Histogram};

use super::merge::merged;
use crate::shard::{RequestLog, ShardConnections};

type Live = hdrhistogram::Histogram<u64>;

pub(super) fn connections(shards: Vec<ShardConnections>) -> ConnectionsPhase {
    let sum = |of: fn(&ShardConnections) -> u64| shards.iter().map(of).sum();
    let latency =
        |of: fn(&ShardConnections) -> &Live| Histogram::from(&merged(shards.iter().map(of)));
    let spans = || shards.iter().filter_map(|shard| shard.span_ns);
    let started_at_ns = spans().map(|span| span.0).min().unwrap_or(0);
    let ended_at_ns = spans().map(|span| span.1).max().unwrap_or(0);
    let mut phase = ConnectionsPhase {
        begun: sum(|shard| shard.begun),
        connected: sum(|shard| shard.connected),
        warmup_begun: sum(|shard| shard.warmup_begun),
        warmup_connected: sum(|shard| shard.warmup_connected),
        answered: sum(|shard| shard.request_latency.len()),
        duration_ns: ended_at_ns - started_at_ns,
        started_at_monotonic_ns: started_at_ns,
        connect_latency: latency(|shard| &shard.connect_latency),
        first_byte_latency: latency(|shard| &shard.first_byte_latency),
        reply_latency: latency(|shard| &shard.reply_latency),
        request_latency: latency(|shard| &shard.request_latency),
        syn_retransmissions: sum(|shard| shard.syn_retransmissions),
        data_retransmissions: sum(|shard| shard.data_retransmissions),
        queue_full: shards.iter().map(|shard| shard.queue_full).sum(),
        without_tcp_info: sum(|shard| shard.without_tcp_info),
        ..ConnectionsPhase::default()
    };
    let logs = shards.into_iter().map(|shard| shard.log).collect();
    let (requests, left_out) = RequestLog::merge(logs);
    phase.requests = requests
        .iter()
        .map(|request| request.to_record(started_at_ns))
        .collect();
    phase.requests_left_out = left_out;
    phase
}
