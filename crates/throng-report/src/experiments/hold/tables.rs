//! The tables: how they opened, what memory each takes, how they were answered, what each phase cost, and connects over time.

use super::curve::{self, Point};
use super::memory::KernelMemory;
use crate::detail::Detail;
use crate::experiments::{crowd, tls};
use crate::format::{self, exact};
use crate::grid::{Grid, GridLine};
use crate::phases::{self, PhaseKind};
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;
use crate::table::target;
use crate::table::{Column, Sheet, absent, figure, with_spread};
use crate::view::{Block, Brief, Curve};

pub(crate) fn blocks(summary: &Summary<'_>) -> Vec<Block> {
    let all = || vec![(String::new(), by_target(summary))];
    let phases = vec![("phases".to_owned(), by_target(summary))];
    let sheet = |theme| {
        Block::Rows(Sheet {
            labels: vec![target(), asked()],
            themes: vec![theme],
            is_joined: false,
            groups: all(),
        })
    };
    let mut blocks: Vec<Block> = themes(summary).map(sheet).into();
    blocks.push(Block::Phases(phases::sheet(
        phases,
        &PhaseKind::OF_HOLD,
        true,
    )));
    let curves: Vec<Curve> = by_target(summary).iter().filter_map(drawn).collect();
    if !curves.is_empty() {
        blocks.push(Block::Curves("connects/s over time", curves));
    }
    blocks
}

/// How they opened, what memory each takes, and how they were answered.
fn themes(summary: &Summary<'_>) -> [Vec<Column<Row>>; 3] {
    let of = |key| figure(&summary.figures, key);
    let median = |key| with_spread(&summary.figures, key);
    let whole = |heading: &str, words: fn(&KernelMemory) -> String| {
        Column::words(heading, move |row: &Row| {
            kernel(row).map_or_else(absent, words)
        })
        .aligned_right()
    };
    [
        vec![
            crowd::opened(),
            median("opened_ns"),
            median("connects_per_second_first"),
            median("connects_per_second_last"),
            of("connect_latency_ns_p50"),
            of("connect_latency_ns_p99"),
            of("connect_latency_ns_max"),
        ]
        .into_iter()
        .chain(tls::columns(&summary.figures))
        .collect(),
        vec![
            memory(summary, SERVER, "server's own\n/connection"),
            memory(summary, GENERATOR, "generator's own\n/connection"),
            memory(summary, KERNEL, "kernel's\n/connection"),
            whole("kernel,\nall open", |memory| signed(memory.grown_bytes)),
            whole("kernel,\nafter the end", |memory| {
                memory.left_bytes.map_or_else(absent, signed)
            }),
        ],
        vec![
            Column::words("pings\nanswered", answered),
            of("not_pinged").only_where(|row| row.value("not_pinged") > Some(0.0)),
            median("ping_duration_ns"),
            of("ping_latency_ns_p50"),
            of("ping_latency_ns_p99"),
            of("ping_latency_ns_max"),
            crowd::errors(),
        ],
    ]
}

/// What a connection takes, by whom.
pub(super) const SERVER: &str = "server_memory_per_connection_bytes";
pub(super) const GENERATOR: &str = "generator_bytes_per_connection";
pub(super) const KERNEL: &str = "kernel_bytes_per_connection";

pub(crate) fn brief(summary: &Summary<'_>) -> Vec<Brief> {
    let rows = by_target(summary);
    let columns = vec![
        target(),
        asked(),
        crowd::opened(),
        with_spread(&summary.figures, "opened_ns"),
        memory(summary, SERVER, "server's own\n/connection"),
        memory(summary, KERNEL, "kernel's\n/connection"),
        memory(summary, GENERATOR, "generator's own\n/connection"),
        with_spread(&summary.figures, "connects_per_second_last"),
        figure(&summary.figures, "ping_latency_ns_p99"),
    ];
    vec![Brief {
        heading: None,
        columns,
        rows,
    }]
}

/// The settings of each target together.
pub(crate) fn by_target(summary: &Summary<'_>) -> Vec<Row> {
    let targets = summary.plan.targets.iter();
    let rows = targets.flat_map(|target| {
        let rows = summary.rows.iter();
        rows.filter(|row| row.target == target.name)
    });
    rows.cloned().collect()
}

fn asked() -> Column<Row> {
    Column::words("asked", crowd::asked).aligned_right()
}

fn memory(summary: &Summary<'_>, key: &'static str, heading: &str) -> Column<Row> {
    debug_assert!(summary.figures.iter().any(|figure| figure.key == key));
    let words = move |row: &Row| {
        let found = of_many(row, key).and_then(|_| row.estimate(key));
        found.map_or_else(absent, |found| {
            format!("{}{}", bytes(found.median), format::spread(&found, bytes))
        })
    };
    Column::words(heading, words).aligned_right()
}

/// Memory grows by pages, slabs and whatever else happens meanwhile: divided by few connections that is noise.
pub(crate) fn of_many(row: &Row, key: &str) -> Option<f64> {
    const CONNECTIONS_MIN: u32 = 1_000;
    row.value(key)
        .filter(|_| crowd::connected(row) >= Some(CONNECTIONS_MIN))
}

/// What each connection takes in the server, the generator and the kernel, as far as it is known.
pub(crate) fn each(row: &Row) -> impl Iterator<Item = (&'static str, f64)> {
    let parts = [
        ("server", SERVER),
        ("generator", GENERATOR),
        ("kernel", KERNEL),
    ];
    parts
        .into_iter()
        .filter_map(|(of, key)| Some((of, of_many(row, key)?)))
}

pub(crate) fn kernel(row: &Row) -> Option<&KernelMemory> {
    match &row.detail {
        Some(Detail::Hold { kernel, .. }) => kernel.as_ref(),
        _ => None,
    }
}

pub(crate) fn points(row: &Row) -> &[Point] {
    match &row.detail {
        Some(Detail::Hold { curve, .. }) => curve,
        _ => &[],
    }
}

fn answered(row: &Row) -> String {
    let number = |key| row.value(key).map(|number| number as u32);
    match (number("answered"), number("pinged")) {
        (Some(answered), Some(pinged)) if answered < pinged => format::of(answered, pinged),
        (Some(_), Some(0)) | (None, _) => absent(),
        (Some(answered), _) => exact(answered.into()),
    }
}

/// A point is at least one connect long: fewer than three are no curve.
fn drawn(row: &Row) -> Option<Curve> {
    let points = points(row);
    let line = |point: &Point| GridLine {
        label: format::time_ns(point.at_ns as f64),
        cells: [
            exact(point.opened),
            format::count(point.connects_per_second),
        ]
        .map(|text| (text, Standing::Ranked))
        .to_vec(),
    };
    (points.len() >= 3).then(|| Curve {
        title: curve_title(row),
        spark: curve::spark(points),
        points: Grid {
            title: curve_title(row),
            label: "until".to_owned(),
            headings: vec!["opened".to_owned(), "connects/s".to_owned()],
            lines: points.iter().map(line).collect(),
        },
    })
}

/// Whole bytes below ten thousand: it is these that one compares with a structure's size.
pub(super) fn bytes(value: f64) -> String {
    if value.abs() < 9_999.5 {
        let sign = if value < -0.5 { "-" } else { "" };
        format!("{sign}{} B", exact(value.abs().round() as u64))
    } else {
        format::bytes(value)
    }
}

/// `+1.20 GiB`.
fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "" } else { "+" };
    format!("{sign}{}", format::bytes(value))
}

/// `epoll-edge, 1,000,000 connections: 22.3 s, at most 52.1 k/s`.
fn curve_title(row: &Row) -> String {
    let length = points(row).last().map_or(0, |point| point.at_ns);
    format!(
        "{}, {}: {}, at most {}",
        row.target,
        row.heading,
        format::time_ns(length as f64),
        format::rate(curve::greatest(points(row)))
    )
}
