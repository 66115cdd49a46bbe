//! The figures of a trial of the hold experiment.
//!
//! Left out on purpose: the connects over time. They are in the record.

use serde::Serialize;
use throng_record::{KernelMemoryRecord, RunRecord, Trial};

use super::phases::costs_of;
use super::quantiles;
use crate::crowd;
use crate::hold::curve::{rate_first, rate_last};
use crate::hold::lost;
use crate::phases::PhaseKind;

/// The columns.
#[derive(Default, Serialize)]
pub(super) struct Figures {
    connected: Option<u32>,
    connect_duration_ns: Option<u64>,
    opened_ns: Option<u64>,
    connects_per_second: Option<f64>,
    connects_per_second_first: Option<f64>,
    connects_per_second_last: Option<f64>,
    connect_latency_ns_p50: Option<u64>,
    connect_latency_ns_p99: Option<u64>,
    connect_latency_ns_max: Option<u64>,
    syn_retransmissions: Option<u64>,
    stopped_at_connection: Option<u32>,
    stopped_by: String,
    held_ns: Option<u64>,
    lost: Option<u64>,
    pinged: Option<u32>,
    answered: Option<u32>,
    not_pinged: Option<u32>,
    ping_duration_ns: Option<u64>,
    ping_latency_ns_p50: Option<u64>,
    ping_latency_ns_p99: Option<u64>,
    ping_latency_ns_max: Option<u64>,
    close_duration_ns: Option<u64>,
    connect_window_ns: Option<u64>,
    connect_generator_user_ns: Option<u64>,
    connect_generator_system_ns: Option<u64>,
    connect_generator_cpu_ns: Option<u64>,
    connect_server_user_ns: Option<u64>,
    connect_server_system_ns: Option<u64>,
    connect_server_cpu_ns: Option<u64>,
    connect_server_threads: Option<u32>,
    connect_server_rss_bytes: Option<u64>,
    hold_window_ns: Option<u64>,
    hold_generator_user_ns: Option<u64>,
    hold_generator_system_ns: Option<u64>,
    hold_generator_cpu_ns: Option<u64>,
    hold_server_user_ns: Option<u64>,
    hold_server_system_ns: Option<u64>,
    hold_server_cpu_ns: Option<u64>,
    hold_server_threads: Option<u32>,
    hold_server_rss_bytes: Option<u64>,
    ping_window_ns: Option<u64>,
    ping_generator_user_ns: Option<u64>,
    ping_generator_system_ns: Option<u64>,
    ping_generator_cpu_ns: Option<u64>,
    ping_server_user_ns: Option<u64>,
    ping_server_system_ns: Option<u64>,
    ping_server_cpu_ns: Option<u64>,
    ping_server_threads: Option<u32>,
    ping_server_rss_bytes: Option<u64>,
    close_window_ns: Option<u64>,
    close_generator_user_ns: Option<u64>,
    close_generator_system_ns: Option<u64>,
    close_generator_cpu_ns: Option<u64>,
    close_server_user_ns: Option<u64>,
    close_server_system_ns: Option<u64>,
    close_server_cpu_ns: Option<u64>,
    close_server_threads: Option<u32>,
    close_server_rss_bytes: Option<u64>,
    generator_bytes_per_connection: Option<f64>,
    kernel_bytes_per_connection: Option<f64>,
    kernel_slab_before_bytes: Option<u64>,
    kernel_slab_connected_bytes: Option<u64>,
    kernel_slab_after_bytes: Option<u64>,
    kernel_socket_buffers_before_bytes: Option<u64>,
    kernel_socket_buffers_connected_bytes: Option<u64>,
    kernel_socket_buffers_after_bytes: Option<u64>,
    kernel_stack_before_bytes: Option<u64>,
    kernel_stack_connected_bytes: Option<u64>,
    kernel_stack_after_bytes: Option<u64>,
    available_before_bytes: Option<u64>,
    available_connected_bytes: Option<u64>,
    available_after_bytes: Option<u64>,
    errors: String,
    findings: String,
}

pub(super) fn figures(_: &RunRecord, trial: &Trial) -> Figures {
    let mut figures = Figures {
        connects_per_second: crowd::connects_per_second(trial),
        generator_bytes_per_connection: trial
            .generator
            .as_ref()
            .and_then(|side| side.memory_per_connection_bytes),
        close_duration_ns: trial.phases.close().map(|phase| phase.duration_ns),
        errors: super::errors(trial),
        findings: super::findings(trial),
        ..Figures::default()
    };
    fill_costs(&mut figures, trial);
    if let Some(phase) = trial.phases.connect() {
        figures.connected = Some(phase.connected);
        figures.connect_duration_ns = Some(phase.duration_ns);
        figures.opened_ns = Some(phase.opened_ns).filter(|&time_ns| time_ns > 0);
        figures.connects_per_second_first = rate_first(phase);
        figures.connects_per_second_last = rate_last(phase);
        figures.syn_retransmissions = Some(phase.syn_retransmissions);
        figures.stopped_at_connection = phase.stop.as_ref().map(|stop| stop.connection);
        figures.stopped_by = crowd::stop_words(phase).unwrap_or_default();
        [
            figures.connect_latency_ns_p50,
            figures.connect_latency_ns_p99,
            figures.connect_latency_ns_max,
        ] = quantiles(&phase.latency);
    }
    if let Some(hold) = trial.phases.hold() {
        figures.held_ns = Some(hold.duration_ns);
        figures.lost = Some(lost(&trial.phases));
    }
    if let Some(ping) = trial.phases.ping() {
        figures.pinged = Some(ping.pinged);
        figures.answered = Some(ping.answered);
        figures.not_pinged = Some(ping.not_pinged);
        figures.ping_duration_ns = PhaseKind::Ping.duration_ns(trial);
        [
            figures.ping_latency_ns_p50,
            figures.ping_latency_ns_p99,
            figures.ping_latency_ns_max,
        ] = quantiles(&ping.latency);
    }
    if let Some(memory) = &trial.kernel_memory {
        fill_kernel(&mut figures, memory);
    }
    figures
}

fn fill_costs(figures: &mut Figures, trial: &Trial) {
    use PhaseKind::{Close, Connect, Hold, Ping};
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
    let costs = costs_of(Hold, trial);
    figures.hold_window_ns = costs.window_ns;
    [
        figures.hold_generator_user_ns,
        figures.hold_generator_system_ns,
        figures.hold_generator_cpu_ns,
    ] = costs.generator;
    [
        figures.hold_server_user_ns,
        figures.hold_server_system_ns,
        figures.hold_server_cpu_ns,
    ] = costs.server;
    (figures.hold_server_threads, figures.hold_server_rss_bytes) = costs.at_end;
    let costs = costs_of(Ping, trial);
    figures.ping_window_ns = costs.window_ns;
    [
        figures.ping_generator_user_ns,
        figures.ping_generator_system_ns,
        figures.ping_generator_cpu_ns,
    ] = costs.generator;
    [
        figures.ping_server_user_ns,
        figures.ping_server_system_ns,
        figures.ping_server_cpu_ns,
    ] = costs.server;
    (figures.ping_server_threads, figures.ping_server_rss_bytes) = costs.at_end;
    let costs = costs_of(Close, trial);
    figures.close_window_ns = costs.window_ns;
    [
        figures.close_generator_user_ns,
        figures.close_generator_system_ns,
        figures.close_generator_cpu_ns,
    ] = costs.generator;
    [
        figures.close_server_user_ns,
        figures.close_server_system_ns,
        figures.close_server_cpu_ns,
    ] = costs.server;
    (figures.close_server_threads, figures.close_server_rss_bytes) = costs.at_end;
}

fn fill_kernel(figures: &mut Figures, memory: &KernelMemoryRecord) {
    let (before, connected, after) = (&memory.before, &memory.connected, memory.after.as_ref());
    figures.kernel_bytes_per_connection = Some(memory.bytes_per_connection);
    figures.kernel_slab_before_bytes = Some(before.slab_bytes);
    figures.kernel_slab_connected_bytes = Some(connected.slab_bytes);
    figures.kernel_slab_after_bytes = after.map(|after| after.slab_bytes);
    figures.kernel_socket_buffers_before_bytes = Some(before.socket_buffers_bytes);
    figures.kernel_socket_buffers_connected_bytes = Some(connected.socket_buffers_bytes);
    figures.kernel_socket_buffers_after_bytes = after.map(|after| after.socket_buffers_bytes);
    figures.kernel_stack_before_bytes = Some(before.kernel_stack_bytes);
    figures.kernel_stack_connected_bytes = Some(connected.kernel_stack_bytes);
    figures.kernel_stack_after_bytes = after.map(|after| after.kernel_stack_bytes);
    figures.available_before_bytes = Some(before.available_bytes);
    figures.available_connected_bytes = Some(connected.available_bytes);
    figures.available_after_bytes = after.map(|after| after.available_bytes);
}
