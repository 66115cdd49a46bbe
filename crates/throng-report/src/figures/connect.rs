//! Opening connections that are kept.

use throng_record::{ConnectPhase, QueueFullWaits};

use crate::experiments::hold::curve::{rate_first, rate_last};
use crate::figure::{Figure, OneTrial, Quantile};
use crate::unit::Unit;

fn phase<'a>(one: &OneTrial<'a>) -> Option<&'a ConnectPhase> {
    one.trial.phases.connect()
}

/// How many connects waited for room in a Unix listener's queue.
pub(super) fn queue_full() -> Figure {
    Figure::count(
        "queue_full_connects",
        "queue\nfull",
        "Connects to a Unix socket whose accept queue was full, and which waited until it was not.",
        |one| Some(queue_waits(one)?.connects as f64),
    )
    .less()
}

/// How long each of them did.
pub(super) fn queue_full_wait() -> Figure {
    Figure::number(
        "queue_full_wait_ns_mean",
        "queue\nfull for",
        Unit::Nanoseconds,
        "Mean time that such a connect waited; it is part of the connect's latency.",
        |one| {
            let waits = queue_waits(one).filter(|waits| waits.connects > 0)?;
            Some(waits.waited_ns as f64 / waits.connects as f64)
        },
    )
}

pub(super) fn figures() -> Vec<Figure> {
    let mut figures = vec![
        Figure::count(
            "connected",
            "connections\nopened",
            "Connections that opened; of a row the fewest of its trials.",
            |one| Some(phase(one)?.connected.into()),
        )
        .least(),
        Figure::number(
            "connect_duration_ns",
            "connect",
            Unit::Nanoseconds,
            "From the first connect to the end of the last, timeouts included.",
            |one| Some(phase(one)?.duration_ns as f64),
        ),
        Figure::number(
            "opened_ns",
            "opened\nin",
            Unit::Nanoseconds,
            "From the first connect to the last that completed; what timed out afterwards is not in it.",
            |one| Some(phase(one)?.opened_ns as f64).filter(|&time_ns| time_ns > 0.0),
        ),
        Figure::number(
            "connects_per_second",
            "connects/s",
            Unit::PerSecond,
            "Connections that opened ÷ the time from the first connect to the last that completed.",
            |one| connects_per_second(phase(one)?),
        ),
        Figure::number(
            "connects_per_second_first",
            "connects/s,\nfirst 10,000",
            Unit::PerSecond,
            "Connects per second until the first 10,000 were open, or the first half of fewer than 20,000.",
            |one| rate_first(phase(one)?),
        ),
        Figure::number(
            "connects_per_second_last",
            "connects/s,\nlast 10 %",
            Unit::PerSecond,
            "Connects per second of the last tenth.",
            |one| rate_last(phase(one)?),
        ),
        Figure::count(
            "syn_retransmissions",
            "SYNs\nagain",
            "SYNs sent again, by the clients' TCP_INFO.",
            |one| Some(phase(one)?.syn_retransmissions as f64),
        )
        .less(),
        queue_full(),
        queue_full_wait(),
        Figure::number(
            "stopped_at_connection",
            "stopped\nat",
            Unit::Index,
            "The first connection that failed, where that ended the connecting.",
            |one| Some(phase(one)?.stop.as_ref()?.connection.into()),
        ),
    ];
    figures.extend(latency());
    figures
}

/// Of whichever connects a trial has: before everything else, or for each request. A plan may have trials of both.
pub(super) fn latency() -> Vec<Figure> {
    Figure::latencies(
        "connect_latency",
        "connect",
        "From the connect call to the established connection",
        &Quantile::THREE,
        |trial| {
            let of_requests = || Some(&trial.phases.connections()?.connect_latency);
            let kept = trial.phases.connect().map(|phase| &phase.latency);
            kept.or_else(of_requests)
        },
    )
}

fn queue_waits(one: &OneTrial<'_>) -> Option<QueueFullWaits> {
    let of_requests = || Some(one.trial.phases.connections()?.queue_full);
    phase(one)
        .map(|phase| phase.queue_full)
        .or_else(of_requests)
}

/// Connections that completed ÷ the time until the last of them did: those that time out afterwards say nothing of the rate. Absent of an
/// instant.
fn connects_per_second(phase: &ConnectPhase) -> Option<f64> {
    let per_ns = f64::from(phase.connected) / phase.opened_ns as f64;
    Some(per_ns * 1e9).filter(|rate| rate.is_finite())
}
