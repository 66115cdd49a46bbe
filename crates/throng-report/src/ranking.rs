//! The order of rows: by the leading figure, those of which no difference was seen in the same place.

use crate::leading::Leading;
use crate::median::Estimate;
use crate::ratio::Compared;
use crate::row::Row;
use crate::standing::Standing;

/// Rows of one setting in their order, with their places. Less is better in the key; a stable sort keeps the plan's order among equals.
pub(crate) fn ranked(mut rows: Vec<Row>, leading: Leading) -> Vec<Row> {
    if leading.compared().is_none() {
        return rows;
    }
    let key = |row: &Row| to_sort_by(leading, row).unwrap_or(f64::INFINITY);
    rows.sort_by(|one, other| {
        one.standing
            .cmp(&other.standing)
            .then(key(one).total_cmp(&key(other)))
    });
    let mut leader: Option<(u32, Option<Estimate>)> = None;
    let standing = rows
        .iter_mut()
        .filter(|row| row.standing == Standing::Ranked);
    for (place, row) in (1..).zip(standing) {
        let interval = interval(leading, row);
        let ties = |(_, of_leader): &(u32, Option<Estimate>)| {
            of_leader.zip(interval).is_some_and(|(a, b)| a.overlaps(&b))
        };
        let first = leader.filter(ties).unwrap_or((place, interval));
        row.rank = Some(first.0);
        leader = Some(first);
    }
    rows
}

/// Less is better.
pub(crate) fn to_sort_by(leading: Leading, row: &Row) -> Option<f64> {
    match leading.compared()? {
        Compared::MessagesPerSecond => row.value("messages_per_second").map(|rate| -rate),
        Compared::CapacityPerSecond => row.value("capacity_per_second").map(|rate| -rate),
        Compared::LatencyP99 => row.value("latency_ns_p99"),
    }
}

/// Within which rows are not told apart. A percentile of all messages has none.
fn interval(leading: Leading, row: &Row) -> Option<Estimate> {
    match leading.compared()? {
        Compared::MessagesPerSecond => row.estimate("messages_per_second"),
        Compared::CapacityPerSecond => row.estimate("capacity_per_second"),
        Compared::LatencyP99 => None,
    }
}
