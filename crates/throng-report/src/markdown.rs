//! The report as GitHub Markdown, to be put into a document or an issue: it carries its circumstances with it.

use crate::context;
use crate::experiments;
use crate::format::ABSENT;
use crate::grid::Grid;
use crate::hosts;
use crate::notes;
use crate::outcome::short_throughput;
use crate::overview::{self, Overview};
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{self, Column, Line, Sheet, of_part};
use crate::text::capital;
use crate::view::{self, Block};

/// The whole report.
pub(crate) fn render(summary: &Summary<'_>) -> String {
    let mut text = format!("# {}\n\n", escaped(&context::title(summary)));
    let mut circumstances = vec![
        context::measurement(summary.plan).join(" · "),
        context::arrangement(summary).join(" · "),
        context::machine(summary).join(" · "),
    ];
    if !summary.hosts.is_empty() {
        circumstances.push(hosts::circumstances(summary).join(" · "));
    }
    circumstances.push(context::run(summary).join(" · "));
    text += &bullets(&circumstances);
    if let Some(warning) = context::cut_short(summary) {
        text += &format!("\n**{}**\n", escaped(&warning));
    }
    if !summary.answer.is_empty() {
        text += &format!("\n{}\n", escaped(&summary.answer.join(" ")));
    }
    for block in experiments::of(summary.plan.experiment).blocks(summary) {
        text += &match block {
            Block::Rows(of) => sheet(&of),
            Block::Phases(of) => sheet(&of),
            Block::Grid(of) => headed(&of.title, "##") + &grid(&of),
            Block::Curves(title, curves) => {
                let curve =
                    |curve: &view::Curve| headed(&curve.title, "###") + &grid(&curve.points);
                format!("\n## {}\n", capital(title)) + &curves.iter().map(curve).collect::<String>()
            }
        };
    }
    if let Some(overview) = Overview::of(summary) {
        text += &format!(
            "\n## {} by {}\n\n",
            capital(overview::title(summary)),
            escaped(&overview.along)
        );
        text += &overview_table(summary, overview);
    }
    if let Some(hosts) = hosts::sheet(summary) {
        text += &sheet(&hosts);
    }
    for (title, notes) in notes::sections(summary) {
        text += &format!("\n## {title}\n\n{}", bullets(&notes));
    }
    text
}

fn headed(title: &str, level: &str) -> String {
    format!("\n{level} {}\n\n", escaped(title))
}

/// For each group of rows its heading, and a table of each theme, or of all of them.
fn sheet<R: Line>(sheet: &Sheet<R>) -> String {
    let mut text = String::new();
    for (heading, rows) in &sheet.groups {
        if !heading.is_empty() {
            text += &format!("\n## {}\n", escaped(heading));
        }
        if table::is_not_measured(rows) {
            text += &format!("\n{}\n", table::NOT_MEASURED);
            continue;
        }
        let told = sheet.told(rows);
        let parts = match sheet.is_joined {
            true => vec![told.concat()],
            false => told,
        };
        for part in parts {
            let columns = [&sheet.labels[..], &part].concat();
            text += &format!("\n{}", columned(&columns, &of_part(rows, &columns)));
        }
    }
    text
}

fn columned<R>(columns: &[Column<R>], rows: &[&R]) -> String {
    let header = columns.iter().map(|column| {
        let heading = column.heading.replace("\n/", " / ").replace("-\n", "");
        (heading.replace('\n', " "), column.is_figure)
    });
    let cells = |row: &&R| columns.iter().map(|column| column.cell(row)).collect();
    table(header.collect(), rows.iter().map(cells))
}

fn grid(grid: &Grid) -> String {
    let headings = grid.headings.iter();
    let headings = headings.map(|heading| (heading.replace('\n', " "), true));
    let header = std::iter::once((grid.label.replace('\n', " "), false)).chain(headings);
    let lines = grid.lines.iter().map(|line| {
        let cells = line.cells.iter().map(|(text, _)| text.clone());
        std::iter::once(line.label.clone()).chain(cells).collect()
    });
    table(header.collect(), lines)
}

fn overview_table(summary: &Summary<'_>, overview: Overview<'_>) -> String {
    let keys = overview.others.iter().cloned();
    let labels = std::iter::once("target".to_owned()).chain(keys);
    let values = overview.values.into_iter();
    let header = labels
        .map(|label| (label, false))
        .chain(values.map(|value| (value, true)))
        .collect();
    let cell = |row: Option<&Row>| {
        row.map_or_else(
            || ABSENT.to_owned(),
            |row| short_throughput(row, summary.compared()),
        )
    };
    let rows = overview.lines.into_iter();
    table(
        header,
        rows.map(|line| {
            let figures = line.rows.into_iter().map(cell);
            line.labels.into_iter().chain(figures).collect()
        }),
    )
}

/// Rows as lines, right-aligned where told.
pub(crate) fn table(
    header: Vec<(String, bool)>,
    rows: impl Iterator<Item = Vec<String>>,
) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let rule = |right: &bool| if *right { "---:" } else { "---" }.to_owned();
    let rules = header.iter().map(|(_, right)| rule(right)).collect();
    let mut text = line(header.iter().map(|(heading, _)| escaped(heading)).collect());
    text += &line(rules);
    for cells in rows {
        text += &line(cells.iter().map(|cell| escaped(cell)).collect());
    }
    text
}

pub(crate) fn bullets(notes: &[String]) -> String {
    notes
        .iter()
        .map(|note| format!("- {}\n", escaped(note)))
        .collect()
}

/// Names and messages come from the user's commands and from servers: they must not turn into markup.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' => safe.push(' '),
            '|' | '*' | '_' | '`' | '<' | '\\' | '[' | ']' | '~' | '#' => {
                safe.push('\\');
                safe.push(character);
            }
            plain => safe.push(plain),
        }
    }
    safe
}
