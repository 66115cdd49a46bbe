//! Charts as values: what is on the axes, and what is drawn. An experiment names its axes, as it names the columns of its tables; no chart knows how it is drawn.
//!
//! `bars`, `along`, `percentiles` and `over_time` make the charts that most experiments have, from the keys of figures; what only one experiment has is made in its
//! folder. Values are in the units of the record (nanoseconds, bytes, shares); the page scales them.

mod along;
mod bars;
mod over_time;
mod percentiles;

use throng_record::{RunRecord, TargetRecord, Trial};

pub(crate) use along::{Along, along};
pub(crate) use bars::{Bars, bars};
pub(crate) use over_time::{progress, typical};
pub(crate) use percentiles::{Curve, Percent, curve_of, percentile, percentiles};

use crate::figure::Found;
use crate::measured::Measured;
use crate::median::Spread;
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;
use crate::unit::Unit;
use crate::worth::Sorted;

/// What charts are made of: rows, and the trials behind them.
#[derive(Clone, Copy)]
pub(crate) struct Drawn<'a> {
    pub(crate) record: &'a RunRecord,
    pub(crate) summary: &'a Summary<'a>,
    /// Which trials stand behind a row.
    pub(crate) measured: &'a dyn Measured,
}

/// One chart, in several views among which a reader chooses.
pub(crate) struct Chart {
    /// A word that no other chart of the page has.
    pub(crate) name: &'static str,
    pub(crate) title: String,
    /// How to read it, in a sentence or two.
    pub(crate) caption: String,
    /// What the views differ in: `setting`, `target`.
    pub(crate) choice: &'static str,
    /// At least one.
    pub(crate) views: Vec<View>,
}

/// A picture, and what tells it from the other views.
pub(crate) struct View {
    pub(crate) label: String,
    pub(crate) picture: Picture,
}

/// What is drawn.
pub(crate) enum Picture {
    Panels(Panels),
    Heat(Heat),
}

/// One x axis, and one panel or more above it.
pub(crate) struct Panels {
    pub(crate) x: Axis,
    pub(crate) panels: Vec<Panel>,
}

/// One y axis and its series.
pub(crate) struct Panel {
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    /// Lines across the panel, each with its words.
    pub(crate) levels: Vec<(f64, String)>,
}

/// What runs along a side.
#[derive(Clone)]
pub(crate) struct Axis {
    pub(crate) title: String,
    pub(crate) unit: Unit,
    pub(crate) scale: Scale,
}

/// How values are placed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From 0.
    Linear,
    /// From the least.
    Free,
    Log,
    /// At 0, 1, 2 … these.
    Names(Vec<String>),
    /// Quantiles q at 1 ÷ (1 − q), so that each further nine takes as much room.
    Percentile,
}

/// How points are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Joined, each with a mark.
    Line,
    /// Joined, with a few marks to tell it from others.
    Curve,
    /// The value holds until the next point.
    Steps,
    /// Marks alone.
    Marks,
    /// A bar from 0 along the x axis.
    Bar,
    /// A bar along the x axis, from the end of that of the series before.
    Stacked,
}

/// Points that belong together.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) look: Look,
    pub(crate) form: Form,
    pub(crate) points: Vec<Point>,
}

/// What gives a series its colour and its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// A target: the same in every chart.
    Target(usize),
    /// The n-th of what is published.
    Published(usize),
    /// The n-th of several things that are no targets.
    Part(usize),
}

/// A value somewhere.
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Least and greatest of what is drawn across, where it is known.
    pub(crate) spread: Option<(f64, f64)>,
    pub(crate) mark: Mark,
    /// What it says of itself; empty where its coordinates say all.
    pub(crate) words: String,
}

/// What a value is worth, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    Sound,
    /// Of a disturbed machine.
    Hollow,
    /// Wrong, or missing.
    Crossed,
}

/// Values over two keys.
pub(crate) struct Heat {
    pub(crate) y_title: String,
    pub(crate) x: Vec<String>,
    pub(crate) y: Vec<String>,
    /// By y, then by x: the value, of which the colour tells the logarithm from 1 on, and its words; without a value the words alone.
    pub(crate) cells: Vec<Vec<(Option<f64>, String)>>,
}

impl<'a> Drawn<'a> {
    /// The trials that a row's figures are made from.
    pub(crate) fn shown(&self, row: &Row) -> Vec<&'a Trial> {
        let Some(target) = self.target(&row.target) else {
            return Vec::new();
        };
        let target = u32::try_from(target).unwrap_or(u32::MAX);
        let sorted = Sorted::new(self.record, target, row.setting);
        self.measured.shown(&sorted)
    }

    /// Which target it is.
    pub(crate) fn target(&self, name: &str) -> Option<usize> {
        let mut targets = self.record.plan.targets.iter();
        targets.position(|target: &TargetRecord| target.name == name)
    }

    /// The look of a row's target.
    pub(crate) fn look(&self, row: &Row) -> Look {
        Look::Target(self.target(&row.target).unwrap_or_default())
    }

    /// Points of a row's trials, under the name and look of its target, and worth no more than the row.
    pub(crate) fn series(&self, row: &Row, form: Form, points: Vec<Point>) -> Series {
        let points = points.into_iter();
        Series {
            name: row.target.clone(),
            look: self.look(row),
            form,
            points: points.map(|point| point.worth(Mark::of(row))).collect(),
        }
    }

    /// What a figure counts; absent where the run has no such figure.
    pub(crate) fn unit(&self, key: &str) -> Option<Unit> {
        let mut figures = self.summary.figures.iter();
        Some(figures.find(|figure| figure.key == key)?.unit)
    }

    /// What a figure is called, in one line.
    pub(crate) fn heading(&self, key: &str) -> String {
        let mut figures = self.summary.figures.iter();
        let known = figures.find(|figure| figure.key == key);
        known.map_or_else(|| key.to_owned(), |known| known.heading_in_line())
    }
}

impl Chart {
    /// A view for each setting, of the rows that share it; none without any.
    pub(crate) fn by_setting(
        drawn: &Drawn<'_>,
        name: &'static str,
        title: impl Into<String>,
        caption: &str,
        view: impl Fn(String, &[Row]) -> Option<View>,
    ) -> Option<Self> {
        let settings = drawn.summary.by_setting().into_iter();
        let views = settings.filter_map(|(heading, rows)| view(heading, &rows));
        Self::of_views(name, title, caption, "setting", views)
    }

    /// A chart with one view for each of these pictures; none without any.
    pub(crate) fn of_views(
        name: &'static str,
        title: impl Into<String>,
        caption: impl Into<String>,
        choice: &'static str,
        views: impl IntoIterator<Item = View>,
    ) -> Option<Self> {
        let views: Vec<View> = views.into_iter().collect();
        (!views.is_empty()).then(|| Self {
            name,
            title: title.into(),
            caption: caption.into(),
            choice,
            views,
        })
    }
}

impl View {
    /// Panels above one x axis; those without a point are left out, and the view with the last of them.
    pub(crate) fn of_panels(label: String, x: Axis, panels: Vec<Panel>) -> Option<Self> {
        let has_points = |panel: &Panel| panel.series.iter().any(|one| !one.points.is_empty());
        let panels: Vec<Panel> = panels.into_iter().filter(has_points).collect();
        (!panels.is_empty()).then_some(Self {
            label,
            picture: Picture::Panels(Panels { x, panels }),
        })
    }
}

impl Panel {
    pub(crate) fn new(y: Axis, series: Vec<Series>) -> Self {
        Self {
            y,
            series,
            levels: Vec::new(),
        }
    }
}

impl Axis {
    pub(crate) fn new(title: impl Into<String>, unit: Unit) -> Self {
        Self {
            title: title.into(),
            unit,
            scale: Scale::Linear,
        }
    }

    /// Names, from the bottom to the top.
    pub(crate) fn names(names: Vec<String>) -> Self {
        Self {
            scale: Scale::Names(names),
            ..Self::new("", Unit::Index)
        }
    }

    /// Logarithmic where the values of these series span so much.
    pub(crate) fn fitted_to(self, series: &[Series]) -> Self {
        let points = series.iter().flat_map(|one| &one.points);
        match spans_decades(points.map(|point| point.y)) {
            true => self.log(),
            false => self,
        }
    }

    pub(crate) fn log(self) -> Self {
        Self {
            scale: Scale::Log,
            ..self
        }
    }
}

impl Point {
    pub(crate) fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            spread: None,
            mark: Mark::Sound,
            words: String::new(),
        }
    }

    /// The same, worth no more than what it is part of.
    pub(crate) fn worth(self, whole: Mark) -> Self {
        Self {
            mark: self.mark.max(whole),
            ..self
        }
    }

    /// A figure of a row.
    pub(crate) fn of_row(x: f64, row: &Row, found: &Found, words: String) -> Self {
        Self {
            spread: found.spread.and_then(Spread::ends),
            mark: Mark::of(row),
            words,
            ..Self::new(x, found.value)
        }
    }
}

impl Mark {
    pub(crate) fn of(row: &Row) -> Self {
        match row.standing {
            Standing::Invalid | Standing::Failed => Self::Crossed,
            _ if row.trials.disturbed > 0 => Self::Hollow,
            _ => Self::Sound,
        }
    }
}

/// Whether numbers that are all above 0 span so much that a logarithm shows them better.
pub(crate) fn spans_decades(values: impl Iterator<Item = f64>) -> bool {
    let (least, most) = values.fold((f64::MAX, 0.0), |(least, most): (f64, f64), one| {
        (least.min(one), most.max(one))
    });
    least > 0.0 && most / least >= 20.0
}
