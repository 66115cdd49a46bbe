//! From what each shard measured to the record of a phase: plain sums, merged histograms, and the window's arithmetic.

use throng_record::phase::OutstandingSampled;
use throng_record::{
    ClosePhase, ConnectionUse, ExchangePhase, ExchangeSpec, Histogram, Pacing, SteadyWindow, Stop,
    histogram,
};

use super::fairness::replies_per_connection;
use crate::shard::{ShardExchange, Window};

type Live = hdrhistogram::Histogram<u64>;

pub(super) fn merged<'a>(parts: impl Iterator<Item = &'a Live>) -> Live {
    let mut whole = histogram::empty();
    for part in parts {
        whole
            .add(part)
            .expect("all histograms of a fleet have the same bounds");
    }
    whole
}

pub(super) fn closes(shards: impl Iterator<Item = ClosePhase>) -> ClosePhase {
    shards.fold(ClosePhase::default(), |mut whole, shard| {
        whole.closed_in_order += shard.closed_in_order;
        whole.errors.merge(&shard.errors);
        whole
    })
}

pub(super) fn exchanges(
    shards: impl Iterator<Item = ShardExchange>,
    spec: &ExchangeSpec,
    connections: u32,
) -> ExchangePhase {
    let shards: Vec<_> = shards.collect();
    let sum = |of: fn(&ShardExchange) -> u64| shards.iter().map(of).sum::<u64>();
    let windows: Vec<ShardWindow> = shards
        .iter()
        .map(|shard| ShardWindow::of(shard, spec.stop))
        .collect();
    let mut phase = ExchangePhase {
        warmup_replies: sum(|shard| shard.warmup_replies),
        warmup_duration_ns: longest(&shards, |shard| {
            shard.measuring_since_ns - shard.started_at_ns
        }),
        warmup_latency: Histogram::from(&merged(
            shards.iter().map(|shard| &shard.recorder.warmup_latency),
        )),
        sent: sum(|shard| shard.sent),
        replies: sum(|shard| shard.replies),
        sent_bytes: sum(|shard| shard.sent_bytes),
        received_bytes: sum(|shard| shard.received_bytes),
        duration_ns: windows
            .iter()
            .map(|window| window.duration_ns)
            .max()
            .unwrap_or(0),
        replies_per_second: windows.iter().map(ShardWindow::replies_per_second).sum(),
        latency: Histogram::from(&merged(shards.iter().map(|shard| &shard.recorder.latency))),
        connections_served: shards.iter().map(|shard| shard.connections_served).sum(),
        ..ExchangePhase::default()
    };
    for shard in &shards {
        phase.timeline.merge(shard.recorder.timeline());
        phase.errors.merge(&shard.recorder.errors);
    }
    if let Pacing::Open { .. } = spec.pacing {
        let errors = shards.iter().map(|shard| &shard.recorder.scheduling_error);
        phase.scheduling_error = Some(Histogram::from(&merged(errors)));
        phase.waited_for_connection = sum(|shard| shard.backlog.waited);
        phase.due_unsent = sum(|shard| shard.backlog.unsent);
    }
    match spec.pacing {
        // A client between two connections has nothing outstanding, nor has one whose request fails: the law says nothing exact.
        Pacing::Closed { .. } if spec.connection != ConnectionUse::Kept => {}
        Pacing::Closed { outstanding } => {
            phase.steady = Some(steady(&shards, connections, outstanding));
        }
        Pacing::Lockstep { .. } | Pacing::Open { .. } => {
            let by_law = outstanding_by_law(&shards, phase.replies_per_second);
            phase.outstanding_sampled = Some(OutstandingSampled {
                by_law,
                ..OutstandingSampled::default()
            });
        }
    }
    phase
}

fn longest(shards: &[ShardExchange], of: fn(&ShardExchange) -> u64) -> u64 {
    shards.iter().map(of).max().unwrap_or(0)
}

/// The measured window of one shard, and the replies within it.
struct ShardWindow {
    duration_ns: u64,
    replies: u64,
}

impl ShardWindow {
    /// A count is over with its last reply; a duration with its deadline, whatever still arrives.
    fn of(shard: &ShardExchange, stop: Stop) -> Self {
        match stop {
            Stop::Messages(_) | Stop::MessagesEach(_) => Self {
                duration_ns: shard
                    .last_reply_at_ns
                    .saturating_sub(shard.measuring_since_ns),
                replies: shard.replies,
            },
            Stop::DurationNs(_) | Stop::Confidence { .. } => Self {
                duration_ns: shard
                    .draining_since_ns
                    .saturating_sub(shard.measuring_since_ns),
                replies: shard.window.arrived,
            },
        }
    }

    fn replies_per_second(&self) -> f64 {
        per_second(self.replies, self.duration_ns)
    }
}

pub(super) fn per_second(count: u64, duration_ns: u64) -> f64 {
    if duration_ns == 0 {
        0.0
    } else {
        count as f64 * 1e9 / duration_ns as f64
    }
}

/// Little's law over the measured window. Throughput counts arrivals; the mean comes from the histogram of latencies, and from
/// the messages that the window's ends cut through: two accounts that a lost, doubled or mistimed record would set apart.
fn steady(shards: &[ShardExchange], connections: u32, outstanding: u32) -> SteadyWindow {
    let mut window = SteadyWindow {
        outstanding_by_construction: f64::from(connections) * f64::from(outstanding),
        ..SteadyWindow::default()
    };
    let (mut recorded, mut outstanding_sum_ns) = (0, 0);
    for shard in shards {
        let rate = per_second(
            shard.window.arrived,
            shard.draining_since_ns - shard.measuring_since_ns,
        );
        window.replies_per_second += rate;
        window.replies += shard.window.replies;
        window.connections_starved += shard.window.connections_starved;
        let Window {
            recorded: of_shard,
            outstanding_sum_ns: sum_ns,
            ..
        } = shard.window;
        recorded += of_shard;
        outstanding_sum_ns += sum_ns;
        window.outstanding_by_law += rate * mean_ns(sum_ns, of_shard) / 1e9;
    }
    window.latency_mean_ns = mean_ns(outstanding_sum_ns, recorded);
    let each = shards.iter().map(|shard| &shard.replies_each[..]);
    window.replies_per_connection = replies_per_connection(each);
    window
}

/// Throughput × mean time from send to reply: the latency without what came before the send.
fn outstanding_by_law(shards: &[ShardExchange], replies_per_second: f64) -> f64 {
    let latency_sum_ns: u128 = shards.iter().map(|shard| shard.latency_sum_ns).sum();
    let delay_sum_ns: u128 = shards
        .iter()
        .map(|shard| shard.recorder.send_delay_sum_ns)
        .sum();
    let replies = shards.iter().map(|shard| shard.replies).sum();
    replies_per_second * mean_ns(latency_sum_ns.saturating_sub(delay_sum_ns), replies) / 1e9
}

fn mean_ns(sum_ns: u128, count: u64) -> f64 {
    if count == 0 {
        0.0
    } else {
        sum_ns as f64 / count as f64
    }
}
