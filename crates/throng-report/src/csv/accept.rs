//! The figures of a trial of the accept experiment.
//!
//! Left out on purpose: the slices. They are in the record, up to 250 a trial.

use serde::Serialize;
use throng_record::accept::{IdleCost, IdleSlice};
use throng_record::{RunRecord, Trial};

/// The columns.
#[derive(Default, Serialize)]
pub(super) struct Figures {
    multiplexer: &'static str,
    entries_as_published: Option<bool>,
    accepted: Option<u32>,
    stopped_by: String,
    accept_idle_first: Option<u32>,
    accept_cost_ns_first: Option<u64>,
    accept_idle_last: Option<u32>,
    accept_cost_ns_last: Option<u64>,
    accept_ns_per_connection: Option<f64>,
    accept_ns_per_connection_low: Option<f64>,
    accept_ns_per_connection_high: Option<f64>,
    data_idle_first: Option<u32>,
    data_cost_ns_first: Option<u64>,
    data_idle_last: Option<u32>,
    data_cost_ns_last: Option<u64>,
    data_ns_per_connection: Option<f64>,
    data_ns_per_connection_low: Option<f64>,
    data_ns_per_connection_high: Option<f64>,
    findings: String,
}

pub(super) fn figures(_: &RunRecord, trial: &Trial) -> Figures {
    let mut figures = Figures {
        findings: super::findings(trial),
        ..Figures::default()
    };
    if let Some(spec) = trial.job.phases.multiplexer() {
        figures.multiplexer = spec.multiplexer.name();
        figures.entries_as_published = Some(spec.published);
    }
    if let Some(phase) = trial.phases.multiplexer() {
        figures.accepted = Some(phase.accepted);
        figures.stopped_by = phase.stopped_by.clone().unwrap_or_default();
        fill_accept(&mut figures, &phase.accept);
        fill_data(&mut figures, &phase.data);
    }
    figures
}

fn fill_accept(figures: &mut Figures, cost: &IdleCost) {
    (figures.accept_idle_first, figures.accept_cost_ns_first) = at(cost.slices.first());
    (figures.accept_idle_last, figures.accept_cost_ns_last) = at(cost.slices.last());
    if let Some(slope) = &cost.slope {
        figures.accept_ns_per_connection = Some(slope.ns_per_connection);
        figures.accept_ns_per_connection_low = Some(slope.ns_per_connection_low);
        figures.accept_ns_per_connection_high = Some(slope.ns_per_connection_high);
    }
}

fn fill_data(figures: &mut Figures, cost: &IdleCost) {
    (figures.data_idle_first, figures.data_cost_ns_first) = at(cost.slices.first());
    (figures.data_idle_last, figures.data_cost_ns_last) = at(cost.slices.last());
    if let Some(slope) = &cost.slope {
        figures.data_ns_per_connection = Some(slope.ns_per_connection);
        figures.data_ns_per_connection_low = Some(slope.ns_per_connection_low);
        figures.data_ns_per_connection_high = Some(slope.ns_per_connection_high);
    }
}

fn at(slice: Option<&IdleSlice>) -> (Option<u32>, Option<u64>) {
    (
        slice.map(|slice| slice.idle),
        slice.map(|slice| slice.cost_ns_median),
    )
}
