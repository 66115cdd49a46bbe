//! The report for a terminal: made to be understood in one look, at any width, with colour or without.
//!
//! Tables are laid out by `sheet`, one layout for the whole report.

mod grid;
mod screen;
mod sheet;

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, Table};

use crate::Options;
use crate::context;
use crate::experiments;
use crate::format::ABSENT;
use crate::hosts;
use crate::notes;
use crate::outcome::short_throughput;
use crate::overview::{self, Overview};
use crate::row::Row;
use crate::summary::Summary;
use crate::table::Column;
use crate::text;
use crate::view::{self, Block};
use sheet::{aligned, coloured, laid_out};

/// The report that fits a screen, or all of it.
pub(crate) fn render(summary: &Summary<'_>, options: &Options) -> String {
    let page = Page {
        summary,
        options: *options,
    };
    if !options.is_full {
        return page.screen();
    }
    let mut blocks = vec![page.head()];
    blocks.extend(page.answer());
    let shown = experiments::of(summary.plan.experiment).blocks(summary);
    blocks.extend(shown.iter().flat_map(|block| page.block(block)));
    if let Some(overview) = Overview::of(summary) {
        blocks.push(page.overview(&overview));
    }
    let hosts = hosts::sheet(summary);
    blocks.extend(hosts.iter().flat_map(|sheet| page.sheet(sheet)));
    for (title, notes) in notes::sections(summary) {
        blocks.push(page.notes(title, &notes));
    }
    blocks.join("\n")
}

struct Page<'a> {
    summary: &'a Summary<'a>,
    options: Options,
}

impl Page<'_> {
    fn head(&self) -> String {
        let summary = self.summary;
        let mut text = self.wrapped(&context::title(summary), "", Style::new().bold());
        for phrases in [
            context::measurement(summary.plan),
            context::arrangement(summary),
            context::machine(summary),
            hosts::circumstances(summary),
            context::run(summary),
        ] {
            text += &self.circumstances(&phrases);
        }
        if let Some(warning) = context::cut_short(summary) {
            let loud = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
            text += &format!("\n{}", self.wrapped(&warning, "", loud));
        }
        text
    }

    /// Phrases on one line, or none where there are none.
    fn circumstances(&self, phrases: &[String]) -> String {
        match phrases {
            [] => String::new(),
            phrases => self.wrapped(&phrases.join(" · "), "", Style::new()),
        }
    }

    /// What comes first in every report.
    fn answer(&self) -> Option<String> {
        let answer = self.summary.answer.join(" ");
        (!answer.is_empty()).then(|| self.wrapped(&answer, "", Style::new()))
    }

    fn block(&self, block: &Block) -> Vec<String> {
        match block {
            Block::Rows(sheet) => self.sheet(sheet),
            Block::Phases(sheet) => self.sheet(sheet),
            Block::Grid(grid) => vec![self.grid(grid)],
            Block::Curves(title, curves) => {
                let curve = |curve: &view::Curve| {
                    let title = self.wrapped(&curve.title, "", Style::new());
                    format!("{title}  {}\n", curve.spark)
                };
                let curves: String = curves.iter().map(curve).collect();
                vec![self.heading(title) + &curves]
            }
        }
    }

    /// Throughput of every target along the sweep: how each behaves as connections, or whatever is swept, multiply.
    fn overview(&self, overview: &Overview<'_>) -> String {
        let heading = |value: &String| match overview.key {
            "connections" if value == "1" => "1\nconnection".to_owned(),
            "connections" => format!("{value}\nconnections"),
            key => format!("{key}\n{value}"),
        };
        let table = self.overview_table(overview, heading, &[]);
        let widths = table.column_max_content_widths();
        let title = format!("{} by {}", overview::title(self.summary), overview.along);
        self.heading(&title) + &laid_out(table, &widths, &self.options)
    }

    /// A line for each target and combination of the other keys, a column for each value along the sweep, then these columns of the last one.
    fn overview_table(
        &self,
        overview: &Overview<'_>,
        heading: impl Fn(&String) -> String,
        of_last: &[Column<Row>],
    ) -> Table {
        let compared = self.summary.compared();
        let mut table = Table::new();
        let keys = overview.others.iter().map(String::as_str);
        let labels = std::iter::once("target").chain(keys).map(Cell::new);
        let values = overview
            .values
            .iter()
            .map(|value| aligned(&heading(value), true));
        let further = of_last.iter().map(|column| aligned(&column.heading, true));
        table.set_header(labels.chain(values).chain(further));
        let cell = |row: Option<&Row>, text: &dyn Fn(&Row) -> String| match row {
            Some(row) => coloured(aligned(&text(row), true), row.standing),
            None => aligned(ABSENT, true),
        };
        for line in &overview.lines {
            let labels = line.labels.iter().map(|label| aligned(label, false));
            let rows = line.rows.iter();
            let rates = rows.map(|row| cell(*row, &|row| short_throughput(row, compared)));
            let last = line.rows.last().copied().flatten();
            let further = of_last
                .iter()
                .map(|column| cell(last, &|row| column.cell(row)));
            table.add_row(labels.chain(rates).chain(further));
        }
        table
    }

    fn heading(&self, title: &str) -> String {
        self.wrapped(title, "", Style::new().bold())
    }

    fn notes(&self, title: &str, notes: &[String]) -> String {
        if notes.is_empty() {
            return String::new();
        }
        let mut text = self.heading(title);
        for note in notes {
            text += &self.wrapped(note, "- ", Style::new());
        }
        text
    }

    /// Wrapped text, styled where colour may be used; ends in a newline.
    fn wrapped(&self, text: &str, bullet: &str, style: Style) -> String {
        let styled = |line: String| {
            if self.options.colour && style != Style::new() {
                format!("{style}{line}{style:#}\n")
            } else {
                format!("{line}\n")
            }
        };
        text::wrap(text, bullet, self.options.width)
            .into_iter()
            .map(styled)
            .collect()
    }
}
