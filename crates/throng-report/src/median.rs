//! The median of repeats and how far it can be trusted.
//!
//! Repeats of a trial are few, and their distribution is unknown and skewed, so the interval assumes nothing about it: the
//! number of values below the true median is binomial with p = 1/2, hence the l-th least and the l-th greatest value
//! enclose the median with probability 1 − 2·P(B ≤ l − 1). The greatest l that still gives 95 % is taken; the cover is
//! therefore never less than 95 %, and with 6 values it is 96.9 %.
//!
//! Source: J.-Y. Le Boudec, *Performance Evaluation of Computer and Communication Systems*, §2.2 and appendix A; also
//! W. J. Conover, *Practical Nonparametric Statistics*, §3.2.
//!
//! Left out on purpose: intervals of the mean, which need a normal distribution, and interpolation between order
//! statistics, which gives narrower intervals at the price of an assumption.

use serde::Serialize;
use statrs::distribution::{Binomial, DiscreteCDF as _};

/// Values needed for a 95 % interval: even the least and the greatest of fewer enclose the median less often than that.
pub const VALUES_FOR_INTERVAL: usize = 6;

/// How far the values behind a median lie apart, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Spread {
    /// The interval that holds the true median with a probability of at least 95 %.
    Interval95 {
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// Least and greatest of 2 to 5 values. No interval: it claims nothing beyond these values.
    Range {
        /// Least value.
        low: f64,
        /// Greatest value.
        high: f64,
    },
    /// There is one value only.
    Single,
}

/// A median with its spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The median; of an even number of values the mean of the middle two.
    pub median: f64,
    /// How far the values lie apart.
    pub spread: Spread,
    /// Values behind it.
    pub values: u32,
}

impl Estimate {
    /// Whether the intervals, or ranges, of the two have a value in common. Of a single value nothing is known but itself.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let ends = |of: &Self| match of.spread {
            Spread::Interval95 { low, high } | Spread::Range { low, high } => (low, high),
            Spread::Single => (of.median, of.median),
        };
        let ((low, high), (other_low, other_high)) = (ends(self), ends(other));
        low <= other_high && other_low <= high
    }
}

impl Spread {
    /// Its lower and its upper end; a single value has none.
    #[must_use]
    pub fn ends(self) -> Option<(f64, f64)> {
        match self {
            Self::Interval95 { low, high } | Self::Range { low, high } => Some((low, high)),
            Self::Single => None,
        }
    }
}

/// The one with the median of a number, of those that have it; of an even number the lower of the middle two.
pub(crate) fn typical<T>(
    of: impl IntoIterator<Item = T>,
    by: impl Fn(&T) -> Option<f64>,
) -> Option<T> {
    let known = of.into_iter().filter_map(|one| Some((by(&one)?, one)));
    let mut known: Vec<(f64, T)> = known.collect();
    known.sort_by(|one, other| one.0.total_cmp(&other.0));
    let place = known.len().checked_sub(1)? / 2;
    Some(known.swap_remove(place).1)
}

/// The median of `values` with its spread; `None` without a finite value. Values that are not finite are left out.
#[must_use]
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let (&least, &greatest) = (sorted.first()?, sorted.last()?);
    let spread = match (sorted.len(), interval_rank(sorted.len())) {
        (1, _) => Spread::Single,
        (_, None) => Spread::Range {
            low: least,
            high: greatest,
        },
        (count, Some(rank)) => Spread::Interval95 {
            low: sorted[rank - 1],
            high: sorted[count - rank],
        },
    };
    Some(Estimate {
        median: middle(&sorted),
        spread,
        values: u32::try_from(sorted.len()).unwrap_or(u32::MAX),
    })
}

/// The greatest l for which the l-th least and l-th greatest of `count` values enclose the median with 95 %.
fn interval_rank(count: usize) -> Option<usize> {
    let below = Binomial::new(0.5, count as u64).ok()?;
    (1..=count / 2)
        .take_while(|&rank| below.cdf(rank as u64 - 1) <= 0.025)
        .last()
}

fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        f64::midpoint(sorted[half - 1], sorted[half])
    }
}

/// The median alone; `None` of no values.
pub(crate) fn median_of(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    estimate(&values).map(|found| found.median)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each rank is one above the critical value of the two-sided sign test at 5 %, as any table of it gives them.
    #[test]
    fn ranks_are_those_of_the_sign_test() {
        for (count, rank) in [
            (6, 1),
            (8, 1),
            (9, 2),
            (11, 2),
            (12, 3),
            (20, 6),
            (30, 10),
            (50, 18),
            (70, 27),
        ] {
            assert_eq!(interval_rank(count), Some(rank), "of {count} values");
        }
    }

    #[test]
    fn fewer_than_six_values_give_a_range_and_no_interval() {
        for count in 2..VALUES_FOR_INTERVAL {
            let values: Vec<f64> = (0..count).map(|v| v as f64).collect();
            let high = (count - 1) as f64;
            assert_eq!(
                estimate(&values).expect("values").spread,
                Spread::Range { low: 0.0, high }
            );
        }
        assert_eq!(estimate(&[7.0]).expect("a value").spread, Spread::Single);
        assert_eq!(estimate(&[]), None);
    }

    #[test]
    fn six_values_give_the_interval_from_least_to_greatest() {
        let found = estimate(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0]).expect("values");
        assert_eq!(found.median, 3.5);
        assert_eq!(
            found.spread,
            Spread::Interval95 {
                low: 1.0,
                high: 6.0
            }
        );
    }

    proptest! {
        #[test]
        fn the_median_lies_within_its_spread_and_the_spread_within_the_values(
            values in prop::collection::vec(-1e9..1e9_f64, 2..200),
        ) {
            let found = estimate(&values).expect("values");
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            match found.spread {
                Spread::Interval95 { low, high } => {
                    prop_assert!(values.len() >= VALUES_FOR_INTERVAL);
                    prop_assert!(least <= low && low <= found.median);
                    prop_assert!(found.median <= high && high <= greatest);
                }
                Spread::Range { low, high } => {
                    prop_assert!(values.len() < VALUES_FOR_INTERVAL);
                    prop_assert_eq!((low, high), (least, greatest));
                    prop_assert!(low <= found.median && found.median <= high);
                }
                Spread::Single => prop_assert!(false, "there are at least two values"),
            }
        }

        #[test]
        fn the_order_of_the_values_does_not_matter(
            mut values in prop::collection::vec(-1e9..1e9_f64, 1..40),
        ) {
            let before = estimate(&values);
            values.reverse();
            prop_assert_eq!(before, estimate(&values));
        }
    }
}
