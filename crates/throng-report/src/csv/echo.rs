//! The figures of a trial of the echo experiment.

use serde::Serialize;
use throng_record::{Backend, Histogram, Pacing, Protocol, RunRecord, Trial};

use crate::rate;

/// The columns.
#[derive(Default, Serialize)]
pub(super) struct Figures {
    pacing: &'static str,
    outstanding_per_connection: u32,
    rate_asked_per_second: Option<f64>,
    rate_kept_share: Option<f64>,
    message_size_bytes: u64,
    backend: &'static str,
    shards: u32,
    window_ns: Option<u64>,
    messages_sent: Option<u64>,
    messages_replied: Option<u64>,
    messages_per_second: Option<f64>,
    latency_ns_mean: Option<f64>,
    latency_ns_p50: Option<u64>,
    latency_ns_p90: Option<u64>,
    latency_ns_p99: Option<u64>,
    latency_ns_p99_9: Option<u64>,
    latency_ns_p99_99: Option<u64>,
    latency_ns_max: Option<u64>,
    scheduling_error_ns_p99: Option<u64>,
    messages_waited_for_connection: Option<u64>,
    messages_due_unsent: Option<u64>,
    connections_opened: Option<u32>,
    connections_served: Option<u32>,
    fairness_jain: Option<f64>,
    replies_per_connection_p10: Option<u32>,
    replies_per_connection_p90: Option<u32>,
    connect_duration_ns: Option<u64>,
    connect_latency_ns_p50: Option<u64>,
    connect_latency_ns_p99: Option<u64>,
    errors: u64,
}

pub(super) fn figures(_: &RunRecord, trial: &Trial) -> Figures {
    let mut figures = Figures::default();
    fill_circumstances(&mut figures, trial);
    fill_phases(&mut figures, trial);
    figures
}

fn fill_circumstances(line: &mut Figures, trial: &Trial) {
    line.rate_kept_share = rate::kept_share(trial);
    line.backend = Backend::name(trial.job.fleet.backend);
    line.shards = trial.job.fleet.shards;
    let Some(exchange) = trial.job.phases.exchange() else {
        return;
    };
    line.outstanding_per_connection = exchange.pacing.outstanding();
    (line.pacing, line.rate_asked_per_second) = match exchange.pacing {
        Pacing::Closed { .. } => ("closed", None),
        Pacing::Lockstep { .. } => ("lockstep", None),
        Pacing::Open {
            rate_per_second, ..
        } => ("open", Some(rate_per_second)),
    };
    line.message_size_bytes = match &exchange.protocol {
        Protocol::Echo { size_bytes } => u64::from(*size_bytes),
        Protocol::Request { send, .. } => send.len() as u64,
    };
}

fn fill_phases(line: &mut Figures, trial: &Trial) {
    if let Some(connect) = trial.phases.connect() {
        line.connections_opened = Some(connect.connected);
        line.connect_duration_ns = Some(connect.duration_ns);
        if connect.latency.count > 0 {
            line.connect_latency_ns_p50 = Some(connect.latency.p50_ns);
            line.connect_latency_ns_p99 = Some(connect.latency.p99_ns);
        }
        line.errors += connect.errors.total();
    }
    if let Some(exchange) = trial.phases.exchange() {
        line.window_ns = Some(exchange.duration_ns);
        line.messages_sent = Some(exchange.sent);
        line.messages_replied = Some(exchange.replies);
        line.messages_per_second = Some(exchange.replies_per_second);
        line.scheduling_error_ns_p99 = exchange.scheduling_error.as_ref().map(|h| h.p99_ns);
        line.messages_waited_for_connection = exchange
            .scheduling_error
            .as_ref()
            .map(|_| exchange.waited_for_connection);
        line.messages_due_unsent = exchange
            .scheduling_error
            .as_ref()
            .map(|_| exchange.due_unsent);
        line.connections_served = Some(exchange.connections_served);
        line.errors += exchange.errors.total();
        let steady = exchange.steady.as_ref();
        if let Some(each) = steady.and_then(|steady| steady.replies_per_connection) {
            line.fairness_jain = Some(each.fairness_jain);
            line.replies_per_connection_p10 = Some(each.p10);
            line.replies_per_connection_p90 = Some(each.p90);
        }
        fill_latency(line, &exchange.latency);
    }
    if let Some(close) = trial.phases.close() {
        line.errors += close.errors.total();
    }
}

fn fill_latency(line: &mut Figures, latency: &Histogram) {
    if latency.count == 0 {
        return;
    }
    line.latency_ns_mean = Some(latency.mean_ns);
    line.latency_ns_p50 = Some(latency.p50_ns);
    line.latency_ns_p90 = Some(latency.p90_ns);
    line.latency_ns_p99 = Some(latency.p99_ns);
    line.latency_ns_p99_9 = Some(latency.p99_9_ns);
    line.latency_ns_p99_99 = Some(latency.p99_99_ns);
    line.latency_ns_max = Some(latency.max_ns);
}
