//! The report as GitHub Markdown, to be put into a document or an issue: it carries its circumstances with it.

mod crowd;

use crate::accept;
use crate::accept::columns::{ACCEPT, DATA, has_something, shown};
use crate::backlog::columns::parts;
use crate::columns::{self, Tabular, absent, short_throughput};
use crate::context;
use crate::format::{self, ABSENT, exact};
use crate::notes;
use crate::overview::Overview;
use crate::summary::{Group, Row, Summary};

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
    if !summary.answer.is_empty() {
        text += &format!("\n{}\n", escaped(&summary.answer.join(" ")));
    }
    for group in &summary.groups {
        text += &format!("\n## {}\n\n", escaped(&group.heading));
        text += &group_table(summary, group);
    }
    for table in &summary.tables {
        text += &format!("\n## {}\n", escaped(&table.heading));
        for columns in parts(summary, table) {
            text += &format!("\n{}", columned(&columns, &table.rows, ()));
        }
    }
    for table in &summary.multiplexers {
        text += &multiplexers(table);
    }
    text += &crowd::fanouts(summary);
    text += &crowd::holds(summary);
    if let Some(overview) = Overview::of(summary) {
        text += &format!(
            "\n## {} by {}\n\n",
            capital(columns::overview_title(summary)),
            escaped(&overview.along)
        );
        text += &overview_table(summary, overview);
    }
    for (title, notes) in notes::sections(summary) {
        text += &format!("\n## {title}\n\n{}", bullets(&notes));
    }
    text
}

fn group_table(summary: &Summary<'_>, group: &Group<'_>) -> String {
    let all = columns::all(summary.plan.experiment);
    let columns = columns::shown(summary, all);
    columned(&columns, &group.rows, summary.compared())
}

/// A table of these rows; those without figures only where a column says why.
fn columned<C: Tabular>(columns: &[C], rows: &[C::Row], context: C::Context) -> String {
    let header = columns.iter().map(|column| {
        let heading = column.heading(context);
        let heading = heading.replace("\n/", " / ").replace("-\n", "");
        (heading.replace('\n', " "), column.is_figure())
    });
    let says_why = columns.iter().any(|column| column.says_why());
    let rows = rows.iter().filter(|row| says_why || C::has_figures(row));
    table(
        header.collect(),
        rows.map(|row| {
            let cell = |column: &C| column.cell(row, context);
            columns.iter().map(cell).collect()
        }),
    )
}

/// The costs at both ends with their slopes, then the costs along the idle connections.
fn multiplexers(table: &accept::Table<'_>) -> String {
    let mut text = format!("\n## {}\n", escaped(&table.heading));
    for columns in [ACCEPT, DATA] {
        if has_something(&table.rows, columns) {
            let columns = shown(columns, table.rows.iter());
            text += &format!("\n{}", columned(&columns, &table.rows, ()));
        }
    }
    for (title, cost) in accept::CURVES {
        if table.drawn(cost).next().is_some() {
            text += &format!("\n### {title}\n\n{}", curve(table, cost));
        }
    }
    text
}

fn curve(of: &accept::Table<'_>, cost: accept::PickCost) -> String {
    let idle = of.idle.iter();
    let idle = idle.map(|&idle| (format!("{} idle", exact(idle.into())), true));
    let header = std::iter::once(("multiplexer".to_owned(), false)).chain(idle);
    let cells = |row: &accept::Row| {
        let costs = cost(row).at.iter();
        let costs = costs.map(|cost| cost.map_or_else(absent, format::time_ns));
        std::iter::once(row.target.clone()).chain(costs).collect()
    };
    table(header.collect(), of.drawn(cost).map(cells))
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

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
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
