//! A comparison as charts: ratios with their intervals around 1, the figures of both, and both in one curve of percentiles.

use throng_record::{Histogram, Plan, RunRecord, Trial};

use super::{Comparison, Line, Named, row_of};
use crate::chart::{
    Axis, Chart, Form, Look, Panel, Point, Scale, Series, View, curve_of, percentile,
};
use crate::format;
use crate::median::Estimate;
use crate::setting::{distinct, heading};
use crate::unit::Unit;
use crate::worth::Sorted;

/// Of a comparison of these runs, or of these targets of the only one.
pub(crate) fn of(comparison: &Comparison, runs: &[Named<'_>], targets: &[String]) -> Vec<Chart> {
    let figures = distinct(comparison.lines.iter().map(|line| line.figure.as_str()));
    let of_figure = |figure: &&str| -> Vec<&Line> {
        let lines = comparison.lines.iter();
        lines.filter(|line| line.figure == *figure).collect()
    };
    let lines: Vec<Vec<&Line>> = figures.iter().map(of_figure).collect();
    let charts = [
        Chart::of_views(
            "ratios",
            "Other ÷ first",
            "The ratio of each row with its 95 % interval. What does not touch the line at 1 differs; without an interval there were too few repeats to tell.",
            "figure",
            lines.iter().filter_map(|lines| ratios(lines)),
        ),
        Chart::of_views(
            "values",
            "Both beside each other",
            "Medians over repeats with their intervals, or the range where there are too few for one.",
            "figure",
            lines
                .iter()
                .filter_map(|lines| values(&comparison.first, lines)),
        ),
        Chart::of_views(
            "percentiles",
            "Latency by percentile",
            "How long the slowest take: at 99 % one message in a hundred took longer than the curve is high.",
            "row",
            curves(runs, targets),
        ),
    ];
    charts.into_iter().flatten().collect()
}

/// Rows from top to bottom.
fn rows(lines: &[&Line]) -> Vec<String> {
    distinct(lines.iter().rev().map(|line| line.row()))
}

fn others(lines: &[&Line]) -> Vec<String> {
    distinct(lines.iter().map(|line| line.other.clone()))
}

fn ratios(lines: &[&Line]) -> Option<View> {
    let rows = rows(lines);
    let point = |line: &&&Line| {
        let ratio = line.ratio?;
        let place = rows.iter().position(|row| *row == line.row())?;
        Some(Point {
            spread: ratio.spread.ends(),
            words: format!(
                "{}: {}, {}",
                line.row(),
                line.ratio_in_words(),
                line.verdict.words()
            ),
            ..Point::new(ratio.median, place as f64)
        })
    };
    let series = others(lines)
        .into_iter()
        .enumerate()
        .map(|(index, other)| Series {
            points: lines
                .iter()
                .filter(|line| line.other == other)
                .filter_map(|line| point(&line))
                .collect(),
            name: other,
            look: Look::Part(index + 1),
            form: Form::Marks,
        });
    let one = Series {
        name: "no difference".to_owned(),
        look: Look::Published(0),
        form: Form::Steps,
        points: vec![
            Point::new(1.0, -0.5),
            Point::new(1.0, rows.len() as f64 - 0.5),
        ],
    };
    let series = series.chain([one]).collect();
    let x = Axis {
        scale: Scale::Free,
        ..Axis::new("other ÷ first", Unit::Times)
    };
    let label = lines.first()?.heading.clone();
    View::of_panels(label, x, vec![Panel::new(Axis::names(rows), series)])
}

fn values(first: &str, lines: &[&Line]) -> Option<View> {
    let rows = rows(lines);
    let unit = lines.first()?.unit;
    let others = others(lines);
    let number = others.len() as f64 + 1.0;
    // Side by side within the place of a row, the first on top.
    let at = |line: &Line, index: usize| {
        let place = rows.iter().position(|row| *row == line.row());
        place.unwrap_or_default() as f64 + 0.3 - 0.6 * index as f64 / (number - 1.0)
    };
    let point = |line: &Line, value: &Estimate, index: usize, name: &str| Point {
        spread: value.spread.ends(),
        words: format!(
            "{}, {name}: {}{}",
            line.row(),
            unit.words()(value.median),
            format::spread(value, unit.words())
        ),
        ..Point::new(value.median, at(line, index))
    };
    let of_first = lines.iter().filter(|line| line.other == others[0]);
    let of_first = Series {
        name: first.to_owned(),
        look: Look::Part(0),
        form: Form::Marks,
        points: of_first
            .map(|line| point(line, &line.values[0], 0, first))
            .collect(),
    };
    let of_others = others.iter().zip(1..).map(|(other, index)| Series {
        name: other.clone(),
        look: Look::Part(index),
        form: Form::Marks,
        points: lines
            .iter()
            .filter(|line| line.other == *other)
            .map(|line| point(line, &line.values[1], index, other))
            .collect(),
    });
    let series = std::iter::once(of_first).chain(of_others).collect();
    let label = lines.first()?.heading.clone();
    let x = Axis::new(label.as_str(), unit);
    View::of_panels(label, x, vec![Panel::new(Axis::names(rows), series)])
}

fn latency(trial: &Trial) -> Option<&Histogram> {
    Some(&trial.phases.exchange()?.latency)
}

/// For each row, or each setting, the latencies of all that are compared.
fn curves(runs: &[Named<'_>], targets: &[String]) -> Vec<View> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let plan = &first.record.plan;
    let view = |label: String, sides: Vec<(String, &RunRecord, (u32, u32))>| {
        let series = sides.into_iter().enumerate();
        let series = series.filter_map(|(index, (name, record, (target, setting)))| {
            let sorted = Sorted::new(record, target, setting);
            Some(Series {
                name,
                look: Look::Part(index),
                form: Form::Curve,
                points: curve_of(&sorted.basis, latency)?,
            })
        });
        let y = Axis::new("latency", Unit::Nanoseconds).log();
        View::of_panels(label, percentile(), vec![Panel::new(y, series.collect())])
    };
    if !targets.is_empty() {
        let settings = (0..).zip(&plan.settings);
        let of_setting = |(index, setting)| {
            let place = |name: &String| {
                let mut all = plan.targets.iter();
                let place = all.position(|target| target.name == *name)?;
                Some((name.clone(), first.record, (place as u32, index)))
            };
            view(heading(setting), targets.iter().filter_map(place).collect())
        };
        return settings.filter_map(of_setting).collect();
    }
    let of_row = |cell| {
        let row = row_of(plan, cell);
        let same = |plan: &Plan| plan.cells().find(|&cell| row_of(plan, cell) == row);
        let sides = runs.iter().filter_map(|run| {
            let cell = same(&run.record.plan)?;
            Some((run.name.to_owned(), run.record, cell))
        });
        let sides: Vec<_> = sides.collect();
        let is_in_both = sides.len() > 1;
        is_in_both
            .then(|| view(format!("{} at {}", row.0, row.1), sides))
            .flatten()
    };
    plan.cells().filter_map(of_row).collect()
}
