//! What is told of pages beside their rate and latency: connections that were opened again.

use super::notes::by_target;
use crate::format::exact;
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, figure};

const STATUSES: [&str; 5] = [
    "responses_1xx",
    "responses_2xx",
    "responses_3xx",
    "responses_4xx",
    "responses_5xx",
];

/// Those in which something happened; statuses where not all are of success.
pub(crate) fn columns(summary: &Summary<'_>) -> Vec<Column<Row>> {
    let is_some = |row: &Row, key| row.value(key).is_some_and(|value| value > 0.0);
    let others = || STATUSES.into_iter().filter(|key| *key != "responses_2xx");
    let is_mixed = summary
        .rows
        .iter()
        .any(|row| others().any(|key| is_some(row, key)));
    let statuses = STATUSES.into_iter().filter(|_| is_mixed);
    ["reconnects", "requests_sent_again"]
        .into_iter()
        .chain(statuses)
        .map(|key| figure(&summary.figures, key).only_where(move |row| is_some(row, key)))
        .collect()
}

/// Rows whose server ended kept connections.
pub(super) fn reconnects(rows: &[Row]) -> Option<String> {
    let number = |row: &Row, key| row.value(key).filter(|&value| value > 0.0);
    let some = by_target(rows, |row| {
        let reconnects = exact(number(row, "reconnects")?.round() as u64);
        Some(match number(row, "requests_sent_again") {
            Some(again) => {
                let again = exact(again.round() as u64);
                format!("{reconnects} ({again} requests were sent again)")
            }
            None => reconnects,
        })
    });
    (!some.is_empty()).then(|| {
        format!(
            "Kept connections that the server ended, and that the next request opened again (the wait for that is in its latency): {some}"
        )
    })
}
