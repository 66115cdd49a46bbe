//! What a shard records: latencies, their course over time, errors. All memory is taken before the work begins.

use hdrhistogram::Histogram;
use throng_record::{ErrorCounts, ErrorKind, Timeline, histogram};

/// Slices of the timeline; when they are used up, neighbours are joined.
const SLICES: usize = 4096;
/// The first slices are 2^20 ns ≈ 1 ms wide.
const FIRST_SHIFT: u32 = 20;

/// One shard's record of an exchange.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) latency: Histogram<u64>,
    pub(crate) warmup_latency: Histogram<u64>,
    pub(crate) scheduling_error: Histogram<u64>,
    /// Of replies that came in several reads: from the first to the last.
    pub(crate) between_pieces: Histogram<u64>,
    pub(crate) errors: ErrorCounts,
    timeline: LiveTimeline,
    /// Σ over measured messages of send − start: the part of the latency before the send.
    pub(crate) send_delay_sum_ns: u128,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self {
            latency: histogram::empty(),
            warmup_latency: histogram::empty(),
            scheduling_error: histogram::empty(),
            between_pieces: histogram::empty(),
            errors: ErrorCounts::default(),
            timeline: LiveTimeline::new(),
            send_delay_sum_ns: 0,
        }
    }

    #[inline]
    pub(crate) fn measured(&mut self, latency_ns: u64, since_start_ns: u64) {
        self.latency.saturating_record(latency_ns);
        self.timeline.add(since_start_ns, latency_ns);
    }

    #[inline]
    pub(crate) fn warmup(&mut self, latency_ns: u64) {
        self.warmup_latency.saturating_record(latency_ns);
    }

    pub(crate) fn error(&mut self, kind: ErrorKind, connection: u32, detail: &str) {
        self.errors
            .count(kind, || format!("connection {connection}: {detail}"));
    }

    pub(crate) fn timeline(&self) -> Timeline {
        self.timeline.to_record()
    }
}

/// What happened in each slice of time: slices start narrow and coarsen.
#[derive(Debug)]
pub(crate) struct LiveTimeline {
    shift: u32,
    slices: Box<[(u64, u64)]>,
}

impl LiveTimeline {
    pub(crate) fn new() -> Self {
        Self {
            shift: FIRST_SHIFT,
            slices: vec![(0, 0); SLICES].into_boxed_slice(),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, at_ns: u64, latency_ns: u64) {
        let mut index = (at_ns >> self.shift) as usize;
        while index >= SLICES {
            self.coarsen();
            index = (at_ns >> self.shift) as usize;
        }
        let slice = &mut self.slices[index];
        slice.0 += 1;
        slice.1 += latency_ns;
    }

    #[cold]
    fn coarsen(&mut self) {
        for index in 0..SLICES / 2 {
            let (first, second) = (self.slices[2 * index], self.slices[2 * index + 1]);
            self.slices[index] = (first.0 + second.0, first.1 + second.1);
        }
        self.slices[SLICES / 2..].fill((0, 0));
        self.shift += 1;
    }

    pub(crate) fn to_record(&self) -> Timeline {
        let used = self
            .slices
            .iter()
            .rposition(|slice| slice.0 > 0)
            .map_or(0, |last| last + 1);
        Timeline {
            slice_ns: 1 << self.shift,
            replies: self.slices[..used].iter().map(|slice| slice.0).collect(),
            latency_sum_ns: self.slices[..used].iter().map(|slice| slice.1).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_coarsens_and_loses_nothing() {
        let mut recorder = Recorder::new();
        let hour_ns = 3_600_000_000_000_u64;
        for step in 0..10_007 {
            recorder.measured(5, hour_ns / 10_007 * step);
        }
        let timeline = recorder.timeline();
        assert_eq!(timeline.replies.iter().sum::<u64>(), 10_007);
        assert_eq!(timeline.latency_sum_ns.iter().sum::<u64>(), 5 * 10_007);
        assert!(timeline.replies.len() <= SLICES);
        assert_eq!(recorder.latency.len(), 10_007);
    }

    #[test]
    fn a_latency_beyond_the_range_is_kept_as_the_highest() {
        let mut recorder = Recorder::new();
        recorder.measured(u64::MAX / 2, 0);
        assert_eq!(recorder.latency.len(), 1);
        assert!(recorder.latency.max() >= histogram::HIGHEST_NS);
    }
}
