//! Tables of one kind over a whole report: the same columns in each, of the same widths, parted where the page is too narrow.
//!
//! Themes stand side by side where they may and where there is room; a theme that is too wide for its page is parted between its columns, and the columns that
//! name the rows stand in front of each part. So no figure is lost and no cell is broken; only where a single column is too wide does text wrap.

use anstyle::Style;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, Table,
    TableStyle, Width,
};

use super::Page;
use crate::Options;
use crate::standing::Standing;
use crate::table::{self, Column, Line, Sheet, of_part};
use crate::text;

/// Spaces between columns.
pub(super) const GAP: u16 = 2;

impl Page<'_> {
    /// One block for each group of rows.
    pub(super) fn sheet<R: Line>(&self, sheet: &Sheet<R>) -> Vec<String> {
        let all: Vec<&R> = sheet.rows().collect();
        let layout = layout(sheet, &all, &self.options);
        let block = |(heading, rows): &(String, Vec<R>)| {
            let told = sheet.told(rows);
            let is_told = |column: &Column<R>| {
                let mut columns = told.iter().flatten();
                columns.any(|told| told.heading == column.heading)
            };
            let parts = layout.iter().filter(|part| part.iter().any(is_told));
            let parts: Vec<String> = parts
                .filter_map(|part| self.part(&[&sheet.labels[..], part].concat(), rows, &all))
                .collect();
            let heading = match heading.as_str() {
                "" => String::new(),
                heading => self.heading(heading),
            };
            if table::is_not_measured(rows) {
                return Some(heading + &self.wrapped(table::NOT_MEASURED, "", Style::new()));
            }
            (!parts.is_empty()).then(|| heading + &parts.join("\n"))
        };
        sheet.groups.iter().filter_map(block).collect()
    }

    fn part<R: Line>(&self, columns: &[Column<R>], rows: &[R], all: &[&R]) -> Option<String> {
        let rows = of_part(rows, columns);
        rows.first()?;
        let widths = table(columns, all).column_max_content_widths();
        Some(laid_out(table(columns, &rows), &widths, &self.options))
    }

    /// As many of the columns as there is room for, the weightiest first; they stand in the order in which the full tables have them.
    pub(super) fn brief<R: Line>(
        &self,
        columns: &[Column<R>],
        rows: &[R],
        order: &[String],
    ) -> String {
        let rows: Vec<&R> = rows.iter().collect();
        let is_told =
            |column: &&Column<R>| column.says_why || rows.iter().any(|row| column.tells_of(row));
        // What the full tables lack comes last.
        let place = |column: &Column<R>| {
            let known = order.iter().position(|one| *one == column.heading);
            known.unwrap_or(usize::MAX)
        };
        let mut columns: Vec<Column<R>> = columns.iter().filter(is_told).cloned().collect();
        loop {
            let mut shown = columns.clone();
            shown.sort_by_key(place);
            let table = table(&shown, &rows);
            let widths = table.column_max_content_widths();
            if fits(&widths, &self.options) || columns.len() <= 2 {
                return laid_out(table, &widths, &self.options);
            }
            columns.pop();
        }
    }
}

/// The columns of each part, the labels left out.
fn layout<R: Line>(sheet: &Sheet<R>, all: &[&R], options: &Options) -> Vec<Vec<Column<R>>> {
    let has_room = |columns: &[Column<R>]| {
        let columns = [&sheet.labels[..], columns].concat();
        fits(&table(&columns, all).column_max_content_widths(), options)
    };
    let mut parts: Vec<Vec<Column<R>>> = Vec::new();
    for theme in sheet.told_of(all) {
        let joined = parts.last().map(|last| [&last[..], &theme[..]].concat());
        match joined.filter(|joined| sheet.is_joined && has_room(joined)) {
            Some(joined) => {
                parts.pop();
                parts.push(joined);
            }
            None => parts.extend(parted(theme, has_room)),
        }
    }
    parts
}

/// A theme in as few parts as there is room for, each with at least one column.
fn parted<R>(
    theme: Vec<Column<R>>,
    has_room: impl Fn(&[Column<R>]) -> bool,
) -> Vec<Vec<Column<R>>> {
    let mut parts: Vec<Vec<Column<R>>> = Vec::new();
    for column in theme {
        match parts.last_mut() {
            Some(last) if has_room(&[&last[..], std::slice::from_ref(&column)].concat()) => {
                last.push(column);
            }
            _ => parts.push(vec![column]),
        }
    }
    parts
}

fn table<R: Line>(columns: &[Column<R>], rows: &[&R]) -> Table {
    let mut table = Table::new();
    let heading = |column: &Column<R>| aligned(&column.heading, column.is_figure);
    table.set_header(columns.iter().map(heading).collect::<Vec<_>>());
    for row in rows {
        let cell = |column: &Column<R>| {
            coloured(aligned(&column.cell(row), column.is_figure), row.standing())
        };
        table.add_row(columns.iter().map(cell).collect::<Vec<_>>());
    }
    table
}

/// The width of a table with columns of these widths.
fn total(widths: &[u16]) -> u16 {
    let columns = widths.iter().map(|width| width.saturating_add(GAP));
    columns.fold(0, u16::saturating_add).saturating_sub(GAP)
}

/// Whether it fits the page.
pub(super) fn fits(widths: &[u16], options: &Options) -> bool {
    options.width.is_none_or(|width| total(widths) <= width)
}

/// The finished table: no frame, a rule under the header, columns at least as wide as told.
pub(super) fn laid_out(mut table: Table, widths: &[u16], options: &Options) -> String {
    let rule = LineStyle::none().fill('─');
    table.load_style(TableStyle::new().header_separator(rule));
    if options.colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    let last = widths.len().saturating_sub(1);
    let fixed = |(index, width): (usize, &u16)| {
        let gap = if index == last { 0 } else { GAP };
        ColumnConstraint::LowerBoundary(Width::Fixed(width + gap))
    };
    match options.width {
        Some(width) if !fits(widths, options) => {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(width);
        }
        _ => {
            table.set_constraints(widths.iter().enumerate().map(fixed));
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index == last { 0 } else { GAP }));
    }
    let mut text = String::new();
    for line in table.lines() {
        text += line.trim_end();
        text.push('\n');
    }
    text
}

pub(super) fn aligned(text: &str, right: bool) -> Cell {
    Cell::new(text::clean(text)).set_alignment(if right {
        CellAlignment::Right
    } else {
        CellAlignment::Left
    })
}

/// Colour repeats what the marks say.
pub(super) fn coloured(cell: Cell, standing: Standing) -> Cell {
    match standing {
        Standing::Ranked => cell,
        Standing::Qualified => cell.fg(Color::Yellow),
        Standing::Invalid | Standing::Failed => cell.fg(Color::Red),
        Standing::Partial | Standing::Spared | Standing::NotMeasured => {
            cell.add_attribute(Attribute::Dim)
        }
    }
}
