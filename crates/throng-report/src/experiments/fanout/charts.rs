//! How long each phase takes by number of connections, beside what is published, and who hears when.

use throng_record::{LinePhase, Trial};

use super::published::reference;
use crate::chart::{
    Along, Axis, Chart, Curve, Drawn, Form, Panel, Percent, Point, View, along, percentiles,
    typical,
};
use crate::phases::PhaseKind;
use crate::row::Row;
use crate::unit::Unit;

/// The phases that grow with the connections.
const PHASES: [(PhaseKind, &str, &str); 3] = [
    (
        PhaseKind::Get,
        "get",
        "One line to all: until it has come out of every connection",
    ),
    (
        PhaseKind::Acknowledge,
        "acknowledge",
        "Greetings: until every connection has its own",
    ),
    (
        PhaseKind::Connect,
        "connect",
        "Connecting: until every connection is open",
    ),
];

pub(super) fn charts(drawn: &Drawn<'_>) -> Vec<Chart> {
    let by_connections = PHASES.map(|(phase, name, title)| {
        along(
            drawn,
            Along {
                name,
                title: title.to_owned(),
                caption: "Real time of the phase, medians over repeats with their intervals; hollow: measured on a disturbed machine. The published servers are Ruby programs on a machine of their own.",
                key: &format!("{}_duration_ns", phase.key()),
                published: published(phase),
            },
        )
    });
    let mut charts: Vec<Chart> = by_connections.into_iter().flatten().collect();
    charts.extend(percentiles(
        drawn,
        &Curve {
            name: "deliveries",
            title: "When connections hear the line",
            caption: "From just before the line is put to its arrival, over the connections: at 50 % half of them had heard it. A straight line from nothing is a server that serves one after another; a flat one serves all at once.",
            axis: "time until heard",
            of: |trial: &Trial| Some(&trial.phases.put()?.line.latency),
            along: Percent::Hundredths("connections that have heard it"),
        },
    ));
    charts.extend(order(drawn));
    charts
}

/// A line for each published server, by number of connections.
fn published(phase: PhaseKind) -> Vec<(String, Vec<(f64, f64)>)> {
    let variants = reference().variants.iter();
    let line = |variant: &'static super::published::Variant| {
        let points = variant.rows.iter().filter_map(|row| {
            let found = super::published::Published { variant, row };
            Some((f64::from(row.connections), found.real_ns(phase)?))
        });
        (variant.name.clone(), points.collect())
    };
    variants.map(line).collect()
}

/// Who hears late, by the order of the connects.
fn order(drawn: &Drawn<'_>) -> Option<Chart> {
    let view = |heading, rows: &[Row]| {
        let series = rows.iter().filter_map(|row| {
            let length = |trial: &Trial| Some(trial.phases.put()?.line.duration_ns as f64);
            let trial = typical(drawn, row, length)?;
            let points = by_index(&trial.phases.put()?.line);
            Some(drawn.series(row, Form::Curve, points))
        });
        let x = Axis::new("connection, in the order of the connects", Unit::Count);
        let y = Axis::new("mean time until heard", Unit::Nanoseconds);
        View::of_panels(heading, x, vec![Panel::new(y, series.collect())])
    };
    Chart::by_setting(
        drawn,
        "order",
        "Who hears late",
        "Mean of neighbouring connections, of the trial whose get took the median time. A slope: the server goes through its connections in order.",
        view,
    )
}

fn by_index(line: &LinePhase) -> Vec<Point> {
    let slices = line.by_index.iter().filter(|slice| slice.connections > 0);
    slices
        .map(|slice| Point::new(slice.first.into(), slice.latency_ns_mean as f64))
        .collect()
}
