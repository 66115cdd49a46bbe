//! What a table is made from: columns, each a figure or a few words, in themes that stand together.
//!
//! An experiment names its columns; it knows nothing of pages. How many columns stand side by side, and where a table goes on below, is the renderer's
//! business. A column in which no row has anything is left out, and with it a theme of only such columns.

use std::borrow::Cow;
use std::rc::Rc;

use crate::figure::Figure;
use crate::format::{self, ABSENT};
use crate::row::Row;
use crate::standing::Standing;
use crate::unit::Unit;

/// What a line of a table shows.
pub(crate) trait Line {
    /// What its figures are worth.
    fn standing(&self) -> Standing;
    /// Whether it has any.
    fn has_figures(&self) -> bool;
}

/// How a cell is told.
type Words<R> = Rc<dyn Fn(&R) -> String>;
/// Whether a row is a reason to show a column.
type Worth<R> = Rc<dyn Fn(&R) -> bool>;

/// What a cell is sorted by.
type Number<R> = Rc<dyn Fn(&R) -> Option<f64>>;

/// A column of a table.
pub(crate) struct Column<R> {
    /// In one or two lines.
    pub(crate) heading: String,
    /// Figures line up on the right.
    pub(crate) is_figure: bool,
    /// It says what is wrong with a row: parts of a table without such a column leave out rows without figures.
    pub(crate) says_why: bool,
    words: Words<R>,
    number: Option<Number<R>>,
    is_worth_it: Option<Worth<R>>,
}

impl<R> Clone for Column<R> {
    fn clone(&self) -> Self {
        Self {
            heading: self.heading.clone(),
            words: Rc::clone(&self.words),
            number: self.number.clone(),
            is_worth_it: self.is_worth_it.clone(),
            ..*self
        }
    }
}

impl<R> Column<R> {
    /// Running text, on the left.
    pub(crate) fn words(
        heading: impl Into<String>,
        words: impl Fn(&R) -> String + 'static,
    ) -> Self {
        Self {
            heading: heading.into(),
            is_figure: false,
            says_why: false,
            words: Rc::new(words),
            number: None,
            is_worth_it: None,
        }
    }

    /// On the right.
    pub(crate) fn aligned_right(self) -> Self {
        Self {
            is_figure: true,
            ..self
        }
    }

    /// With what is wrong with a row.
    pub(crate) fn that_says_why(self) -> Self {
        Self {
            says_why: true,
            ..self
        }
    }

    /// Left out of a table unless one of its rows is like this.
    pub(crate) fn only_where(self, is_worth_it: impl Fn(&R) -> bool + 'static) -> Self {
        Self {
            is_worth_it: Some(Rc::new(is_worth_it)),
            ..self
        }
    }

    /// Words that say a number.
    pub(crate) fn of_number(self, number: impl Fn(&R) -> Option<f64> + 'static) -> Self {
        Self {
            number: Some(Rc::new(number)),
            ..self
        }
    }

    pub(crate) fn headed(self, heading: &str) -> Self {
        Self {
            heading: heading.to_owned(),
            ..self
        }
    }

    /// The cell of a row.
    pub(crate) fn cell(&self, row: &R) -> String {
        (self.words)(row)
    }

    /// The number that the cell of a row says, where it says one.
    pub(crate) fn number(&self, row: &R) -> Option<f64> {
        self.number.as_ref()?(row)
    }

    /// Whether it has anything of this row.
    pub(crate) fn tells_of(&self, row: &R) -> bool {
        let cell = self.cell(row);
        let is_worth_it = |wanted: &Worth<R>| wanted(row);
        !cell.is_empty() && cell != ABSENT && self.is_worth_it.as_ref().is_none_or(is_worth_it)
    }
}

impl Line for Row {
    fn standing(&self) -> Standing {
        self.standing
    }

    fn has_figures(&self) -> bool {
        !self.figures.is_empty()
    }
}

/// A figure of a run in a column: its value in its unit.
pub(crate) fn figure(figures: &[Figure], key: impl Into<Cow<'static, str>>) -> Column<Row> {
    column(figures, key.into(), |row, key, words| {
        let found = row.found(key);
        let mark = bound(row, key);
        found.map_or_else(absent, |found| format!("{mark}{}", words(found.value)))
    })
}

/// The same with its spread behind it.
pub(crate) fn with_spread(figures: &[Figure], key: impl Into<Cow<'static, str>>) -> Column<Row> {
    column(figures, key.into(), |row, key, words| {
        let found = row.found(key);
        found.map_or_else(absent, |found| {
            let spread = found.estimate();
            let spread = spread.map(|estimate| format::spread(&estimate, words));
            format!("{}{}", words(found.value), spread.unwrap_or_default())
        })
    })
}

/// The cell of a row, from the figure's key and the words of its unit.
type FigureCell = fn(&Row, &str, fn(f64) -> String) -> String;

fn column(figures: &[Figure], key: Cow<'static, str>, cell: FigureCell) -> Column<Row> {
    let known = figures.iter().find(|figure| figure.key == key);
    let heading = known.map_or_else(|| key.to_string(), |known| known.heading.to_string());
    let words = known.map_or(format::hundredths as fn(f64) -> String, |known| {
        known.unit.words()
    });
    let own = key.clone();
    Column::words(heading, move |row: &Row| cell(row, &key, words))
        .aligned_right()
        .of_number(move |row: &Row| row.value(&own))
}

/// Of a rate that was not kept latencies are lower bounds: what was never sent has waited too. So they are of requests that failed.
fn bound(row: &Row, key: &str) -> &'static str {
    let is_latency = key.starts_with("latency_ns") || key.starts_with("sustain_latency_ns");
    match row.rate {
        Some(rate) if is_latency && !rate.is_kept => "≥ ",
        _ => "",
    }
}

/// The column that names the rows.
pub(crate) fn target() -> Column<Row> {
    Column::words("target", |row: &Row| row.target.clone())
}

pub(crate) fn absent() -> String {
    ABSENT.to_owned()
}

impl Unit {
    /// A value in words, three digits of it.
    pub(crate) fn words(self) -> fn(f64) -> String {
        match self {
            Self::Nanoseconds => format::time_ns,
            Self::Bytes => format::bytes,
            Self::PerSecond => format::count,
            Self::Share => |share| format!("{:.0} %", share * 100.0),
            Self::Times => |times| format!("{}×", format::ratio(times)),
            Self::Count | Self::Index => counted,
        }
    }
}

/// A median of counts: whole but where it lies between two.
fn counted(value: f64) -> String {
    if value.fract() == 0.0 {
        format::exact(value as u64)
    } else {
        format!("{value:.1}")
    }
}

/// Tables of the same columns over a whole report: one for each group of rows.
pub(crate) struct Sheet<R> {
    /// Stand in front of every part.
    pub(crate) labels: Vec<Column<R>>,
    /// Columns that belong together, the weightiest first.
    pub(crate) themes: Vec<Vec<Column<R>>>,
    /// Whether themes stand side by side where there is room.
    pub(crate) is_joined: bool,
    /// Each with its heading.
    pub(crate) groups: Vec<(String, Vec<R>)>,
}

impl<R> Sheet<R> {
    /// Every row of every group.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &R> {
        self.groups.iter().flat_map(|(_, rows)| rows)
    }

    /// The headings of all columns, in their order.
    pub(crate) fn headings(&self) -> impl Iterator<Item = &String> {
        let columns = self.labels.iter().chain(self.themes.iter().flatten());
        columns.map(|column| &column.heading)
    }

    /// The themes of a group, with the columns of which something is told there.
    pub(crate) fn told(&self, rows: &[R]) -> Vec<Vec<Column<R>>> {
        self.told_of(&rows.iter().collect::<Vec<_>>())
    }

    /// The same over any rows.
    pub(crate) fn told_of(&self, rows: &[&R]) -> Vec<Vec<Column<R>>> {
        let is_told =
            |column: &&Column<R>| column.says_why || rows.iter().any(|row| column.tells_of(row));
        let told = |theme: &Vec<Column<R>>| -> Vec<Column<R>> {
            theme.iter().filter(is_told).cloned().collect()
        };
        let themes = self.themes.iter().map(told);
        themes.filter(|theme| !theme.is_empty()).collect()
    }
}

/// What stands in the place of a table of rows none of which was measured.
pub(crate) const NOT_MEASURED: &str = "not measured";

/// Whether there is nothing to say of these rows but that.
pub(crate) fn is_not_measured<R: Line>(rows: &[R]) -> bool {
    let mut rows = rows.iter();
    rows.all(|row| row.standing() == Standing::NotMeasured && !row.has_figures())
}

/// The rows of a part: those without figures only where a column says why.
pub(crate) fn of_part<'a, R: Line>(rows: &'a [R], columns: &[Column<R>]) -> Vec<&'a R> {
    let says_why = columns.iter().any(|column| column.says_why);
    let rows = rows.iter();
    rows.filter(|row| says_why || row.has_figures()).collect()
}
