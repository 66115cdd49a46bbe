//! The figures of a trial of the backlog experiment.
//!
//! `connections` before them are the clients.

use serde::Serialize;
use throng_record::{ConnectionsPhase, Outcome, RunRecord, TargetKind, Trial};

use super::quantiles;
use crate::backlog::cell::{
    OneTrial, amplification, backlog_in_force, by_kind, errors, is_as_asked,
};
use crate::backlog::published;
use crate::backlog::requests_each;

/// The columns.
#[derive(Default, Serialize)]
pub(super) struct Figures {
    requests_each: Option<u64>,
    backlog_asked: Option<u32>,
    service_time_ns: Option<u64>,
    duration_ns: Option<u64>,
    duration_least_ns: Option<u64>,
    amplification: Option<f64>,
    published_times_ms: String,
    connects_begun: Option<u64>,
    connected: Option<u64>,
    answered: Option<u64>,
    refused: u64,
    reset: u64,
    closed: u64,
    timed_out: u64,
    other_errors: u64,
    connect_latency_ns_p50: Option<u64>,
    connect_latency_ns_p99: Option<u64>,
    connect_latency_ns_max: Option<u64>,
    first_byte_latency_ns_p50: Option<u64>,
    first_byte_latency_ns_p99: Option<u64>,
    first_byte_latency_ns_max: Option<u64>,
    reply_latency_ns_p50: Option<u64>,
    reply_latency_ns_p99: Option<u64>,
    reply_latency_ns_max: Option<u64>,
    listen_overflows: Option<u64>,
    listen_drops: Option<u64>,
    syn_cookies_sent: Option<u64>,
    syn_retransmissions: Option<u64>,
    syn_ack_retransmissions: Option<u64>,
    data_retransmissions: Option<u64>,
    accept_queue_max: Option<u64>,
    backlog_in_force: Option<u32>,
    connects_slow: Option<u64>,
    connects_slow_by_syn_retransmission: Option<u64>,
    first_bytes_slow: Option<u64>,
    first_bytes_slow_by_final_ack: Option<u64>,
    first_bytes_slow_by_accept_queue: Option<u64>,
    first_bytes_slow_by_service: Option<u64>,
    not_explained: Option<u64>,
    findings: String,
}

pub(super) fn figures(record: &RunRecord, trial: &Trial) -> Figures {
    let failures = by_kind(&errors(trial));
    let mut figures = Figures {
        refused: failures.refused,
        reset: failures.reset,
        closed: failures.closed,
        timed_out: failures.timed_out,
        other_errors: failures.without_column(),
        findings: super::findings(trial),
        ..Figures::default()
    };
    fill_asked(&mut figures, record, trial);
    if let Some(phase) = trial.phases.connections() {
        fill_phase(&mut figures, phase);
        if trial.outcome == Outcome::Completed {
            fill_whole(&mut figures, phase);
        }
    }
    fill_account(&mut figures, record, trial);
    figures
}

fn fill_asked(figures: &mut Figures, record: &RunRecord, trial: &Trial) {
    let Some(setting) = record.plan.settings.get(trial.setting as usize) else {
        return;
    };
    figures.requests_each = requests_each(setting);
    figures.service_time_ns = setting.service_time_ns;
    let Some(target) = record.plan.targets.get(trial.target as usize) else {
        return;
    };
    figures.backlog_asked = target.takes_backlog().then_some(setting.backlog);
    let is_as_asked = is_as_asked(&[trial], setting.backlog);
    if let Some(published) = published::beside(target, setting).filter(|_| is_as_asked) {
        let times = published.row.times_ms.iter();
        let times: Vec<String> = times.map(ToString::to_string).collect();
        figures.published_times_ms = times.join("; ");
    }
}

/// What a trial that did not come to its end has not: it would be that of fewer requests.
fn fill_whole(figures: &mut Figures, phase: &ConnectionsPhase) {
    figures.duration_ns = Some(phase.duration_ns);
    figures.duration_least_ns = phase.duration_least_ns;
    figures.amplification = amplification(Some(phase.duration_ns as f64), phase.duration_least_ns);
}

fn fill_phase(figures: &mut Figures, phase: &ConnectionsPhase) {
    figures.connects_begun = Some(phase.begun);
    figures.connected = Some(phase.connected);
    figures.answered = Some(phase.answered);
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
    [
        figures.reply_latency_ns_p50,
        figures.reply_latency_ns_p99,
        figures.reply_latency_ns_max,
    ] = quantiles(&phase.reply_latency);
    let slow = &phase.attribution;
    figures.connects_slow = Some(slow.connects_slow);
    figures.connects_slow_by_syn_retransmission = Some(slow.connects_by_syn_retransmission);
    figures.first_bytes_slow = Some(slow.first_bytes_slow);
    figures.first_bytes_slow_by_final_ack = Some(slow.first_bytes_by_final_ack);
    figures.first_bytes_slow_by_accept_queue = Some(slow.first_bytes_by_accept_queue);
    figures.first_bytes_slow_by_service = Some(slow.first_bytes_by_service);
    figures.not_explained = Some(slow.not_explained);
}

fn fill_account(figures: &mut Figures, record: &RunRecord, trial: &Trial) {
    let target = record.plan.targets.get(trial.target as usize);
    let one = OneTrial {
        trial,
        is_running: target.is_some_and(|target| target.kind == TargetKind::Running),
    };
    figures.listen_overflows = one.of_listener("TcpExt.ListenOverflows");
    figures.listen_drops = one.of_listener("TcpExt.ListenDrops");
    figures.syn_cookies_sent = one.of_listener("TcpExt.SyncookiesSent");
    figures.syn_retransmissions = one.syn_retransmissions();
    figures.syn_ack_retransmissions = one.syn_ack_retransmissions();
    figures.data_retransmissions = one.data_retransmissions();
    figures.accept_queue_max = one.accept_queue_max();
    figures.backlog_in_force = backlog_in_force(trial);
}
