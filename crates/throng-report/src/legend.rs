//! How to read what the tables of several experiments have: intervals and ranges, and the marks of a rate that was not kept.

use crate::median::{Spread, VALUES_FOR_INTERVAL};
use crate::row::Row;

/// What stands behind a median, by the figures that are shown with their spread.
pub(crate) fn spreads(rows: &[Row], is_shown: impl Fn(&str) -> bool) -> String {
    let figures = rows.iter().flat_map(|row| &row.figures);
    let shown: Vec<Spread> = figures
        .filter(|(key, _)| is_shown(key.as_str()))
        .filter_map(|(_, found)| found.spread)
        .collect();
    let has = |wanted: fn(&Spread) -> bool| shown.iter().any(wanted);
    let interval = "[low, high]: 95 % confidence interval of the median over repeats.";
    let range = format!(
        "(low – high): range of the repeats, not an interval: that needs {VALUES_FOR_INTERVAL} valid ones."
    );
    match (
        has(|spread| matches!(spread, Spread::Interval95 { .. })),
        has(|spread| matches!(spread, Spread::Range { .. })),
    ) {
        (true, true) => format!("{interval} {range}"),
        (true, false) => interval.to_owned(),
        (false, true) => range,
        (false, false) if has(|_| true) => format!(
            "One trial behind each figure: nothing is known of its spread. {VALUES_FOR_INTERVAL} repeats give an interval."
        ),
        (false, false) => String::new(),
    }
}

/// What the marks of a rate that was not kept mean.
pub(crate) const NOT_KEPT: &str = "rate not kept: less than 95 % of it was answered, beyond what was in flight; ranked apart. ≥: its latencies are at least so much, since the requests that were due and never sent have waited too.";
