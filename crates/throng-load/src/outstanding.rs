//! How many messages are outstanding, sampled from outside the shards while they work: an account of its own, to be
//! compared with what Little's law makes of throughput and latency.

use throng_record::phase::OutstandingSampled;

/// A running mean and variance (Welford).
#[derive(Debug, Default)]
pub(crate) struct OutstandingSampler {
    samples: u64,
    mean: f64,
    squares: f64,
}

impl OutstandingSampler {
    pub(crate) fn sample(&mut self, outstanding: u64) {
        self.samples += 1;
        let value = outstanding as f64;
        let delta = value - self.mean;
        self.mean += delta / self.samples as f64;
        self.squares += delta * (value - self.mean);
    }

    /// Enters the samples beside what the law says.
    pub(crate) fn complete(&self, record: &mut OutstandingSampled) {
        record.samples = self.samples;
        record.mean = self.mean;
        record.stdev = if self.samples > 1 {
            (self.squares / (self.samples - 1) as f64).sqrt()
        } else {
            0.0
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_are_those_of_the_samples() {
        let mut sampler = OutstandingSampler::default();
        [2, 4, 4, 4, 5, 5, 7, 9]
            .into_iter()
            .for_each(|value| sampler.sample(value));
        let mut record = OutstandingSampled::default();
        sampler.complete(&mut record);
        assert_eq!((record.samples, record.mean), (8, 5.0));
        assert!((record.stdev - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    }
}
