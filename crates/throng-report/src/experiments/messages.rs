//! What the experiments of messages have in common, on kept connections or on one for each: columns, words, and who leads.

pub(crate) mod answer;
pub(crate) mod legend;
pub(crate) mod notes;

use crate::outcome::{against_baseline, limit_word, throughput};
use crate::ratio::Compared;
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, absent};
use crate::view::Brief;

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
