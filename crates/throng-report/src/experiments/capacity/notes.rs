//! What stands below the tables: what a single queue explains, and how to read the columns.

use throng_record::Purpose;

use super::searched::{Probed, Searched};
use super::{searched, spec};
use crate::format::{rate, time_ns};
use crate::legend::spreads;
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;

/// Times the latency of the queue within which it explains what was measured.
const EXPLAINED: f64 = 1.5;

/// Of rows with something not readable in their record.
pub(super) fn of_rows(summary: &Summary<'_>) -> Vec<String> {
    let line = |row: &Row| {
        let unreadable = row.unreadable.iter();
        unreadable
            .map(|why| {
                format!(
                    "{} at {}: not readable in the record: {why}",
                    row.target, row.heading
                )
            })
            .collect::<Vec<_>>()
    };
    summary.rows.iter().flat_map(line).collect()
}

/// A line for each row: at its capacity, what was measured and what a queue alone would be.
pub(super) fn queueing(summary: &Summary<'_>) -> Vec<String> {
    summary.rows.iter().filter_map(of_queue).collect()
}

fn of_queue(row: &Row) -> Option<String> {
    let found = searched(row)?;
    let queue = found.queue.as_ref()?;
    let probe = at_capacity(row, found)?;
    let measured = probe.latency_ns_p99;
    let alone = queue.p99_ns(probe.offered_per_second);
    let said = match alone {
        None => format!(
            "more than one queue takes that serves one request at a time ({} in the closed loop): requests are answered together",
            found
                .search
                .saturated_per_second
                .map_or_else(String::new, rate)
        ),
        Some(alone) if measured <= EXPLAINED * alone => format!(
            "a queue alone would have {}: queueing explains it",
            time_ns(alone)
        ),
        Some(alone) => format!(
            "a queue alone would have {}: the rest is the server's own, or the machine's (pauses, batches, locks)",
            time_ns(alone)
        ),
    };
    Some(format!(
        "{} at {}: at {} p99 is {}; {said}.",
        row.target,
        row.heading,
        rate(probe.offered_per_second),
        time_ns(measured)
    ))
}

/// The search's own probe that lies nearest to the capacity.
fn at_capacity<'a>(row: &Row, found: &'a Searched) -> Option<&'a Probed> {
    let capacity = row.value("capacity_per_second")?;
    let off = |probe: &&Probed| (probe.offered_per_second - capacity).abs();
    let probes = found.probes.iter();
    let probes = probes.filter(|probe| probe.purpose == Purpose::Search);
    probes.min_by(|one, other| off(one).total_cmp(&off(other)))
}

/// How to read the columns.
pub(super) fn legend(summary: &Summary<'_>) -> Vec<String> {
    let mut lines = vec![spreads(&summary.rows, |key| key == "capacity_per_second")];
    let bounds = spec(summary).map_or_else(String::new, |spec| spec.bounds.join(" and "));
    lines.push(format!(
        "capacity: the greatest rate offered at which {bounds} held and the rate was kept, median over repeats of the search. Latencies and costs are those at that rate."
    ));
    let has = |wanted: fn(&Row) -> bool| summary.rows.iter().any(wanted);
    if has(|row| row.standing == Standing::Qualified) {
        lines.push(
            "≥: above it the generator was late itself, so that the server may take more."
                .to_owned(),
        );
    }
    if has(|row| row.value("capacity_per_second").is_none() && !row.figures.is_empty()) {
        lines.push(
            "none: the bounds held at no rate; the figures are those of the lowest.".to_owned(),
        );
    }
    if has(|row| searched(row).is_some_and(|found| found.knee_per_second.is_some())) {
        lines.push("knee: the point of the curve with the greatest ratio of rate to mean latency (Kleinrock); beyond it latency grows faster than the rate.".to_owned());
        lines.push("queue alone: M/G/1 with the service time of the closed loop (Pollaczek and Khinchine); ∞: it grows without end.".to_owned());
    }
    lines.retain(|line| !line.is_empty());
    lines
}
