//! TLS handshakes in the tables and notes of experiments with kept connections.

use crate::figure::Figure;
use crate::format::{self, exact};
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, absent, figure, with_spread};

/// How long they took, and what they came to: nothing where all is plain.
pub(crate) fn columns(figures: &[Figure]) -> Vec<Column<Row>> {
    let of = |key: &'static str| figure(figures, key);
    vec![
        with_spread(figures, "tls_duration_ns"),
        of("tls_handshake_ns_p50"),
        of("tls_handshake_ns_p99"),
        of("tls_handshake_ns_max"),
        of("tls_resumed_share").only_where(|row| row.value("tls_resumed_share") > Some(0.0)),
        Column::words("TLS", |row: &Row| match &row.tls_agreed[..] {
            [] => absent(),
            agreed => agreed.join(", "),
        }),
    ]
}

/// A line for each row that speaks it.
pub(crate) fn notes(summary: &Summary<'_>) -> Vec<String> {
    let rows = summary.by_setting().into_iter();
    let lines = rows.flat_map(|(at, rows)| {
        let line = |row: &Row| {
            Some(format!(
                "TLS of {} at {at}: {}.",
                row.target,
                in_words(row)?
            ))
        };
        rows.iter().filter_map(line).collect::<Vec<_>>()
    });
    lines.collect()
}

fn in_words(row: &Row) -> Option<String> {
    let time = |key| row.value(key).map(format::time_ns);
    let number = row.value("tls_handshakes")?;
    let resumed = row.value("tls_resumed_share").unwrap_or(0.0);
    let resumed = match resumed {
        0.0 => "all of them full".to_owned(),
        share => format!("{} % of them resumed", format::ratio(share * 100.0)),
    };
    Some(format!(
        "{} handshakes in {}, {resumed}, p50 {}, p99 {}, the slowest {}; {}",
        exact(number as u64),
        time("tls_duration_ns")?,
        time("tls_handshake_ns_p50")?,
        time("tls_handshake_ns_p99")?,
        time("tls_handshake_ns_max")?,
        row.tls_agreed.join(", ")
    ))
}
