//! What a search found: of each repeat the rate of the probe that counts.

use throng_record::Decision;

use crate::figure::{Figure, OneTrial};
use crate::unit::Unit;

/// Of runs that search.
pub(super) fn figures() -> Vec<Figure> {
    vec![Figure::number(
        "capacity_per_second",
        "capacity",
        Unit::PerSecond,
        "The greatest rate offered at which every bound held and the rate was kept.",
        found,
    )]
}

fn found(one: &OneTrial<'_>) -> Option<f64> {
    let probe = one.trial.probe.as_ref()?;
    probe
        .offered_per_second
        .filter(|_| probe.decision == Decision::Met)
}
