//! One row of the summary from the trials of one target at one setting.

use throng_record::{
    ConnectionsPhase, ExchangePhase, Histogram, Limit, Outcome, Plan, RunRecord, SideRecord, Trial,
};

use crate::backlog::cell::failures;
use crate::languages;
use crate::median;
use crate::merge::{Live, merged};
use crate::rate::Rate;
use crate::ratio::{self, Bound, Compared, Ratio};
use crate::summary::{Cycles, Latency, Row, Standing, target_name};
use crate::worth::{Sorted, Worth};

/// The rows of every target at this setting, in the plan's order and not yet ranked.
pub(crate) fn rows(record: &RunRecord, setting: u32, compared: Compared) -> Vec<Row> {
    let plan = &record.plan;
    let sorted = |target| Sorted::new(record, target, setting);
    let baseline = sorted(plan.baseline);
    let indices = 0..u32::try_from(plan.targets.len()).unwrap_or(u32::MAX);
    indices
        .map(|index| {
            let trials = sorted(index);
            let mut row = figures(&trials, target_name(plan, index), plan.repeats);
            row.serves_of = serves_of(plan, trials.of_worth(Worth::Partial));
            row.answered_of = answered_of(trials.of_worth(Worth::Partial));
            row.is_baseline = index == plan.baseline;
            let asked = plan.settings.get(setting as usize);
            row.published = asked.and_then(|asked| languages::beside(&row.target, asked));
            if !row.is_baseline {
                row.ratio_to_baseline = compare(&trials, &baseline, compared);
            }
            row
        })
        .collect()
}

fn figures(trials: &Sorted<'_>, target: &str, planned: u32) -> Row {
    let basis = &trials.basis;
    let mut unreadable = Vec::new();
    let completed: Vec<&Trial> = trials
        .all
        .iter()
        .copied()
        .filter(|trial| trial.outcome == Outcome::Completed)
        .collect();
    let mut merge = |of: &[&Trial], what: &str, pick: fn(&Trial) -> Option<&Histogram>| {
        merged(of, pick).unwrap_or_else(|error| {
            unreadable.push(format!("{what}: {error}"));
            None
        })
    };
    let latency = merge(basis, "latency", |trial| {
        Some(&trial.phases.exchange()?.latency)
    });
    let connect = merge(basis, "connect latency", |trial| {
        Some(&trial.phases.connect()?.latency)
    });
    let scheduling = merge(&completed, "scheduling error", |trial| {
        trial.phases.exchange()?.scheduling_error.as_ref()
    });
    let of_connect = merge(basis, "connect latency", |trial| {
        Some(&trial.phases.connections()?.connect_latency)
    });
    let of_first_byte = merge(basis, "first byte latency", |trial| {
        Some(&trial.phases.connections()?.first_byte_latency)
    });
    let has_cycles = trials
        .all
        .iter()
        .any(|trial| trial.phases.connections().is_some());
    let cycles = has_cycles.then(|| Cycles {
        connect_latency: of_connect.as_ref().map(latency_summary),
        first_byte_latency: of_first_byte.as_ref().map(latency_summary),
        failures: failures(if basis.is_empty() { &trials.all } else { basis }),
        time_wait_sockets: counter_median(basis, "Sockstat.TimeWait"),
        time_wait_overflows: counter_median(basis, "TcpExt.TCPTimeWaitOverflow"),
    });
    Row {
        target: target.to_owned(),
        is_baseline: false,
        standing: trials.standing,
        rank: None,
        trials: trials.counts(planned),
        serves_of: None,
        answered_of: None,
        connections_starved: connections_starved(basis),
        failed_checks: trials.failed_checks(),
        messages_per_second: median::estimate(&throughputs(basis.iter().copied())),
        invalid_messages_per_second: match trials.standing {
            Standing::Invalid => median_of(throughputs(trials.of_worth(Worth::Invalid))),
            _ => None,
        },
        ratio_to_baseline: None,
        published: None,
        rate: Rate::of(basis),
        latency: latency.as_ref().map(latency_summary),
        server_cpu_per_message_ns: server_median(basis, |side| side.cpu_per_message_ns),
        server_system_share: server_median(basis, system_share),
        server_memory_per_connection_bytes: server_median(basis, |side| {
            side.memory_per_connection_bytes
        }),
        limit: most_frequent_limit(basis),
        connect_latency_ns_p99: connect.map(|live| live.value_at_quantile(0.99)),
        scheduling_error_ns_p99: scheduling.map(|live| live.value_at_quantile(0.99)),
        waited_for_connection_share: waited_share(basis),
        cycles,
        unreadable,
    }
}

/// Pairs repeat i of the target with repeat i of the baseline.
fn compare(target: &Sorted<'_>, baseline: &Sorted<'_>, compared: Compared) -> Option<Ratio> {
    let bound = Bound::of_ratio(target.bound(compared)?, baseline.bound(compared)?)?;
    let figure = |trial: &Trial| {
        let exchange = trial.phases.exchange()?;
        Some(match compared {
            Compared::MessagesPerSecond => exchange.replies_per_second,
            Compared::LatencyP99 => exchange.latency.p99_ns as f64,
        })
    };
    let pairs: Vec<(f64, f64)> = target
        .basis
        .iter()
        .filter_map(|trial| {
            let partner = baseline.basis.iter().find(|b| b.repeat == trial.repeat)?;
            Some((figure(trial)?, figure(partner)?))
        })
        .collect();
    let estimate = ratio::of_pairs(&pairs)?;
    Some(Ratio {
        compared,
        bound,
        estimate,
    })
}

fn throughputs<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<f64> {
    let of = |exchange: &ExchangePhase| exchange.replies_per_second;
    trials
        .filter_map(|trial| trial.phases.exchange().map(of))
        .collect()
}

pub(crate) fn median_of(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    median::estimate(&values).map(|found| found.median)
}

fn server_median(trials: &[&Trial], pick: fn(&SideRecord) -> Option<f64>) -> Option<f64> {
    median_of(
        trials
            .iter()
            .filter_map(|trial| trial.server.as_ref().and_then(pick)),
    )
}

/// Absent where the times are too short to be divided: they are counted in ticks of 4 or 10 ms.
fn system_share(side: &SideRecord) -> Option<f64> {
    const TOTAL_MIN_NS: u64 = 1_000_000_000;
    let total_ns = side.user_ns + side.system_ns;
    (total_ns >= TOTAL_MIN_NS).then(|| side.system_ns as f64 / total_ns as f64)
}

/// Of the trials whose counters were read. The record keeps those that changed; where others did, this one did not.
fn counter_median(trials: &[&Trial], name: &str) -> Option<f64> {
    let counters = trials.iter().map(|trial| &trial.kernel_counters);
    let read = counters.filter(|counters| !counters.is_empty());
    // Fewer than before: sockets of others are counted too, and nothing can be told.
    let changes = read.map(|counters| u64::try_from(counters.get(name).copied().unwrap_or(0)));
    median_of(changes.flatten().map(|change| change as f64))
}

pub(crate) fn latency_summary(live: &Live) -> Latency {
    Latency {
        count: live.len(),
        latency_ns_mean: live.mean(),
        latency_ns_p50: live.value_at_quantile(0.50),
        latency_ns_p90: live.value_at_quantile(0.90),
        latency_ns_p99: live.value_at_quantile(0.99),
        latency_ns_p99_9: live.value_at_quantile(0.999),
        latency_ns_max: live.max(),
    }
}

/// The limit of most trials; of equals the one that says more.
fn most_frequent_limit(trials: &[&Trial]) -> Option<Limit> {
    let order = [
        Limit::Unknown,
        Limit::ReadLate,
        Limit::Waiting,
        Limit::OtherPrograms,
        Limit::Rate,
        Limit::Both,
        Limit::Generator,
        Limit::Server,
    ];
    let number = |limit: &Limit| trials.iter().filter(|trial| trial.limit == *limit).count();
    // Of equals `max_by_key` gives the last.
    order
        .into_iter()
        .max_by_key(number)
        .filter(|limit| number(limit) > 0)
}

/// How many connections got replies, and how many there were, in a trial whose server serves fewer at once.
pub(crate) fn serves_of<'a>(
    plan: &Plan,
    mut trials: impl Iterator<Item = &'a Trial>,
) -> Option<(u32, u32)> {
    let trial = trials.find(|trial| trial.phases.connections().is_none())?;
    let served = trial.phases.exchange()?.connections_served;
    let setting = plan.settings.get(trial.setting as usize)?;
    Some((served, setting.connections))
}

/// How many requests were answered, and how many there were, where each has a connection of its own.
pub(crate) fn answered_of<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<(u64, u64)> {
    let phases = trials.filter_map(|trial| trial.phases.connections());
    phases
        .map(|phase| (phase.answered, phase.begun))
        .reduce(|one, other| (one.0 + other.0, one.1 + other.1))
}

/// A few connections may be unlucky, and a machine that stood still at the end of the window starves all of them; between
/// the two it is the server's way.
fn connections_starved(trials: &[&Trial]) -> Option<f64> {
    const SHARE_MIN: f64 = 0.01;
    const NUMBER_MIN: f64 = 10.0;
    let of_trial = |trial: &&Trial| {
        let steady = trial.phases.exchange()?.steady.as_ref()?;
        Some(f64::from(steady.connections_starved))
    };
    let starved = median_of(trials.iter().filter_map(of_trial))?;
    let connections = f64::from(trials.first()?.job.fleet.connections);
    let is_the_servers_way = starved > NUMBER_MIN.max(connections * SHARE_MIN);
    (is_the_servers_way && starved < connections).then_some(starved)
}

fn waited_share(trials: &[&Trial]) -> Option<f64> {
    let mut all = (0, 0);
    for trial in trials {
        let Some(exchange) = trial.phases.exchange() else {
            continue;
        };
        if exchange.scheduling_error.is_none() {
            continue;
        }
        // Those that waited are counted from the warm-up on, whether or not their connect succeeded.
        let begun = trial
            .phases
            .connections()
            .map_or(exchange.sent, ConnectionsPhase::begun_in_all);
        all = (all.0 + exchange.waited_for_connection, all.1 + begun);
    }
    let (waited, begun) = all;
    (begun > 0).then(|| (waited as f64 / begun as f64).min(1.0))
}
