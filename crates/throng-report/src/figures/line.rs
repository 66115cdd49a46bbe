//! A line that comes to every connection: the greeting, and the one that was put.

use throng_record::{LinePhase, Trial};

use crate::experiments::fanout::order::{self, Part};
use crate::figure::{Figure, Latencies, Quantile};
use crate::phases::PhaseKind;
use crate::unit::Unit;

/// The line of a trial.
type PickLine = fn(&Trial) -> Option<&LinePhase>;

pub(super) fn of_acknowledge() -> Vec<Figure> {
    let mut figures = vec![Figure::number(
        "acknowledge_duration_ns",
        "ack",
        Unit::Nanoseconds,
        "From the end of the last connect until every connection has its greeting; 0 where all had come before, absent where some had not come and nothing was timed.",
        |one| Some(PhaseKind::Acknowledge.duration_ns(one.trial)? as f64),
    )];
    figures.extend(of_line(
        ["acknowledge", "ack", "greeting"],
        "From each completed connect to its greeting",
        |trial| trial.phases.greeting(),
        |trial| Some(&trial.phases.greeting()?.latency),
    ));
    figures
}

pub(super) fn of_get() -> Vec<Figure> {
    let mut figures = vec![
        Figure::number(
            "put_duration_ns",
            "put",
            Unit::Nanoseconds,
            "Length of the call that puts the line.",
            |one| Some(one.trial.phases.put()?.put_ns? as f64),
        ),
        Figure::number(
            "get_duration_ns",
            "get",
            Unit::Nanoseconds,
            "From just before the put until the line has come out of every connection.",
            |one| Some(PhaseKind::Get.duration_ns(one.trial)? as f64),
        ),
        Figure::number(
            "speaker",
            "speaker",
            Unit::Index,
            "The connection on which the line was put.",
            |one| Some(one.trial.phases.put()?.speaker?.into()),
        ),
    ];
    figures.extend(of_line(
        ["get", "get", "line"],
        "From just before the put to each receipt of the line",
        |trial| Some(&trial.phases.put()?.line),
        |trial| Some(&trial.phases.put()?.line.latency),
    ));
    figures
}

/// To whom it came, and how late. Connections are told by the order of their connects.
fn of_line(
    [prefix, word, noun]: [&'static str; 3],
    from_when_to_when: &'static str,
    line: PickLine,
    latencies: Latencies,
) -> Vec<Figure> {
    let mut figures = vec![
        Figure::count(
            format!("{prefix}_due"),
            format!("{noun}s\ndue"),
            format!("Connections to which the {noun} was to come."),
            move |one| Some(line(one.trial)?.due.into()),
        ),
        Figure::count(
            format!("{prefix}_received"),
            format!("{noun}s\nreceived"),
            format!("Connections to which the {noun} came; of a row the fewest of its trials."),
            move |one| Some(line(one.trial)?.received.into()),
        )
        .least(),
        Figure::number(
            format!("{prefix}_slowest_connection"),
            format!("{word},\nslowest"),
            Unit::Index,
            format!("The connection whose {noun} took longest."),
            move |one| Some(line(one.trial)?.slowest.first()?.connection.into()),
        ),
        Figure::number(
            format!("{prefix}_first_tenth_latency_ns_mean"),
            format!("{word},\nfirst tenth"),
            Unit::Nanoseconds,
            format!("{from_when_to_when}: mean of the first tenth of the connections."),
            move |one| {
                let connections = one.trial.job.fleet.connections;
                let is_first = |part: &Part| part.first < connections / 10;
                let parts = order::parts(&line(one.trial)?.by_index, connections);
                parts.into_iter().next().filter(is_first).map(mean)
            },
        ),
        Figure::number(
            format!("{prefix}_last_tenth_latency_ns_mean"),
            format!("{word},\nlast tenth"),
            Unit::Nanoseconds,
            format!("{from_when_to_when}: mean of the last tenth of the connections."),
            move |one| {
                let connections = one.trial.job.fleet.connections;
                let is_last = |part: &Part| part.last >= connections - connections / 10;
                let parts = order::parts(&line(one.trial)?.by_index, connections);
                parts.into_iter().next_back().filter(is_last).map(mean)
            },
        ),
    ];
    figures.extend(Figure::latencies(
        format!("{prefix}_latency"),
        word,
        from_when_to_when,
        &Quantile::THREE,
        latencies,
    ));
    figures
}

fn mean(part: Part) -> f64 {
    part.latency_ns_mean
}
