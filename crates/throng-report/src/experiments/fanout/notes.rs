//! What stands below the fan-out's tables: how to read the columns, and whence the published figures are.

use super::overview::{beside, length};
use super::published::{Published, reference};
use crate::detail::Detail;
use crate::experiments::crowd;
use crate::format;
use crate::legend::{NOT_KEPT, spreads};
use crate::phases::{self, PhaseKind};
use crate::row::Row;
use crate::summary::Summary;

/// How to read the columns.
pub(crate) fn legend(summary: &Summary<'_>) -> Vec<String> {
    let has_phase = |phase| rows(summary).any(|row| length(row, phase).is_some());
    let mut lines = vec![spreads(&summary.rows, |key| {
        key.ends_with("_duration_ns") || key.ends_with("s_per_second")
    })];
    if has_phase(PhaseKind::Connect) {
        lines.push("real: length of the phase on the clock; median over repeats. connect: from the first connect to the end of the last; ack: until every connection has its greeting, 0 where all had come before, – where some had not come and nothing was timed; get: from just before the put until the line has come out of every connection.".to_owned());
    }
    if has_phase(PhaseKind::Put) {
        lines.push("put: length of the call alone. Its CPU time is in that of get: a reading between the two would hold up those that read.".to_owned());
    }
    if has_phase(PhaseKind::Connect) {
        lines.extend(phases::notes::legend(&summary.rows, true));
    }
    if rows(summary).any(|row| {
        row.value("get_latency_ns_p50").is_some()
            || row.value("acknowledge_latency_ns_p50").is_some()
    }) {
        lines.push("ack p50 … max: from each completed connect to its greeting. get p50 … max: from just before the put to each receipt. Of all connections and repeats.".to_owned());
    }
    if rows(summary).any(has_order) {
        lines.push("who hears late: mean latency of each tenth of the connections by index, which is the order of their connects, and the slowest, in the repeat whose get took the median time; of each target at its most connections. The latest tenth is named where it is neither the first nor the last.".to_owned());
    }
    if rows(summary).any(|row| row.value("sustain_deliveries").is_some()) {
        lines.push("sustained: from the time at which a line was due to be put to each of its deliveries; missing: deliveries that were due and never came, over all repeats.".to_owned());
    }
    let mut rates = rows(summary).filter_map(|row| row.rate);
    if rates.any(|rate| !rate.is_kept) {
        lines.push(NOT_KEPT.to_owned());
    }
    if rows(summary).any(|row| row.value("server_rss_connected_bytes").is_some()) {
        lines.push("server RSS, PSS: with every connection open. RSS counts a page once for each process, PSS divides it among those that share it.".to_owned());
    }
    lines.extend(crowd::notes::legend(summary));
    if !beside(summary).is_empty() {
        lines.push("published: real time of that phase with as many connections; what is different there stands under the published figures.".to_owned());
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// How well the generator kept the times of sustained lines.
pub(crate) fn schedule(summary: &Summary<'_>) -> Vec<String> {
    let line = |row: &Row| {
        let late = row.value("sustain_scheduling_error_ns_p99")?;
        Some(format!(
            "Scheduling error p99 of {} at {}: {}.",
            row.target,
            row.heading,
            format::time_ns(late)
        ))
    };
    rows(summary).filter_map(line).collect()
}

/// Whence the published figures are, and what is different there.
pub(crate) fn sources(summary: &Summary<'_>) -> Vec<String> {
    if beside(summary).is_empty() {
        return Vec::new();
    }
    let reference = reference();
    let mut lines = reference.origin.lines();
    for variant in &reference.variants {
        let shown = beside(summary);
        if shown
            .iter()
            .any(|found: &Published| found.variant.name == variant.name)
        {
            lines.push(format!(
                "{}: {}; {}.",
                variant.name, variant.method, variant.runtime
            ));
        }
    }
    lines.extend(reference.origin.remarks.iter().cloned());
    lines
}

fn rows<'a>(summary: &'a Summary<'_>) -> impl Iterator<Item = &'a Row> {
    summary.rows.iter()
}

fn has_order(row: &Row) -> bool {
    matches!(&row.detail, Some(Detail::Fanout { order }) if !order.is_empty())
}
