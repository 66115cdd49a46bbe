//! One row of a backlog table from the trials of one target at one setting.

use throng_record::{
    Attribution, ConnectionsPhase, ErrorCounts, ErrorKind, Histogram, RunRecord, TargetKind, Trial,
};

use super::published;
use super::{Cell, Failures, KernelAccount, requests_each};
use crate::median;
use crate::merge::merged;
use crate::row::{answered_of, latency_summary, median_of};
use crate::summary::{Latency, Standing};
use crate::worth::{Sorted, Worth};

pub(super) fn of(record: &RunRecord, target: u32, setting: u32) -> Cell {
    let plan = &record.plan;
    let trials = Sorted::new(record, target, setting);
    let asked = &plan.settings[setting as usize];
    let record_of_target = plan.targets.get(target as usize);
    // Requests that failed are what is asked about: a trial with some of them stands in the row, and is not ranked.
    let basis: &Vec<&Trial> = &match trials.standing {
        Standing::Ranked | Standing::Qualified | Standing::Partial => trials.with_figures(),
        _ => Vec::new(),
    };
    let mut unreadable = Vec::new();
    let mut latency = |what: &str, pick: fn(&Trial) -> Option<&Histogram>| -> Option<Latency> {
        let found = merged(basis, pick).unwrap_or_else(|error| {
            unreadable.push(format!("{what}: {error}"));
            None
        });
        found.as_ref().map(latency_summary)
    };
    let connect_latency = latency("connect latency", |trial| {
        Some(&trial.phases.connections()?.connect_latency)
    });
    let first_byte_latency = latency("first-byte latency", |trial| {
        Some(&trial.phases.connections()?.first_byte_latency)
    });
    let reply_latency = latency("reply latency", |trial| {
        Some(&trial.phases.connections()?.reply_latency)
    });
    let duration_ns = median::estimate(&durations(basis.iter().copied()));
    let duration_least_ns = phases(basis).find_map(|phase| phase.duration_least_ns);
    let invalid = durations(trials.of_worth(Worth::Invalid));
    Cell {
        setting,
        clients: asked.connections,
        requests_each: requests_each(asked),
        standing: trials.standing,
        trials: trials.counts(plan.repeats),
        failed_checks: trials.failed_checks(),
        answered_of: answered_of(trials.of_worth(Worth::Partial)),
        duration_ns,
        invalid_duration_ns: match trials.standing {
            Standing::Invalid => median_of(invalid),
            _ => None,
        },
        duration_least_ns,
        amplification: amplification(duration_ns.map(|found| found.median), duration_least_ns),
        published: record_of_target
            .filter(|_| is_as_asked(&trials.all, asked.backlog))
            .and_then(|target| published::beside(target, asked)),
        connect_latency,
        first_byte_latency,
        reply_latency,
        requests: phases(basis).map(|phase| phase.begun).sum(),
        failures: failures(if basis.is_empty() { &trials.all } else { basis }),
        attribution: phases(basis)
            .map(|phase| phase.attribution)
            .fold(Attribution::default(), added),
        kernel: KernelAccount {
            backlog_in_force: trials.all.iter().find_map(|trial| backlog_in_force(trial)),
            ..account(
                basis,
                record_of_target.is_some_and(|target| target.kind == TargetKind::Running),
            )
        },
        unreadable,
    }
}

fn phases<'a>(trials: &[&'a Trial]) -> impl Iterator<Item = &'a ConnectionsPhase> {
    trials.iter().filter_map(|trial| trial.phases.connections())
}

fn durations<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<f64> {
    let of = |phase: &ConnectionsPhase| phase.duration_ns as f64;
    trials
        .filter_map(|trial| trial.phases.connections().map(of))
        .collect()
}

/// How many times the least possible time. Less than once is none: such a trial is over only because requests failed before they were
/// served.
pub(crate) fn amplification(duration_ns: Option<f64>, least_ns: Option<u64>) -> Option<f64> {
    let least_ns = least_ns.filter(|&least| least > 0)?;
    Some(duration_ns? / least_ns as f64).filter(|&times| times >= 1.0)
}

/// Failures of all these trials, by kind.
pub(crate) fn failures(trials: &[&Trial]) -> Failures {
    let mut all = ErrorCounts::default();
    for trial in trials {
        all.merge(&errors(trial));
    }
    by_kind(&all)
}

/// Failures of a trial, of whichever phase.
pub(crate) fn errors(trial: &Trial) -> ErrorCounts {
    trial.phases.errors()
}

pub(crate) fn by_kind(errors: &ErrorCounts) -> Failures {
    let mut failures = Failures::default();
    for (&kind, &count) in &errors.counts {
        *match kind {
            ErrorKind::ConnectRefused => &mut failures.refused,
            ErrorKind::Reset => &mut failures.reset,
            ErrorKind::ClosedEarly | ErrorKind::Truncated => &mut failures.closed,
            ErrorKind::ConnectTimedOut
            | ErrorKind::ReplyTimedOut
            | ErrorKind::ReplyStalled
            | ErrorKind::NotAcknowledged
            | ErrorKind::CloseTimedOut => &mut failures.timed_out,
            ErrorKind::PortsExhausted => &mut failures.no_port,
            ErrorKind::WrongBytes | ErrorKind::HttpStatus | ErrorKind::ExcessBytes => {
                &mut failures.wrong
            }
            ErrorKind::ConnectUnreachable
            | ErrorKind::DescriptorsExhausted
            | ErrorKind::NotDelivered
            | ErrorKind::DeliveredTwice
            | ErrorKind::Other => &mut failures.other,
        } += count;
    }
    failures
}

fn added(one: Attribution, other: Attribution) -> Attribution {
    Attribution {
        connects_slow: one.connects_slow + other.connects_slow,
        connects_by_syn_retransmission: one.connects_by_syn_retransmission
            + other.connects_by_syn_retransmission,
        connects_by_generator: one.connects_by_generator + other.connects_by_generator,
        first_bytes_slow: one.first_bytes_slow + other.first_bytes_slow,
        first_bytes_by_final_ack: one.first_bytes_by_final_ack + other.first_bytes_by_final_ack,
        first_bytes_by_accept_queue: one.first_bytes_by_accept_queue
            + other.first_bytes_by_accept_queue,
        first_bytes_by_service: one.first_bytes_by_service + other.first_bytes_by_service,
        not_explained: one.not_explained + other.not_explained,
    }
}

fn account(trials: &[&Trial], is_running: bool) -> KernelAccount {
    let all: Vec<OneTrial<'_>> = trials
        .iter()
        .map(|trial| OneTrial { trial, is_running })
        .collect();
    let median = |pick: &dyn Fn(&OneTrial<'_>) -> Option<u64>| {
        let counts = all.iter().filter_map(pick);
        median_of(counts.map(|count| count as f64))
    };
    let counter = |name| median(&|one| one.of_listener(name));
    KernelAccount {
        overflows: counter("TcpExt.ListenOverflows"),
        drops: counter("TcpExt.ListenDrops"),
        cookies_sent: counter("TcpExt.SyncookiesSent"),
        syn_retransmissions: median(&|one| one.syn_retransmissions()),
        syn_ack_retransmissions: median(&|one| one.syn_ack_retransmissions()),
        data_retransmissions: median(&|one| one.data_retransmissions()),
        accept_queue_max: median(&|one| one.accept_queue_max()),
        backlog_in_force: None,
    }
}

/// The backlog in force, as found: of which worth the trial is does not matter for it.
pub(crate) fn backlog_in_force(trial: &Trial) -> Option<u32> {
    let listeners = &trial.accept_queue.as_ref()?.listeners;
    listeners.first().map(|listener| listener.backlog)
}

/// Whether no trial is known to have had another backlog than was asked for.
pub(crate) fn is_as_asked(trials: &[&Trial], asked: u32) -> bool {
    let mut found = trials.iter().filter_map(|trial| backlog_in_force(trial));
    found.all(|found| found == asked)
}

/// The kernel's account of one trial.
pub(crate) struct OneTrial<'a> {
    pub(crate) trial: &'a Trial,
    /// Whether its server was there before the run, on this host or elsewhere.
    pub(crate) is_running: bool,
}

impl OneTrial<'_> {
    /// A counter of the listener's side. The record keeps those that changed; where others did, this one did not. Of a server that runs
    /// elsewhere the counters are not ours, and that it is here is known by its listener having been found.
    pub(crate) fn of_listener(&self, name: &str) -> Option<u64> {
        let counters = &self.trial.kernel_counters;
        let is_here = !self.is_running || self.trial.accept_queue.is_some();
        (is_here && !counters.is_empty())
            .then(|| counters.get(name).copied().unwrap_or_default())
            .and_then(|delta| u64::try_from(delta).ok())
    }

    pub(crate) fn syn_retransmissions(&self) -> Option<u64> {
        self.by_tcp_info(|phase| phase.syn_retransmissions)
    }

    pub(crate) fn data_retransmissions(&self) -> Option<u64> {
        self.by_tcp_info(|phase| phase.data_retransmissions)
    }

    /// Sums that lack connections would pass for whole ones.
    fn by_tcp_info(&self, pick: fn(&ConnectionsPhase) -> u64) -> Option<u64> {
        let phase = self.trial.phases.connections()?;
        (phase.without_tcp_info == 0).then(|| pick(phase))
    }

    pub(crate) fn syn_ack_retransmissions(&self) -> Option<u64> {
        let seen = self.trial.handshakes.as_ref()?;
        Some(seen.syn_ack_retransmissions)
    }

    /// All listeners of the port together where there are several.
    pub(crate) fn accept_queue_max(&self) -> Option<u64> {
        let queue = self.trial.accept_queue.as_ref()?;
        let together = queue.depths.iter().map(|sample| sample.depth).max();
        let longest = queue
            .listeners
            .iter()
            .map(|listener| listener.depth_max)
            .max();
        together.max(longest).map(u64::from)
    }
}
