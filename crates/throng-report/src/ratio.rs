//! Two targets are compared by a ratio with its interval, never by two bare numbers.
//!
//! Trials are interleaved, so that repeat i of a target and repeat i of the baseline met much the same machine. The ratio
//! is taken within each such pair, then its median and interval over the pairs: what slowed both cancels out.
//!
//! A pair counts where both of its trials stand behind their row (see [`crate::summary`]). Where a row stands with a
//! reservation its figures are bounds, and so is the ratio: a target at "at least X" over a valid baseline is "at least",
//! a valid target over a baseline at "at least X" is "at most", and two bounds have no ratio at all.

use serde::Serialize;

use crate::median::{self, Estimate, Spread};

/// Which figure of the two targets is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// Messages per second, where the servers decide it: closed loop and lockstep. Above 1 is better.
    MessagesPerSecond,
    /// The 99th percentile of latency, where the rate is given: open loop. Below 1 is better.
    LatencyP99,
    /// The rate that a search found. Above 1 is better.
    CapacityPerSecond,
}

impl Compared {
    /// The key of the figure.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::MessagesPerSecond => "messages_per_second",
            Self::LatencyP99 => "latency_ns_p99",
            Self::CapacityPerSecond => "capacity_per_second",
        }
    }
}

/// What a figure says of the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// It is the figure.
    Exact,
    /// The true one is no less.
    AtLeast,
    /// The true one is no greater.
    AtMost,
}

impl Bound {
    /// What a ratio says when its two figures say this; `None` where they say nothing together.
    #[must_use]
    pub fn of_ratio(target: Self, baseline: Self) -> Option<Self> {
        match (target, baseline) {
            (bound, Self::Exact) => Some(bound),
            (Self::Exact, Self::AtLeast) => Some(Self::AtMost),
            (Self::Exact, Self::AtMost) => Some(Self::AtLeast),
            _ => None,
        }
    }
}

/// A target ÷ the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ratio {
    /// What is divided.
    pub compared: Compared,
    /// What the ratio says of the true one.
    pub bound: Bound,
    /// Median of the pairs' ratios, with its spread.
    #[serde(flatten)]
    pub estimate: Estimate,
}

impl Ratio {
    /// Whether the two may be the same: the interval, or the range, holds 1.
    #[must_use]
    pub fn shows_no_difference(&self) -> bool {
        match self.estimate.spread {
            Spread::Interval95 { low, high } | Spread::Range { low, high } => {
                self.bound == Bound::Exact && low <= 1.0 && 1.0 <= high
            }
            Spread::Single => false,
        }
    }
}

/// Median and spread of the ratios of `(target, baseline)` pairs; `None` without a pair whose baseline is above 0.
#[must_use]
pub fn of_pairs(pairs: &[(f64, f64)]) -> Option<Estimate> {
    let ratios: Vec<f64> = pairs
        .iter()
        .filter(|(_, baseline)| *baseline > 0.0)
        .map(|(target, baseline)| target / baseline)
        .collect();
    median::estimate(&ratios)
}

/// The ratio of two samples whose values have no partners, with its interval: the median of all ratios of one of `samples` and one of `baseline`; of these, put in
/// order, the k-th least and the k-th greatest enclose the true ratio, where both are distributed alike but for a factor. k is the greatest for which that is so with
/// 95 %, by the distribution of the Mann–Whitney statistic; four values of each are the fewest. Of fewer it is the range. `None` without a value above 0 in both.
///
/// Source: M. Hollander, D. A. Wolfe, E. Chicken, *Nonparametric Statistical Methods*, §4.2 and 4.3 (Hodges and Lehmann, Moses), on logarithms.
#[must_use]
pub fn of_samples(samples: &[f64], baseline: &[f64]) -> Option<Estimate> {
    let above =
        |values: &[f64]| -> Vec<f64> { values.iter().copied().filter(|v| *v > 0.0).collect() };
    let (samples, baseline) = (above(samples), above(baseline));
    let pairs = samples
        .iter()
        .flat_map(|one| baseline.iter().map(move |other| one / other));
    let mut ratios: Vec<f64> = pairs.collect();
    ratios.sort_by(f64::total_cmp);
    let (&least, &greatest) = (ratios.first()?, ratios.last()?);
    let spread = match mann_whitney_rank(samples.len(), baseline.len()) {
        _ if ratios.len() == 1 => Spread::Single,
        None => Spread::Range {
            low: least,
            high: greatest,
        },
        Some(rank) => Spread::Interval95 {
            low: ratios[rank - 1],
            high: ratios[ratios.len() - rank],
        },
    };
    Some(Estimate {
        median: median::median_of(ratios)?,
        spread,
        values: u32::try_from(samples.len().min(baseline.len())).unwrap_or(u32::MAX),
    })
}

/// The greatest k for which P(U ≤ k − 1) ≤ 2.5 %, U being the Mann–Whitney statistic of samples of these sizes; `None` where there is none.
fn mann_whitney_rank(one: usize, other: usize) -> Option<usize> {
    // In how many of the orders of the values the statistic is so great: those of n and m values are those of n − 1 and m, m higher where the last is of the first
    // sample, and those of n and m − 1.
    let mut orders = vec![vec![vec![1.0_f64]; other + 1]; one + 1];
    for n in 1..=one {
        for m in 1..=other {
            let mut counts = vec![0.0; n * m + 1];
            for (statistic, number) in orders[n - 1][m].iter().enumerate() {
                counts[statistic + m] += number;
            }
            for (statistic, number) in orders[n][m - 1].iter().enumerate() {
                counts[statistic] += number;
            }
            orders[n][m] = counts;
        }
    }
    let counts = &orders[one][other];
    let all: f64 = counts.iter().sum();
    let mut below = 0.0;
    let within = counts.iter().take_while(|number| {
        below += *number;
        below <= 0.025 * all
    });
    Some(within.count()).filter(|rank| *rank > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_slows_both_of_a_pair_cancels_out() {
        let pairs: Vec<(f64, f64)> = [1.0, 0.5, 0.9, 0.7, 1.1, 0.6]
            .iter()
            .map(|speed| (120.0 * speed, 100.0 * speed))
            .collect();
        let found = of_pairs(&pairs).expect("pairs");
        assert!((found.median - 1.2).abs() < 1e-12);
        let Spread::Interval95 { low, high } = found.spread else {
            panic!("six pairs give an interval, got {:?}", found.spread);
        };
        assert!(high - low < 1e-12, "[{low}, {high}]");
    }

    /// Critical values of the two-sided Mann–Whitney test at 5 %, as tables of it give them; each rank is one above.
    #[test]
    fn ranks_are_those_of_the_mann_whitney_test() {
        for (one, other, critical) in [
            (4, 4, 0),
            (4, 5, 1),
            (5, 5, 2),
            (6, 6, 5),
            (8, 8, 13),
            (10, 10, 23),
            (6, 10, 11),
        ] {
            assert_eq!(
                mann_whitney_rank(one, other),
                Some(critical + 1),
                "{one} and {other}"
            );
        }
        for (one, other) in [(3, 3), (1, 30), (3, 4)] {
            assert_eq!(mann_whitney_rank(one, other), None, "{one} and {other}");
        }
    }

    #[test]
    fn samples_without_partners_have_the_median_of_all_ratios() {
        let of = |factor: f64| [1.0, 1.1, 0.9, 1.05, 0.95, 1.0].map(|value| value * factor);
        let found = of_samples(&of(200.0), &of(100.0)).expect("both have values");
        assert!((found.median - 2.0).abs() < 1e-12, "{found:?}");
        let Spread::Interval95 { low, high } = found.spread else {
            panic!("{found:?}");
        };
        assert!(
            1.7 < low && low < 2.0 && 2.0 < high && high < 2.3,
            "{low} {high}"
        );
        let few = of_samples(&[2.0, 3.0], &[1.0, 1.0]).expect("values");
        assert_eq!(
            few.spread,
            Spread::Range {
                low: 2.0,
                high: 3.0
            }
        );
        assert_eq!(
            of_samples(&[2.0], &[1.0]).expect("one").spread,
            Spread::Single
        );
        assert_eq!(of_samples(&[], &[1.0]), None);
        assert_eq!(of_samples(&[0.0], &[1.0]), None);
    }

    #[test]
    fn a_baseline_of_nothing_is_no_pair() {
        assert_eq!(of_pairs(&[(1.0, 0.0)]), None);
        assert_eq!(of_pairs(&[(1.0, 0.0), (3.0, 2.0)]).expect("one").values, 1);
    }

    #[test]
    fn a_ratio_of_bounds_is_a_bound_or_nothing() {
        use Bound::{AtLeast, AtMost, Exact};
        assert_eq!(Bound::of_ratio(Exact, Exact), Some(Exact));
        assert_eq!(Bound::of_ratio(AtLeast, Exact), Some(AtLeast));
        assert_eq!(Bound::of_ratio(Exact, AtLeast), Some(AtMost));
        assert_eq!(Bound::of_ratio(Exact, AtMost), Some(AtLeast));
        assert_eq!(Bound::of_ratio(AtLeast, AtLeast), None);
    }

    #[test]
    fn an_interval_that_holds_one_shows_no_difference() {
        let of = |bound, spread| {
            let estimate = Estimate {
                median: 1.0,
                spread,
                values: 6,
            };
            let compared = Compared::MessagesPerSecond;
            Ratio {
                compared,
                bound,
                estimate,
            }
            .shows_no_difference()
        };
        let interval = |low, high| Spread::Interval95 { low, high };
        assert!(of(Bound::Exact, interval(0.9, 1.0)));
        assert!(of(
            Bound::Exact,
            Spread::Range {
                low: 1.0,
                high: 1.2
            }
        ));
        assert!(!of(Bound::Exact, interval(0.9, 0.99)));
        assert!(!of(Bound::Exact, interval(1.01, 1.2)));
        assert!(!of(Bound::AtLeast, interval(0.9, 1.1)));
        assert!(!of(Bound::Exact, Spread::Single));
    }

    proptest! {
        #[test]
        fn the_ratio_lies_between_the_least_and_the_greatest_of_the_pairs(
            pairs in prop::collection::vec((1.0..1e6_f64, 1.0..1e6_f64), 1..40),
        ) {
            let found = of_pairs(&pairs).expect("every baseline is above 0").median;
            let ratios = || pairs.iter().map(|(target, baseline)| target / baseline);
            prop_assert!(ratios().fold(f64::INFINITY, f64::min) <= found);
            prop_assert!(found <= ratios().fold(0.0, f64::max));
        }
    }
}
