//! Who hears late: the latencies of a line by the connections' indices, which is the order of their connects, and the slowest of them.
//!
//! They are those of one trial, the one in which the get took the median time: slowness has its places, and means over trials would hide
//! them. Left out on purpose: every slice of the record. Ten show a slope, a step or a straggler.

use serde::Serialize;
use throng_record::{IndexSlice, LinePhase, SlowConnection, Trial};

use super::Row;
use crate::crowd::Behind;
use crate::format::{self, exact, times};
use crate::phases::PhaseKind;
use crate::summary::Summary;

/// Parts of equal length.
const PARTS: u64 = 10;
/// Slowest connections that a line names.
const NAMED: usize = 3;

/// A line's latencies by index.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Order {
    /// Which line: the greeting, or the one that was put.
    pub phase: PhaseKind,
    /// The connections in ten parts, those to none of which it came left out; none of fewer than ten connections.
    pub parts: Vec<Part>,
    /// The slowest, slowest first.
    pub slowest: Vec<SlowConnection>,
}

/// Neighbouring connections.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Index of the first.
    pub first: u32,
    /// Index of the last.
    pub last: u32,
    /// Mean over those to which it came.
    pub latency_ns_mean: f64,
}

/// Of the trial whose get took the median time; of an even number the shorter of the middle two.
pub(super) fn of(behind: &Behind<'_>, connections: u32) -> Vec<Order> {
    let length = |trial: &&Trial| PhaseKind::Get.duration_ns(trial);
    let mut trials: Vec<&Trial> = behind.shown.clone();
    trials.sort_by_key(length);
    let heard = trials.iter().filter(|trial| length(trial).is_some());
    let heard: Vec<&&Trial> = heard.collect();
    let Some(typical) = heard.get(heard.len().saturating_sub(1) / 2) else {
        return Vec::new();
    };
    let got = typical.phases.put().map(|put| &put.line);
    let phases = [
        (PhaseKind::Acknowledge, typical.phases.greeting()),
        (PhaseKind::Get, got),
    ];
    let order = |(phase, line): (PhaseKind, Option<&LinePhase>)| {
        let line = line.filter(|line| !line.slowest.is_empty())?;
        Some(Order {
            phase,
            parts: parts(&line.by_index, connections),
            slowest: line.slowest.clone(),
        })
    };
    phases.into_iter().filter_map(order).collect()
}

/// Slices that reach over the border of two parts count to the one in which they begin.
pub(crate) fn parts(slices: &[IndexSlice], connections: u32) -> Vec<Part> {
    let all = u64::from(connections);
    if all < PARTS {
        return Vec::new();
    }
    let part_of = |slice: &IndexSlice| u64::from(slice.first) * PARTS / all;
    let part = |index: u64| {
        let after = slices.iter().find(|slice| part_of(slice) > index);
        let is_in_it = |slice: &&IndexSlice| slice.connections > 0 && part_of(slice) == index;
        let slices: Vec<&IndexSlice> = slices.iter().filter(is_in_it).collect();
        let first = slices.first()?;
        let heard: u64 = slices
            .iter()
            .map(|slice| u64::from(slice.connections))
            .sum();
        let weighted =
            |slice: &&IndexSlice| slice.latency_ns_mean as f64 * f64::from(slice.connections);
        Some(Part {
            first: first.first,
            last: after.map_or(connections, |slice| slice.first) - 1,
            latency_ns_mean: slices.iter().map(weighted).sum::<f64>() / heard as f64,
        })
    };
    (0..PARTS).filter_map(part).collect()
}

/// A line for each target and phase, at the most connections of which there is something to tell.
pub(crate) fn lines(summary: &Summary<'_>) -> Vec<String> {
    let targets = summary.fanouts.first().map_or(0, |table| table.rows.len());
    let last_told = |target: usize| {
        let mut rows = summary
            .fanouts
            .iter()
            .rev()
            .map(|table| &table.rows[target]);
        rows.find(|row| !row.order.is_empty())
    };
    let told = (0..targets).filter_map(last_told);
    told.flat_map(|row| row.order.iter().map(|order| order.line(row)))
        .collect()
}

impl Order {
    /// `epoll-edge at 7,000 connections, get: first tenth 1.20 ms, last tenth 8.00 ms; slowest connection 6,999 (12.3 ms), 6,998 (12.1 ms).`
    fn line(&self, row: &Row) -> String {
        let mut told = Vec::new();
        if let [first, .., last] = &self.parts[..] {
            told.push(format!(
                "first tenth {}, last tenth {}",
                mean(first),
                mean(last)
            ));
            let latest = self
                .parts
                .iter()
                .max_by(|one, other| one.latency_ns_mean.total_cmp(&other.latency_ns_mean));
            if let Some(latest) = latest.filter(|latest| *latest != first && *latest != last) {
                told.push(format!(
                    "latest connections {} to {} ({})",
                    exact(latest.first.into()),
                    exact(latest.last.into()),
                    mean(latest)
                ));
            }
        }
        let slowest: Vec<String> = self.slowest.iter().take(NAMED).map(slow).collect();
        told.push(format!("slowest connection {}", slowest.join(", ")));
        format!(
            "{} at {}, {}: {}.",
            row.crowd.target,
            row.crowd.heading,
            self.phase.word(),
            told.join("; ")
        )
    }
}

fn mean(part: &Part) -> String {
    format::time_ns(part.latency_ns_mean)
}

fn slow(one: &SlowConnection) -> String {
    let again = match one.syn_retransmissions {
        0 => String::new(),
        more => format!(", its SYN sent again {}", times(more.into())),
    };
    format!(
        "{} ({}{again})",
        exact(one.connection.into()),
        format::time_ns(one.latency_ns as f64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(first: u32, connections: u32, mean: u64) -> IndexSlice {
        IndexSlice {
            first,
            connections,
            latency_ns_min: mean,
            latency_ns_mean: mean,
            latency_ns_max: mean,
        }
    }

    #[test]
    fn parts_are_weighted_means_of_the_slices_that_begin_in_them() {
        let slices: Vec<IndexSlice> = (0..125)
            .map(|index| slice(index * 8, 8, u64::from(index)))
            .collect();
        let parts = parts(&slices, 1_000);
        assert_eq!(parts.len(), 10);
        // Thirteen slices, 0 to 12, begin below 100.
        assert_eq!((parts[0].first, parts[0].last), (0, 103));
        assert_eq!(parts[0].latency_ns_mean, 6.0);
        assert_eq!((parts[9].first, parts[9].last), (904, 999));
        let two = [slice(0, 3, 100), slice(3, 1, 500)];
        assert_eq!(super::parts(&two, 40)[0].latency_ns_mean, 200.0);
    }

    #[test]
    fn where_it_came_to_nobody_there_is_no_part() {
        let slices = [slice(0, 0, 0), slice(10, 4, 7), slice(90, 10, 9)];
        let firsts: Vec<u32> = parts(&slices, 100).iter().map(|part| part.first).collect();
        assert_eq!(firsts, [10, 90]);
        assert!(parts(&[slice(0, 9, 1)], 9).is_empty());
    }
}
