//! Lists for people as tables, as wide as the terminal allows.

use comfy_table::{
    Cell, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};

use crate::output;

/// Between two columns.
const GAP: usize = 2;
/// The last column may be broken into lines that are no shorter than this.
const LAST_MIN: usize = 30;

/// A column of a list of these: its heading, and what stands in it.
pub(crate) type Column<T> = (&'static str, fn(&T) -> String);

/// An empty one.
pub(crate) fn of<const COLUMNS: usize>(header: [&str; COLUMNS]) -> Table {
    within(output::stdout_width(), header)
}

/// The first of these layouts that has room in the terminal without breaking a word apart, or else the last.
pub(crate) fn list<T>(rows: &[T], layouts: &[&[Column<T>]]) -> String {
    list_within(output::stdout_width(), rows, layouts)
}

/// A list in groups, each under its heading: the columns are as wide in one as in the other.
pub(crate) fn groups<T>(rows: &[T], heading: fn(&T) -> String, layouts: &[&[Column<T>]]) -> String {
    let width = output::stdout_width();
    let columns = fitting(width, rows, layouts);
    let widths: Vec<u16> = columns
        .iter()
        .map(|column| natural(rows, column) as u16)
        .collect();
    let group = |rows: &[T]| {
        let mut table = tabled(width, rows, columns);
        for (column, width) in table.column_iter_mut().zip(&widths) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(*width)));
        }
        let heading = rows.first().map(heading).unwrap_or_default();
        format!("\n{heading}\n{}", text_of(table))
    };
    rows.chunk_by(|one, other| heading(one) == heading(other))
        .map(group)
        .collect()
}

fn list_within<T>(width: Option<u16>, rows: &[T], layouts: &[&[Column<T>]]) -> String {
    text_of(tabled(width, rows, fitting(width, rows, layouts)))
}

fn fitting<'a, T>(width: Option<u16>, rows: &[T], layouts: &[&'a [Column<T>]]) -> &'a [Column<T>] {
    let has_room = |columns: &&&[Column<T>]| {
        width.is_none_or(|width| least_width(rows, columns) <= usize::from(width))
    };
    let fitting = layouts.iter().find(has_room).or(layouts.last());
    fitting.copied().unwrap_or_default()
}

fn tabled<T>(width: Option<u16>, rows: &[T], columns: &[Column<T>]) -> Table {
    let mut table = within(width, columns.iter().map(|(heading, _)| *heading));
    for row in rows {
        table.add_row(columns.iter().map(|(_, cell)| Cell::new(cell(row))));
    }
    table
}

/// The columns at their natural widths; of the last one no more than [`LAST_MIN`].
fn least_width<T>(rows: &[T], columns: &[Column<T>]) -> usize {
    let Some((last, others)) = columns.split_last() else {
        return 0;
    };
    others
        .iter()
        .map(|column| natural(rows, column))
        .sum::<usize>()
        + natural(rows, last).min(LAST_MIN)
}

/// With the gap behind it.
fn natural<T>(rows: &[T], (heading, cell): &Column<T>) -> usize {
    let cells = rows.iter().map(|row| cell(row).chars().count());
    cells.chain([heading.chars().count()]).max().unwrap_or(0) + GAP
}

fn within<'a>(width: Option<u16>, header: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
    table.force_no_tty();
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
    }
    table.set_header(header);
    table
}

/// Its lines, without blanks at their ends.
pub(crate) fn text_of(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = table.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: Column<[&str; 2]> = ("name", |row| row[0].to_owned());
    const WHAT: Column<[&str; 2]> = ("what it is", |row| row[1].to_owned());
    const ROWS: [[&str; 2]; 2] = [
        [
            "thread-per-connection",
            "a thread for each connection, which blocks",
        ],
        ["poll", "one thread"],
    ];

    fn list(width: Option<u16>) -> String {
        list_within(width, &ROWS, &[&[NAME, WHAT], &[NAME]])
    }

    #[test]
    fn names_stay_whole_and_what_has_no_room_is_left_out() {
        for width in [None, Some(120), Some(53), Some(40), Some(24)] {
            let text = list(width);
            let lines: Vec<&str> = text.lines().collect();
            let name = |line: &&str| line.starts_with("thread-per-connection");
            assert!(lines.iter().any(name), "{width:?}\n{text}");
            let is_all = text.contains("what it is");
            assert_eq!(
                is_all,
                width.is_none_or(|width| width >= 53),
                "{width:?}\n{text}"
            );
            let longest = lines.iter().map(|line| line.chars().count()).max();
            assert!(
                longest <= width.map(usize::from).or(longest),
                "{width:?}\n{text}"
            );
        }
    }
}
