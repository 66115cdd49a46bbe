//! The tables of the experiments with many connections in Markdown.

use super::{columned, escaped, table};
use crate::fanout::{self, columns as fanout_columns, overview};
use crate::format::{self, exact};
use crate::grid::Grid;
use crate::hold::{self, columns as hold_columns, notes};
use crate::phases::lines::{self, Column as PhaseColumn, with_setting};
use crate::summary::Summary;

/// The overview, then each setting with its targets and their phases.
pub(super) fn fanouts(summary: &Summary<'_>) -> String {
    let overview = overview::grids(summary);
    let overview = overview.iter().map(|found| {
        let title = escaped(&found.title);
        format!("\n## {title}\n\n{}", grid(found))
    });
    overview.chain(summary.fanouts.iter().map(fanout)).collect()
}

fn fanout(of: &fanout::Table<'_>) -> String {
    use fanout_columns::{CONNECTED, DELIVERIES, SUSTAINED, has_something};
    let mut text = format!("\n## {}\n", escaped(&of.heading));
    for columns in [CONNECTED, DELIVERIES, SUSTAINED] {
        if has_something(&of.rows, columns) {
            text += &format!("\n{}", columned(columns, &of.rows, ()));
        }
    }
    let lines = lines::of(of.phases());
    if !lines.is_empty() {
        text += &format!("\n{}", columned(&PhaseColumn::AT_ONE_SETTING, &lines, ()));
    }
    text
}

fn grid(grid: &Grid) -> String {
    let headings = grid.headings.iter();
    let headings = headings.map(|heading| (heading.replace('\n', " "), true));
    let header = std::iter::once((grid.label.clone(), false)).chain(headings);
    let lines = grid.lines.iter().map(|line| {
        let cells = line.cells.iter().map(|(text, _)| text.clone());
        std::iter::once(line.label.clone()).chain(cells).collect()
    });
    table(header.collect(), lines)
}

/// The tables of all targets, then the connects over time of each.
pub(super) fn holds(summary: &Summary<'_>) -> String {
    use hold_columns::{CONNECTS, MEMORY, PINGS, has_something, shown};
    let rows = &summary.holds;
    let mut text = String::new();
    if rows.is_empty() {
        return text;
    }
    for (title, columns) in [("Connects", CONNECTS), ("Memory", MEMORY), ("Pings", PINGS)] {
        if has_something(rows, columns) {
            let columns = shown(columns, rows);
            text += &format!("\n## {title}\n\n{}", columned(&columns, rows, ()));
        }
    }
    let lines = lines::of(hold::phases(rows));
    if !lines.is_empty() {
        let columns = with_setting(&PhaseColumn::AT_ONE_SETTING);
        text += &format!("\n## Phases\n\n{}", columned(&columns, &lines, ()));
    }
    let drawn = rows.iter().filter(|row| row.curve.len() >= 3);
    for (index, row) in drawn.enumerate() {
        if index == 0 {
            text += "\n## Connects/s over time\n";
        }
        let title = escaped(&notes::curve_title(row));
        text += &format!("\n### {title}\n\n{}", curve(row));
    }
    text
}

fn curve(row: &hold::Row) -> String {
    let header = ["until", "opened", "connects/s"].map(|heading| (heading.to_owned(), true));
    let points = row.curve.iter().map(|point| {
        vec![
            format::time_ns(point.at_ns as f64),
            exact(point.opened),
            format::count(point.connects_per_second),
        ]
    });
    table(header.to_vec(), points)
}
