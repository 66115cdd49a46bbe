//! A figure of every row as a bar, with its interval, and what is published beside it.

use super::{Axis, Chart, Drawn, Form, Look, Mark, Panel, Point, Series, View};
use crate::format;
use crate::outcome::figure_or_reason;
use crate::row::Row;
use crate::unit::Unit;

/// Which figure, of which rows.
pub(crate) struct Bars<'a> {
    pub(crate) name: &'static str,
    pub(crate) title: String,
    pub(crate) caption: &'a str,
    pub(crate) key: &'a str,
    /// Rows that are looked at together, under what tells them from the others.
    pub(crate) groups: Vec<(String, Vec<Row>)>,
    /// What a row is called.
    pub(crate) label: &'a dyn Fn(&Row) -> String,
    /// What is published of it.
    pub(crate) published: &'a dyn Fn(&Row) -> Option<f64>,
}

/// `None` where no row has the figure.
pub(crate) fn bars(drawn: &Drawn<'_>, asked: &Bars<'_>) -> Option<Chart> {
    let unit = drawn.unit(asked.key)?;
    let view = |(heading, rows): &(String, Vec<Row>)| {
        let has_any = rows.iter().any(|row| row.value(asked.key).is_some());
        has_any
            .then(|| view(drawn, asked, unit, heading, rows))
            .flatten()
    };
    Chart::of_views(
        asked.name,
        asked.title.as_str(),
        asked.caption,
        "setting",
        asked.groups.iter().filter_map(view),
    )
}

fn view(
    drawn: &Drawn<'_>,
    asked: &Bars<'_>,
    unit: Unit,
    heading: &str,
    rows: &[Row],
) -> Option<View> {
    let mut names = Vec::new();
    let mut series = Vec::new();
    let mut published = Vec::new();
    // The first stands on top, and y grows upwards.
    let places = (0..rows.len()).rev();
    for (row, place) in rows.iter().zip(places) {
        let (y, label) = (place as f64, (asked.label)(row));
        let said = format!("{label}: {}", with_spread(asked.key, unit, row));
        let point = match row.found(asked.key) {
            Some(found) => Point {
                y,
                ..Point::of_row(found.value, row, found, said)
            },
            None => Point {
                mark: Mark::Crossed,
                words: said,
                ..Point::new(0.0, y)
            },
        };
        let found = (asked.published)(row);
        published.extend(found.map(|value| Point {
            words: format!("published: {}", unit.words()(value)),
            ..Point::new(value, y)
        }));
        series.push(Series {
            name: label.clone(),
            look: drawn.look(row),
            form: Form::Bar,
            points: vec![point],
        });
        names.push(format!("{label} · {}", words(asked.key, unit, row)));
    }
    names.reverse();
    series.push(Series {
        name: "published".to_owned(),
        look: Look::Published(0),
        form: Form::Marks,
        points: published,
    });
    let x = Axis::new(drawn.heading(asked.key), unit);
    let panel = Panel::new(Axis::names(names), series);
    View::of_panels(heading.to_owned(), x, vec![panel])
}

/// The figure with what it is worth, or why there is none.
fn words(key: &str, unit: Unit, row: &Row) -> String {
    let figure = row.value(key).map(|value| {
        let at_least = match row.rate {
            Some(rate) if !rate.is_kept => "≥ ",
            _ => "",
        };
        format!("{}{at_least}{}", row.trials.mark(), unit.words()(value))
    });
    match figure {
        Some(words) => words,
        None => figure_or_reason(None, row.standing, &row.failed_checks, row.part_in_words()),
    }
}

/// A value with its spread, in the words of its unit.
pub(super) fn with_spread(key: &str, unit: Unit, row: &Row) -> String {
    let words = words(key, unit, row);
    match row.estimate(key) {
        Some(found) => format!("{words}{}", format::spread(&found, unit.words())),
        None => words,
    }
}
