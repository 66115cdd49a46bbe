//! Checks: what a trial must satisfy before its number is ranked.
//!
//! One small function for each, on plain numbers, so that both sides of each bound are tested by hand-made inputs. Each
//! says in its detail what was compared; a failed one also the likely cause and what to do. A check that cannot be made is
//! recorded as not applicable, with the reason: that it was not forgotten must be visible.

mod drift;
pub(crate) mod errors;
mod generator_bound;
mod littles_law;
mod outstanding;
mod scheduling;
mod server_count;
mod server_died;
pub(crate) mod steal;
mod unserved;

use throng_record::{Check, CheckKind, CheckResult, LoadRecord, Pacing, TargetKind};

use crate::launcher::LifeEnd;
use crate::limit::Busy;

/// What the checks of one trial are made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) pacing: &'a Pacing,
    pub(crate) target: TargetKind,
    pub(crate) load: &'a LoadRecord,
    pub(crate) busy: Busy,
    /// In the measured window, on the CPUs of both sides; absent where it cannot be told.
    pub(crate) stolen: Option<steal::Stolen>,
    /// How it stands with the server.
    pub(crate) server: &'a LifeEnd,
}

/// Makes every check.
pub(crate) fn all(evidence: &Evidence<'_>) -> Vec<Check> {
    let Evidence { pacing, load, .. } = *evidence;
    let exchange = &load.exchange;
    vec![
        littles_law::check(pacing, exchange.steady.as_ref(), exchange.latency.max_ns),
        outstanding::check(pacing, exchange.outstanding_sampled.as_ref()),
        generator_bound::check(pacing, evidence.busy),
        scheduling::check(pacing, exchange.scheduling_error.as_ref()),
        steal::check(evidence.stolen),
        unserved::check(pacing, load.connect.connected, exchange),
        drift::check(&exchange.timeline, exchange.duration_ns),
        errors::check(load),
        server_count::check(evidence.target, evidence.server),
        server_died::check(evidence.target, evidence.server),
    ]
}

fn not_applicable(kind: CheckKind, why: impl Into<String>) -> Check {
    Check {
        kind,
        result: CheckResult::NotApplicable,
        measured: None,
        bound: None,
        detail: why.into(),
    }
}

fn made(
    kind: CheckKind,
    result: CheckResult,
    measured: impl Into<Option<f64>>,
    bound: impl Into<Option<f64>>,
    detail: String,
) -> Check {
    Check {
        kind,
        result,
        measured: measured.into(),
        bound: bound.into(),
        detail,
    }
}

/// A share as a percentage for a sentence: one decimal.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
