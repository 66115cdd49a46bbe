//! The figures of a trial of the fan-out experiment.
//!
//! Left out on purpose: the latencies by index but for the first and the last tenth. They are in the record, up to 128 slices a phase.

use serde::Serialize;
use throng_record::{LinePhase, Phases, RunRecord, SustainedPhase, Trial};

use super::phases::costs_of;
use super::quantiles;
use crate::crowd;
use crate::fanout::order;
use crate::phases::PhaseKind;
use crate::rate;

/// The columns.
#[derive(Default, Serialize)]
pub(super) struct Figures {
    connected: Option<u32>,
    connects_per_second: Option<f64>,
    connect_latency_ns_p50: Option<u64>,
    connect_latency_ns_p99: Option<u64>,
    connect_latency_ns_max: Option<u64>,
    syn_retransmissions: Option<u64>,
    stopped_by: String,
    connect_duration_ns: Option<u64>,
    connect_window_ns: Option<u64>,
    connect_generator_user_ns: Option<u64>,
    connect_generator_system_ns: Option<u64>,
    connect_generator_cpu_ns: Option<u64>,
    connect_server_user_ns: Option<u64>,
    connect_server_system_ns: Option<u64>,
    connect_server_cpu_ns: Option<u64>,
    connect_server_threads: Option<u32>,
    connect_server_rss_bytes: Option<u64>,
    acknowledge_duration_ns: Option<u64>,
    acknowledge_window_ns: Option<u64>,
    acknowledge_generator_user_ns: Option<u64>,
    acknowledge_generator_system_ns: Option<u64>,
    acknowledge_generator_cpu_ns: Option<u64>,
    acknowledge_server_user_ns: Option<u64>,
    acknowledge_server_system_ns: Option<u64>,
    acknowledge_server_cpu_ns: Option<u64>,
    acknowledge_server_threads: Option<u32>,
    acknowledge_server_rss_bytes: Option<u64>,
    acknowledge_due: Option<u32>,
    acknowledge_received: Option<u32>,
    acknowledge_latency_ns_p50: Option<u64>,
    acknowledge_latency_ns_p99: Option<u64>,
    acknowledge_latency_ns_max: Option<u64>,
    acknowledge_slowest_connection: Option<u32>,
    acknowledge_first_tenth_latency_ns_mean: Option<f64>,
    acknowledge_last_tenth_latency_ns_mean: Option<f64>,
    speaker: Option<u32>,
    put_duration_ns: Option<u64>,
    get_duration_ns: Option<u64>,
    get_window_ns: Option<u64>,
    get_generator_user_ns: Option<u64>,
    get_generator_system_ns: Option<u64>,
    get_generator_cpu_ns: Option<u64>,
    get_server_user_ns: Option<u64>,
    get_server_system_ns: Option<u64>,
    get_server_cpu_ns: Option<u64>,
    get_server_threads: Option<u32>,
    get_server_rss_bytes: Option<u64>,
    get_due: Option<u32>,
    get_received: Option<u32>,
    get_latency_ns_p50: Option<u64>,
    get_latency_ns_p99: Option<u64>,
    get_latency_ns_max: Option<u64>,
    get_slowest_connection: Option<u32>,
    get_first_tenth_latency_ns_mean: Option<f64>,
    get_last_tenth_latency_ns_mean: Option<f64>,
    sustain_duration_ns: Option<u64>,
    sustain_window_ns: Option<u64>,
    sustain_generator_cpu_ns: Option<u64>,
    sustain_server_cpu_ns: Option<u64>,
    sustain_sent: Option<u64>,
    sustain_deliveries: Option<u64>,
    sustain_missing: Option<u64>,
    sustain_deliveries_per_second: Option<f64>,
    sustain_rate_kept_share: Option<f64>,
    sustain_latency_ns_p50: Option<u64>,
    sustain_latency_ns_p99: Option<u64>,
    sustain_latency_ns_max: Option<u64>,
    sustain_scheduling_error_ns_p99: Option<u64>,
    server_pss_connected_bytes: Option<u64>,
    errors: String,
    findings: String,
}

pub(super) fn figures(_: &RunRecord, trial: &Trial) -> Figures {
    let mut figures = Figures {
        connects_per_second: crowd::connects_per_second(trial),
        server_pss_connected_bytes: trial
            .server
            .as_ref()
            .and_then(|server| server.memory_connected.pss_bytes),
        errors: super::errors(trial),
        findings: super::findings(trial),
        ..Figures::default()
    };
    if let Some(phase) = trial.phases.connect() {
        figures.connected = Some(phase.connected);
        figures.syn_retransmissions = Some(phase.syn_retransmissions);
        figures.stopped_by = crowd::stop_words(phase).unwrap_or_default();
        [
            figures.connect_latency_ns_p50,
            figures.connect_latency_ns_p99,
            figures.connect_latency_ns_max,
        ] = quantiles(&phase.latency);
    }
    fill_costs(&mut figures, trial);
    fill_lines(&mut figures, &trial.phases, trial.job.fleet.connections);
    figures.speaker = trial.phases.put().and_then(|put| put.speaker);
    if let Some(phase) = trial.phases.sustained() {
        fill_sustained(&mut figures, phase);
        figures.sustain_rate_kept_share = rate::kept_share(trial);
    }
    figures
}

fn fill_costs(figures: &mut Figures, trial: &Trial) {
    use PhaseKind::{Acknowledge, Connect, Get, Put, Sustain};
    figures.connect_duration_ns = Connect.duration_ns(trial);
    figures.acknowledge_duration_ns = Acknowledge.duration_ns(trial);
    figures.put_duration_ns = Put.duration_ns(trial);
    figures.get_duration_ns = Get.duration_ns(trial);
    figures.sustain_duration_ns = Sustain.duration_ns(trial);
    let costs = costs_of(Connect, trial);
    figures.connect_window_ns = costs.window_ns;
    [
        figures.connect_generator_user_ns,
        figures.connect_generator_system_ns,
        figures.connect_generator_cpu_ns,
    ] = costs.generator;
    [
        figures.connect_server_user_ns,
        figures.connect_server_system_ns,
        figures.connect_server_cpu_ns,
    ] = costs.server;
    (
        figures.connect_server_threads,
        figures.connect_server_rss_bytes,
    ) = costs.at_end;
    let costs = costs_of(Acknowledge, trial);
    figures.acknowledge_window_ns = costs.window_ns;
    [
        figures.acknowledge_generator_user_ns,
        figures.acknowledge_generator_system_ns,
        figures.acknowledge_generator_cpu_ns,
    ] = costs.generator;
    [
        figures.acknowledge_server_user_ns,
        figures.acknowledge_server_system_ns,
        figures.acknowledge_server_cpu_ns,
    ] = costs.server;
    (
        figures.acknowledge_server_threads,
        figures.acknowledge_server_rss_bytes,
    ) = costs.at_end;
    let costs = costs_of(Get, trial);
    figures.get_window_ns = costs.window_ns;
    [
        figures.get_generator_user_ns,
        figures.get_generator_system_ns,
        figures.get_generator_cpu_ns,
    ] = costs.generator;
    [
        figures.get_server_user_ns,
        figures.get_server_system_ns,
        figures.get_server_cpu_ns,
    ] = costs.server;
    (figures.get_server_threads, figures.get_server_rss_bytes) = costs.at_end;
    let costs = costs_of(Sustain, trial);
    figures.sustain_window_ns = costs.window_ns;
    [.., figures.sustain_generator_cpu_ns] = costs.generator;
    [.., figures.sustain_server_cpu_ns] = costs.server;
}

fn fill_lines(figures: &mut Figures, phases: &Phases, connections: u32) {
    if let Some(phase) = phases.greeting() {
        figures.acknowledge_due = Some(phase.due);
        figures.acknowledge_received = Some(phase.received);
        [
            figures.acknowledge_latency_ns_p50,
            figures.acknowledge_latency_ns_p99,
            figures.acknowledge_latency_ns_max,
        ] = quantiles(&phase.latency);
        figures.acknowledge_slowest_connection = phase.slowest.first().map(|slow| slow.connection);
        [
            figures.acknowledge_first_tenth_latency_ns_mean,
            figures.acknowledge_last_tenth_latency_ns_mean,
        ] = tenths(phase, connections);
    }
    if let Some(phase) = phases.put().map(|put| &put.line) {
        figures.get_due = Some(phase.due);
        figures.get_received = Some(phase.received);
        [
            figures.get_latency_ns_p50,
            figures.get_latency_ns_p99,
            figures.get_latency_ns_max,
        ] = quantiles(&phase.latency);
        figures.get_slowest_connection = phase.slowest.first().map(|slow| slow.connection);
        [
            figures.get_first_tenth_latency_ns_mean,
            figures.get_last_tenth_latency_ns_mean,
        ] = tenths(phase, connections);
    }
}

fn fill_sustained(figures: &mut Figures, phase: &SustainedPhase) {
    figures.sustain_sent = Some(phase.sent);
    figures.sustain_deliveries = Some(phase.deliveries);
    figures.sustain_missing = Some(phase.missing);
    figures.sustain_deliveries_per_second = Some(phase.deliveries_per_second);
    [
        figures.sustain_latency_ns_p50,
        figures.sustain_latency_ns_p99,
        figures.sustain_latency_ns_max,
    ] = quantiles(&phase.latency);
    [_, figures.sustain_scheduling_error_ns_p99, _] = quantiles(&phase.scheduling_error);
}

/// Mean latency of the first and of the last tenth of the connections; nothing of a tenth to which the line did not come.
fn tenths(phase: &LinePhase, connections: u32) -> [Option<f64>; 2] {
    let parts = order::parts(&phase.by_index, connections);
    let last = connections - connections / 10;
    let first = parts.first().filter(|part| part.first < connections / 10);
    let last = parts.last().filter(|part| part.last >= last);
    [first, last].map(|part| part.map(|part| part.latency_ns_mean))
}
