//! One cost of a multiplexer over the number of idle connections, from the trials that a row stands on.

use serde::Serialize;
use throng_record::accept::{IdleCost, IdleSlice, Slope};

use crate::median::{self, Estimate};
use crate::row::median_of;

/// What a wait cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// With the fewest idle connections.
    pub first: Option<CostAt>,
    /// With the most.
    pub last: Option<CostAt>,
    /// Of the trial with the median slope; of an even number of trials the lower of the middle two.
    pub slope: Option<Slope>,
    /// Median over the trials, in nanoseconds, at each of the table's numbers of idle connections; absent where nothing was measured near it.
    pub at: Vec<Option<f64>>,
}

/// A cost at one number of idle connections.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostAt {
    /// Idle connections at the middle of the slice, the fewest of the trials.
    pub idle: u32,
    /// Median over the trials, in nanoseconds, of the slice's median.
    pub cost_ns: Estimate,
}

/// The cost of these trials.
pub(super) fn of<'a>(trials: impl Iterator<Item = &'a IdleCost>, idle: &[u32]) -> Cost {
    let trials: Vec<&IdleCost> = trials.collect();
    let reach = reach(idle);
    let near = |at: &u32| {
        let of_trial = |cost: &&IdleCost| nearest(&cost.slices, *at, reach).map(cost_ns);
        median_of(trials.iter().filter_map(of_trial))
    };
    Cost {
        first: at_end(&trials, |slices| slices.first()),
        last: at_end(&trials, |slices| slices.last()),
        slope: median_slope(&trials),
        at: idle.iter().map(near).collect(),
    }
}

fn cost_ns(slice: &IdleSlice) -> f64 {
    slice.cost_ns_median as f64
}

fn at_end(trials: &[&IdleCost], pick: fn(&[IdleSlice]) -> Option<&IdleSlice>) -> Option<CostAt> {
    let slices = || trials.iter().filter_map(|cost| pick(&cost.slices));
    let costs: Vec<f64> = slices().map(cost_ns).collect();
    Some(CostAt {
        idle: slices().map(|slice| slice.idle).min()?,
        cost_ns: median::estimate(&costs)?,
    })
}

fn median_slope(trials: &[&IdleCost]) -> Option<Slope> {
    let mut slopes: Vec<Slope> = trials.iter().filter_map(|cost| cost.slope).collect();
    slopes.sort_by(|one, other| one.ns_per_connection.total_cmp(&other.ns_per_connection));
    slopes.get(slopes.len().checked_sub(1)? / 2).copied()
}

/// How far a slice may lie from the number it stands for: a quarter of the way to the next, so that no slice stands for two.
fn reach(idle: &[u32]) -> u32 {
    let steps = idle.windows(2).map(|pair| pair[1] - pair[0]);
    (steps.min().unwrap_or_default() / 4).max(1)
}

fn nearest(slices: &[IdleSlice], at: u32, reach: u32) -> Option<&IdleSlice> {
    let slice = slices.iter().min_by_key(|slice| slice.idle.abs_diff(at))?;
    (slice.idle.abs_diff(at) <= reach).then_some(slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(slices: &[(u32, u64)], ns_per_connection: f64) -> IdleCost {
        let slice = |&(idle, cost_ns_median): &(u32, u64)| IdleSlice {
            idle,
            cost_ns_median,
            ..IdleSlice::default()
        };
        IdleCost {
            slices: slices.iter().map(slice).collect(),
            slope: Some(Slope {
                ns_per_connection,
                ..Slope::default()
            }),
        }
    }

    #[test]
    fn a_slice_stands_only_for_numbers_that_it_is_near() {
        // It stopped at 1,021 of 10,000.
        let stopped = cost(&[(20, 900), (980, 5_000)], 4.2);
        let found = of([&stopped].into_iter(), &[0, 2_000, 4_000]);
        assert_eq!(found.at, [Some(900.0), None, None]);
        let last = found.last.expect("measured");
        assert_eq!((last.idle, last.cost_ns.median), (980, 5_000.0));
    }

    #[test]
    fn few_connections_have_every_point() {
        let slices: Vec<(u32, u64)> = (0..10).map(|idle| (idle, 100 + u64::from(idle))).collect();
        let found = of([&cost(&slices, 1.0)].into_iter(), &[0, 2, 4, 6, 8, 10]);
        let expected = [100.0, 102.0, 104.0, 106.0, 108.0, 109.0];
        assert_eq!(found.at, expected.map(Some));
    }

    #[test]
    fn the_slope_is_that_of_the_median_trial_and_not_a_mean() {
        let trials = [5.0, 1.0, 40.0, 3.0].map(|slope| cost(&[(0, 1)], slope));
        let slope = of(trials.iter(), &[0]).slope.expect("fitted");
        assert_eq!(slope.ns_per_connection, 3.0);
        assert_eq!(of([].into_iter(), &[0]).slope, None);
    }

    #[test]
    fn nothing_measured_is_nothing_and_not_zero() {
        let found = of([&IdleCost::default()].into_iter(), &[0, 10]);
        assert_eq!((found.first, found.last), (None, None));
        assert_eq!(found.at, [None, None]);
    }
}
