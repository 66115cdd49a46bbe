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
    pub fn merge(&mut self, other: Self) {
        self.merge_later(other, 0);
    }

    /// Adds another timeline, which began so much later; to the nearest slice.
    pub fn merge_later(&mut self, mut other: Self, later_ns: u64) {
        if other.slice_ns == 0 {
            return;
        }
        self.slice_ns = match self.slice_ns {
            0 => other.slice_ns,
            own => own,
        };
        self.coarsen_to(other.slice_ns);
        other.coarsen_to(self.slice_ns);
        let slices = (later_ns + self.slice_ns / 2) / self.slice_ns;
        let slices = usize::try_from(slices).unwrap_or(usize::MAX);
        add(&mut self.replies, slices, &other.replies);
        add(&mut self.latency_sum_ns, slices, &other.latency_sum_ns);
    }
}

fn halve(values: &mut Vec<u64>) {
    *values = values.chunks(2).map(|pair| pair.iter().sum()).collect();
}

/// From this slice on.
fn add(into: &mut Vec<u64>, first: usize, from: &[u64]) {
    into.resize(into.len().max(first + from.len()), 0);
    for (sum, value) in into[first..].iter_mut().zip(from) {
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

    #[test]
    fn what_began_later_is_added_to_later_slices() {
        let timeline = |replies: &[u64]| Timeline {
            slice_ns: 10,
            replies: replies.to_vec(),
            latency_sum_ns: replies.to_vec(),
        };
        for (later_ns, expected) in [
            (0, &[2, 4][..]),
            (4, &[2, 4]),
            (5, &[1, 3, 2]),
            (14, &[1, 3, 2]),
            (30, &[1, 2, 0, 1, 2]),
        ] {
            let mut whole = timeline(&[1, 2]);
            whole.merge_later(timeline(&[1, 2]), later_ns);
            assert_eq!(whole.replies, expected, "{later_ns}");
        }
        let mut empty = Timeline::default();
        empty.merge_later(timeline(&[1, 2]), 10);
        assert_eq!(empty, timeline(&[0, 1, 2]));
    }
}
