//! From what each shard measured to the record of a phase: plain sums, merged histograms, and the window's arithmetic.

use throng_record::phase::Outstanding;
use throng_record::{
    ClosePhase, ConnectionUse, ExchangePhase, ExchangeSpec, Histogram, Pacing, PagesRecord,
    StarvedConnections, SteadyWindow, Stop, TasksRecord, histogram,
};

use super::fairness::replies_per_connection;
use super::silences::silences;
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
    let mut shards: Vec<_> = shards.collect();
    let tasks = tasks(&mut shards);
    let pages = shards.iter_mut().filter_map(|shard| shard.pages.take());
    let pages = pages.reduce(PagesRecord::together);
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
        started_at_monotonic_ns: longest(&shards, |shard| shard.measuring_since_ns),
        quiet_at_monotonic_ns: longest(&shards, |shard| {
            shard.last_reply_at_ns.max(shard.draining_since_ns)
        }),
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
        connections_silent: shards.iter().map(|shard| shard.connections_silent).sum(),
        starved: starved(&shards),
        silences: silences(&shards),
        tasks,
        pages,
        ..ExchangePhase::default()
    };
    for shard in &shards {
        phase.timeline.merge(shard.recorder.timeline());
        phase.errors.merge(&shard.recorder.errors);
    }
    let pieces = merged(shards.iter().map(|shard| &shard.recorder.between_pieces));
    phase.between_pieces = (!pieces.is_empty()).then(|| Histogram::from(&pieces));
    if let Pacing::Open { .. } = spec.pacing {
        let errors = shards.iter().map(|shard| &shard.recorder.scheduling_error);
        phase.scheduling_error = Some(Histogram::from(&merged(errors)));
        phase.waited_for_connection = sum(|shard| shard.backlog.waited);
        // Beyond a count nothing is asked for, whatever the schedule goes on to.
        phase.due_unsent = match spec.stop {
            Stop::Messages(_) | Stop::MessagesEach(_) => 0,
            Stop::DurationNs(_) | Stop::Confidence { .. } => sum(|shard| shard.backlog.unsent),
        };
    }
    match spec.pacing {
        // A client between two connections has nothing outstanding, nor has one whose request fails: the law says nothing exact.
        Pacing::Closed { .. } | Pacing::Tasks(_) if spec.connection != ConnectionUse::Kept => {}
        Pacing::Closed { outstanding } => {
            let by_construction = f64::from(connections) * f64::from(outstanding);
            phase.steady = Some(steady(&shards, by_construction));
        }
        Pacing::Lockstep { .. } | Pacing::Open { .. } | Pacing::Tasks(_) => {
            phase.outstanding = Some(outstanding(&shards));
        }
    }
    phase
}

/// Where clients have tasks.
fn tasks(shards: &mut [ShardExchange]) -> Option<TasksRecord> {
    let parts = shards.iter_mut().filter_map(|shard| shard.tasks.take());
    parts.reduce(|mut whole, part| {
        whole.merge(part);
        whole
    })
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

/// Those of all shards, by the slowest reply of all of them.
fn starved(shards: &[ShardExchange]) -> StarvedConnections {
    let reply_ns_max = reply_ns_max(shards);
    let waits = shards.iter().flat_map(|shard| &shard.starving);
    let waits = waits.map(|starving| starving.waited_ns);
    let longer = waits.filter(|&waited_ns| waited_ns > reply_ns_max);
    longer.fold(
        StarvedConnections {
            reply_ns_max,
            ..StarvedConnections::default()
        },
        |starved, waited_ns| StarvedConnections {
            connections: starved.connections + 1,
            waited_ns_max: starved.waited_ns_max.max(waited_ns),
            ..starved
        },
    )
}

fn reply_ns_max(shards: &[ShardExchange]) -> u64 {
    let of_each = shards.iter().map(|shard| shard.window.reply_ns_max);
    of_each.max().unwrap_or(0)
}

/// Little's law over the measured window. Throughput counts arrivals; the mean comes from the histogram of latencies, and from
/// the messages that the window's ends cut through: two accounts that a lost, doubled or mistimed record would set apart.
fn steady(shards: &[ShardExchange], outstanding_by_construction: f64) -> SteadyWindow {
    let mut window = SteadyWindow {
        outstanding_by_construction,
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
        let Window {
            recorded: of_shard,
            outstanding_sum_ns: sum_ns,
            ..
        } = shard.window;
        recorded += of_shard;
        outstanding_sum_ns += sum_ns;
        window.outstanding_by_law += rate * mean_ns(sum_ns, of_shard) / 1e9;
    }
    let reply_ns_max = reply_ns_max(shards);
    let starving = shards.iter().flat_map(|shard| &shard.starving);
    let left_out = starving.filter(|one| one.is_left_out && one.waited_ns > reply_ns_max);
    window.connections_starved = left_out.count() as u32;
    window.latency_mean_ns = mean_ns(outstanding_sum_ns, recorded);
    let each = shards.iter().map(|shard| &shard.replies_each[..]);
    window.replies_per_connection = replies_per_connection(each);
    window
}

/// The number outstanding over the measured window: by counts and the clock, and by the histogram of latencies with what the
/// window's ends cut through. From the latter what came before each send is taken off, where latency counts from a due time.
fn outstanding(shards: &[ShardExchange]) -> Outstanding {
    let mut found = Outstanding::default();
    for shard in shards {
        let window_ns = shard.draining_since_ns - shard.measuring_since_ns;
        let mean = |sum_ns: u128| mean_ns(sum_ns, window_ns);
        let delay_ns = shard.recorder.send_delay_sum_ns;
        let recorded_ns = shard.window.outstanding_sum_ns.saturating_sub(delay_ns);
        found.by_time += mean(shard.window.integral_ns);
        found.by_records += mean(recorded_ns);
    }
    found
}

fn mean_ns(sum_ns: u128, count: u64) -> f64 {
    if count == 0 {
        0.0
    } else {
        sum_ns as f64 / count as f64
    }
}
