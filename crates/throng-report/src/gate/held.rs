//! Whether a bound holds in trials at one rate: decided within them, not between repeats.
//!
//! *Method.* A quantile q of n latencies lies, with 95 %, between those of q ± 2 √(q (1 − q) ÷ n): the number of latencies below the true one is binomial. Latencies that
//! waited in one queue are not independent, so the true interval is wider; that is why a search is repeated, and its answer has the interval of its repeats. A mean lies
//! within ± 2 standard errors. Any other figure is its value.

use throng_record::{Plan, Trial};

use super::{Against, Gate};
use crate::figure::OneTrial;
use crate::median::median_of;
use crate::merge::{Live, Merges};

/// Latencies beyond a quantile that make it worth something.
const BEYOND: f64 = 50.0;
/// Of anything else.
const REPLIES_MIN: u64 = 1_000;
const DEVIATIONS: f64 = 2.0;

/// Whether a bound holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundHeld {
    /// `None`: the bound lies within the interval.
    pub is_held: Option<bool>,
    /// By the figure itself.
    pub is_held_by_value: bool,
    /// The figure in words: `p99 4.21 ms`.
    pub words: String,
}

impl Gate {
    /// Replies that a trial needs for this figure to be worth something.
    #[must_use]
    pub fn replies_needed(&self) -> u64 {
        match self.share_below() {
            Some(share) if share < 1.0 => ((BEYOND / (1.0 - share)).ceil() as u64).max(REPLIES_MIN),
            _ => REPLIES_MIN,
        }
    }

    /// Whether it holds in these trials, whose latencies are taken together.
    #[must_use]
    pub fn held(&self, plan: &Plan, trials: &[&Trial]) -> BoundHeld {
        let Against::Value(bound) = self.against else {
            return self.unknown("it compares with a baseline, and a bound is a value");
        };
        let mut merges = Merges::default();
        let all = self.figure.all_latencies(trials, &mut merges);
        let ends = all.and_then(|all| self.ends_of(all)).or_else(|| {
            let of_trial = |trial: &&Trial| self.figure.of_trial(&OneTrial { plan, trial });
            let value = median_of(trials.iter().filter_map(of_trial))?;
            Some((value, value, value))
        });
        let Some((low, value, high)) = ends else {
            return self.unknown("it was not measured");
        };
        let holds = |value| self.relation.holds(value, bound);
        BoundHeld {
            is_held: (holds(low) == holds(high)).then(|| holds(low)),
            is_held_by_value: holds(value),
            words: format!("{} {}", self.name(), self.figure.unit.words()(value)),
        }
    }

    /// Whether it compares a figure with a value, as a bound does.
    #[must_use]
    pub fn is_of_value(&self) -> bool {
        matches!(self.against, Against::Value(_))
    }

    /// The latency that it compares one with, in nanoseconds.
    pub(crate) fn latency_ns(&self) -> Option<f64> {
        self.figure.quantile()?;
        match self.against {
            Against::Value(value) => Some(value),
            Against::Baseline(_) => None,
        }
    }

    fn unknown(&self, why: &str) -> BoundHeld {
        BoundHeld {
            is_held: Some(false),
            is_held_by_value: false,
            words: format!("{}: {why}", self.name()),
        }
    }

    /// What was written on its left.
    fn name(&self) -> &str {
        let end = self.text.find(['<', '>']).unwrap_or(self.text.len());
        self.text[..end].trim()
    }

    /// Of a quantile, the share of all that lies below it.
    fn share_below(&self) -> Option<f64> {
        Some(match self.figure.quantile()? {
            "p50" => 0.5,
            "p90" => 0.9,
            "p99" => 0.99,
            "p99_9" => 0.999,
            "p99_99" => 0.9999,
            "max" => 1.0,
            _ => return None,
        })
    }

    /// Low end, value and high end.
    fn ends_of(&self, all: &Live) -> Option<(f64, f64, f64)> {
        let count = all.len() as f64;
        let at = |quantile: f64| all.value_at_quantile(quantile.clamp(0.0, 1.0)) as f64;
        if let Some(share) = self.share_below() {
            let off = DEVIATIONS * (share * (1.0 - share) / count).sqrt();
            return Some((at(share - off), at(share), at(share + off)));
        }
        (self.figure.quantile()? == "mean").then(|| {
            let off = DEVIATIONS * all.stdev() / count.sqrt();
            (all.mean() - off, all.mean(), all.mean() + off)
        })
    }
}
