//! The figures of a trial of the churn experiment.
//!
//! `connections` before them are the clients.

use serde::Serialize;
use throng_record::{ConnectionsPhase, ErrorKind, ExchangePhase, Pacing, RunRecord, Trial};

use super::quantiles;
use crate::backlog::cell::{by_kind, errors};
use crate::rate;

/// The columns.
#[derive(Default, Serialize)]
pub(super) struct Figures {
    workload: &'static str,
    closing: &'static str,
    rate_asked_per_second: Option<f64>,
    rate_kept_share: Option<f64>,
    window_ns: Option<u64>,
    cycles: Option<u64>,
    cycles_per_second: Option<f64>,
    warmup_cycles: Option<u64>,
    latency_ns_p50: Option<u64>,
    latency_ns_p99: Option<u64>,
    latency_ns_max: Option<u64>,
    connects_begun: Option<u64>,
    connected: Option<u64>,
    connect_latency_ns_p50: Option<u64>,
    connect_latency_ns_p99: Option<u64>,
    connect_latency_ns_max: Option<u64>,
    first_byte_latency_ns_p50: Option<u64>,
    first_byte_latency_ns_p99: Option<u64>,
    first_byte_latency_ns_max: Option<u64>,
    syn_retransmissions: Option<u64>,
    data_retransmissions: Option<u64>,
    scheduling_error_ns_p99: Option<u64>,
    cycles_waited_for_client: Option<u64>,
    cycles_due_unsent: Option<u64>,
    refused: u64,
    reset: u64,
    closed: u64,
    timed_out: u64,
    other_errors: u64,
    ports_exhausted: u64,
    time_wait_sockets: Option<i64>,
    time_wait_overflows: Option<i64>,
}

pub(super) fn figures(record: &RunRecord, trial: &Trial) -> Figures {
    let errors = errors(trial);
    let failures = by_kind(&errors);
    let ports_exhausted = errors.counts.get(&ErrorKind::PortsExhausted);
    let setting = record.plan.settings.get(trial.setting as usize);
    let mut figures = Figures {
        workload: setting.map_or("", |setting| setting.workload.name()),
        closing: trial.job.fleet.closing.name(),
        refused: failures.refused,
        reset: failures.reset,
        closed: failures.closed,
        timed_out: failures.timed_out,
        other_errors: failures.without_column(),
        ports_exhausted: ports_exhausted.copied().unwrap_or(0),
        ..Figures::default()
    };
    let counters = &trial.kernel_counters;
    let counter = |name| {
        let change = counters.get(name).copied().unwrap_or(0);
        (!counters.is_empty()).then_some(change)
    };
    figures.time_wait_sockets = counter("Sockstat.TimeWait");
    figures.time_wait_overflows = counter("TcpExt.TCPTimeWaitOverflow");
    let pacing = trial.job.phases.exchange().map(|asked| &asked.pacing);
    if let Some(&Pacing::Open {
        rate_per_second, ..
    }) = pacing
    {
        figures.rate_asked_per_second = Some(rate_per_second);
        figures.rate_kept_share = rate::kept_share(trial);
    }
    if let Some(exchange) = trial.phases.exchange() {
        fill_exchange(&mut figures, exchange);
    }
    if let Some(connections) = trial.phases.connections() {
        fill_connections(&mut figures, connections);
    }
    figures
}

fn fill_exchange(figures: &mut Figures, exchange: &ExchangePhase) {
    figures.window_ns = Some(exchange.duration_ns);
    figures.cycles = Some(exchange.replies);
    figures.cycles_per_second = Some(exchange.replies_per_second);
    figures.warmup_cycles = Some(exchange.warmup_replies);
    [
        figures.latency_ns_p50,
        figures.latency_ns_p99,
        figures.latency_ns_max,
    ] = quantiles(&exchange.latency);
    if let Some(error) = &exchange.scheduling_error {
        figures.scheduling_error_ns_p99 = Some(error.p99_ns);
        figures.cycles_waited_for_client = Some(exchange.waited_for_connection);
        figures.cycles_due_unsent = Some(exchange.due_unsent);
    }
}

fn fill_connections(figures: &mut Figures, phase: &ConnectionsPhase) {
    figures.connects_begun = Some(phase.begun);
    figures.connected = Some(phase.connected);
    figures.syn_retransmissions = Some(phase.syn_retransmissions);
    figures.data_retransmissions = Some(phase.data_retransmissions);
    [
        figures.connect_latency_ns_p50,
        figures.connect_latency_ns_p99,
        figures.connect_latency_ns_max,
    ] = quantiles(&phase.connect_latency);
    [
        figures.first_byte_latency_ns_p50,
        figures.first_byte_latency_ns_p99,
        figures.first_byte_latency_ns_max,
    ] = quantiles(&phase.first_byte_latency);
}
