//! Connects over time: how the rate at the end compares with that at the start, and the curve between.
//!
//! All of it is made from the timeline of completed connects. Within one of its slices they are taken to be even, which is as much as it knows.

use serde::Serialize;
use throng_record::ConnectPhase;

/// Connections whose rate is that of the start.
const FIRST: u64 = 10_000;
/// Points of a curve at most.
const POINTS_MAX: usize = 60;

/// A stretch of the connecting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Point {
    /// Its end, since the first connect.
    pub at_ns: u64,
    /// Connections that had opened by then.
    pub opened: u64,
    /// Connects per second within it.
    pub connects_per_second: f64,
}

/// Until the first 10,000 had opened, or the first half of fewer than 20,000.
pub(crate) fn rate_first(phase: &ConnectPhase) -> Option<f64> {
    let slices = slices(phase);
    let first = FIRST.min(opened(&slices) / 2);
    rate(first, time_of(&slices, first)?)
}

/// Of the last tenth.
pub(crate) fn rate_last(phase: &ConnectPhase) -> Option<f64> {
    let slices = slices(phase);
    let all = opened(&slices);
    let last = all / 10;
    let end = slices.last()?.at_ns as f64;
    rate(last, end - time_of(&slices, all - last)?)
}

/// The curve.
pub(crate) fn points(phase: &ConnectPhase) -> Vec<Point> {
    let slices = slices(phase);
    let joined = slices.len().div_ceil(POINTS_MAX).max(1);
    let mut before = Point {
        at_ns: 0,
        opened: 0,
        connects_per_second: 0.0,
    };
    let mut points = Vec::new();
    for end in slices.chunks(joined).filter_map(|chunk| chunk.last()) {
        let opened = end.opened - before.opened;
        let length_ns = end.at_ns - before.at_ns;
        before = Point {
            connects_per_second: rate(opened, length_ns as f64).unwrap_or_default(),
            ..*end
        };
        points.push(before);
    }
    points
}

/// The timeline with its sums; the last slice ends with the last connect that completed.
fn slices(phase: &ConnectPhase) -> Vec<Point> {
    let timeline = &phase.timeline;
    let used = timeline.replies.iter().rposition(|&number| number > 0);
    let used = used.map_or(0, |last| last + 1);
    let mut opened = 0;
    let mut slices: Vec<Point> = (1..)
        .zip(&timeline.replies[..used])
        .map(|(number, connects)| {
            opened += connects;
            Point {
                at_ns: timeline.slice_ns * number,
                opened,
                connects_per_second: 0.0,
            }
        })
        .collect();
    if let Some(last) = slices.last_mut() {
        let begin_ns = last.at_ns - timeline.slice_ns;
        last.at_ns = phase.opened_ns.clamp(begin_ns, last.at_ns).max(1);
    }
    slices
}

fn opened(slices: &[Point]) -> u64 {
    slices.last().map_or(0, |last| last.opened)
}

/// When so many had opened.
fn time_of(slices: &[Point], number: u64) -> Option<f64> {
    let index = slices.iter().position(|slice| slice.opened >= number)?;
    let end = slices[index];
    let (begin_ns, before) = match index.checked_sub(1) {
        Some(previous) => (slices[previous].at_ns, slices[previous].opened),
        None => (0, 0),
    };
    let share = (number - before) as f64 / (end.opened - before).max(1) as f64;
    Some(begin_ns as f64 + share * (end.at_ns - begin_ns) as f64)
}

fn rate(number: u64, length_ns: f64) -> Option<f64> {
    (number > 0 && length_ns > 0.0).then(|| number as f64 / length_ns * 1e9)
}

/// The rates as a line of blocks, from nothing to the greatest.
pub(crate) fn spark(points: &[Point]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let greatest = greatest(points);
    let block = |point: &Point| {
        let share = point.connects_per_second / greatest;
        let step = (share * BLOCKS.len() as f64) as usize;
        BLOCKS[step.min(BLOCKS.len() - 1)]
    };
    points.iter().map(block).collect()
}

/// The greatest rate of a curve.
pub(crate) fn greatest(points: &[Point]) -> f64 {
    let rates = points.iter().map(|point| point.connects_per_second);
    rates.fold(f64::MIN_POSITIVE, f64::max)
}

#[cfg(test)]
mod tests {
    use throng_record::Timeline;

    use super::*;

    fn phase(slice_ns: u64, replies: Vec<u64>, duration_ns: u64) -> ConnectPhase {
        ConnectPhase {
            opened_ns: duration_ns,
            timeline: Timeline {
                slice_ns,
                latency_sum_ns: vec![0; replies.len()],
                replies,
            },
            ..ConnectPhase::default()
        }
    }

    #[test]
    fn the_first_ten_thousand_are_told_from_the_last_tenth() {
        // 40,000 in the first second, 10,000 in each of the next six: 100,000.
        let mut replies = vec![40_000];
        replies.extend([10_000; 6]);
        let phase = phase(1_000_000_000, replies, 7_000_000_000);
        assert_eq!(rate_first(&phase), Some(40_000.0));
        assert_eq!(rate_last(&phase), Some(10_000.0));
    }

    #[test]
    fn of_fewer_the_first_half_counts_and_the_last_slice_ends_with_the_phase() {
        let phase = phase(1_000_000_000, vec![600, 400, 0, 0], 1_400_000_000);
        assert_eq!(rate_first(&phase), Some(600.0));
        let last = rate_last(&phase).expect("there");
        assert!((last - 1_000.0).abs() < 1e-6, "{last}");
        let points = points(&phase);
        assert_eq!(points.len(), 2);
        assert_eq!((points[1].at_ns, points[1].opened), (1_400_000_000, 1_000));
    }

    #[test]
    fn a_long_curve_is_joined_and_keeps_every_connect() {
        let phase = phase(1_000, (0..1_000).collect(), 1_000_000);
        let points = points(&phase);
        assert_eq!(points.len(), 59);
        assert_eq!(points.last().map(|last| last.opened), Some(499_500));
        let line = spark(&points);
        assert_eq!(line.chars().count(), 59);
        assert!(line.starts_with('▁') && line.ends_with('█'), "{line}");
    }

    #[test]
    fn nothing_opened_is_no_rate() {
        let nothing = phase(0, vec![], 0);
        assert_eq!((rate_first(&nothing), rate_last(&nothing)), (None, None));
        assert!(points(&nothing).is_empty());
        let silent = phase(1_000, vec![0, 0], 5_000_000_000);
        assert_eq!((rate_first(&silent), rate_last(&silent)), (None, None));
        let one = phase(1_000, vec![1], 0);
        assert_eq!((rate_first(&one), rate_last(&one)), (None, None));
        assert_eq!(spark(&points(&one)).chars().count(), 1);
    }
}
