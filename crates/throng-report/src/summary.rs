//! What a run says: one row for each target and setting, ranked; what explains them; what could not be seen.
//!
//! Every report but the CSV of single trials is made from this, and `--format json` is this.
//!
//! **Which trials a row stands on.** Its valid ones, where they are at least as many as the qualified ones; then the row is
//! ranked; of an open loop only if none of its trials missed its rate. Otherwise its valid and qualified ones together, as a bound ("at least X"), since leaving most of the fast
//! trials out would flatter nobody but the slow ones; then it stands apart. A row without either stands on nothing: it has
//! no figures, only a reason. Latencies are those of all its trials merged, so that a percentile is one of messages and not
//! an average of percentiles.
//!
//! **The order.** Closed loop and lockstep: by throughput, greatest first. Open loop: every target that keeps up has the
//! same throughput, so the 99th percentile of latency decides, least first. Ranked rows come first, then bounds, then the rest
//! in the plan's order.

use serde::Serialize;
use throng_record::plan::Experiment;
use throng_record::{
    CheckKind, Limit, Machine, NetworkRecord, Pacing, Plan, RunRecord, SweptValue,
};

use crate::answer;
use crate::backlog::{self, Failures, Table};
use crate::checks::{self, Remark};
use crate::disturbed::{self, Disturbed};
use crate::findings::{self, Found};
use crate::languages::Beside;
use crate::median::Estimate;
use crate::rate::Rate;
use crate::ratio::{Compared, Ratio};
use crate::slowest::{self, SlowRequest};
use crate::{accept, crowd, fanout, hold};
use crate::{row, setting};

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary<'a> {
    /// Program that made the run.
    pub throng_version: &'a str,
    /// Start, RFC 3339 in UTC.
    pub started_at: &'a str,
    /// Length of the run.
    pub duration_ns: u64,
    /// Trials that the plan asks for.
    pub trials_planned: u32,
    /// Trials that ran to their end, whether their figures hold or not; fewer than planned where the run was cut short.
    pub trials_made: u32,
    /// Ended early by the user.
    pub interrupted: bool,
    /// Name of the target that the others are compared with.
    pub baseline: &'a str,
    /// The answer to the run's question, in sentences.
    pub answer: Vec<String>,
    /// The echo or the churn experiment's rows, by setting, in the plan's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group<'a>>,
    /// The backlog experiment's rows, by target and backlog.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table<'a>>,
    /// The accept experiment's rows, by setting, in the plan's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub multiplexers: Vec<accept::Table<'a>>,
    /// The fan-out experiment's rows, by setting, in the plan's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fanouts: Vec<fanout::Table<'a>>,
    /// The hold experiment's rows, by target and setting, in the plan's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<hold::Row>,
    /// What explains the figures, each kind of finding once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Found<'a>>,
    /// The slowest requests whose causes are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<SlowRequest<'a>>,
    /// What should have been observed and could not, each reason once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Unseen<'a>>,
    /// Targets with a loop for each CPU that got only one, on a machine that has more.
    pub held_to_one_cpu: Vec<&'a str>,
    /// What of it is of a disturbed machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<Disturbed>,
    /// What the checks found, each thing once.
    pub remarks: Vec<Remark>,
    /// The resolved plan.
    pub plan: &'a Plan,
    /// The network of launched targets.
    pub network: &'a NetworkRecord,
    /// The machine.
    pub machine: &'a Machine,
}

/// What could not be observed, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unseen<'a> {
    /// In words, with what would let it.
    pub reason: &'a str,
    /// Trials in which it was so.
    pub trials: u32,
}

/// The rows of one setting, in the order of the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group<'a> {
    /// Index into the plan's settings.
    pub setting: u32,
    /// What tells it from the others: `100 connections · size 1024`.
    pub heading: String,
    /// Connections.
    pub connections: u32,
    /// Values of the swept keys.
    pub swept: &'a [SweptValue],
    /// One row for each target.
    pub rows: Vec<Row>,
}

/// What a row's figures are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// They hold, and the row is ranked.
    Ranked,
    /// They are bounds ("at least X"); ranked apart.
    Qualified,
    /// Figures would be those of a part: the server serves fewer connections at once than there are ("serves k of N"), or requests failed as the
    /// kernel's account explains ("answered k of N"). Not ranked.
    Partial,
    /// Every trial failed a check; no figures, never ranked.
    Invalid,
    /// No trial could run to its end.
    Failed,
    /// Not tried: trials before have shown what would come of it.
    Spared,
    /// The run was cut short before.
    NotMeasured,
}

/// How many trials of a row ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TrialCounts {
    /// Asked for by the plan.
    pub planned: u32,
    /// Ranked.
    pub valid: u32,
    /// Of those with figures, the ones that were disturbed.
    pub disturbed: u32,
    /// Stand with a reservation.
    pub qualified: u32,
    /// Their server serves fewer connections at once than there were.
    pub partial: u32,
    /// Failed a check.
    pub invalid: u32,
    /// Could not run.
    pub failed: u32,
    /// Not made, since trials before have shown what would come of them.
    pub spared: u32,
    /// Under way when the user ended the run.
    pub interrupted: u32,
}

/// Latencies of the merged histogram, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Messages.
    pub count: u64,
    /// Mean.
    pub latency_ns_mean: f64,
    /// Median.
    pub latency_ns_p50: u64,
    /// 90th percentile.
    pub latency_ns_p90: u64,
    /// 99th percentile.
    pub latency_ns_p99: u64,
    /// 99.9th percentile.
    pub latency_ns_p99_9: u64,
    /// Greatest.
    pub latency_ns_max: u64,
}

/// One target at one setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the target.
    pub target: String,
    /// Whether the others are compared with this one.
    pub is_baseline: bool,
    /// What the figures are worth.
    pub standing: Standing,
    /// Place among the ranked rows of the group, from 1: an order of medians. Rows whose interval overlaps that of the first of them share its
    /// place: no difference was seen.
    pub rank: Option<u32>,
    /// How many trials ended how.
    pub trials: TrialCounts,
    /// For a server that serves fewer connections at once than there are: how many got replies, and of how many.
    pub serves_of: Option<(u32, u32)>,
    /// Where every message has a connection of its own and the kernel's account explains why requests failed: how many were answered, and of how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_of: Option<(u64, u64)>,
    /// Connections whose message had, when the window ended, waited longer than any reply took; median of the trials,
    /// absent where they are ten, less than one in a hundred, or all.
    pub connections_starved: Option<f64>,
    /// Checks that invalid trials failed, the most frequent first.
    pub failed_checks: Vec<CheckKind>,
    /// Throughput.
    pub messages_per_second: Option<Estimate>,
    /// For a row without figures: median of its invalid trials, for diagnosis and never for comparison.
    pub invalid_messages_per_second: Option<f64>,
    /// Against the baseline; absent for the baseline itself.
    pub ratio_to_baseline: Option<Ratio>,
    /// What is published of this server, asked the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Beside>,
    /// Open loop: how much of its rate was kept. Where that was not all, latencies are lower bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Latency.
    pub latency: Option<Latency>,
    /// CPU time of the server's process tree ÷ messages; median of the trials.
    pub server_cpu_per_message_ns: Option<f64>,
    /// Of the CPU time of the server's process tree the part that the kernel used for it, 0 to 1; median of the trials whose CPU time is long enough
    /// for an account that is kept in ticks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_system_share: Option<f64>,
    /// Growth of the server's resident set from before the first connection to all open ÷ connections; median of the trials.
    pub server_memory_per_connection_bytes: Option<f64>,
    /// What bounded the throughput in most trials.
    pub limit: Option<Limit>,
    /// Time to connect, 99th percentile.
    pub connect_latency_ns_p99: Option<u64>,
    /// Open loop: how late the generator itself sent, 99th percentile. Of all completed trials, valid or not.
    pub scheduling_error_ns_p99: Option<u64>,
    /// Open loop: share of the messages that were due while every connection was busy, 0 to 1.
    pub waited_for_connection_share: Option<f64>,
    /// Where every message has a connection of its own: those connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<Cycles>,
    /// Histograms of the record that could not be read back, and are therefore missing from the figures above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// The connections of a row's cycles, all its trials together, without the warm-up's but for failures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cycles {
    /// From the `connect` call to the established connection.
    pub connect_latency: Option<Latency>,
    /// From there to the first byte of the reply.
    pub first_byte_latency: Option<Latency>,
    /// Those that failed, by kind; of a row without figures those of all its trials.
    pub failures: Failures,
    /// Sockets in `TIME_WAIT`, of either side, that the trial's network had more at its end than at its beginning; median of the trials.
    pub time_wait_sockets: Option<f64>,
    /// Sockets that closed without it, since there were as many as `net.ipv4.tcp_max_tw_buckets` allows; median of the trials.
    pub time_wait_overflows: Option<f64>,
}

impl Row {
    /// What it is ordered and compared by.
    pub(crate) fn figure(&self, compared: Compared) -> Option<f64> {
        match compared {
            Compared::MessagesPerSecond => self.messages_per_second.map(|found| found.median),
            Compared::LatencyP99 => self.latency.map(|found| found.latency_ns_p99 as f64),
        }
    }
}

impl<'a> Summary<'a> {
    /// Draws the summary of a run; never fails, whatever is missing from the record.
    #[must_use]
    pub fn of(record: &'a RunRecord) -> Self {
        let plan = &record.plan;
        let mut summary = Self {
            throng_version: &record.throng_version,
            started_at: &record.started_at,
            duration_ns: record.duration_ns,
            trials_planned: record.trials_planned,
            trials_made: 0,
            interrupted: record.interrupted,
            baseline: target_name(plan, plan.baseline),
            answer: Vec::new(),
            held_to_one_cpu: held_to_one_cpu(record),
            disturbed: disturbed::of(record),
            remarks: checks::remarks(record),
            groups: groups(record),
            tables: backlog::tables(record),
            multiplexers: accept::tables(record),
            fanouts: fanout::tables(record),
            holds: hold::rows(record),
            findings: findings::found(record),
            slowest: slowest::slowest(record),
            unseen: unseen(record),
            plan,
            network: &record.network,
            machine: &record.machine,
        };
        summary.trials_made = summary.counts().map(TrialCounts::made).sum();
        summary.answer = answer::sentences(&summary);
        summary
    }

    /// Whether trials that the plan asks for are missing.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.trials_made < self.trials_planned
    }

    /// The figure by which its targets are ordered and compared.
    pub(crate) fn compared(&self) -> Compared {
        compared(self.plan)
    }

    /// How the trials of each row ended, whichever the experiment.
    pub(crate) fn counts(&self) -> impl Iterator<Item = &TrialCounts> {
        let of_tables = self.tables.iter().flat_map(|table| &table.rows);
        let of_groups = self.rows().map(|row| &row.trials);
        let of_multiplexers = self.multiplexers.iter().flat_map(|table| &table.rows);
        of_groups
            .chain(of_tables.map(|row| &row.trials))
            .chain(of_multiplexers.map(|row| &row.trials))
            .chain(crowd::crowds(self).map(|row| &row.trials))
    }

    /// Every row of every group.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

/// The figure by which targets are ordered and compared: the settings of a plan differ in how fast, but not in how they are paced.
pub(crate) fn compared(plan: &Plan) -> Compared {
    let first = plan.settings.first();
    let exchange = first.and_then(|setting| setting.phases.exchange());
    match exchange.map(|asked| &asked.pacing) {
        Some(Pacing::Open { .. }) => Compared::LatencyP99,
        Some(Pacing::Closed { .. } | Pacing::Lockstep { .. }) | None => Compared::MessagesPerSecond,
    }
}

/// Name of the target at `index`, and a plain word where a damaged record has no such target.
pub(crate) fn target_name(plan: &Plan, index: u32) -> &str {
    plan.targets
        .get(index as usize)
        .map_or("unknown target", |target| target.name.as_str())
}

/// Workers that were asked for are the user's own choice.
fn held_to_one_cpu(record: &RunRecord) -> Vec<&str> {
    let has_one_loop = |index: usize| {
        let mut trials = record
            .counted()
            .filter(|trial| trial.target as usize == index)
            .peekable();
        trials.peek().is_some()
            && trials.all(|trial| {
                let setting = record.plan.settings.get(trial.setting as usize);
                trial.workers == Some(1) && setting.is_some_and(|setting| setting.workers.is_none())
            })
    };
    let targets = record.plan.targets.iter().enumerate();
    targets
        .filter(|(_, target)| target.uses_every_cpu && record.machine.cpus_online > 1)
        .filter(|(index, _)| has_one_loop(*index))
        .map(|(_, target)| target.name.as_str())
        .collect()
}

impl TrialCounts {
    /// What figures carry that are those of a disturbed machine, be it in one of their trials.
    pub(crate) fn mark(&self) -> &'static str {
        if self.disturbed > 0 { "~ " } else { "" }
    }

    /// Those that ran to their end, could not run, or need not.
    fn made(&self) -> u32 {
        self.valid + self.qualified + self.partial + self.invalid + self.failed + self.spared
    }
}

/// A row for each target at each setting; none of an experiment that has rows of its own.
fn groups(record: &RunRecord) -> Vec<Group<'_>> {
    let plan = &record.plan;
    if !matches!(plan.experiment, Experiment::Echo | Experiment::Churn) {
        return Vec::new();
    }
    let compared = compared(plan);
    (0..)
        .zip(&plan.settings)
        .map(|(index, setting)| Group {
            setting: index,
            heading: setting::heading(setting),
            connections: setting.connections,
            swept: &setting.swept,
            rows: ordered(row::rows(record, index, compared), compared),
        })
        .collect()
}

fn unseen(record: &RunRecord) -> Vec<Unseen<'_>> {
    let mut reasons: Vec<Unseen<'_>> = Vec::new();
    for reason in record.counted().flat_map(|trial| &trial.unseen) {
        match reasons.iter_mut().find(|known| known.reason == reason) {
            Some(known) => known.trials += 1,
            None => reasons.push(Unseen { reason, trials: 1 }),
        }
    }
    reasons
}

fn ordered(mut rows: Vec<Row>, compared: Compared) -> Vec<Row> {
    // Less is better in `key`; a stable sort keeps the plan's order among equals.
    let key = |row: &Row| {
        let figure = row.figure(compared)?;
        Some(match compared {
            Compared::MessagesPerSecond => -figure,
            Compared::LatencyP99 => figure,
        })
    };
    rows.sort_by(|one, other| {
        let figures = |row| key(row).unwrap_or(f64::INFINITY);
        one.standing
            .cmp(&other.standing)
            .then(figures(one).total_cmp(&figures(other)))
    });
    let mut leader: Option<(u32, Option<Estimate>)> = None;
    let ranked = rows
        .iter_mut()
        .filter(|row| row.standing == Standing::Ranked);
    for (place, row) in (1..).zip(ranked) {
        let rate = row.messages_per_second;
        let rate = rate.filter(|_| compared == Compared::MessagesPerSecond);
        let ties = |(_, of_leader): &(u32, Option<Estimate>)| {
            of_leader.zip(rate).is_some_and(|(a, b)| a.overlaps(&b))
        };
        let leading = leader.filter(ties).unwrap_or((place, rate));
        row.rank = Some(leading.0);
        leader = Some(leading);
    }
    rows
}
