//! When a throughput is known well enough: the 95 % confidence interval of its mean, by batch means.
//!
//! Neighbouring moments of a server are alike, so single readings may not be treated as independent. Batches that are long
//! against that likeness nearly are (A. M. Law, *Simulation Modeling and Analysis*, "batch means"). The readings so far are
//! therefore joined into 20 to 39 batches, and Student's t gives the interval of their mean.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// Fewer batches give an interval of little worth.
const BATCHES_MIN: usize = 20;

/// Readings of a growing count, and what they say of its rate.
#[derive(Debug)]
pub(crate) struct Confidence {
    wanted: f64,
    last: Option<(u64, u64)>,
    /// Rates of the readings, joined by twos whenever there are twice as many as needed.
    rates: Vec<f64>,
    /// Readings joined in one batch.
    per_batch: u32,
    in_batch: u32,
    batch_start: (u64, u64),
}

impl Confidence {
    /// Wants an interval whose half-width ÷ mean is at most `relative_half_width`.
    pub(crate) fn new(relative_half_width: f64) -> Self {
        Self {
            wanted: relative_half_width,
            last: None,
            rates: Vec::new(),
            per_batch: 1,
            in_batch: 0,
            batch_start: (0, 0),
        }
    }

    /// A reading: so much had been counted at that time.
    pub(crate) fn observe(&mut self, at_ns: u64, count: u64) {
        if self.last.replace((at_ns, count)).is_none() {
            self.batch_start = (at_ns, count);
            return;
        }
        self.in_batch += 1;
        if self.in_batch < self.per_batch {
            return;
        }
        let (since_ns, since_count) = self.batch_start;
        if at_ns > since_ns {
            self.rates
                .push((count - since_count) as f64 / (at_ns - since_ns) as f64);
        }
        self.batch_start = (at_ns, count);
        self.in_batch = 0;
        if self.rates.len() == 2 * BATCHES_MIN {
            self.rates = self
                .rates
                .chunks(2)
                .map(|pair| f64::midpoint(pair[0], pair[1]))
                .collect();
            self.per_batch *= 2;
        }
    }

    /// The half-width of the 95 % interval ÷ the mean; `None` with fewer than 20 batches or without any count.
    pub(crate) fn relative_half_width(&self) -> Option<f64> {
        let batches = self.rates.len();
        if batches < BATCHES_MIN {
            return None;
        }
        let mean = self.rates.iter().sum::<f64>() / batches as f64;
        let variance = self
            .rates
            .iter()
            .map(|rate| (rate - mean).powi(2))
            .sum::<f64>()
            / (batches - 1) as f64;
        let t = StudentsT::new(0.0, 1.0, (batches - 1) as f64)
            .ok()?
            .inverse_cdf(0.975);
        (mean > 0.0).then(|| t * (variance / batches as f64).sqrt() / mean)
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.relative_half_width()
            .is_some_and(|width| width <= self.wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter whose rate is 100 ± `noise` per step.
    fn after(steps: u64, noise: f64) -> Confidence {
        let mut random = fastrand::Rng::with_seed(3);
        let mut confidence = Confidence::new(0.01);
        let mut count = 0.0;
        for step in 0..=steps {
            confidence.observe(step * 1_000_000, count as u64);
            count += 10_000.0 * (1.0 + noise * (random.f64() * 2.0 - 1.0));
        }
        confidence
    }

    #[test]
    fn too_few_batches_give_no_interval() {
        assert_eq!(after(19, 0.0).relative_half_width(), None);
        assert!(after(20, 0.0).is_reached());
    }

    #[test]
    fn a_noisy_rate_takes_longer() {
        assert!(!after(25, 0.3).is_reached());
        assert!(after(20_000, 0.3).is_reached());
    }

    #[test]
    fn a_server_that_does_nothing_is_never_known_well() {
        let mut confidence = Confidence::new(0.01);
        (0..100).for_each(|step| confidence.observe(step, 0));
        assert!(!confidence.is_reached());
    }
}
