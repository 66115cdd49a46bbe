//! From a chart as a value to what Plotly draws. Colours of text, lines and ground are the page's business, as they follow the reader's scheme.

mod axis;
mod heat;
mod look;

use plotly::common::{
    DashType, ErrorData, ErrorType, HoverInfo, Line, LineShape, Marker, Mode, Orientation,
};
use plotly::layout::{Annotation, BarMode, HoverMode, Layout, Shape, ShapeLine, ShapeType};
use plotly::{Bar, Scatter, Traces};
use serde_json::{Value, json};

use self::axis::{axis, scale_of};
use self::look::{PUBLISHED, colour, dash, marker};
use crate::chart::{Form, Look, Mark, Panel, Panels, Picture, Point, Scale, Series, View};

/// Marks on a curve of many points.
const MARKS_MAX: usize = 8;

/// `{data, layout}`.
pub(super) fn of_view(view: &View) -> Value {
    match &view.picture {
        Picture::Panels(panels) => of_panels(panels),
        Picture::Heat(heat) => heat::of_heat(heat),
    }
}

fn of_panels(panels: &Panels) -> Value {
    let mut traces = Traces::new();
    let mut shapes = Vec::new();
    let mut notes = Vec::new();
    let number = panels.panels.len();
    let mut layout = Layout::new()
        .hover_mode(HoverMode::Closest)
        .bar_mode(BarMode::Overlay)
        .bar_gap(0.3)
        .height(height(panels))
        .x_axis(axis(&panels.x).anchor(axis_name(number - 1)));
    for (index, panel) in panels.panels.iter().enumerate() {
        let y = axis(&panel.y).domain(&domain(index, number));
        layout = match index {
            0 => layout.y_axis(y),
            1 => layout.y_axis2(y),
            _ => layout.y_axis3(y),
        };
        if panel.series.iter().any(|one| one.form == Form::Stacked) {
            layout = layout.bar_mode(BarMode::Stack);
        }
        // Of a target that has several series in a panel, or in several panels, the legend has one.
        for (place, series) in panel.series.iter().enumerate() {
            let before = panels.panels[..index]
                .iter()
                .flat_map(|other| &other.series);
            let before = before.chain(&panel.series[..place]);
            let is_first = !before.into_iter().any(|other| other.name == series.name);
            for trace in traces_of(series, panels, panel, &axis_name(index), is_first) {
                traces.push(trace);
            }
        }
        for (level, words) in &panel.levels {
            let (shape, note) = line_across(level * scale_of(panel.y.unit), words, index);
            shapes.push(shape);
            notes.push(note);
        }
    }
    json!({ "data": traces, "layout": layout.shapes(shapes).annotations(notes) })
}

fn traces_of(
    series: &Series,
    panels: &Panels,
    panel: &Panel,
    y_axis: &str,
    is_first: bool,
) -> Vec<Box<dyn plotly::Trace>> {
    let scales = (scale_of(panels.x.unit), scale_of(panel.y.unit));
    let drawn = Drawn {
        series,
        scales,
        y_axis,
        is_across: matches!(panel.y.scale, Scale::Names(_)),
    };
    match series.form {
        Form::Bar | Form::Stacked => drawn.bars(is_first),
        _ => drawn.lines(is_first),
    }
}

/// A series, and where it is drawn.
struct Drawn<'a> {
    series: &'a Series,
    scales: (f64, f64),
    y_axis: &'a str,
    /// Whether its values are along x, since y has names.
    is_across: bool,
}

impl Drawn<'_> {
    /// The points of one worth.
    fn points(&self, mark: Mark) -> Vec<&Point> {
        let points = self.series.points.iter();
        points.filter(|point| point.mark == mark).collect()
    }

    /// The line, with its marks where all are sound; then the marks by their worth, as Plotly gives the marks of a trace one look.
    fn lines(&self, is_first: bool) -> Vec<Box<dyn plotly::Trace>> {
        let form = self.series.form;
        let all: Vec<&Point> = self.series.points.iter().collect();
        let is_sound = all.iter().all(|point| point.mark == Mark::Sound);
        let line = match form {
            Form::Marks => None,
            Form::Steps => Some(Mode::Lines),
            _ if is_sound => Some(Mode::LinesMarkers),
            _ => Some(Mode::Lines),
        };
        // Steps have no marks where they are sound, and a line has its own.
        let is_marked = match form {
            Form::Steps => false,
            Form::Marks => true,
            _ => !is_sound,
        };
        let mut parts: Vec<(Vec<&Point>, Mode, Mark)> = Vec::new();
        parts.extend(line.map(|mode| (all, mode, Mark::Sound)));
        if is_marked {
            parts.push((self.points(Mark::Sound), Mode::Markers, Mark::Sound));
        }
        for mark in [Mark::Hollow, Mark::Crossed] {
            parts.push((self.points(mark), Mode::Markers, mark));
        }
        parts.retain(|(points, ..)| !points.is_empty());
        let parts = parts.into_iter().enumerate();
        let trace = |(place, (points, mode, mark)): (usize, (Vec<&Point>, Mode, Mark))| {
            self.scatter(&points, mode, mark, is_first && place == 0)
        };
        parts.map(trace).collect()
    }

    fn scatter(
        &self,
        points: &[&Point],
        mode: Mode,
        mark: Mark,
        in_legend: bool,
    ) -> Box<dyn plotly::Trace> {
        let series = self.series;
        let (x_scale, y_scale) = self.scales;
        let x: Vec<f64> = points.iter().map(|point| point.x * x_scale).collect();
        let y: Vec<f64> = points.iter().map(|point| point.y * y_scale).collect();
        let mut line = Line::new()
            .color(colour(series.look))
            .dash(dash(series.look))
            .width(2.0);
        if series.form == Form::Steps {
            line = line.shape(LineShape::Hv);
        }
        let mut marker = marker(series.look, mark).size(size(series.form, points.len()));
        if series.form == Form::Curve {
            marker = marker.max_displayed(MARKS_MAX);
        }
        let mut trace = Scatter::new(x, y)
            .mode(mode)
            .name(plain(&series.name))
            .legend_group(plain(&series.name))
            .show_legend(in_legend)
            .line(line)
            .marker(marker)
            .y_axis(self.y_axis);
        trace = match self.is_across {
            true => match errors(points, |point| point.x, x_scale, series.look) {
                Some(errors) => trace.error_x(errors),
                None => trace,
            },
            false => match errors(points, |point| point.y, y_scale, series.look) {
                Some(errors) => trace.error_y(errors),
                None => trace,
            },
        };
        if points.iter().any(|point| !point.words.is_empty()) {
            let words = points.iter().map(|point| plain(&point.words)).collect();
            trace = trace.text_array(words).hover_info(HoverInfo::Text);
        } else {
            trace = trace.hover_template("%{fullData.name}: %{y}, %{x}<extra></extra>");
        }
        trace
    }

    /// Bars along x, full or hollow; what has no figure is a cross at its beginning.
    fn bars(&self, is_first: bool) -> Vec<Box<dyn plotly::Trace>> {
        let mut is_first = is_first;
        let all = [Mark::Sound, Mark::Hollow, Mark::Crossed].into_iter();
        let traces = all.filter_map(|mark| {
            let points = self.points(mark);
            if points.is_empty() {
                return None;
            }
            let trace = match mark {
                Mark::Crossed => self.scatter(&points, Mode::Markers, mark, false),
                _ => self.bar(&points, mark, std::mem::take(&mut is_first)),
            };
            Some(trace)
        });
        traces.collect()
    }

    fn bar(&self, points: &[&Point], mark: Mark, is_first: bool) -> Box<dyn plotly::Trace> {
        let series = self.series;
        let (x_scale, y_scale) = self.scales;
        let border = Line::new().color(colour(series.look)).width(2.0);
        let marker = match mark {
            Mark::Hollow => Marker::new().color("rgba(0,0,0,0)").line(border),
            _ => Marker::new().color(colour(series.look)).line(border),
        };
        let words = points.iter().map(|point| plain(&point.words)).collect();
        let x = points.iter().map(|point| point.x * x_scale).collect();
        let y = points.iter().map(|point| point.y * y_scale).collect();
        let trace = Bar::new(x, y)
            .orientation(Orientation::Horizontal)
            .name(plain(&series.name))
            .legend_group(plain(&series.name))
            .show_legend(is_first && series.form == Form::Stacked)
            .marker(marker)
            .text_position(plotly::common::TextPosition::None)
            .hover_text_array(words)
            .hover_info(HoverInfo::Text)
            .y_axis(self.y_axis);
        match errors(points, |point| point.x, x_scale, Look::Published(0)) {
            Some(errors) => trace.error_x(errors),
            None => trace,
        }
    }
}

/// Absent where no point has a spread.
fn errors(
    points: &[&Point],
    value: impl Fn(&Point) -> f64,
    scale: f64,
    look: Look,
) -> Option<ErrorData> {
    points.iter().find(|point| point.spread.is_some())?;
    let ends = points.iter().map(|point| {
        let value = value(point);
        let (low, high) = point.spread.unwrap_or((value, value));
        (
            (value - low).max(0.0) * scale,
            (high - value).max(0.0) * scale,
        )
    });
    let (below, above) = ends.unzip();
    Some(
        ErrorData::new(ErrorType::Data)
            .symmetric(false)
            .array(above)
            .array_minus(below)
            .color(colour(look))
            .thickness(1.5)
            .width(4),
    )
}

fn size(form: Form, points: usize) -> usize {
    match form {
        Form::Marks if points > 50 => 6,
        _ => 9,
    }
}

fn axis_name(index: usize) -> String {
    match index {
        0 => "y".to_owned(),
        more => format!("y{}", more + 1),
    }
}

/// The first panel is twice as high as each other.
fn domain(index: usize, number: usize) -> Vec<f64> {
    const GAP: f64 = 0.08;
    let parts = number as f64 + 1.0;
    let part = (1.0 - GAP * (number as f64 - 1.0)) / parts;
    if number == 1 {
        return vec![0.0, 1.0];
    }
    let top = match index {
        0 => 1.0,
        more => 1.0 - 2.0 * part - GAP - (more as f64 - 1.0) * (part + GAP),
    };
    let height = if index == 0 { 2.0 * part } else { part };
    vec![(top - height).max(0.0), top]
}

/// In pixels.
fn height(panels: &Panels) -> usize {
    let names = panels.panels.iter().map(|panel| match &panel.y.scale {
        Scale::Names(names) => names.len(),
        _ => 0,
    });
    let room = match names.max().unwrap_or_default() {
        0 => 380 + 180 * (panels.panels.len() - 1),
        bars => 110 + 26 * bars,
    };
    // A legend of many needs its own: a line of it is higher than a patch.
    let in_legend = panels.panels.iter().map(|panel| {
        let heights = panel.series.iter().map(|one| match one.form {
            Form::Bar => 0,
            Form::Stacked => 21,
            _ => 28,
        });
        110 + heights.sum::<usize>()
    });
    room.max(in_legend.max().unwrap_or_default().min(1_000))
}

fn line_across(level: f64, words: &str, panel: usize) -> (Shape, Annotation) {
    let axis = axis_name(panel);
    let line = ShapeLine::new()
        .color(PUBLISHED)
        .width(1.0)
        .dash(DashType::Dot);
    let shape = Shape::new()
        .shape_type(ShapeType::Line)
        .x_ref("paper")
        .x0(0.0)
        .x1(1.0)
        .y_ref(&axis)
        .y0(level)
        .y1(level)
        .line(line);
    let note = Annotation::new()
        .text(plain(words))
        .show_arrow(false)
        .x_ref("paper")
        .x(1.0)
        .x_anchor(plotly::common::Anchor::Right)
        .y_ref(&axis)
        .y(level)
        .y_anchor(plotly::common::Anchor::Bottom);
    (shape, note)
}

/// Plotly takes a few tags of HTML in texts, of which those that come from outside have none.
fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\n' => safe.push_str("<br>"),
            plain => safe.push(plain),
        }
    }
    safe
}
