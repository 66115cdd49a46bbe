//! Latencies in nanoseconds, kept as `HdrHistogram` (Gil Tene): three significant digits over the whole range.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use serde::{Deserialize, Serialize};

/// The largest latency that can be recorded: one hour. Longer ones are counted as this.
pub const HIGHEST_NS: u64 = 3_600_000_000_000;

/// Significant decimal digits kept of each value.
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// A histogram as it stands in the record: the quantiles that people read, and all of it in `HdrHistogram`'s V2 encoding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Histogram {
    /// Values recorded.
    pub count: u64,
    /// Least value, 0 where nothing was recorded.
    pub min_ns: u64,
    /// Mean of the values.
    pub mean_ns: f64,
    /// Standard deviation of the values.
    pub stdev_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p99_9_ns: u64,
    /// 99.99th percentile.
    pub p99_99_ns: u64,
    /// Greatest value.
    pub max_ns: u64,
    /// The whole histogram: `HdrHistogram` V2 (uncompressed), base64.
    pub hdr_v2_base64: String,
}

/// Why a stored histogram could not be read back.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The text is not base64.
    #[error("the histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// The bytes are not an `HdrHistogram` in V2 encoding.
    #[error("the histogram is not in HdrHistogram's V2 encoding: {0:?}")]
    Hdr(hdrhistogram::serialization::DeserializeError),
}

/// An empty histogram with the range and precision that the record prescribes.
#[must_use]
pub fn empty() -> hdrhistogram::Histogram<u64> {
    hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS)
        .expect("the constants are within HdrHistogram's bounds")
}

impl From<&hdrhistogram::Histogram<u64>> for Histogram {
    fn from(live: &hdrhistogram::Histogram<u64>) -> Self {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(live, &mut bytes)
            .expect("writing to memory does not fail");
        Self {
            count: live.len(),
            min_ns: if live.is_empty() { 0 } else { live.min() },
            mean_ns: live.mean(),
            stdev_ns: live.stdev(),
            p50_ns: live.value_at_quantile(0.50),
            p90_ns: live.value_at_quantile(0.90),
            p99_ns: live.value_at_quantile(0.99),
            p99_9_ns: live.value_at_quantile(0.999),
            p99_99_ns: live.value_at_quantile(0.9999),
            max_ns: live.max(),
            hdr_v2_base64: STANDARD.encode(bytes),
        }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::from(&empty())
    }
}

impl Histogram {
    /// What all values took together.
    #[must_use]
    pub fn total_ns(&self) -> f64 {
        self.mean_ns * self.count as f64
    }

    /// The whole histogram again, for merging or for other quantiles.
    ///
    /// # Errors
    /// [`DecodeError`] where the stored text is damaged.
    pub fn decode(&self) -> Result<hdrhistogram::Histogram<u64>, DecodeError> {
        let bytes = STANDARD.decode(&self.hdr_v2_base64)?;
        Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(DecodeError::Hdr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_histogram_decodes_to_the_same_quantiles() {
        let mut live = empty();
        for value in 1..=10_007_u64 {
            live.record(value * 1_000).expect("within range");
        }
        let stored = Histogram::from(&live);
        let again = stored.decode().expect("just encoded");
        assert_eq!(again.len(), 10_007);
        assert_eq!(Histogram::from(&again), stored);
        let error = (stored.p99_ns as f64 / (10_007.0 * 990.0) - 1.0).abs();
        assert!(
            error < 0.001,
            "three significant digits, got an error of {error}"
        );
    }

    #[test]
    fn damaged_text_is_an_error_and_not_a_panic() {
        let mut stored = Histogram::default();
        stored.hdr_v2_base64.replace_range(0..4, "????");
        assert!(stored.decode().is_err());
        stored.hdr_v2_base64 = STANDARD.encode(b"not a histogram");
        assert!(stored.decode().is_err());
    }
}
