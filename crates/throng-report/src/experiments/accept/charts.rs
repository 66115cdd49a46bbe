//! The article's figure: what one accept costs, and what one byte, over the number of idle connections.

use throng_record::accept::IdleCost;
use throng_record::{AcceptPhase, Trial};

use crate::chart::{Axis, Chart, Drawn, Form, Panel, Point, View, typical};
use crate::format;
use crate::row::Row;
use crate::unit::Unit;

/// One of the two costs of a phase.
type Pick = fn(&AcceptPhase) -> &IdleCost;

pub(super) fn charts(drawn: &Drawn<'_>) -> Vec<Chart> {
    let charts = [
        cost(
            drawn,
            "accept",
            "What an accept costs while others idle",
            "From the wait's call to the accepted descriptor. Points are medians of neighbouring measurements of one trial, lines the slope fitted through them (Theil and Sen): what each further idle connection costs.",
            "time of one accept",
            |phase| &phase.accept,
        ),
        cost(
            drawn,
            "data",
            "What a byte costs while others idle",
            "From the wait's call to the end of the read, one connection having a byte. Points and lines as above.",
            "time of one read",
            |phase| &phase.data,
        ),
    ];
    charts.into_iter().flatten().collect()
}

fn cost(
    drawn: &Drawn<'_>,
    name: &'static str,
    title: &str,
    caption: &str,
    what: &str,
    pick: Pick,
) -> Option<Chart> {
    let view = |heading, rows: &[Row]| {
        let mut series = Vec::new();
        for row in rows {
            let slope = |trial: &Trial| {
                let slope = pick(trial.phases.multiplexer()?).slope?;
                Some(slope.ns_per_connection)
            };
            let first = || drawn.shown(row).into_iter().next();
            let Some(phase) = typical(drawn, row, slope)
                .or_else(first)
                .and_then(|trial| trial.phases.multiplexer())
            else {
                continue;
            };
            let cost = pick(phase);
            series.push(drawn.series(row, Form::Marks, measured(cost)));
            series.push(drawn.series(row, Form::Curve, fitted(&row.target, cost)));
        }
        let x = Axis::new("idle connections", Unit::Count);
        let y = Axis::new(what, Unit::Nanoseconds);
        View::of_panels(heading, x, vec![Panel::new(y, series)])
    };
    Chart::by_setting(drawn, name, title, caption, view)
}

fn measured(cost: &IdleCost) -> Vec<Point> {
    let slices = cost.slices.iter();
    slices
        .map(|slice| Point::new(slice.idle.into(), slice.cost_ns_median as f64))
        .collect()
}

/// From the first measurement to the last.
fn fitted(target: &str, cost: &IdleCost) -> Vec<Point> {
    let (Some(slope), Some(first), Some(last)) =
        (cost.slope, cost.slices.first(), cost.slices.last())
    else {
        return Vec::new();
    };
    let words = format!(
        "{target}: {} ns for each idle connection [{}, {}]",
        format::hundredths(slope.ns_per_connection),
        format::hundredths(slope.ns_per_connection_low),
        format::hundredths(slope.ns_per_connection_high)
    );
    let at = |idle: u32| Point {
        words: words.clone(),
        ..Point::new(
            idle.into(),
            slope.intercept_ns + slope.ns_per_connection * f64::from(idle),
        )
    };
    vec![at(first.idle), at(last.idle)]
}
