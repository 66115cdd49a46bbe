//! What a queue before a single server would make of a rate: M/G/1, by the measured service time.
//!
//! *Method.* Requests come at random (Poisson) at the rate λ to one server that takes s for each, with the squared coefficient of variation c². The mean wait is that of
//! Pollaczek and Khinchine, W = ρ s (1 + c²) ÷ (2 (1 − ρ)) with ρ = λ s. Who waits does so for W ÷ ρ on average, taken as exponentially distributed: exact for c² = 1, and close
//! in the tail for others. So a quantile q of the wait is (W ÷ ρ) ln(ρ ÷ (1 − q)), or 0 where fewer than 1 − q wait at all.
//!
//! s is 1 ÷ the throughput of the closed loop, so that ρ is 1 where the server gives no more: of a server with several workers it is that of all of them together. What a request takes that
//! meets no other, and c², are those of the calm probe. All that the wait of one queue does not explain is the server's own: pauses, batches, locks.
//!
//! Source: L. Kleinrock, *Queueing Systems*, vol. 1, §5.6 (1975); the quantiles after A. O. Allen, *Probability, Statistics, and Queueing Theory*, §5.3 (1990).

use serde::Serialize;

/// The queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Queue {
    /// Mean service time, in nanoseconds.
    pub service_ns: f64,
    /// Squared coefficient of variation of the service time.
    pub variation_squared: f64,
    /// Mean latency of a request that meets no other, in nanoseconds.
    pub calm_ns_mean: f64,
    /// Its 99th percentile.
    pub calm_ns_p99: f64,
}

impl Queue {
    /// Mean latency at a rate, in nanoseconds; `None` where the queue grows without end.
    pub(crate) fn mean_ns(&self, rate_per_second: f64) -> Option<f64> {
        Some(self.calm_ns_mean + self.wait_ns(rate_per_second)?)
    }

    /// The 99th percentile of latency, in nanoseconds: no less than without a queue.
    pub(crate) fn p99_ns(&self, rate_per_second: f64) -> Option<f64> {
        let wait_ns = self.wait_ns(rate_per_second)?;
        let busy = self.busy(rate_per_second);
        let waits = if busy > 0.01 {
            wait_ns / busy * (busy / 0.01).ln()
        } else {
            0.0
        };
        Some((self.calm_ns_mean + waits).max(self.calm_ns_p99))
    }

    fn busy(&self, rate_per_second: f64) -> f64 {
        rate_per_second * self.service_ns / 1e9
    }

    fn wait_ns(&self, rate_per_second: f64) -> Option<f64> {
        let busy = self.busy(rate_per_second);
        (busy < 1.0)
            .then(|| busy * self.service_ns * (1.0 + self.variation_squared) / (2.0 * (1.0 - busy)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND_NS: f64 = 1e6;

    fn queue(variation_squared: f64) -> Queue {
        Queue {
            service_ns: MILLISECOND_NS,
            variation_squared,
            calm_ns_mean: MILLISECOND_NS,
            calm_ns_p99: MILLISECOND_NS,
        }
    }

    fn close(found: Option<f64>, expected_ms: f64) -> bool {
        found.is_some_and(|found| (found / MILLISECOND_NS - expected_ms).abs() < 1e-3 * expected_ms)
    }

    #[test]
    fn exponential_service_is_the_m_m_1_queue() {
        // Mean sojourn 1 ÷ (μ − λ); its wait beyond t: ρ e^(−(μ − λ) t).
        let queue = queue(1.0);
        assert!(close(queue.mean_ns(800.0), 5.0));
        let wait_ms = (0.8_f64 / 0.01).ln() / 0.2;
        assert!(close(queue.p99_ns(800.0), 1.0 + wait_ms));
    }

    #[test]
    fn constant_service_waits_half_as_long() {
        // ρ ÷ (2 (1 − ρ)) service times.
        assert!(close(queue(0.0).mean_ns(800.0), 3.0));
    }

    #[test]
    fn a_queue_without_end_has_no_latency_and_an_empty_one_that_of_the_service() {
        assert_eq!(queue(0.0).mean_ns(1_000.0), None);
        assert_eq!(queue(0.0).p99_ns(2_000.0), None);
        assert!(close(queue(0.0).p99_ns(1.0), 1.0));
    }
}
