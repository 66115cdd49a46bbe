//! Connections and memory over time, and who takes the bytes of a connection.

use throng_record::{SeriesSample, Trial};

use super::tables::{GENERATOR, SERVER, by_target, kernel};
use crate::chart::{Axis, Chart, Drawn, Form, Look, Mark, Panel, Point, Series, View, typical};
use crate::format;
use crate::row::Row;
use crate::unit::Unit;

pub(super) fn charts(drawn: &Drawn<'_>) -> Vec<Chart> {
    [over_time(drawn), owners(drawn)]
        .into_iter()
        .flatten()
        .collect()
}

fn over_time(drawn: &Drawn<'_>) -> Option<Chart> {
    let view = |heading, rows: &[Row]| {
        let mut open = Vec::new();
        let mut memory = Vec::new();
        for row in rows {
            let opened = |trial: &Trial| Some(trial.phases.connect()?.opened_ns as f64);
            let Some(trial) = typical(drawn, row, opened) else {
                continue;
            };
            let series = |points| drawn.series(row, Form::Curve, points);
            open.push(series(connecting(&trial.series)));
            let rss = |sample: &SeriesSample| {
                Point::new(sample.at_ns as f64, sample.server_rss_bytes as f64)
            };
            memory.push(series(trial.series.iter().map(rss).collect()));
        }
        let x = Axis::new("since the trial began", Unit::Nanoseconds);
        let panels = vec![
            Panel::new(Axis::new("connections open", Unit::Count), open),
            Panel::new(Axis::new("server RSS", Unit::Bytes), memory),
        ];
        View::of_panels(heading, x, panels)
    };
    Chart::by_setting(
        drawn,
        "over-time",
        "Connections and memory over time",
        "One trial of each target, the one whose connecting took the median time. Above, connections while they are opened: a curve that bends down opens ever more slowly. Below, the resident set of the server.",
        view,
    )
}

/// What is counted while connections are opened; the phases after that count from nothing again.
fn connecting(samples: &[SeriesSample]) -> Vec<Point> {
    let end = samples
        .windows(2)
        .position(|pair| pair[1].replies < pair[0].replies);
    let until = end.map_or(samples.len(), |last| last + 1);
    let samples = samples[..until].iter();
    samples
        .map(|sample| Point::new(sample.at_ns as f64, sample.replies as f64))
        .collect()
}

/// Bytes of each connection, by whom they are held: a bar of parts for each row.
fn owners(drawn: &Drawn<'_>) -> Option<Chart> {
    type Of = fn(&Row) -> Option<f64>;
    const PARTS: [(&str, Of); 6] = [
        ("server", |row| row.value(SERVER)),
        ("kernel: objects (slab)", |row| {
            Some(kernel(row)?.slab_bytes)
        }),
        ("kernel: socket buffers", |row| {
            Some(kernel(row)?.socket_buffers_bytes)
        }),
        ("kernel: page tables", |row| {
            Some(kernel(row)?.page_tables_bytes)
        }),
        ("kernel: per-CPU", |row| Some(kernel(row)?.percpu_bytes)),
        ("generator", |row| row.value(GENERATOR)),
    ];
    let mut rows = by_target(drawn.summary);
    rows.retain(|row| PARTS.iter().any(|(_, of)| of(row).is_some()));
    rows.reverse();
    let label = |row: &Row| format!("{} · {}", row.target, row.heading);
    let series = PARTS.iter().enumerate().map(|(index, (name, of))| {
        let points = rows.iter().enumerate().filter_map(|(place, row)| {
            let bytes = of(row)?;
            let point = Point {
                words: format!("{}: {name} {}", label(row), format::bytes(bytes)),
                ..Point::new(bytes.max(0.0), place as f64)
            };
            Some(point.worth(Mark::of(row)))
        });
        Series {
            name: (*name).to_owned(),
            look: Look::Part(index),
            form: Form::Stacked,
            points: points.collect(),
        }
    });
    let names = Axis::names(rows.iter().map(label).collect());
    let panel = Panel::new(names, series.collect());
    let x = Axis::new("bytes for each connection", Unit::Bytes);
    Chart::of_views(
        "owners",
        "Who holds the bytes of a connection",
        "Growth from before the first connection to all open ÷ connections. The kernel's part is of both ends where both are on this machine; what shrank is drawn as nothing.",
        "",
        View::of_panels(String::new(), x, vec![panel]),
    )
}
