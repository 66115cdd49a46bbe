//! The tables: how far each target came, how late its lines were, and what each phase cost.

use super::overview;
use crate::experiments::crowd;
use crate::format;
use crate::median::Estimate;
use crate::phases::{self, PhaseKind};
use crate::row::Row;
use crate::summary::Summary;
use crate::table::target;
use crate::table::{Column, Sheet, absent, figure};
use crate::view::Block;

pub(super) fn blocks(summary: &Summary<'_>) -> Vec<Block> {
    let overview = overview::grids(summary).into_iter().map(Block::Grid);
    let phases = summary.by_setting().into_iter();
    let phases = phases.map(|(heading, rows)| (format!("{heading}: phases"), rows));
    let tables = [
        Block::Rows(targets(summary)),
        Block::Phases(phases::sheet(
            phases.collect(),
            &PhaseKind::OF_FANOUT,
            false,
        )),
    ];
    overview.chain(tables).collect()
}

/// How far each target came, and how late its lines were.
fn targets(summary: &Summary<'_>) -> Sheet<Row> {
    let of = |key: &'static str| figure(&summary.figures, key);
    let latencies = |prefix: &str| -> Vec<Column<Row>> {
        let figures = summary.figures.iter();
        let keys = figures.filter(|figure| figure.key.starts_with(prefix));
        keys.map(|known| figure(&summary.figures, known.key.clone()))
            .collect()
    };
    let mut sustained = vec![Column::words("deliveries/s", deliveries)];
    sustained.extend(latencies("sustain_latency_ns"));
    sustained.push(of("sustain_missing"));
    Sheet {
        labels: vec![target()],
        themes: vec![
            vec![
                crowd::opened(),
                Column::words("connects/s", connects_per_second),
                crowd::errors(),
                of("server_rss_connected_bytes"),
                of("server_pss_connected_bytes"),
            ],
            [
                latencies("acknowledge_latency_ns"),
                latencies("get_latency_ns"),
            ]
            .concat(),
            sustained,
        ],
        is_joined: false,
        groups: summary.by_setting(),
    }
}

fn connects_per_second(row: &Row) -> String {
    row.estimate("connects_per_second")
        .map_or_else(absent, rate)
}

fn deliveries(row: &Row) -> String {
    let missed = row.rate.filter(|rate| !rate.is_kept);
    match (row.estimate("sustain_deliveries_per_second"), missed) {
        (None, _) => absent(),
        (Some(_), Some(missed)) => missed.not_kept(),
        (Some(found), None) => rate(found),
    }
}

fn rate(found: Estimate) -> String {
    let spread = format::spread(&found, format::count);
    format!("{}{spread}", format::rate(found.median))
}
