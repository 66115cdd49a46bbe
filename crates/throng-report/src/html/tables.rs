//! Every table of a report as rows of cells, with the numbers that a reader may sort by.

use crate::compare::{self, Comparison};
use crate::experiments;
use crate::format::ABSENT;
use crate::grid::Grid;
use crate::hosts;
use crate::outcome::short_throughput;
use crate::overview::{self, Overview};
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;
use crate::table::{self, Column, Line, Sheet, of_part};
use crate::view::Block;

/// One table.
pub(super) struct Table {
    /// Empty where it goes on with what the one before is about.
    pub(super) heading: String,
    pub(super) header: Vec<Head>,
    /// Said where there are no lines.
    pub(super) instead: &'static str,
    pub(super) lines: Vec<Vec<Cell>>,
    /// Whether each line says by itself what it is of.
    pub(super) is_sortable: bool,
}

pub(super) struct Head {
    pub(super) text: String,
    pub(super) is_figure: bool,
}

pub(super) struct Cell {
    pub(super) text: String,
    pub(super) is_figure: bool,
    /// What it is sorted by; empty where that is its text.
    pub(super) number: String,
    pub(super) class: &'static str,
}

/// A line for each figure of each row.
pub(super) fn of_comparison(comparison: &Comparison) -> Vec<Table> {
    let heads = [
        ("row", false),
        ("figure", false),
        ("first", true),
        ("other", true),
        ("other ÷ first", true),
        ("", false),
    ];
    let head = |(text, is_figure): (&str, bool)| Head {
        text: text.to_owned(),
        is_figure,
    };
    let line = |line: &compare::Line| {
        let text = |text: String| worded(text, false, Standing::Ranked);
        let number = |text: &str, number: f64| Cell {
            number: number.to_string(),
            ..worded(text.to_owned(), true, Standing::Ranked)
        };
        let [before, after] = line.values.map(|value| value.median);
        let ratio = line.ratio.map(|ratio| ratio.median);
        vec![
            text(line.row()),
            text(line.heading.clone()),
            number(&line.before, before),
            number(&line.after, after),
            Cell {
                number: ratio.map_or_else(String::new, |ratio| ratio.to_string()),
                ..worded(line.ratio_in_words(), true, Standing::Ranked)
            },
            text(line.verdict.words().to_owned()),
        ]
    };
    vec![Table {
        heading: String::new(),
        header: heads.map(head).into(),
        instead: "",
        lines: comparison.lines.iter().map(line).collect(),
        is_sortable: true,
    }]
}

/// All that the report shows, in its order.
pub(super) fn of(summary: &Summary<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for block in experiments::of(summary.plan.experiment).blocks(summary) {
        match block {
            Block::Rows(of) => tables.extend(sheet(&of)),
            Block::Phases(of) => tables.extend(sheet(&of).into_iter().map(|table| Table {
                is_sortable: false,
                ..table
            })),
            Block::Grid(of) => tables.push(grid(&of)),
            // They are drawn.
            Block::Curves(..) => {}
        }
    }
    tables.extend(Overview::of(summary).map(|overview| along(summary, overview)));
    tables.extend(hosts::sheet(summary).iter().flat_map(sheet));
    tables
}

fn sheet<R: Line>(sheet: &Sheet<R>) -> Vec<Table> {
    let mut tables = Vec::new();
    for (heading, rows) in &sheet.groups {
        if table::is_not_measured(rows) {
            tables.push(Table {
                heading: heading.clone(),
                header: Vec::new(),
                instead: table::NOT_MEASURED,
                lines: Vec::new(),
                is_sortable: false,
            });
            continue;
        }
        let told = sheet.told(rows);
        let parts = match sheet.is_joined {
            true => vec![told.concat()],
            false => told,
        };
        for (part, index) in parts.iter().zip(0..) {
            let columns = [&sheet.labels[..], part].concat();
            let heading = if index == 0 { heading.as_str() } else { "" };
            tables.push(columned(heading, &columns, &of_part(rows, &columns)));
        }
    }
    tables
}

fn columned<R: Line>(heading: &str, columns: &[Column<R>], rows: &[&R]) -> Table {
    let head = |column: &Column<R>| Head {
        text: column.heading.replace("-\n", "").replace('\n', " "),
        is_figure: column.is_figure,
    };
    let cell = |row: &R, column: &Column<R>| Cell {
        text: column.cell(row),
        is_figure: column.is_figure,
        number: column
            .number(row)
            .map_or_else(String::new, |number| number.to_string()),
        class: class(row.standing()),
    };
    let line = |row: &&R| columns.iter().map(|column| cell(row, column)).collect();
    Table {
        heading: heading.to_owned(),
        header: columns.iter().map(head).collect(),
        instead: "",
        lines: rows.iter().map(line).collect(),
        is_sortable: true,
    }
}

fn grid(grid: &Grid) -> Table {
    let head = |text: &String, is_figure| Head {
        text: text.replace('\n', " "),
        is_figure,
    };
    let header = std::iter::once(head(&grid.label, false))
        .chain(grid.headings.iter().map(|text| head(text, true)));
    let lines = grid.lines.iter().map(|line| {
        let cells = line.cells.iter();
        let cells = cells.map(|(text, standing)| worded(text.clone(), true, *standing));
        std::iter::once(worded(line.label.clone(), false, Standing::Ranked))
            .chain(cells)
            .collect()
    });
    Table {
        heading: grid.title.clone(),
        header: header.collect(),
        instead: "",
        lines: lines.collect(),
        is_sortable: false,
    }
}

/// Every target along the sweep.
fn along(summary: &Summary<'_>, overview: Overview<'_>) -> Table {
    let labels = std::iter::once("target").chain(overview.others.iter().map(String::as_str));
    let label = |text: &str| Head {
        text: text.to_owned(),
        is_figure: false,
    };
    let value = |text: &String| Head {
        text: text.clone(),
        is_figure: true,
    };
    let header = labels.map(label).chain(overview.values.iter().map(value));
    let cell = |row: Option<&Row>| match row {
        Some(row) => Cell {
            number: row
                .value(summary.compared().key())
                .map_or_else(String::new, |number| number.to_string()),
            ..worded(
                short_throughput(row, summary.compared()),
                true,
                row.standing,
            )
        },
        None => worded(ABSENT.to_owned(), true, Standing::NotMeasured),
    };
    let lines = overview.lines.iter().map(|line| {
        let labels = line.labels.iter().cloned();
        let labels = labels.map(|label| worded(label, false, Standing::Ranked));
        labels
            .chain(line.rows.iter().map(|row| cell(*row)))
            .collect()
    });
    Table {
        heading: format!("{} by {}", overview::title(summary), overview.along),
        header: header.collect(),
        instead: "",
        lines: lines.collect(),
        is_sortable: true,
    }
}

fn worded(text: String, is_figure: bool, standing: Standing) -> Cell {
    Cell {
        text,
        is_figure,
        number: String::new(),
        class: class(standing),
    }
}

/// Colour repeats what the marks say.
fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Ranked => "",
        Standing::Qualified => "bound",
        Standing::Invalid | Standing::Failed => "wrong",
        Standing::Partial | Standing::Spared | Standing::NotMeasured => "dim",
    }
}
