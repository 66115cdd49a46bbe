//! A figure along what is swept: a line for each target.

use throng_record::SweptValue;

use super::bars::with_spread;
use super::{Axis, Chart, Drawn, Form, Look, Panel, Point, Scale, Series, View, spans_decades};
use crate::row::Row;
use crate::setting::{distinct, noun};
use crate::unit::Unit;

/// Which figure.
pub(crate) struct Along<'a> {
    pub(crate) name: &'static str,
    pub(crate) title: String,
    pub(crate) caption: &'a str,
    pub(crate) key: &'a str,
    /// What is published: a series for each of these, by number of connections.
    pub(crate) published: Vec<(String, Vec<(f64, f64)>)>,
}

/// `None` where nothing is swept and nothing published, or no row has the figure.
pub(crate) fn along(drawn: &Drawn<'_>, asked: Along<'_>) -> Option<Chart> {
    let unit = drawn.unit(asked.key)?;
    let key = along_key(drawn).unwrap_or(CONNECTIONS);
    let rows: Vec<(&Row, Place<'_>)> = drawn
        .summary
        .rows
        .iter()
        .filter_map(|row| Some((row, Place::of(row, key)?)))
        .collect();
    let values = distinct(rows.iter().map(|(_, place)| place.value.as_str()));
    let others = distinct(rows.iter().map(|(_, place)| place.others.as_slice()));
    if values.len() < 2 && asked.published.is_empty() {
        return None;
    }
    let published = asked.published.iter().flat_map(|(_, points)| points);
    let x = x_axis(key, &values, published.map(|(x, _)| *x));
    let view = |others: &&[&SweptValue]| {
        let series = |(index, name): (usize, &str)| {
            let mine = rows
                .iter()
                .filter(|(row, place)| row.target == name && place.others == **others);
            let point = |(row, place): &(&Row, Place<'_>)| {
                let found = row.found(asked.key)?;
                let words = format!(
                    "{name}, {}: {}",
                    row.heading,
                    with_spread(asked.key, unit, row)
                );
                Some(Point {
                    y: found.value,
                    ..Point::of_row(x_of(&x, &values, &place.value), row, found, words)
                })
            };
            Series {
                name: name.to_owned(),
                look: Look::Target(index),
                form: Form::Line,
                points: mine.filter_map(point).collect(),
            }
        };
        let targets = drawn.record.plan.targets.iter();
        let targets = targets.map(|target| target.name.as_str()).enumerate();
        let measured = targets.map(series).filter(|one| !one.points.is_empty());
        let published = asked.published.iter().enumerate();
        let published = published.map(|(index, (name, points))| Series {
            name: format!("published: {name}"),
            look: Look::Published(index),
            form: Form::Line,
            points: points.iter().map(|&(x, y)| Point::new(x, y)).collect(),
        });
        let series: Vec<Series> = measured.chain(published).collect();
        let y = Axis::new(drawn.heading(asked.key), unit).fitted_to(&series);
        let label: Vec<String> = others.iter().map(ToString::to_string).collect();
        View::of_panels(label.join(" · "), x.clone(), vec![Panel::new(y, series)])
    };
    Chart::of_views(
        asked.name,
        asked.title,
        asked.caption,
        "setting",
        others.iter().filter_map(view),
    )
}

const CONNECTIONS: &str = "connections";

/// The key that goes along the x axis: the number of connections or clients where that is swept, as what everything here is about, and else the last.
fn along_key<'a>(drawn: &Drawn<'a>) -> Option<&'a str> {
    let swept = &drawn.record.plan.swept;
    let is_many = |key: &&String| matches!(key.as_str(), CONNECTIONS | "clients");
    let key = swept.iter().find(is_many).or_else(|| swept.last())?;
    Some(key)
}

/// Where a row stands in the sweep.
struct Place<'a> {
    value: String,
    others: Vec<&'a SweptValue>,
}

impl<'a> Place<'a> {
    fn of(row: &'a Row, key: &str) -> Option<Self> {
        let value = match row.swept_value(key) {
            Some(value) => value.to_owned(),
            None if key == CONNECTIONS => row.connections.to_string(),
            None => return None,
        };
        let others = row.swept.iter().filter(|one| one.key != key);
        Some(Self {
            value,
            others: others.collect(),
        })
    }
}

/// Numbers have their places, and other values stand in their order.
fn x_axis(key: &str, values: &[&str], published: impl Iterator<Item = f64>) -> Axis {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| value.parse().ok()).collect();
    let axis = Axis::new(noun(key), Unit::Count);
    match numbers {
        Some(numbers) if spans_decades(numbers.iter().copied().chain(published)) => axis.log(),
        Some(_) => axis,
        None => Axis {
            scale: Scale::Names(values.iter().map(|&value| value.to_owned()).collect()),
            ..axis
        },
    }
}

fn x_of(axis: &Axis, values: &[&str], value: &str) -> f64 {
    match axis.scale {
        Scale::Names(_) => {
            let place = values.iter().position(|&one| one == value);
            place.unwrap_or_default() as f64
        }
        _ => value.parse().unwrap_or_default(),
    }
}
