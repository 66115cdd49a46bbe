//! Connections that are held, and pinged.

use throng_record::{HoldPhase, Phases, PingPhase};

use crate::figure::{Figure, OneTrial, Quantile};
use crate::phases::PhaseKind;
use crate::unit::Unit;

fn held<'a>(one: &OneTrial<'a>) -> Option<&'a HoldPhase> {
    one.trial.phases.hold()
}

fn pinged<'a>(one: &OneTrial<'a>) -> Option<&'a PingPhase> {
    one.trial.phases.ping()
}

pub(super) fn of_hold() -> Vec<Figure> {
    vec![
        Figure::number(
            "hold_duration_ns",
            "held",
            Unit::Nanoseconds,
            "For how long nothing was sent.",
            |one| Some(held(one)?.duration_ns as f64),
        )
        .neither(),
        Figure::failures(
            "lost",
            "lost",
            "Connections that ended, or got bytes that nobody asked for, while nothing was sent on them.",
            |one| {
                held(one)?;
                Some(lost(&one.trial.phases) as f64)
            },
        ),
    ]
}

pub(super) fn of_ping() -> Vec<Figure> {
    let mut figures = vec![
        Figure::count(
            "pinged",
            "pinged",
            "Connections that were pinged; of a row the fewest of its trials.",
            |one| Some(pinged(one)?.pinged.into()),
        )
        .least(),
        Figure::count(
            "answered",
            "pings\nanswered",
            "Pings that were answered; of a row the fewest of its trials.",
            |one| Some(pinged(one)?.answered.into()),
        )
        .least(),
        Figure::count(
            "not_pinged",
            "not\npinged",
            "Connections that were to be pinged and were not, so many pings before them having timed out; of a row the most of its trials.",
            |one| Some(pinged(one)?.not_pinged.into()),
        )
        .greatest(),
        Figure::number(
            "ping_duration_ns",
            "answered\nin",
            Unit::Nanoseconds,
            "From the first ping to the last answer.",
            |one| Some(PhaseKind::Ping.duration_ns(one.trial)? as f64),
        ),
    ];
    figures.extend(Figure::latencies(
        "ping_latency",
        "ping",
        "From each ping to the last byte of its answer",
        &Quantile::THREE,
        |trial| Some(&trial.phases.ping()?.latency),
    ));
    figures
}

/// Connections that ended while nothing was sent on them.
fn lost(phases: &Phases) -> u64 {
    let held = phases.hold().map_or(0, |phase| phase.errors.total());
    held + phases.ping().map_or(0, |phase| phase.lost_errors.total())
}
