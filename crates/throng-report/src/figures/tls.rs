//! TLS handshakes, on connections that are kept or of each request.

use throng_record::Handshakes;

use crate::figure::{Figure, OneTrial, Quantile};
use crate::unit::Unit;

fn handshakes<'a>(one: &OneTrial<'a>) -> Option<&'a Handshakes> {
    Some(&one.trial.phases.tls()?.handshakes)
}

pub(super) fn figures() -> Vec<Figure> {
    let mut figures = vec![
        Figure::count(
            "tls_handshakes",
            "TLS\nhandshakes",
            "TLS handshakes that completed; of a row the fewest of its trials.",
            |one| Some(handshakes(one)?.completed as f64),
        )
        .least(),
        Figure::number(
            "tls_resumed_share",
            "TLS\nresumed",
            Unit::Share,
            "Handshakes that resumed an earlier session ÷ those that completed: the others proved the server's certificate.",
            |one| {
                let handshakes = handshakes(one).filter(|all| all.completed > 0)?;
                Some(handshakes.resumed as f64 / handshakes.completed as f64)
            },
        )
        .neither(),
        Figure::number(
            "tls_duration_ns",
            "TLS\nhandshakes in",
            Unit::Nanoseconds,
            "From the first hello to the end of the last handshake, whether that completed or failed.",
            |one| Some(one.trial.phases.tls()?.duration_ns as f64),
        ),
        Figure::number(
            "tls_handshakes_per_second",
            "TLS\nhandshakes/s",
            Unit::PerSecond,
            "Handshakes that completed ÷ the time from the first hello to the end of the last.",
            |one| {
                let phase = one.trial.phases.tls().filter(|phase| phase.duration_ns > 0)?;
                Some(phase.handshakes.completed as f64 * 1e9 / phase.duration_ns as f64)
            },
        ),
    ];
    figures.extend(Figure::latencies(
        "tls_handshake",
        "TLS handshake",
        "From our hello to the moment from which messages could be sent, the connect being over",
        &[Quantile::P50, Quantile::P99, Quantile::Max],
        |trial| Some(&trial.phases.tls()?.handshakes.latency),
    ));
    figures
}
