//! The tables: capacities with what the server did at them, the curve of latency over the rate, and every probe.

use throng_record::{Decision, Purpose};

use super::searched;
use super::searched::Probed;
use crate::format::{self, rate, time_ns};
use crate::grid::{Grid, GridLine};
use crate::outcome::{against_baseline, capacity, limit_word};
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;
use crate::table::{Column, Sheet, absent, figure, target};
use crate::view::{Block, Brief};

pub(super) fn blocks(summary: &Summary<'_>) -> Vec<Block> {
    let of = |key| figure(&summary.figures, key);
    let mut blocks = vec![Block::Rows(Sheet {
        labels: vec![target()],
        themes: vec![
            vec![found(), versus(summary), beyond(), limit(), knee()],
            vec![
                of("latency_ns_p50"),
                of("latency_ns_p90"),
                of("latency_ns_p99"),
                of("latency_ns_p99_9"),
                of("latency_ns_max"),
            ],
            vec![
                of("server_cpu_per_message_ns"),
                of("server_utilisation"),
                of("scheduling_error_ns_p99"),
                Column::words("closed\nloop", saturated).aligned_right(),
            ],
        ],
        is_joined: true,
        groups: summary.by_setting(),
    })];
    for row in &summary.rows {
        blocks.extend(curve(row).map(Block::Grid));
    }
    for row in &summary.rows {
        blocks.extend(probes(row).map(Block::Grid));
    }
    blocks
}

/// Of a sweep the curves of the last setting.
pub(super) fn brief(summary: &Summary<'_>) -> (Vec<Brief>, Vec<Grid>) {
    let of = |key| figure(&summary.figures, key);
    let settings = summary.by_setting();
    let tables = settings.iter().map(|(_, rows)| Brief {
        heading: None,
        columns: vec![
            target(),
            found(),
            of("latency_ns_p50"),
            of("latency_ns_p99"),
            versus(summary),
            of("server_cpu_per_message_ns"),
            limit(),
            knee(),
        ],
        rows: rows.clone(),
    });
    let last = settings.last().and_then(|(_, rows)| shares(rows));
    (tables.collect(), last.into_iter().collect())
}

fn found() -> Column<Row> {
    Column::words("capacity", capacity)
        .aligned_right()
        .that_says_why()
        .of_number(|row| row.value("capacity_per_second"))
}

fn versus(summary: &Summary<'_>) -> Column<Row> {
    let is_alone = summary.plan.targets.len() < 2;
    Column::words("vs baseline", move |row: &Row| match is_alone {
        true => absent(),
        false => against_baseline(row),
    })
    .of_number(|row| Some(row.ratio_to_baseline.as_ref()?.estimate.median))
}

fn beyond() -> Column<Row> {
    Column::words("a little above", |row: &Row| {
        let found = searched(row).and_then(|found| found.search.brackets.last());
        let missed = found.filter(|bracket| bracket.missed_per_second.is_some());
        missed.map_or_else(absent, |bracket| bracket.missed_because.clone())
    })
}

/// What was at its limit above the capacity.
fn limit() -> Column<Row> {
    Column::words("limit\nabove", |row: &Row| {
        let found = searched(row).and_then(|found| found.search.brackets.last());
        match found {
            Some(bracket) if bracket.is_generators => "generator".to_owned(),
            Some(bracket) => bracket
                .limit
                .map_or_else(absent, |limit| limit_word(limit).to_owned()),
            None => absent(),
        }
    })
}

fn knee() -> Column<Row> {
    Column::words("knee", |row: &Row| {
        searched(row)
            .and_then(|found| found.knee_per_second)
            .map_or_else(absent, rate)
    })
    .aligned_right()
}

fn saturated(row: &Row) -> String {
    let found = searched(row).and_then(|found| found.search.saturated_per_second);
    found.map_or_else(absent, rate)
}

/// The probes of the curve, by rate.
pub(super) fn curve_of(row: &Row) -> Vec<&Probed> {
    let probes = searched(row).map_or(&[][..], |found| &found.probes);
    let mut curve: Vec<&Probed> = probes
        .iter()
        .filter(|probe| probe.purpose == Purpose::Curve)
        .collect();
    curve.sort_by(|one, other| one.offered_per_second.total_cmp(&other.offered_per_second));
    curve
}

/// p99 at each part of its own capacity, a line for each target.
fn shares(rows: &[Row]) -> Option<Grid> {
    let of_row = |row: &Row| {
        let capacity = row.value("capacity_per_second")?;
        let curve = curve_of(row);
        (!curve.is_empty()).then(|| {
            let share =
                |probe: &&Probed| format!("{:.0} %", probe.offered_per_second / capacity * 100.0);
            let headings: Vec<String> = curve.iter().map(share).collect();
            let cells = curve
                .iter()
                .map(|probe| (kept_p99(probe), row.standing))
                .collect();
            (
                headings,
                GridLine {
                    label: row.target.clone(),
                    cells,
                },
            )
        })
    };
    let mut lines = rows.iter().filter_map(of_row);
    let (headings, first) = lines.next()?;
    Some(Grid {
        title: "p99 by offered rate, as a part of the capacity".to_owned(),
        label: "target".to_owned(),
        lines: std::iter::once(first)
            .chain(lines.map(|(_, line)| line))
            .collect(),
        headings,
    })
}

/// Where the rate was not kept, latencies are no more than lower bounds.
fn kept_p99(probe: &Probed) -> String {
    format!("{}{}", at_least(probe), time_ns(probe.latency_ns_p99))
}

fn at_least(probe: &Probed) -> &'static str {
    if probe.kept_per_second < 0.95 * probe.offered_per_second {
        "≥ "
    } else {
        ""
    }
}

/// The curve of one row, with the queue beside it.
fn curve(row: &Row) -> Option<Grid> {
    let found = searched(row)?;
    let queue = found.queue.as_ref();
    let line = |probe: &Probed| {
        let mark = at_least(probe);
        let of_queue = |latency: Option<Option<f64>>| match latency {
            Some(Some(latency)) => time_ns(latency),
            Some(None) => "∞".to_owned(),
            None => absent(),
        };
        let offered = probe.offered_per_second;
        let cells = [
            rate(probe.kept_per_second),
            format!("{mark}{}", time_ns(probe.latency_ns_p50)),
            format!("{mark}{}", time_ns(probe.latency_ns_p90)),
            format!("{mark}{}", time_ns(probe.latency_ns_p99)),
            format!("{mark}{}", time_ns(probe.latency_ns_p99_9)),
            format!("{mark}{}", time_ns(probe.latency_ns_mean)),
            of_queue(queue.map(|queue| queue.mean_ns(offered))),
            of_queue(queue.map(|queue| queue.p99_ns(offered))),
        ];
        let is_knee = found.knee_per_second == Some(offered);
        GridLine {
            label: format!("{}{}", rate(offered), if is_knee { " (knee)" } else { "" }),
            cells: cells.into_iter().map(|cell| (cell, row.standing)).collect(),
        }
    };
    let lines: Vec<GridLine> = curve_of(row).into_iter().map(line).collect();
    (!lines.is_empty()).then(|| Grid {
        title: titled("latency by offered rate", row),
        label: "offered".to_owned(),
        headings: [
            "kept",
            "p50",
            "p90",
            "p99",
            "p99.9",
            "mean",
            "queue alone:\nmean",
            "queue alone:\np99",
        ]
        .map(str::to_owned)
        .to_vec(),
        lines,
    })
}

fn probes(row: &Row) -> Option<Grid> {
    let of_search = |probe: &&Probed| probe.purpose != Purpose::Curve;
    let line = |probe: &Probed| {
        let cells = [
            (probe.repeat + 1).to_string(),
            format!(
                "{:.1} %",
                probe.kept_per_second / probe.offered_per_second * 100.0
            ),
            decision(probe.decision).to_owned(),
            format!(
                "{}{}",
                probe.because,
                if probe.is_disturbed { " ~" } else { "" }
            ),
        ];
        GridLine {
            label: rate(probe.offered_per_second),
            cells: cells
                .into_iter()
                .map(|cell| (cell, Standing::Ranked))
                .collect(),
        }
    };
    let probes = searched(row)?.probes.iter().filter(of_search);
    let lines: Vec<GridLine> = probes.map(line).collect();
    (!lines.is_empty()).then(|| Grid {
        title: titled("probes, in their order", row),
        label: "offered".to_owned(),
        headings: ["repeat", "kept", "bounds", "by"]
            .map(str::to_owned)
            .to_vec(),
        lines,
    })
}

fn titled(what: &str, row: &Row) -> String {
    match row.heading.is_empty() {
        true => format!("{}: {what}", row.target),
        false => format!("{} at {}: {what}", row.target, row.heading),
    }
}

fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Met => "met",
        Decision::NotMet => "not met",
        Decision::Undecided => "undecided",
        Decision::GeneratorLate => "generator late",
        Decision::NotAsked => format::ABSENT,
    }
}
