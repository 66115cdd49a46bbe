//! An axis with its ticks, and in which unit it counts.

use plotly::common::Title;
use plotly::layout::{Axis as PlotAxis, AxisType, RangeMode};

use super::plain;
use crate::chart::{Axis, Scale};
use crate::unit::Unit;

pub(super) fn axis(axis: &Axis) -> PlotAxis {
    let plot = PlotAxis::new()
        .title(Title::with_text(plain(&axis.title)))
        .auto_margin(true);
    match &axis.scale {
        Scale::Names(names) => plot
            .tick_values((0..names.len()).map(|place| place as f64).collect())
            .tick_text(names.iter().map(|name| plain(name)).collect())
            .range(vec![-0.6, names.len() as f64 - 0.4])
            .zero_line(false)
            .show_grid(false),
        Scale::Percentile => {
            let nines = (1..9).map(|nines| 10_f64.powi(nines));
            let ticks: Vec<f64> = nines.chain([2.0]).collect();
            let words = ticks.iter().map(|one_in| {
                let percent = format!("{:.6}", 100.0 - 100.0 / one_in);
                format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
            });
            let words = words.collect();
            plot.type_(AxisType::Log)
                .tick_values(ticks)
                .tick_text(words)
        }
        Scale::Log => unit(plot.type_(AxisType::Log), axis.unit),
        Scale::Free => unit(plot, axis.unit),
        Scale::Linear => unit(plot.range_mode(RangeMode::ToZero), axis.unit),
    }
}

/// Ticks with their unit.
fn unit(axis: PlotAxis, unit: Unit) -> PlotAxis {
    let (format, suffix) = match unit {
        Unit::Nanoseconds => ("~s", "s"),
        Unit::Bytes => ("~s", "B"),
        Unit::PerSecond | Unit::Count | Unit::Index => ("~s", ""),
        Unit::Share => (".0%", ""),
        Unit::Times => ("~s", "×"),
    };
    axis.tick_format(format)
        .hover_format(match unit {
            Unit::Share => ".1%",
            _ => ".3s",
        })
        .tick_suffix(suffix)
}

/// Ticks count in seconds.
pub(super) fn scale_of(unit: Unit) -> f64 {
    match unit {
        Unit::Nanoseconds => 1e-9,
        _ => 1.0,
    }
}
