//! What stands below the backlog experiment's tables: rows without figures, how to read the columns, and whence the published figures are.

use super::published::{Published, PublishedTable, reference};
use super::tables::{Table, has_slow, published, tables};
use crate::failures;
use crate::format;
use crate::legend::spreads;
use crate::median::Estimate;
use crate::row::Row;
use crate::setting::{clients_by_requests, requests_each};
use crate::standing::Standing;
use crate::summary::Summary;

/// What a reader must know of single rows.
pub(crate) fn of_rows(summary: &Summary<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for table in tables(summary) {
        notes.extend(other_backlog(&table));
        for row in &table.rows {
            let setting = &summary.plan.settings[row.setting as usize];
            let cell = clients_by_requests(row.connections, requests_each(setting));
            let at = format!("{}, {cell}", table.heading());
            let unreadable = row.unreadable.iter();
            notes.extend(unreadable.map(|why| format!("{at}: not readable in the record: {why}")));
            if let Some(time) = row.of_invalid_trials {
                notes.push(format!(
                    "{at} has no valid trial; its invalid ones took {} (median), which is not ranked.",
                    format::time_ns(time)
                ));
            }
            let fewer = |found: &Estimate| found.values < row.trials.planned;
            if let Some(found) = row.estimate("duration_ns").filter(fewer) {
                notes.push(format!(
                    "{at} stands on {} of {}.",
                    found.values,
                    format::plural(row.trials.planned.into(), "trial")
                ));
            }
        }
    }
    notes
}

/// A queue of another length than was asked for is another experiment, which the heading alone says too quietly.
fn other_backlog(table: &Table<'_>) -> Option<String> {
    let asked = table.backlog_asked?;
    let found = table.backlog_in_force().filter(|&found| found != asked)?;
    Some(format!(
        "{}: the accept queue is full beyond {found}, not beyond {asked}: net.core.somaxconn bounds it, or the server asks for its own. Nothing published stands beside it.",
        table.heading()
    ))
}

/// How to read the columns.
pub(crate) fn legend(summary: &Summary<'_>) -> Vec<String> {
    let rows = || summary.rows.iter();
    let mut lines = vec![
        spreads(&summary.rows, |key| key == "duration_ns"),
        "total time: from the first connect to the end of the last request, failed ones included; median over repeats. least possible: the service time of all requests, shared by as many as are served at once. amplified: the one ÷ the other.".to_owned(),
    ];
    if rows().any(|row| row.value("duration_ns").is_some()) {
        lines.push("connect: from the connect call to the established connection. first byte: from there to the first byte of the reply. Both of all repeats together, without those that never came: ≥ where requests failed.".to_owned());
        lines.push("overflows … queue max: of one trial, median over repeats. overflows and drops: SYNs and final ACKs dropped at the listener (ListenOverflows, ListenDrops). again: segments sent again; SYNs and data by the clients' TCP_INFO, SYN-ACKs as they were observed. queue max: the longest that the accept queue was seen. –: not seen.".to_owned());
        lines.push("failed: of all repeats together, by kind.".to_owned());
    }
    if rows().any(has_slow) {
        lines.push("slow: connects over 500 ms, and first bytes more than 200 ms after the service time, of all repeats together; each counts under the cause that took most of its time.".to_owned());
    }
    if rows()
        .any(|row| row.value("duration_least_ns").is_some() && failures::of_row(row).total() > 0)
    {
        lines.push("‡: requests failed, which the server need not have served: not comparable; – instead of less than 1×.".to_owned());
    }
    if rows().any(|row| row.standing == Standing::Partial) {
        lines.push(
            "†: more than one request in a thousand failed, as the kernel's account explains; not ranked.".to_owned(),
        );
    }
    if !summary.slowest.is_empty() {
        lines.push(
            "slowest requests: repeats, clients and requests count from 0, as in the record."
                .to_owned(),
        );
    }
    if rows().any(|row| row.standing == Standing::Qualified) {
        lines.push(
            "≤: at most this long, the generator held the server up; ranked apart.".to_owned(),
        );
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Whence the published figures beside the measured ones are, and what else is published of the same cells.
pub(crate) fn sources<'a>(summary: &'a Summary<'_>) -> Vec<String> {
    let published = |row: &'a Row| match &row.published {
        Some(crate::published::Published::Backlog(found)) => Some(found),
        _ => None,
    };
    let shown: Vec<&Published> = summary.rows.iter().filter_map(published).collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let is_shown =
        |table: &&PublishedTable| shown.iter().any(|published| published.table == *table);
    let tables = &reference().tables;
    let mut lines = vec![format!("Source: {}.", reference().source)];
    let mut told: Vec<String> = Vec::new();
    for table in tables.iter().filter(is_shown) {
        let of = circumstances(table);
        if !told.contains(&of) {
            let alike = |other: &&PublishedTable| is_shown(other) && circumstances(other) == of;
            let titles: Vec<&str> = tables.iter().filter(alike).map(title).collect();
            lines.push(format!("{}: {of}.", titles.join("; ")));
            told.push(of);
        }
        lines.extend(remarks(&shown, table));
    }
    let without_backlog = tables.iter().filter(|table| table.backlog.is_none());
    lines.extend(without_backlog.filter_map(|table| elsewhere(&shown, table)));
    lines
}

fn title(table: &PublishedTable) -> &str {
    &table.title
}

fn circumstances(table: &PublishedTable) -> String {
    format!(
        "{}; machine {}; date {}; kernel {}",
        table.system, table.machine, table.date, table.kernel
    )
}

fn remarks(shown: &[&Published], table: &PublishedTable) -> Option<String> {
    let of_table = shown.iter().filter(|published| published.table == table);
    let told = of_table.filter_map(|Published { row, .. }| {
        let overflows = match &row.overflows[..] {
            [] => None,
            [one] => Some(format!("overflows {one}")),
            [least, .., most] => Some(format!("overflows {least} to {most}")),
        };
        let parts: Vec<String> = overflows.into_iter().chain(row.remark.clone()).collect();
        let cell = clients_by_requests(row.clients, Some(row.requests));
        (!parts.is_empty()).then(|| format!("{cell}: {}", parts.join(", ")))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("{}: {}.", table.title, told.join("; ")))
}

/// A table whose backlog is not known has figures for the same cells, which are compared with none.
fn elsewhere(shown: &[&Published], table: &'static PublishedTable) -> Option<String> {
    let of_handling = |one: &&&Published| one.table.handling == table.handling;
    let is_shown = |clients| {
        let mut shown = shown.iter().filter(of_handling);
        shown.any(|one| one.row.clients == clients)
    };
    let cells: Vec<String> = table
        .rows
        .iter()
        .filter(|row| is_shown(row.clients))
        .map(|row| {
            let cell = clients_by_requests(row.clients, Some(row.requests));
            let found = Published {
                table,
                row,
                amplifications: Vec::new(),
            };
            format!("{cell} {}", published(&found))
        })
        .collect();
    (!cells.is_empty()).then(|| {
        format!(
            "{} (backlog not known; machine {}; date {}): {}.",
            table.title,
            table.machine,
            table.date,
            cells.join("; ")
        )
    })
}
