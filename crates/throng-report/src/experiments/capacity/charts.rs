//! Latency over the rate, with the rate that was kept; and for each row its quantiles beside what a queue alone would be.

use super::searched;
use super::searched::Probed;
use super::tables::curve_of;
use crate::chart::{Axis, Bars, Chart, Drawn, Form, Look, Mark, Panel, Point, Series, View, bars};
use crate::format::{rate, time_ns};
use crate::row::Row;
use crate::unit::Unit;

/// Points of the queue's curve between two of the measured one.
const BETWEEN: u32 = 8;

pub(super) fn charts(drawn: &Drawn<'_>) -> Vec<Chart> {
    let by_target = bars(
        drawn,
        &Bars {
            name: "by-target",
            title: "Capacity by target".to_owned(),
            caption: "A bar for each target: the greatest rate at which the bounds held, median over repeats of the search, and its interval as a line across the end. Hollow: measured on a disturbed machine. ✕: no figure that holds.",
            key: "capacity_per_second",
            groups: drawn.summary.by_setting(),
            label: &|row| row.target.clone(),
            published: &|_| None,
        },
    );
    [over_rate(drawn), beside_queue(drawn), by_target]
        .into_iter()
        .flatten()
        .collect()
}

fn over_rate(drawn: &Drawn<'_>) -> Option<Chart> {
    let view = |heading, rows: &[Row]| {
        let (mut latencies, mut kept) = (Vec::new(), Vec::new());
        for row in rows {
            let curve = curve_of(row);
            let latency = |probe: &&Probed| point(row, probe, probe.latency_ns_p99, "p99");
            latencies.push(drawn.series(row, Form::Line, curve.iter().map(latency).collect()));
            let share = |probe: &&Probed| {
                let share = probe.kept_per_second / probe.offered_per_second;
                Point {
                    words: format!(
                        "{}: {} of {}",
                        row.target,
                        rate(probe.kept_per_second),
                        rate(probe.offered_per_second)
                    ),
                    ..Point::new(probe.offered_per_second, share)
                }
            };
            kept.push(drawn.series(row, Form::Line, curve.iter().map(share).collect()));
        }
        let x = Axis::new("offered per second", Unit::PerSecond);
        let y = Axis::new("99th percentile of latency", Unit::Nanoseconds).fitted_to(&latencies);
        let panels = vec![
            Panel::new(y, latencies),
            Panel::new(Axis::new("share of the rate kept", Unit::Share), kept),
        ];
        View::of_panels(heading, x, panels)
    };
    Chart::by_setting(
        drawn,
        "latency-over-rate",
        "Latency over the rate offered",
        "Each target from a tenth of its capacity to a quarter beyond it. Above, the 99th percentile of latency; where the rate was not kept it is no more than a lower bound. Below, the share of the rate that was kept. Hollow: measured on a disturbed machine.",
        view,
    )
}

fn point(row: &Row, probe: &Probed, latency_ns: f64, what: &str) -> Point {
    let mark = match probe.is_disturbed {
        true => Mark::Hollow,
        false => Mark::Sound,
    };
    Point {
        words: format!(
            "{} at {}: {what} {}",
            row.target,
            rate(probe.offered_per_second),
            time_ns(latency_ns)
        ),
        mark,
        ..Point::new(probe.offered_per_second, latency_ns)
    }
}

/// A quantile of what a probe measured.
type Of = fn(&Probed) -> f64;

fn beside_queue(drawn: &Drawn<'_>) -> Option<Chart> {
    const QUANTILES: [(&str, Of); 4] = [
        ("p50", |probe| probe.latency_ns_p50),
        ("p90", |probe| probe.latency_ns_p90),
        ("p99", |probe| probe.latency_ns_p99),
        ("p99.9", |probe| probe.latency_ns_p99_9),
    ];
    let view = |row: &Row| {
        let curve = curve_of(row);
        let mut series: Vec<Series> = QUANTILES
            .iter()
            .enumerate()
            .map(|(place, (name, of))| Series {
                name: (*name).to_owned(),
                look: Look::Part(place),
                form: Form::Line,
                points: curve
                    .iter()
                    .map(|probe| point(row, probe, of(probe), name))
                    .collect(),
            })
            .collect();
        series.extend(of_queue(row, &curve));
        let y = Axis::new("latency", Unit::Nanoseconds).fitted_to(&series);
        let mut panel = Panel::new(y, series);
        panel.levels.extend(bounds(drawn));
        let x = Axis::new("offered per second", Unit::PerSecond);
        View::of_panels(format!("{} · {}", row.target, row.heading), x, vec![panel])
    };
    let views = drawn.summary.rows.iter().filter_map(view);
    Chart::of_views(
        "beside-queue",
        "Latency beside what queueing alone would make of it",
        "Quantiles of latency over the rate offered, and the 99th percentile of a single queue with the service time of the closed loop (M/G/1, Pollaczek and Khinchine). What lies above it the server adds itself; what lies below it several workers, or requests that are answered together, save.",
        "target",
        views,
    )
}

fn of_queue(row: &Row, curve: &[&Probed]) -> Option<Series> {
    let queue = searched(row)?.queue?;
    let between = |pair: &[&Probed]| {
        let (from, to) = (pair[0].offered_per_second, pair[1].offered_per_second);
        (0..BETWEEN).map(move |step| from + (to - from) * f64::from(step) / f64::from(BETWEEN))
    };
    let rates = curve.windows(2).flat_map(between);
    let most = curve
        .iter()
        .map(|probe| probe.latency_ns_p99_9)
        .fold(0.0, f64::max);
    let points = rates.filter_map(|rate| Some(Point::new(rate, queue.p99_ns(rate)?)));
    Some(Series {
        name: "queue alone: p99".to_owned(),
        look: Look::Published(0),
        form: Form::Curve,
        points: points.filter(|point| point.y <= most).collect(),
    })
}

/// Those that are latencies, as levels.
fn bounds(drawn: &Drawn<'_>) -> Vec<(f64, String)> {
    let plan = drawn.summary.plan;
    let bounds = plan.search.iter().flat_map(|spec| &spec.bounds);
    let level = |text: &String| {
        let gate = crate::gate::Gate::read_between(text, plan).ok()?;
        Some((gate.latency_ns()?, text.clone()))
    };
    bounds.filter_map(level).collect()
}
