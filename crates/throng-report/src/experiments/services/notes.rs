//! What stands below the tables: which services failed, how to read the columns, and what is published.

use super::published::reference;
use super::tables::failed_services;
use crate::format::plural;
use crate::legend::spreads;
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;

/// The services that failed, by number.
pub(super) fn of_rows(summary: &Summary<'_>) -> Vec<String> {
    summary.rows.iter().flat_map(of_row).collect()
}

fn of_row(row: &Row) -> Vec<String> {
    let heading = match row.heading.is_empty() {
        true => String::new(),
        false => format!(" at {}", row.heading),
    };
    let lines = failed_services(row).iter().map(|failed| {
        format!(
            "{}{heading}: service {} of {} failed {}: {}. The figures are those of the others.",
            row.target,
            failed.service,
            failed.of,
            plural(failed.tasks.into(), "task"),
            failed.first_failure
        )
    });
    lines.collect()
}

/// How to read the columns.
pub(super) fn legend(summary: &Summary<'_>) -> Vec<String> {
    let has = |key: &str| summary.rows.iter().any(|row| row.value(key).is_some());
    let mut lines = vec![spreads(&summary.rows, |key| key == super::tables::DONE)];
    lines.push("client done: from the begin, which all clients share, to a client's last reply; the mean over clients that had every reply.".to_owned());
    if has("connecting_share") {
        lines.push("of it connecting: the part of all requests' time that their connects took, with the wait for room in a full queue of a Unix socket. Of kept connections it is not in the time.".to_owned());
    }
    if summary
        .rows
        .iter()
        .any(|row| row.standing == Standing::Qualified)
    {
        lines.push(
            "≤: the load generator was at its limit, so that the services may be faster."
                .to_owned(),
        );
    }
    if has("server_cpu_per_message_ns") {
        lines.push("server CPU: of all services together; with a scan that never rests it is the time of the scans too.".to_owned());
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Whence the published times are.
pub(super) fn sources(summary: &Summary<'_>) -> Vec<String> {
    if !summary.rows.iter().any(|row| row.published.is_some()) {
        return Vec::new();
    }
    let origin = &reference().origin;
    [origin.lines(), origin.remarks.clone()].concat()
}
