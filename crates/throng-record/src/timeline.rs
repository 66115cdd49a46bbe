//! Replies over time: how many came in each slice of the measured window, and their summed latency.
//!
//! From it come the batch means of the confidence interval, the drift check and the reports' curves.

use serde::{Deserialize, Serialize};

/// Equal slices of time from the start of the measured window on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Timeline {
    /// Width of a slice; a power of two of the narrowest one used, so that timelines of several shards can be merged.
    pub slice_ns: u64,
    /// Replies in each slice.
    pub replies: Vec<u64>,
    /// Summed latency of the replies in each slice.
    pub latency_sum_ns: Vec<u64>,
}

impl Timeline {
    /// Joins neighbouring slices until a slice is at least `slice_ns` wide.
    pub fn coarsen_to(&mut self, slice_ns: u64) {
        while self.slice_ns < slice_ns {
            self.slice_ns *= 2;
            halve(&mut self.replies);
            halve(&mut self.latency_sum_ns);
        }
    }

    /// Adds the timeline of another shard whose window began at the same time.
    pub fn merge(&mut self, mut other: Self) {
        if self.slice_ns == 0 {
            *self = other;
            return;
        }
        if other.slice_ns == 0 {
            return;
        }
        self.coarsen_to(other.slice_ns);
        other.coarsen_to(self.slice_ns);
        add(&mut self.replies, &other.replies);
        add(&mut self.latency_sum_ns, &other.latency_sum_ns);
    }
}

fn halve(values: &mut Vec<u64>) {
    *values = values.chunks(2).map(|pair| pair.iter().sum()).collect();
}

fn add(into: &mut Vec<u64>, from: &[u64]) {
    if into.len() < from.len() {
        into.resize(from.len(), 0);
    }
    for (sum, value) in into.iter_mut().zip(from) {
        *sum += value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_every_reply_whatever_the_widths() {
        let mut fine = Timeline {
            slice_ns: 1,
            replies: vec![1, 2, 3],
            latency_sum_ns: vec![10, 20, 30],
        };
        let coarse = Timeline {
            slice_ns: 4,
            replies: vec![5, 7],
            latency_sum_ns: vec![50, 70],
        };
        fine.merge(coarse);
        assert_eq!(
            fine,
            Timeline {
                slice_ns: 4,
                replies: vec![11, 7],
                latency_sum_ns: vec![110, 70]
            }
        );
    }
}
