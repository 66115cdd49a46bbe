//! Latencies as curves over their percentiles: each further nine takes as much room as the one before, so that the tail is seen.

use throng_record::{Histogram, Trial};

use super::{Axis, Chart, Drawn, Form, Panel, Point, Scale, Series, View};
use crate::merge::{Live, Merges};
use crate::row::Row;
use crate::unit::Unit;

/// Points of a curve for each tenfold of what is left above.
const PER_DECADE: u32 = 16;

/// Which latencies.
pub(crate) struct Curve<'a> {
    pub(crate) name: &'static str,
    pub(crate) title: &'a str,
    pub(crate) caption: &'a str,
    pub(crate) axis: &'a str,
    pub(crate) of: fn(&Trial) -> Option<&Histogram>,
    pub(crate) along: Percent,
}

/// How shares stand along x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Percent {
    /// Each further nine takes as much room, so that the tail is seen.
    Nines,
    /// Each hundredth takes as much room: who is served when.
    Hundredths(&'static str),
}

/// The curve of all messages of these trials; `None` where there are none, or the record of them cannot be read.
pub(crate) fn curve_of(
    trials: &[&Trial],
    of: fn(&Trial) -> Option<&Histogram>,
) -> Option<Vec<Point>> {
    let mut merges = Merges::default();
    Some(points(merges.of("", trials, of).ok()??))
}

/// A view for each setting, a curve for each target: of all messages of the trials that its row stands on.
pub(crate) fn percentiles(drawn: &Drawn<'_>, asked: &Curve<'_>) -> Option<Chart> {
    let view = |heading, rows: &[Row]| {
        let series = rows.iter().filter_map(|row| {
            let trials = drawn.shown(row);
            let points = match asked.along {
                Percent::Nines => curve_of(&trials, asked.of)?,
                Percent::Hundredths(_) => even(&trials, asked.of)?,
            };
            Some(drawn.series(row, Form::Curve, points))
        });
        let series: Vec<Series> = series.collect();
        let y = Axis::new(asked.axis, Unit::Nanoseconds);
        let (x, y) = match asked.along {
            Percent::Hundredths(title) => (Axis::new(title, Unit::Share), y),
            Percent::Nines => (percentile(), y.fitted_to(&series)),
        };
        View::of_panels(heading, x, vec![Panel::new(y, series)])
    };
    Chart::by_setting(drawn, asked.name, asked.title, asked.caption, view)
}

/// The axis of such curves.
pub(crate) fn percentile() -> Axis {
    Axis {
        scale: Scale::Percentile,
        ..Axis::new("percentile", Unit::Share)
    }
}

fn even(trials: &[&Trial], of: fn(&Trial) -> Option<&Histogram>) -> Option<Vec<Point>> {
    let mut merges = Merges::default();
    let all = merges.of("", trials, of).ok()??;
    let at = |hundredths: u32| {
        let share = f64::from(hundredths) / 100.0;
        Point::new(share, all.value_at_quantile(share) as f64)
    };
    Some((0..=100).map(at).collect())
}

/// From the least value to the last quantile that one value stands for. Equal neighbours tell nothing and are left out.
fn points(all: &Live) -> Vec<Point> {
    let most = all.len().max(1) as f64;
    let steps = (most.log10() * f64::from(PER_DECADE)).ceil() as u32;
    let at = |step: u32| {
        let one_in = 10_f64
            .powf(f64::from(step) / f64::from(PER_DECADE))
            .min(most);
        let value = match step {
            0 => all.min(),
            _ => all.value_at_quantile(1.0 - 1.0 / one_in),
        };
        Point::new(one_in, value as f64)
    };
    let points: Vec<Point> = (0..=steps).map(at).collect();
    let last = points.len() - 1;
    let is_told = |index: usize| {
        let same = |other: usize| points[index].y == points[other].y;
        index == 0 || index == last || !same(index - 1) || !same(index + 1)
    };
    let told: Vec<bool> = (0..points.len()).map(is_told).collect();
    let mut told = told.into_iter();
    let mut points = points;
    points.retain(|_| told.next().unwrap_or_default());
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_ends_at_its_greatest_value_and_has_the_known_quantiles() {
        let mut live = throng_record::histogram::empty();
        for value in 1..=10_000_u64 {
            live.record(value).expect("within range");
        }
        let points = points(&live);
        let at = |one_in: f64| {
            let mut all = points.iter();
            let found = all.find(|point| (point.x / one_in - 1.0).abs() < 1e-9);
            found.map(|point| point.y)
        };
        assert_eq!(at(1.0), Some(1.0));
        assert!((at(10.0).expect("there") / 9_000.0 - 1.0).abs() < 0.002);
        assert!((at(100.0).expect("there") / 9_900.0 - 1.0).abs() < 0.002);
        assert!((at(10_000.0).expect("there") / 10_000.0 - 1.0).abs() < 0.002);
        assert!(points.is_sorted_by(|one, next| one.x < next.x && one.y <= next.y));
    }

    #[test]
    fn one_value_is_a_point() {
        let mut live = throng_record::histogram::empty();
        live.record(7).expect("within range");
        let points = points(&live);
        assert_eq!(points.len(), 1);
        assert_eq!((points[0].x, points[0].y), (1.0, 7.0));
    }
}
