//! How many messages a second, at what latency? The tables of the echo experiment, and what every experiment of messages shares with it.

use crate::figure::Figure;
use crate::format;
use crate::outcome::{against_baseline, limit_word, throughput};
use crate::published::Published;
use crate::ratio::Compared;
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, Sheet, absent, figure};
use crate::view::{Block, Brief};

/// What the throughput counts.
pub(crate) const RATE_UNIT: &str = "messages/s";

pub(crate) fn blocks(summary: &Summary<'_>) -> Vec<Block> {
    let figures = &summary.figures;
    let of = |key| figure(figures, key);
    vec![Block::Rows(Sheet {
        labels: vec![target()],
        themes: vec![
            vec![
                rate(summary, RATE_UNIT),
                ratio(summary),
                published(),
                limit(),
            ],
            [
                "latency_ns_p50",
                "latency_ns_p90",
                "latency_ns_p99",
                "latency_ns_p99_9",
                "latency_ns_max",
            ]
            .map(of)
            .to_vec(),
            vec![
                of("server_cpu_per_message_ns"),
                of("server_memory_per_connection_bytes"),
            ],
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
            of("server_cpu_per_message_ns"),
            limit(),
            ratio(summary),
            of("server_memory_per_connection_bytes"),
        ]
    };
    one_for_each(by_setting(summary), columns)
}

/// What the last setting of a sweep cost.
pub(crate) fn costs(figures: &[Figure], compared: Compared) -> Vec<Column<Row>> {
    let keys: &[&'static str] = match compared {
        Compared::MessagesPerSecond => &[
            "latency_ns_p99",
            "server_cpu_per_message_ns",
            "server_memory_per_connection_bytes",
        ],
        // The overview has the latency already.
        Compared::LatencyP99 => &[
            "server_cpu_per_message_ns",
            "server_memory_per_connection_bytes",
        ],
    };
    keys.iter().map(|key| figure(figures, *key)).collect()
}

/// Brief tables of the same columns.
pub(crate) fn one_for_each(
    groups: Vec<(String, Vec<Row>)>,
    columns: impl Fn() -> Vec<Column<Row>>,
) -> Vec<Brief> {
    let brief = |(_, rows)| Brief {
        heading: None,
        columns: columns(),
        rows,
    };
    groups.into_iter().map(brief).collect()
}

/// The rows of each setting, in the plan's order, under what tells it from the others.
pub(crate) fn by_setting(summary: &Summary<'_>) -> Vec<(String, Vec<Row>)> {
    let settings = summary.plan.settings.iter().zip(0..);
    settings
        .map(|(setting, index)| {
            let rows = summary.rows.iter().filter(|row| row.setting == index);
            (crate::setting::heading(setting), rows.cloned().collect())
        })
        .collect()
}

pub(crate) fn target() -> Column<Row> {
    Column::words("target", |row: &Row| row.target.clone())
}

pub(crate) fn rate(summary: &Summary<'_>, unit: &str) -> Column<Row> {
    let compared = summary.compared();
    Column::words(unit, move |row: &Row| throughput(row, compared)).that_says_why()
}

/// Left out where there is nothing to compare.
pub(crate) fn ratio(summary: &Summary<'_>) -> Column<Row> {
    let heading = match summary.compared() {
        Compared::MessagesPerSecond => "vs baseline",
        Compared::LatencyP99 => "p99 vs baseline",
    };
    let is_alone = summary.plan.targets.len() < 2;
    Column::words(heading, move |row: &Row| match is_alone {
        true => absent(),
        false => against_baseline(row),
    })
}

pub(crate) fn limit() -> Column<Row> {
    Column::words("limit", |row: &Row| {
        row.limit
            .map_or_else(absent, |limit| limit_word(limit).to_owned())
    })
}

fn published() -> Column<Row> {
    let words = |row: &Row| match &row.published {
        Some(Published::Echo(beside)) => format::rate(beside.published_messages_per_second),
        _ => absent(),
    };
    Column::words("published", words).aligned_right()
}
