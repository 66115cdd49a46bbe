//! Values over two keys.

use plotly::HeatMap;
use plotly::common::{AxisSide, ColorScale, ColorScalePalette, Font, HoverInfo, Title};
use plotly::layout::{Annotation, Axis as PlotAxis, Layout};
use serde_json::{Value, json};

use super::plain;
use crate::chart::Heat;

/// Cells coloured by the logarithm of their values, with their words in them.
pub(super) fn of_heat(heat: &Heat) -> Value {
    let log = |value: Option<f64>| value.map(|value| value.max(1.0).log10());
    let z: Vec<Vec<Option<f64>>> = heat
        .cells
        .iter()
        .map(|line| line.iter().map(|(value, _)| log(*value)).collect())
        .collect();
    let most = z.iter().flatten().flatten().copied().fold(1.0, f64::max);
    let mut notes = Vec::new();
    for (line, y) in heat.cells.iter().zip(0..) {
        for ((value, words), x) in line.iter().zip(0..) {
            // The darker half of the scale takes light letters.
            let dark = log(*value).is_some_and(|value| value > most * 0.55);
            let mut note = Annotation::new()
                .text(plain(words))
                .show_arrow(false)
                .x(f64::from(x))
                .y(f64::from(y));
            if value.is_some() {
                note = note.font(Font::new().color(if dark { "#ffffff" } else { "#1a1a1a" }));
            }
            notes.push(note);
        }
    }
    let places = |number: usize| (0..number).map(|place| place as f64).collect::<Vec<f64>>();
    let trace = HeatMap::new(places(heat.x.len()), places(heat.y.len()), z)
        .color_scale(ColorScale::Palette(ColorScalePalette::YlOrRd))
        .reverse_scale(true)
        .zmin(0.0)
        .zmax(most)
        .show_scale(false)
        .hover_info(HoverInfo::Skip);
    let names = |title: &str, names: &[String]| {
        PlotAxis::new()
            .title(Title::with_text(plain(title)))
            .auto_margin(true)
            .zero_line(false)
            .show_grid(false)
            .tick_values(places(names.len()))
            .tick_text(names.iter().map(|name| plain(name)).collect())
    };
    let layout = Layout::new()
        .height(130 + 44 * heat.y.len())
        .x_axis(names("", &heat.x).side(AxisSide::Top))
        .y_axis(names(&heat.y_title, &heat.y))
        .annotations(notes);
    json!({ "data": [trace], "layout": layout })
}
