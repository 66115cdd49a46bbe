//! What stands below the tables of messages: what to know of single rows, the kernel's share, the schedule.

use super::pages;
use crate::experiment::Section;
use crate::experiments::tls;
use crate::format::{self, exact};
use crate::row::Row;
use crate::summary::Summary;

/// What a reader must know of single rows.
pub(crate) fn of_rows(summary: &Summary<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for (at, rows) in summary.by_setting() {
        for row in &rows {
            notes.extend(
                row.unreadable.iter().map(|why| {
                    format!("{} at {at}: not readable in the record: {why}", row.target)
                }),
            );
            if let Some(rate) = row.of_invalid_trials {
                notes.push(format!(
                    "{} at {at} has no valid trial; its invalid ones measured {} (median), which is not ranked.",
                    row.target,
                    format::rate(rate)
                ));
            }
        }
        notes.extend(starved(&rows).map(|text| format!("{text} at {at}.")));
        notes.extend(pages::reconnects(&rows).map(|text| format!("{text} at {at}.")));
        notes.extend(time_wait_full(&rows).map(|text| format!("{text} at {at}.")));
        notes.extend(fewer_trials(&rows).map(|text| format!("{text} at {at}.")));
        notes.extend(no_baseline(summary, &rows).map(|text| format!("{text} at {at}.")));
    }
    notes.extend(tls::notes(summary));
    notes
}

/// A section of its own, above the checks.
pub(crate) fn sections(summary: &Summary<'_>) -> Vec<Section> {
    vec![(
        "The kernel's share of the server's CPU time",
        in_kernel(summary),
    )]
}

/// Where the server's CPU time went: a line for each setting. What the kernel takes, no other language would save.
fn in_kernel(summary: &Summary<'_>) -> Vec<String> {
    let line = |(heading, rows): (String, Vec<Row>)| {
        let shares = by_target(&rows, |row| {
            let share = row.value("server_system_share")?;
            Some(format!("{:.0} %", share * 100.0))
        });
        (!shares.is_empty()).then(|| format!("{heading}: {shares}."))
    };
    summary.by_setting().into_iter().filter_map(line).collect()
}

/// Open loop: how well the generator kept its schedule, a line for each setting. In every open-loop report.
pub(crate) fn schedule(summary: &Summary<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, rows) in summary.by_setting() {
        let errors = by_target(&rows, |row| {
            Some(format::time_ns(row.value("scheduling_error_ns_p99")?))
        });
        if !errors.is_empty() {
            lines.push(format!("Scheduling error p99 at {at}: {errors}."));
        }
        let waits = by_target(&rows, |row| {
            let share = row.value("waited_for_connection_share");
            let share = share.filter(|&share| share > 0.0)?;
            Some(format!("{} %", format::ratio(share * 100.0)))
        });
        if !waits.is_empty() {
            let (busy, due) = match is_of_requests(summary) {
                true => ("client", "cycles"),
                false => ("connection", "messages"),
            };
            lines.push(format!(
                "Due while every {busy} was busy, at {at}: {waits} of the {due}. Their wait is in their latency."
            ));
        }
    }
    lines
}

/// Rows whose percentiles look better than they are: the messages that waited longest are not among those answered. A few connections may be unlucky, and a
/// machine that stood still at the end of the window starves all of them; between the two it is the server's way.
fn starved(rows: &[Row]) -> Option<String> {
    const SHARE_MIN: f64 = 0.01;
    const NUMBER_MIN: f64 = 10.0;
    let some = by_target(rows, |row| {
        let starved = row.value("connections_starved")?;
        let connections = f64::from(row.connections);
        let is_the_servers_way = starved > NUMBER_MIN.max(connections * SHARE_MIN);
        (is_the_servers_way && starved < connections).then(|| exact(starved.round() as u64))
    });
    (!some.is_empty()).then(|| {
        format!(
            "Connections still waiting when the window ended, for longer than any reply took (the percentiles leave them out): {some}"
        )
    })
}

/// Rows whose figures stand on fewer trials than the plan asks for.
fn fewer_trials(rows: &[Row]) -> Option<String> {
    let planned = rows.first()?.trials.planned;
    let fewer = by_target(rows, |row| {
        let values = row.estimate("messages_per_second")?.values;
        (values < planned).then(|| values.to_string())
    });
    (!fewer.is_empty())
        .then(|| format!("Figures that stand on fewer than {planned} trials: {fewer}"))
}

/// Rows whose later connections closed in another way than the first ones.
fn time_wait_full(rows: &[Row]) -> Option<String> {
    let full = by_target(rows, |row| {
        let lost = row.value("time_wait_overflows")?;
        (lost > 0.0).then(|| exact(lost.round() as u64))
    });
    (!full.is_empty()).then(|| {
        format!(
            "TIME_WAIT was full (net.ipv4.tcp_max_tw_buckets), and connections closed without it, which costs less (--kernel tcp_max_tw_buckets=2000000 makes room, --closing reset leaves none): {full}"
        )
    })
}

fn no_baseline(summary: &Summary<'_>, rows: &[Row]) -> Option<String> {
    let others = rows
        .iter()
        .any(|row| !row.is_baseline && row.value("messages_per_second").is_some());
    let ratios = rows.iter().any(|row| row.ratio_to_baseline.is_some());
    let stands = rows
        .iter()
        .any(|row| row.is_baseline && row.value("messages_per_second").is_some());
    (others && !ratios).then(|| {
        let baseline = summary.baseline;
        if stands {
            format!("No comparison with {baseline}: no repeat in which both trials stand")
        } else {
            format!("No comparison with {baseline}: it has no valid trial")
        }
    })
}

/// `poll 8.20 µs, epoll-edge 7.90 µs`.
pub(super) fn by_target(rows: &[Row], figure: impl Fn(&Row) -> Option<String>) -> String {
    let items: Vec<String> = rows
        .iter()
        .filter_map(|row| Some(format!("{} {}", row.target, figure(row)?)))
        .collect();
    items.join(", ")
}

/// Whether each message has a connection of its own.
pub(super) fn is_of_requests(summary: &Summary<'_>) -> bool {
    let settings = summary.plan.settings.iter();
    settings.take(1).any(|one| one.phases.is_of_requests())
}
