//! How much each idle connection adds: a line through points of which some are far off, with an interval.
//!
//! *Method.* The slope is the median of the slopes through all pairs of points (Theil 1950), so that up to 29 % of the points
//! may be anywhere. Its interval is Sen's (1968), "Estimates of the regression coefficient based on Kendall's tau": the
//! slopes at the two ranks that the normal approximation of Kendall's statistic gives, its variance corrected for ties, which
//! costs in whole nanoseconds have. The intercept is the median of what the line leaves over.
//!
//! *Left out on purpose.* Neighbouring points that err alike (a frequency that drifts, another guest of the machine) make the
//! interval too narrow; nothing here corrects that, trials do.

use throng_record::Slope;

/// The normal distribution's quantile at 97.5 %.
const QUANTILE: f64 = 1.959_963_984_540_054;

/// The line through points of distinct abscissae; `None` with fewer than two of them.
pub(super) fn theil_sen(points: &[(f64, f64)]) -> Option<Slope> {
    let slopes = pairwise(points);
    if slopes.is_empty() {
        return None;
    }
    // Distance of the interval's ends from the ends of the sorted slopes, rounded so that the interval covers more.
    let reach = QUANTILE * kendall_variance(points).sqrt();
    let rank = ((slopes.len() as f64 - reach) / 2.0).floor().max(1.0) as usize;
    let slope = median(&slopes);
    let mut left_over: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
    left_over.sort_by(f64::total_cmp);
    Some(Slope {
        ns_per_connection: slope,
        ns_per_connection_low: slopes[rank - 1],
        ns_per_connection_high: slopes[slopes.len() - rank],
        intercept_ns: median(&left_over),
    })
}

/// The slopes through all pairs, ascending.
fn pairwise(points: &[(f64, f64)]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (index, (x, y)) in points.iter().enumerate() {
        let later = points[index + 1..].iter().filter(|later| later.0 != *x);
        slopes.extend(later.map(|later| (later.1 - y) / (later.0 - x)));
    }
    slopes.sort_by(f64::total_cmp);
    slopes
}

/// The variance of Kendall's statistic where nothing depends on anything, with groups of equal ordinates.
fn kendall_variance(points: &[(f64, f64)]) -> f64 {
    let mut ordinates: Vec<f64> = points.iter().map(|point| point.1).collect();
    ordinates.sort_by(f64::total_cmp);
    let term = |count: usize| {
        let count = count as f64;
        count * (count - 1.0) * (2.0 * count + 5.0)
    };
    let ties: f64 = ordinates
        .chunk_by(|one, next| one == next)
        .map(|group| term(group.len()))
        .sum();
    (term(points.len()) - ties) / 18.0
}

/// Of sorted numbers, at least one.
fn median(sorted: &[f64]) -> f64 {
    let upper = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[upper]
    } else {
        f64::midpoint(sorted[upper - 1], sorted[upper])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(count: u32, slope: f64, intercept: f64) -> Vec<(f64, f64)> {
        let point = |x: f64| (x, slope * x + intercept);
        (0..count).map(|index| point(f64::from(index))).collect()
    }

    #[test]
    fn an_exact_line_is_found_without_doubt() {
        let found = theil_sen(&line(12, 2.5, 100.0)).expect("points");
        let expected = Slope {
            ns_per_connection: 2.5,
            ns_per_connection_low: 2.5,
            ns_per_connection_high: 2.5,
            intercept_ns: 100.0,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn five_points_are_as_computed_by_hand() {
        // Slopes: 1→2: 1, 1→3: 1.5, 1→4: 1, 1→5: 2, 2→3: 2, 2→4: 1, 2→5: 7/3, 3→4: 0, 3→5: 2.5, 4→5: 5.
        // Sorted: 0 1 1 1 1.5 2 2 7/3 2.5 5.
        let points = [(1.0, 1.0), (2.0, 2.0), (3.0, 4.0), (4.0, 4.0), (5.0, 9.0)];
        let found = theil_sen(&points).expect("points");
        assert_eq!(found.ns_per_connection, 1.75);
        // The variance is 5·4·15/18 less 2·1·9/18 for a tie of two: reach 7.757, rank floor(1.12) = 1.
        assert!((kendall_variance(&points) - 47.0 / 3.0).abs() < 1e-12);
        assert_eq!(
            (found.ns_per_connection_low, found.ns_per_connection_high),
            (0.0, 5.0)
        );
        // Left over: -0.75, -1.5, -1.25, -3, 0.25.
        assert_eq!(found.intercept_ns, -1.25);
    }

    #[test]
    fn ten_points_leave_out_the_outermost_slopes() {
        // 45 slopes; the variance is 10·9·25/18 = 125, the reach 21.91, the rank floor(11.54) = 11.
        let points: Vec<(f64, f64)> = (0..10).map(f64::from).map(|x| (x, x * x)).collect();
        let found = theil_sen(&points).expect("points");
        // The slope through i and j is i + j. There are 1 1 2 2 3 3 … of 1 2 3 4 5 6 …: the eleventh is 6, the last but ten 12.
        assert_eq!(
            (
                found.ns_per_connection_low,
                found.ns_per_connection,
                found.ns_per_connection_high
            ),
            (6.0, 9.0, 12.0)
        );
    }

    #[test]
    fn outliers_do_not_bend_it() {
        let mut points = line(100, 3.0, 500.0);
        let noise = |index: usize| ((index * 7919) % 101) as f64 - 50.0;
        for (index, point) in points.iter_mut().enumerate() {
            point.1 += noise(index) / 10.0;
        }
        for index in [3, 50, 51, 52, 97, 98, 99] {
            points[index].1 = 1_000_000.0;
        }
        let found = theil_sen(&points).expect("points");
        assert!((found.ns_per_connection - 3.0).abs() < 0.1, "{found:?}");
        assert!(found.ns_per_connection_low > 2.8 && found.ns_per_connection_high < 3.3);
        assert!((found.intercept_ns - 500.0).abs() < 5.0, "{found:?}");
    }

    #[test]
    fn what_does_not_grow_may_have_no_slope() {
        let noise = |index: u32| f64::from((index * 7919) % 101) - 50.0;
        let points: Vec<(f64, f64)> = (0..250)
            .map(|index| (f64::from(index * 40), 2_000.0 + noise(index)))
            .collect();
        let found = theil_sen(&points).expect("points");
        assert!(found.ns_per_connection_low < 0.0, "{found:?}");
        assert!(found.ns_per_connection_high > 0.0, "{found:?}");
        let same = theil_sen(&line(50, 0.0, 7.0)).expect("points");
        assert_eq!((same.ns_per_connection, same.intercept_ns), (0.0, 7.0));
    }

    #[test]
    fn no_line_goes_through_less_than_two_points() {
        assert_eq!(theil_sen(&[]), None);
        assert_eq!(theil_sen(&[(1.0, 2.0)]), None);
        assert_eq!(theil_sen(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_slope_and_moves_with_the_points(
            costs in prop::collection::vec(0_u32..10_000, 2..60),
            tilt in -20_i32..20,
        ) {
            let points = |tilt: f64| -> Vec<(f64, f64)> {
                let abscissae = (0..costs.len()).map(|index| index as f64);
                abscissae.zip(&costs).map(|(x, &cost)| (x, f64::from(cost) + tilt * x)).collect()
            };
            let flat = theil_sen(&points(0.0)).expect("points");
            prop_assert!(flat.ns_per_connection_low <= flat.ns_per_connection);
            prop_assert!(flat.ns_per_connection <= flat.ns_per_connection_high);
            let tilted = theil_sen(&points(f64::from(tilt))).expect("points");
            let moved = tilted.ns_per_connection - flat.ns_per_connection;
            prop_assert!((moved - f64::from(tilt)).abs() < 1e-6);
        }
    }
}
