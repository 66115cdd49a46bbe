//! Single measurements, one for each number of idle connections, made into slices of neighbours: few enough to be kept, each with enough
//! in it that a lone interruption does not move its median.

use throng_record::{IdleCost, IdleSlice};

use super::slope::theil_sen;

/// Slices of a long measurement; a shorter one has a slice for each measurement.
const SLICES_MAX: usize = 250;
/// Fewer points than these are no ground for a line.
const SLOPE_SLICES_MIN: usize = 10;

/// The cost from measurements in nanoseconds: the first with no idle connection, each further one with one more.
pub(super) fn idle_cost(costs_ns: &[u64]) -> IdleCost {
    let slices = slices(costs_ns);
    let point = |slice: &IdleSlice| (f64::from(slice.idle), slice.cost_ns_median as f64);
    let points: Vec<(f64, f64)> = slices.iter().map(point).collect();
    let slope = (slices.len() >= SLOPE_SLICES_MIN)
        .then(|| theil_sen(&points))
        .flatten();
    IdleCost { slices, slope }
}

/// As many slices as there may be, their lengths differing by one at most.
fn slices(costs_ns: &[u64]) -> Vec<IdleSlice> {
    let count = costs_ns.len().min(SLICES_MAX);
    let edge = |index: usize| index * costs_ns.len() / count;
    (0..count)
        .map(|index| slice(costs_ns, edge(index), edge(index + 1)))
        .collect()
}

/// One slice, of at least one measurement.
fn slice(costs_ns: &[u64], from: usize, until: usize) -> IdleSlice {
    let mut sorted = costs_ns[from..until].to_vec();
    sorted.sort_unstable();
    let (lower, upper) = ((sorted.len() - 1) / 2, sorted.len() / 2);
    IdleSlice {
        idle: usize::midpoint(from, until - 1) as u32,
        samples: sorted.len() as u32,
        cost_ns_min: sorted[0],
        cost_ns_median: sorted[lower].midpoint(sorted[upper]),
        cost_ns_max: sorted[sorted.len() - 1],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_measurements_are_slices_of_their_own_and_no_line() {
        let cost = idle_cost(&[30, 10, 20]);
        let expected = |idle, cost_ns| IdleSlice {
            idle,
            samples: 1,
            cost_ns_min: cost_ns,
            cost_ns_median: cost_ns,
            cost_ns_max: cost_ns,
        };
        let slices = [expected(0, 30), expected(1, 10), expected(2, 20)];
        assert_eq!(cost.slices, slices);
        assert_eq!(cost.slope, None);
        assert_eq!(idle_cost(&[]), IdleCost::default());
    }

    #[test]
    fn a_slice_keeps_the_least_the_middle_and_the_greatest() {
        let odd = slice(&[9, 50, 10, 999, 30], 1, 4);
        assert_eq!((odd.idle, odd.samples), (2, 3));
        assert_eq!(
            (odd.cost_ns_min, odd.cost_ns_median, odd.cost_ns_max),
            (10, 50, 999)
        );
        let even = slice(&[1, 4, 100, 3], 0, 4);
        assert_eq!((even.idle, even.cost_ns_median), (1, 3));
    }

    #[test]
    fn a_cost_that_grows_is_a_line_through_the_slices() {
        let costs: Vec<u64> = (0..10_000).map(|idle| 700 + 12 * idle).collect();
        let cost = idle_cost(&costs);
        assert_eq!(cost.slices.len(), 250);
        assert!(cost.slices.iter().all(|slice| slice.samples == 40));
        let slope = cost.slope.expect("enough slices");
        assert!((slope.ns_per_connection - 12.0).abs() < 1e-9, "{slope:?}");
        // The middle of an even slice is rounded down: half a connection.
        assert!((slope.intercept_ns - 706.0).abs() < 1e-6, "{slope:?}");
        assert!(idle_cost(&costs[..9]).slope.is_none());
        assert!(idle_cost(&costs[..10]).slope.is_some());
    }

    proptest! {
        #[test]
        fn every_measurement_is_in_one_slice(costs in prop::collection::vec(0_u64..1 << 40, 0..1_500)) {
            let slices = slices(&costs);
            prop_assert_eq!(slices.len(), costs.len().min(SLICES_MAX));
            let samples: u32 = slices.iter().map(|slice| slice.samples).sum();
            prop_assert_eq!(samples as usize, costs.len());
            prop_assert!(slices.is_sorted_by(|one, next| one.idle < next.idle));
            let mut from = 0;
            for slice in &slices {
                let until = from + slice.samples as usize;
                prop_assert!((from..until).contains(&(slice.idle as usize)));
                let own = &costs[from..until];
                prop_assert_eq!(Some(&slice.cost_ns_min), own.iter().min());
                prop_assert_eq!(Some(&slice.cost_ns_max), own.iter().max());
                prop_assert!(slice.cost_ns_min <= slice.cost_ns_median);
                prop_assert!(slice.cost_ns_median <= slice.cost_ns_max);
                from = until;
            }
        }
    }
}
