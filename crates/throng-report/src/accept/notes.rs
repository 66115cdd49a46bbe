//! What stands below the accept experiment's tables: what stopped a multiplexer, how to read the columns, and what is published.

use super::published::reference;
use super::{Row, Table};
use crate::format::{of, plural};
use crate::median::{Estimate, Spread};
use crate::notes::spreads;
use crate::summary::{Standing, Summary};

/// Why there are fewer connections than were asked for.
pub(crate) fn stopped(summary: &Summary<'_>) -> Vec<String> {
    let line = |(table, row): (&Table<'_>, &Row)| {
        let reasons = row.stopped_by.join("; ");
        let came = row
            .accepted
            .map(|accepted| format!("accepted {}: ", of(accepted, row.connections)));
        (!reasons.is_empty()).then(|| {
            let came = came.unwrap_or_default();
            format!("{} at {}: {came}{reasons}", row.target, table.heading)
        })
    };
    rows(summary).filter_map(line).collect()
}

/// What a reader must know of single rows.
pub(crate) fn of_rows(summary: &Summary<'_>) -> Vec<String> {
    let fewer = |(table, row): (&Table<'_>, &Row)| {
        let is_fewer = row.has_figures() && row.trials_behind < row.trials.planned;
        is_fewer.then(|| {
            let planned = plural(row.trials.planned.into(), "trial");
            format!(
                "{} at {} stands on {} of {planned}.",
                row.target, table.heading, row.trials_behind
            )
        })
    };
    rows(summary).filter_map(fewer).collect()
}

/// How to read the columns.
pub(crate) fn legend(summary: &Summary<'_>) -> Vec<String> {
    let costs = || rows(summary).flat_map(|(_, row)| [&row.accept, &row.data]);
    let has = |wanted: fn(&Spread) -> bool| {
        let mut ends = costs().flat_map(|cost| [cost.first, cost.last]).flatten();
        ends.any(|at| {
            let Estimate { spread, .. } = at.cost_ns;
            wanted(&spread)
        })
    };
    let mut lines = vec![spreads(has)];
    if costs().any(|cost| cost.first.is_some()) {
        lines.push("accept: from the wait's call to the accepted descriptor, one connection being ready and all others idle. data: from the wait's call to the end of the read, one connection having a byte.".to_owned());
        lines.push("few idle, at the end: median cost of the first and of the last measurements of a trial that stand together; median over repeats. The tables by idle connections are medians too, from the nearest measurements; –: it did not come so far.".to_owned());
    }
    if costs().any(|cost| cost.slope.is_some()) {
        lines.push("per idle connection: what each adds, by the median of the slopes through all pairs of points (Theil and Sen), and its 95 % interval; of the repeat whose slope is the median. Where the interval holds 0, no growth was seen.".to_owned());
    }
    if rows(summary).any(|(_, row)| row.standing == Standing::Qualified) {
        lines.push("*: stands with a reservation, see above.".to_owned());
    }
    if rows(summary).any(|(_, row)| row.published.is_some()) {
        lines.push(
            "published: what the source says in words; N is the number of connections.".to_owned(),
        );
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Whence the words beside the measured costs are.
pub(crate) fn sources(summary: &Summary<'_>) -> Vec<String> {
    if !rows(summary).any(|(_, row)| row.published.is_some()) {
        return Vec::new();
    }
    let reference = reference();
    let mut lines = reference.origin.lines();
    let connections = plural(reference.connections.into(), "connection");
    lines.push(format!("It ends at {connections}."));
    lines.extend(reference.origin.remarks.iter().cloned());
    lines
}

fn rows<'a>(summary: &'a Summary<'_>) -> impl Iterator<Item = (&'a Table<'a>, &'a Row)> {
    let of_table = |table: &'a Table<'a>| table.rows.iter().map(move |row| (table, row));
    summary.multiplexers.iter().flat_map(of_table)
}
