//! The length of a queue over time, as it was looked at: run-length encoded, since a queue stays as it is for most looks.

/// Beyond these the history ends (24 MB), and only the sums go on.
const RUNS_MAX: usize = 1 << 20;

/// Looks in a row that saw the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first_ns: u64,
    pub(crate) last_ns: u64,
    /// `None`: nobody listened.
    pub(crate) depth: Option<u32>,
}

/// What was seen of one queue. Times are of `CLOCK_MONOTONIC`.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    runs: Vec<Run>,
    /// The last look, also where there was no room for it.
    last: Option<(u64, Option<u32>, bool)>,
    /// Whether `runs` lacks the end.
    pub(crate) is_cut_short: bool,
    /// Longest seen.
    pub(crate) depth_max: u32,
    /// Time during which it was watched.
    pub(crate) watched_ns: u64,
    /// Time during which it took no more.
    pub(crate) full_ns: u64,
    depth_ns: u128,
}

impl Timeline {
    /// What was seen at `now_ns`, later than all before. It counts as so until the next look.
    pub(super) fn add(&mut self, now_ns: u64, depth: Option<u32>, is_full: bool) {
        if let Some((last_ns, Some(last_depth), was_full)) = self.last {
            let lasted_ns = now_ns - last_ns;
            self.watched_ns += lasted_ns;
            self.depth_ns += u128::from(last_depth) * u128::from(lasted_ns);
            if was_full {
                self.full_ns += lasted_ns;
            }
        }
        self.last = Some((now_ns, depth, is_full));
        self.depth_max = self.depth_max.max(depth.unwrap_or(0));
        let has_room = self.runs.len() < RUNS_MAX;
        match self.runs.last_mut() {
            _ if self.is_cut_short => {}
            Some(run) if run.depth == depth => run.last_ns = now_ns,
            _ if has_room => self.runs.push(Run {
                first_ns: now_ns,
                last_ns: now_ns,
                depth,
            }),
            _ => self.is_cut_short = true,
        }
    }

    /// The history, in order.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Mean length over the time watched.
    pub(crate) fn depth_mean(&self) -> Option<f64> {
        (self.watched_ns > 0).then(|| self.depth_ns as f64 / self.watched_ns as f64)
    }

    /// Its length by the first look from `at_ns` on; `None` after the last, and where nobody listened.
    pub(crate) fn depth_from(&self, at_ns: u64) -> Option<u32> {
        self.not_ended_by(at_ns).first()?.depth
    }

    /// When whoever joined it by `at_ns` had left it: first in, first out, behind at most as many as the next look saw, so once the length
    /// has been seen to fall by as much since; or when nobody listened any more. Falls that others made good in between go unseen: it
    /// may have been earlier. `None` where it stayed on.
    pub(crate) fn left_by(&self, at_ns: u64) -> Option<u64> {
        let mut runs = self.not_ended_by(at_ns).iter();
        let joined = runs.next()?;
        let mut depth = joined.depth.unwrap_or(0);
        let mut ahead = depth;
        if ahead == 0 {
            return Some(joined.first_ns.max(at_ns));
        }
        let left = runs.find(|run| {
            let now = run.depth.unwrap_or(0);
            ahead = ahead.saturating_sub(depth.saturating_sub(now));
            depth = now;
            ahead == 0 || run.depth.is_none()
        })?;
        Some(left.first_ns)
    }

    fn not_ended_by(&self, at_ns: u64) -> &[Run] {
        &self.runs[self.runs.partition_point(|run| run.last_ns < at_ns)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(looks: &[(u64, Option<u32>)]) -> Timeline {
        let mut timeline = Timeline::default();
        for &(at_ns, depth) in looks {
            timeline.add(at_ns, depth, depth > Some(3));
        }
        timeline
    }

    #[test]
    fn equal_looks_are_one_run_and_the_sums_are_over_time() {
        let timeline = seen(&[
            (10, Some(0)),
            (20, Some(0)),
            (30, Some(4)),
            (50, Some(1)),
            (60, None),
            (90, Some(0)),
        ]);
        assert_eq!(timeline.runs().len(), 5);
        assert_eq!((timeline.depth_max, timeline.full_ns), (4, 20));
        assert_eq!(timeline.watched_ns, 50, "not while nobody listened");
        assert_eq!(timeline.depth_mean(), Some((4.0 * 20.0 + 10.0) / 50.0));
        assert_eq!(Timeline::default().depth_mean(), None);
    }

    #[test]
    fn it_is_asked_about_a_moment() {
        let timeline = seen(&[
            (10, Some(0)),
            (20, Some(0)),
            (30, Some(4)),
            (60, None),
            (90, Some(0)),
            (95, Some(0)),
        ]);
        let zero = Some(0);
        let after = [0, 15, 21, 60, 92, 96].map(|at| timeline.left_by(at));
        let expected = [Some(10), Some(15), Some(60), Some(60), Some(92), None];
        assert_eq!(after, expected);
        let next = [0, 15, 21, 60, 96].map(|at| timeline.depth_from(at));
        assert_eq!(next, [zero, zero, Some(4), None, None]);
    }

    #[test]
    fn who_joins_leaves_when_as_many_have_left_as_were_there() {
        let never_empty = seen(&[
            (10, Some(2)),
            (20, Some(3)),
            (30, Some(2)),
            (40, Some(4)),
            (50, Some(2)),
            (60, Some(1)),
        ]);
        let left = [5, 15, 25, 35, 45, 55].map(|at| never_empty.left_by(at));
        let expected = [Some(50), Some(50), Some(50), None, None, None];
        assert_eq!(left, expected);
        assert_eq!(seen(&[(10, Some(2)), (20, None)]).left_by(5), Some(20));
    }

    #[test]
    fn a_history_that_grows_too_long_is_cut_short_but_counted() {
        let mut timeline = Timeline::default();
        let looks = RUNS_MAX as u64 + 5;
        for at_ns in 0..looks {
            timeline.add(at_ns, Some((at_ns % 2) as u32), false);
        }
        assert!(timeline.is_cut_short);
        assert_eq!(timeline.runs().len(), RUNS_MAX);
        assert_eq!(timeline.watched_ns, looks - 1);
        assert_eq!(timeline.depth_from(looks - 1), None);
    }
}
