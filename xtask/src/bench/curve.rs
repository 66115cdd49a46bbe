//! How many connections were open at which time, and so the connect rate from one number of them to another.

use throng_record::Timeline;

/// Connections that the rate of later ones is compared with.
const FIRST: f64 = 10_000.0;
/// Where ports of one parity are used up, were there one source address only: from here on the rate was to fall.
const BENDS_AT: f64 = 14_000.0;
/// Slices from there on, at most; none of fewer connections than the first ones.
const SLICES: f64 = 10.0;

/// Points of time in nanoseconds and connections open by then, both rising.
pub(super) struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// From the times at which each further `every` connections were open.
    pub(super) fn of_stamps(stamps_ns: &[u64], every: u32) -> Self {
        let points = stamps_ns
            .iter()
            .zip(1_u32..)
            .map(|(&at_ns, count)| (at_ns as f64, f64::from(count * every)));
        Self([(0.0, 0.0)].into_iter().chain(points).collect())
    }

    /// From the connects that ended in each slice of time.
    pub(super) fn of_timeline(timeline: &Timeline, duration_ns: u64) -> Self {
        let mut open = 0;
        let mut points = vec![(0.0, 0.0)];
        for (&connects, slice) in timeline.replies.iter().zip(1_u64..) {
            open += connects;
            // The last slice is longer than what happened in it.
            let ends_at_ns = (slice * timeline.slice_ns).min(duration_ns);
            points.push((ends_at_ns as f64, open as f64));
        }
        Self(points)
    }

    pub(super) fn connections(&self) -> f64 {
        self.0.last().map_or(0.0, |&(_, open)| open)
    }

    /// Connections per second over all of them.
    pub(super) fn rate(&self) -> f64 {
        self.rate_between(0.0, self.connections())
    }

    /// The rate from 10,000 to 14,000 connections and then of equal slices to the last, each ÷ that of the first 10,000. Empty for fewer
    /// connections than twice that.
    pub(super) fn flatness(&self) -> Vec<f64> {
        let last = self.connections();
        if last < 2.0 * FIRST {
            return Vec::new();
        }
        let slices = ((last - BENDS_AT) / FIRST).floor().clamp(1.0, SLICES);
        let width = (last - BENDS_AT) / slices;
        let starts = (0..slices as u32).map(|slice| BENDS_AT + f64::from(slice) * width);
        let rates = starts.map(|start| self.rate_between(start, start + width));
        let first = self.rate_between(0.0, FIRST);
        [self.rate_between(FIRST, BENDS_AT)]
            .into_iter()
            .chain(rates)
            .map(|rate| rate / first)
            .collect()
    }

    fn rate_between(&self, from: f64, to: f64) -> f64 {
        (to - from) * 1e9 / (self.at_ns(to) - self.at_ns(from))
    }

    /// When so many were open; between two points as if at an even rate.
    fn at_ns(&self, open: f64) -> f64 {
        let after = self.0.partition_point(|&(_, count)| count < open);
        let (Some(&(late_ns, more)), Some(&(early_ns, less))) =
            (self.0.get(after), self.0.get(after.wrapping_sub(1)))
        else {
            return self.0.get(after).map_or(f64::NAN, |&(at_ns, _)| at_ns);
        };
        early_ns + (late_ns - early_ns) * (open - less) / (more - less)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_and_timelines_of_the_same_connects_agree() {
        let stamps: Vec<u64> = (1..=30).map(|thousand| thousand * 20_000_000).collect();
        let timeline = Timeline {
            slice_ns: 100_000_000,
            replies: vec![5_000; 6],
            latency_sum_ns: vec![0; 6],
        };
        for curve in [
            Curve::of_stamps(&stamps, 1_000),
            Curve::of_timeline(&timeline, 600_000_000),
        ] {
            assert!((curve.rate() - 50_000.0).abs() < 1e-6);
            let flatness = curve.flatness();
            assert_eq!(flatness.len(), 2);
            assert!(flatness.iter().all(|ratio| (ratio - 1.0).abs() < 1e-9));
        }
    }

    #[test]
    fn a_slow_slice_is_seen_where_it_is() {
        // The last 10,000 of 34,000 take twice the time.
        let step_ns = |thousand: u64| if thousand > 24 { 40 } else { 20 };
        let stamps: Vec<u64> = (1..=34)
            .scan(0, |at_ns, thousand| {
                *at_ns += step_ns(thousand);
                Some(*at_ns)
            })
            .collect();
        let flatness = Curve::of_stamps(&stamps, 1_000).flatness();
        let rounded: Vec<f64> = flatness.iter().map(|ratio| ratio * 100.0).collect();
        assert_eq!(rounded, [100.0, 100.0, 50.0]);
    }

    #[test]
    fn too_few_connections_have_no_slices() {
        assert!(Curve::of_stamps(&[1; 19], 1_000).flatness().is_empty());
    }
}
