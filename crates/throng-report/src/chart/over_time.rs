//! What a trial's samples say over time: one trial of each row, the one in the middle of its repeats.

use throng_record::{SeriesSample, Trial};

use super::{Axis, Chart, Drawn, Form, Panel, Point, Series, View};
use crate::median;
use crate::row::Row;
use crate::text::capital;
use crate::unit::Unit;

/// Samples that a curve has at most; longer ones are joined.
const SAMPLES: usize = 200;

/// Of the trials of a row the one with the median of a number; of an even number the lower of the middle two.
pub(crate) fn typical<'a>(
    drawn: &Drawn<'a>,
    row: &Row,
    by: impl Fn(&Trial) -> Option<f64>,
) -> Option<&'a Trial> {
    median::typical(drawn.shown(row), |trial| by(trial))
}

/// Replies per second, or whatever the run counts, above the stolen time: a view for each setting. Where each request has a connection of its own, the sockets
/// that are left in `TIME_WAIT` stand between.
pub(crate) fn progress(drawn: &Drawn<'_>) -> Option<Chart> {
    let unit = drawn.summary.unit;
    let are_closed = drawn
        .record
        .plan
        .settings
        .iter()
        .any(|one| one.phases.is_of_requests());
    let view = |heading, rows: &[Row]| {
        let mut rates = Vec::new();
        let mut left = Vec::new();
        let mut stolen = Vec::new();
        for row in rows {
            let by_rate = |trial: &Trial| Some(trial.phases.exchange()?.replies_per_second);
            let Some(trial) = typical(drawn, row, by_rate) else {
                continue;
            };
            let series = |points| drawn.series(row, Form::Curve, points);
            rates.push(series(rate(&trial.series)));
            stolen.push(series(steal(&trial.series)));
            left.extend(are_closed.then(|| series(time_wait(&trial.series))));
        }
        let x = Axis::new("since the trial began", Unit::Nanoseconds);
        let is_stolen = |one: &Series| one.points.iter().any(|point| point.y > 0.0);
        let mut panels = vec![Panel::new(Axis::new(unit, Unit::PerSecond), rates)];
        panels.push(Panel::new(Axis::new("in TIME_WAIT", Unit::Count), left));
        if stolen.iter().any(is_stolen) {
            panels.push(Panel::new(
                Axis::new("CPU time stolen", Unit::Share),
                stolen,
            ));
        }
        View::of_panels(heading, x, panels)
    };
    Chart::by_setting(
        drawn,
        "over-time",
        format!("{} over time", capital(unit)),
        "One trial of each target, the one in the middle of its repeats; it begins with launch, connecting and warm-up. Below, where there is any: sockets in TIME_WAIT, and the share of the machine's CPU time that the hypervisor took.",
        view,
    )
}

/// The counter starts again with each phase that counts.
fn rate(samples: &[SeriesSample]) -> Vec<Point> {
    let joined = joined(samples);
    let pairs = joined.windows(2);
    let point = |pair: &[&SeriesSample]| {
        let length_ns = pair[1].at_ns.saturating_sub(pair[0].at_ns).max(1);
        let replies = match pair[1].replies.checked_sub(pair[0].replies) {
            Some(more) => more,
            None => pair[1].replies,
        };
        Point::new(
            pair[1].at_ns as f64,
            replies as f64 / length_ns as f64 * 1e9,
        )
    };
    pairs.map(point).collect()
}

fn time_wait(samples: &[SeriesSample]) -> Vec<Point> {
    let point =
        |sample: &&SeriesSample| Some(Point::new(sample.at_ns as f64, sample.time_wait?.into()));
    joined(samples).iter().filter_map(point).collect()
}

fn steal(samples: &[SeriesSample]) -> Vec<Point> {
    let step = step(samples);
    let point = |part: &[SeriesSample]| {
        let share: f64 = part.iter().map(|sample| sample.steal_share).sum();
        let end = part.last().map_or(0, |sample| sample.at_ns);
        Point::new(end as f64, share / part.len() as f64)
    };
    samples.chunks(step).map(point).collect()
}

fn step(samples: &[SeriesSample]) -> usize {
    samples.len().div_ceil(SAMPLES).max(1)
}

fn joined(samples: &[SeriesSample]) -> Vec<&SeriesSample> {
    samples.iter().step_by(step(samples)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ns: u64, replies: u64) -> SeriesSample {
        SeriesSample {
            at_ns,
            replies,
            ..SeriesSample::default()
        }
    }

    #[test]
    fn a_counter_that_starts_again_is_counted_from_nothing() {
        let samples = [
            sample(0, 0),
            sample(100_000_000, 500),
            sample(200_000_000, 20),
            sample(300_000_000, 120),
        ];
        let rates: Vec<f64> = rate(&samples).iter().map(|point| point.y).collect();
        assert_eq!(rates, [5_000.0, 200.0, 1_000.0]);
    }

    #[test]
    fn many_samples_are_joined_and_few_are_not() {
        let many: Vec<SeriesSample> = (0..1_000).map(|at| sample(at * 1_000, at)).collect();
        assert_eq!(rate(&many).len(), 199);
        assert_eq!(steal(&many).len(), 200);
        assert_eq!(rate(&many[..3]).len(), 2);
        assert!(rate(&[]).is_empty() && steal(&[]).is_empty());
    }
}
