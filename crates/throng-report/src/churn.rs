//! How many cycles of connect, request, reply and close a second? The tables of the churn experiment.

use crate::backlog::failures;
use crate::echo::{by_setting, limit, one_for_each, rate, ratio, target};
use crate::figure::Figure;
use crate::format;
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, Sheet, absent, figure};
use crate::view::{Block, Brief};

/// What the throughput counts.
pub(crate) const RATE_UNIT: &str = "cycles/s";

pub(crate) fn blocks(summary: &Summary<'_>) -> Vec<Block> {
    let of = |key| figure(&summary.figures, key);
    vec![Block::Rows(Sheet {
        labels: vec![target()],
        themes: vec![
            vec![rate(summary, RATE_UNIT), ratio(summary), limit()],
            ["latency_ns_p50", "latency_ns_p99"].map(of).to_vec(),
            ["connect_latency_ns_p50", "connect_latency_ns_p99"]
                .map(of)
                .to_vec(),
            ["first_byte_latency_ns_p50", "first_byte_latency_ns_p99"]
                .map(of)
                .to_vec(),
            vec![cpu(&summary.figures), time_wait(), failed()],
        ],
        is_joined: true,
        groups: by_setting(summary),
    })]
}

/// One table for each setting.
pub(crate) fn brief(summary: &Summary<'_>) -> Vec<Brief> {
    let of = |key| figure(&summary.figures, key);
    let columns = || {
        vec![
            target(),
            rate(summary, RATE_UNIT),
            of("latency_ns_p50"),
            of("latency_ns_p99"),
            cpu(&summary.figures),
            limit(),
            ratio(summary),
            of("connect_latency_ns_p99"),
            of("first_byte_latency_ns_p99"),
            failed(),
        ]
    };
    one_for_each(by_setting(summary), columns)
}

/// What the last setting of a sweep cost.
pub(crate) fn costs(figures: &[Figure]) -> Vec<Column<Row>> {
    vec![figure(figures, "latency_ns_p99"), cpu(figures)]
}

fn cpu(figures: &[Figure]) -> Column<Row> {
    figure(figures, "server_cpu_per_message_ns").headed("server CPU\n/cycle")
}

fn failed() -> Column<Row> {
    Column::words("failed", |row: &Row| failures(row).words())
}

/// With a word where there was no room for more. Fewer than before: sockets of others are counted too, and nothing can be told.
fn time_wait() -> Column<Row> {
    let words = |row: &Row| {
        let is_full = row.value("time_wait_overflows") > Some(0.0);
        let sockets = row
            .value("time_wait_sockets")
            .filter(|&sockets| sockets >= 0.0);
        sockets.map_or_else(absent, |sockets| {
            let word = if is_full { "\nfull" } else { "" };
            format!("{}{word}", format::exact(sockets.round() as u64))
        })
    };
    Column::words("TIME_WAIT\nleft", words).aligned_right()
}
