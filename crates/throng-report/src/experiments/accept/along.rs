//! What a wait costs along the number of idle connections, from the trials that a row stands on.

use serde::Serialize;
use throng_record::accept::{IdleCost, IdleSlice, Slope};

use crate::median::{median_of, typical};

/// Columns of the cost along the idle connections.
const POINTS: u32 = 6;

/// One of the costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Along {
    /// Of the trial with the median slope; of an even number of trials the lower of the middle two.
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Slope>"))]
    pub slope: Option<Slope>,
    /// Median over the trials, in nanoseconds, at each number of idle connections; absent where nothing was measured near it.
    pub cost_ns: Vec<Option<f64>>,
}

/// From none to all in equal steps.
pub(crate) fn points(connections: u32) -> Vec<u32> {
    let step = |number: u32| {
        let point = u64::from(connections) * u64::from(number) / u64::from(POINTS - 1);
        u32::try_from(point).unwrap_or(u32::MAX)
    };
    let mut points: Vec<u32> = (0..POINTS).map(step).collect();
    points.dedup();
    points
}

/// The cost of these trials.
pub(crate) fn of<'a>(trials: impl Iterator<Item = &'a IdleCost>, idle: &[u32]) -> Along {
    let trials: Vec<&IdleCost> = trials.collect();
    let reach = reach(idle);
    let near = |at: &u32| {
        let of_trial = |cost: &&IdleCost| nearest(&cost.slices, *at, reach).map(cost_ns);
        median_of(trials.iter().filter_map(of_trial))
    };
    Along {
        slope: median_slope(&trials),
        cost_ns: idle.iter().map(near).collect(),
    }
}

fn cost_ns(slice: &IdleSlice) -> f64 {
    slice.cost_ns_median as f64
}

fn median_slope(trials: &[&IdleCost]) -> Option<Slope> {
    let slopes = trials.iter().filter_map(|cost| cost.slope);
    typical(slopes, |slope| Some(slope.ns_per_connection))
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
        assert_eq!(found.cost_ns, [Some(900.0), None, None]);
    }

    #[test]
    fn few_connections_have_every_point() {
        let slices: Vec<(u32, u64)> = (0..10).map(|idle| (idle, 100 + u64::from(idle))).collect();
        let found = of([&cost(&slices, 1.0)].into_iter(), &[0, 2, 4, 6, 8, 10]);
        let expected = [100.0, 102.0, 104.0, 106.0, 108.0, 109.0];
        assert_eq!(found.cost_ns, expected.map(Some));
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
        assert_eq!(found.cost_ns, [None, None]);
    }
}
