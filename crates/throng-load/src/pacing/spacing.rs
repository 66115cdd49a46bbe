//! How the due times of an open loop are spaced.

use throng_record::Arrivals;

/// Up to so long before a due time a loop looks for events without sleeping. Longer than a sleep's usual error.
pub(crate) const SPIN_NS: u64 = 100_000;

/// One gap after another.
#[derive(Clone, Debug)]
pub(crate) struct Spacing {
    gap_ns: f64,
    arrivals: Arrivals,
    random: fastrand::Rng,
}

impl Spacing {
    pub(crate) fn new(rate_per_second: f64, arrivals: Arrivals, seed: u64) -> Self {
        Self {
            gap_ns: 1e9 / rate_per_second,
            arrivals,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// The gap that constant arrivals always have, and exponential ones on average.
    pub(crate) fn mean_gap_ns(&self) -> f64 {
        self.gap_ns
    }

    /// A fraction, so that rounding does not add up.
    #[inline]
    pub(crate) fn next_gap_ns(&mut self) -> f64 {
        match self.arrivals {
            Arrivals::Constant => self.gap_ns,
            // 1 − U lies in (0, 1], so that the logarithm is finite.
            Arrivals::Exponential => -(1.0 - self.random.f64()).ln() * self.gap_ns,
        }
    }
}
