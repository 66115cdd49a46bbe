//! The report as GitHub Markdown, to be put into a document or an issue: it carries its circumstances with it.

use crate::columns::{Column, short_throughput};
use crate::context;
use crate::format::{ABSENT, exact, plural};
use crate::notes;
use crate::summary::{Group, Summary};

/// The whole report.
pub(crate) fn render(summary: &Summary<'_>) -> String {
    let mut text = format!("# {}\n\n", escaped(&context::title(summary)));
    text += &bullets(&[
        context::measurement(summary.plan).join(" · "),
        context::arrangement(summary).join(" · "),
        context::machine(summary).join(" · "),
        context::run(summary).join(" · "),
    ]);
    if let Some(warning) = context::cut_short(summary) {
        text += &format!("\n**{}**\n", escaped(&warning));
    }
    for group in &summary.groups {
        text += &format!(
            "\n## {}\n\n",
            plural(group.connections.into(), "connection")
        );
        text += &group_table(summary, group);
    }
    if summary.groups.len() > 1 {
        text += "\n## Messages/s by number of connections\n\n";
        text += &overview(summary);
    }
    for (title, notes) in [
        ("Checks", notes::findings(summary)),
        ("Schedule", notes::schedule(summary)),
        ("How to read this", notes::legend(summary)),
    ] {
        if !notes.is_empty() {
            text += &format!("\n## {title}\n\n{}", bullets(&notes));
        }
    }
    text
}

fn group_table(summary: &Summary<'_>, group: &Group) -> String {
    let pacing = &summary.plan.pacing;
    let compared = summary.plan.targets.len() > 1;
    let columns: Vec<Column> = Column::ALL
        .into_iter()
        .filter(|column| compared || *column != Column::Ratio)
        .collect();
    let header = columns
        .iter()
        .map(|column| {
            (
                column.heading(pacing).replace("\n/", " / "),
                column.is_figure(),
            )
        })
        .collect();
    let rows = group.rows.iter().map(|row| {
        let cell = |column: &Column| column.cell(row, pacing);
        columns.iter().map(cell).collect()
    });
    table(header, rows)
}

fn overview(summary: &Summary<'_>) -> String {
    let mut header = vec![("target".to_owned(), false)];
    let number = |group: &Group| (exact(group.connections.into()), true);
    header.extend(summary.groups.iter().map(number));
    let rows = summary.plan.targets.iter().map(|target| {
        let mut cells = vec![target.name.clone()];
        cells.extend(summary.groups.iter().map(|group| {
            let row = group.rows.iter().find(|row| row.target == target.name);
            row.map_or_else(
                || ABSENT.to_owned(),
                |row| short_throughput(row, &summary.plan.pacing),
            )
        }));
        cells
    });
    table(header, rows)
}

/// Rows as lines, right-aligned where told.
fn table(header: Vec<(String, bool)>, rows: impl Iterator<Item = Vec<String>>) -> String {
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

fn bullets(notes: &[String]) -> String {
    notes
        .iter()
        .map(|note| format!("- {}\n", escaped(note)))
        .collect()
}

/// Names and messages come from the user's commands and from servers: they must not turn into markup.
fn escaped(text: &str) -> String {
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
