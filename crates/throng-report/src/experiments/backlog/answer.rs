//! The answer: the cell that a queue cost most, and who does best with as many clients.

use super::tables::Table;
use crate::failures;
use crate::format::{self, plural, time_ns};
use crate::row::Row;
use crate::table::absent;

/// The cell that a queue cost most, and who does best with as many clients.
pub(super) fn sentences(tables: &[Table<'_>]) -> Vec<String> {
    let cells = tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (table, *row)));
    let known: Vec<(&Table<'_>, &Row, f64)> = cells
        .filter_map(|(table, row)| Some((table, row, row.value("amplification")?)))
        .collect();
    let by_amplification = |one: &&(_, _, f64), other: &&(_, _, f64)| one.2.total_cmp(&other.2);
    let Some(worst) = known.iter().max_by(by_amplification) else {
        return Vec::new();
    };
    let as_many = || {
        let others = known.iter();
        others.filter(|(table, row, _)| {
            row.connections == worst.1.connections && table.heading() != worst.0.heading()
        })
    };
    let of_same = as_many().filter(|(table, ..)| table.target == worst.0.target);
    let best = of_same.min_by(by_amplification);
    let best = best.or_else(|| as_many().min_by(by_amplification));
    let took = |(_, row, times): &(_, &Row, f64)| {
        let total = row.value("duration_ns").map_or_else(absent, time_ns);
        let failed = match failures::of_row(row).total() {
            0 => String::new(),
            failed => format!(", and {} failed", plural(failed, "request")),
        };
        format!(
            "takes {total}, {}× the least possible{failed}",
            format::ratio(*times)
        )
    };
    let clients = plural(worst.1.connections.into(), "client");
    let worst_of_all = format!("With {clients}, {} {}.", worst.0.heading(), took(worst));
    let best = best.map(|best| format!("With as many, {} {}.", best.0.heading(), took(best)));
    std::iter::once(worst_of_all).chain(best).collect()
}
