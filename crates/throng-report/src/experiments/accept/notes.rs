//! What stands below the accept experiment's tables: what stopped a multiplexer, how to read the columns, and what is published.

use super::published::reference;
use crate::format::{of, plural};
use crate::legend::spreads;
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;

/// Why there are fewer connections than were asked for.
pub(crate) fn stopped(summary: &Summary<'_>) -> Vec<String> {
    let line = |row: &Row| {
        let reasons = row.stopped_by.join("; ");
        let accepted = row.value("accepted").map(|accepted| accepted as u32);
        let came = accepted.map(|accepted| format!("accepted {}: ", of(accepted, row.connections)));
        (!reasons.is_empty()).then(|| {
            let came = came.unwrap_or_default();
            format!("{} at {}: {came}{reasons}", row.target, row.heading)
        })
    };
    summary.rows.iter().filter_map(line).collect()
}

/// What a reader must know of single rows.
pub(crate) fn of_rows(summary: &Summary<'_>) -> Vec<String> {
    let fewer = |row: &Row| {
        let is_fewer = !row.figures.is_empty() && row.trials_behind < row.trials.planned;
        is_fewer.then(|| {
            let planned = plural(row.trials.planned.into(), "trial");
            format!(
                "{} at {} stands on {} of {planned}.",
                row.target, row.heading, row.trials_behind
            )
        })
    };
    summary.rows.iter().filter_map(fewer).collect()
}

/// How to read the columns.
pub(crate) fn legend(summary: &Summary<'_>) -> Vec<String> {
    let costs = || {
        summary
            .rows
            .iter()
            .filter_map(|row| row.estimate("accept_cost_ns_first"))
    };
    let mut lines = vec![spreads(&summary.rows, |key| key.contains("_cost_ns_"))];
    if costs().next().is_some() {
        lines.push("accept: from the wait's call to the accepted descriptor, one connection being ready and all others idle. data: from the wait's call to the end of the read, one connection having a byte.".to_owned());
        lines.push("few idle, at the end: median cost of the first and of the last measurements of a trial that stand together; median over repeats. The tables by idle connections are medians too, from the nearest measurements; –: it did not come so far.".to_owned());
    }
    if summary
        .rows
        .iter()
        .any(|row| row.value("accept_ns_per_connection").is_some())
    {
        lines.push("per idle connection: what each adds, by the median of the slopes through all pairs of points (Theil and Sen), and its 95 % interval; of the repeat whose slope is the median. Where the interval holds 0, no growth was seen.".to_owned());
    }
    if summary
        .rows
        .iter()
        .any(|row| row.standing == Standing::Qualified)
    {
        lines.push("*: stands with a reservation, see above.".to_owned());
    }
    if summary.rows.iter().any(|row| row.published.is_some()) {
        lines.push(
            "published: what the source says in words; N is the number of connections.".to_owned(),
        );
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Whence the words beside the measured costs are.
pub(crate) fn sources(summary: &Summary<'_>) -> Vec<String> {
    if !summary.rows.iter().any(|row| row.published.is_some()) {
        return Vec::new();
    }
    let reference = reference();
    let mut lines = reference.origin.lines();
    let connections = plural(reference.connections.into(), "connection");
    lines.push(format!("It ends at {connections}."));
    lines.extend(reference.origin.remarks.iter().cloned());
    lines
}
