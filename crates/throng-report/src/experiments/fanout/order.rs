//! Who hears late: the latencies of a line by the connections' indices, which is the order of their connects, and the slowest of them.
//!
//! They are those of one trial, the one in which the get took the median time: slowness has its places, and means over trials would hide
//! them. Left out on purpose: every slice of the record. Ten show a slope, a step or a straggler.

use serde::Serialize;
use throng_record::{IndexSlice, LinePhase, SlowConnection, Trial};

use crate::median;
use crate::phases::PhaseKind;

/// Parts of equal length.
const PARTS: u64 = 10;

/// A line's latencies by index.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Order {
    /// Which line: the greeting, or the one that was put.
    pub phase: PhaseKind,
    /// The connections in ten parts, those to none of which it came left out; none of fewer than ten connections.
    pub parts: Vec<Part>,
    /// The slowest, slowest first.
    #[cfg_attr(test, schemars(with = "Vec<crate::schema::SlowConnection>"))]
    pub slowest: Vec<SlowConnection>,
}

/// Neighbouring connections.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Part {
    /// Index of the first.
    pub first: u32,
    /// Index of the last.
    pub last: u32,
    /// Mean over those to which it came.
    pub latency_ns_mean: f64,
}

/// Of the trial whose get took the median time; of an even number the shorter of the middle two.
pub(crate) fn of(shown: &[&Trial], connections: u32) -> Vec<Order> {
    let length = |trial: &&Trial| {
        PhaseKind::Get
            .duration_ns(trial)
            .map(|length| length as f64)
    };
    let Some(typical) = median::typical(shown.iter().copied(), length) else {
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
