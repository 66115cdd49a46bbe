//! The figures of a trial of the hold experiment.
//!
//! Left out on purpose: the connects over time. They are in the record.

use serde::Serialize;
use throng_record::{KernelMemoryRecord, RunRecord, Trial};

use super::fanout::latency;
use crate::crowd;
use crate::hold::curve::{rate_first, rate_last};

/// The columns.
#[derive(Default, Serialize)]
pub(super) struct Figures {
    connected: Option<u32>,
    connect_duration_ns: Option<u64>,
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
    ping_duration_ns: Option<u64>,
    ping_latency_ns_p50: Option<u64>,
    ping_latency_ns_p99: Option<u64>,
    ping_latency_ns_max: Option<u64>,
    close_duration_ns: Option<u64>,
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
        generator_bytes_per_connection: trial.generator_bytes_per_connection,
        close_duration_ns: trial.close.as_ref().map(|phase| phase.duration_ns),
        errors: super::errors(trial),
        findings: super::findings(trial),
        ..Figures::default()
    };
    if let Some(phase) = &trial.connect {
        figures.connected = Some(phase.connected);
        figures.connect_duration_ns = Some(phase.duration_ns);
        figures.connects_per_second_first = rate_first(phase);
        figures.connects_per_second_last = rate_last(phase);
        figures.syn_retransmissions = Some(phase.syn_retransmissions);
        figures.stopped_at_connection = phase.stop.as_ref().map(|stop| stop.connection);
        figures.stopped_by = crowd::stop_words(phase).unwrap_or_default();
        [
            figures.connect_latency_ns_p50,
            figures.connect_latency_ns_p99,
            figures.connect_latency_ns_max,
        ] = latency(&phase.latency);
    }
    if let Some(hold) = &trial.hold {
        figures.held_ns = Some(hold.held_ns);
        figures.lost = Some(hold.lost_errors.total());
        figures.pinged = Some(hold.pinged);
        figures.answered = Some(hold.answered);
        figures.ping_duration_ns = (hold.pinged > 0).then_some(hold.ping_duration_ns);
        [
            figures.ping_latency_ns_p50,
            figures.ping_latency_ns_p99,
            figures.ping_latency_ns_max,
        ] = latency(&hold.ping_latency);
    }
    if let Some(memory) = &trial.kernel_memory {
        fill_kernel(&mut figures, memory);
    }
    figures
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
