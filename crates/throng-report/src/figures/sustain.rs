//! Lines at a rate to all connections.

use throng_record::SustainedPhase;

use crate::figure::{Figure, OneTrial, Quantile};
use crate::phases::PhaseKind;
use crate::rate;
use crate::unit::Unit;

fn phase<'a>(one: &OneTrial<'a>) -> Option<&'a SustainedPhase> {
    one.trial.phases.sustained()
}

pub(super) fn figures() -> Vec<Figure> {
    let mut figures = vec![
        Figure::number(
            "sustain_duration_ns",
            "sustain",
            Unit::Nanoseconds,
            "From the first line to the last delivery.",
            |one| Some(PhaseKind::Sustain.duration_ns(one.trial)? as f64),
        )
        .neither(),
        Figure::count(
            "sustain_sent",
            "lines\nput",
            "Lines that were put.",
            |one| Some(phase(one)?.sent as f64),
        ),
        Figure::count(
            "sustain_deliveries",
            "deliveries",
            "Lines that came out of a connection.",
            |one| Some(phase(one)?.deliveries as f64),
        ),
        Figure::failures(
            "sustain_missing",
            "missing",
            "Lines that were due on a connection and did not come.",
            |one| Some(phase(one)?.missing as f64),
        ),
        Figure::number(
            "sustain_deliveries_per_second",
            "deliveries/s",
            Unit::PerSecond,
            "Deliveries ÷ time.",
            |one| Some(phase(one)?.deliveries_per_second),
        ),
        Figure::number(
            "sustain_rate_kept_share",
            "rate\nkept",
            Unit::Share,
            "Deliveries per second ÷ those that the rate asks for; of a row the least of its trials.",
            |one| {
                phase(one)?;
                rate::kept_share(one.trial)
            },
        )
        .least(),
    ];
    figures.extend(Figure::latencies(
        "sustain_latency",
        "sustained",
        "From the time at which a line was due to be put to each of its deliveries",
        &Quantile::THREE,
        |trial| Some(&trial.phases.sustained()?.latency),
    ));
    figures.extend(Figure::latencies(
        "sustain_scheduling_error",
        "put late",
        "How late the generator put the lines",
        &[Quantile::P99],
        |trial| Some(&trial.phases.sustained()?.scheduling_error),
    ));
    figures
}
