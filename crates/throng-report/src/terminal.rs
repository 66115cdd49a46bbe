//! The report for a terminal: made to be understood in one look, at any width, with colour or without.
//!
//! All columns stand side by side where they fit. Where they do not, the table is parted by theme (throughput, latency,
//! cost), so that no figure is lost and no cell is broken; only below the narrowest of these layouts does text wrap.
//! The layout is one for the whole report.

use anstyle::{AnsiColor, Style};
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, Table,
    TableStyle, Width,
};

use crate::Options;
use crate::columns::{Column, short_throughput};
use crate::context;
use crate::format::ABSENT;
use crate::notes;
use crate::overview::Overview;
use crate::summary::{Group, Row, Standing, Summary};
use crate::text;

/// Spaces between columns.
const GAP: u16 = 2;

/// From wide to narrow: the columns of each table of a group.
const LAYOUTS: [&[&[Column]]; 3] = {
    use Column::{
        Limit, Max, P50, P90, P99, P999, Ratio, ServerCpu, ServerMemory, Target, Throughput,
    };
    [
        &[&Column::ALL],
        &[
            &[Target, Throughput, Ratio, Limit],
            &[Target, P50, P90, P99, P999, Max, ServerCpu, ServerMemory],
        ],
        &[
            &[Target, Throughput, Ratio],
            &[Target, P50, P90, P99, P999, Max],
            &[Target, ServerCpu, ServerMemory, Limit],
        ],
    ]
};

/// The whole report.
pub(crate) fn render(summary: &Summary<'_>, options: &Options) -> String {
    let page = Page {
        summary,
        options: *options,
    };
    let mut blocks = vec![page.head()];
    let layout = page.layout();
    for group in &summary.groups {
        blocks.push(page.group(group, layout));
    }
    if let Some(overview) = Overview::of(summary) {
        blocks.push(page.overview(&overview));
    }
    blocks.push(page.notes("Checks", &notes::findings(summary)));
    blocks.push(page.notes("Schedule", &notes::schedule(summary)));
    blocks.push(page.notes("How to read this", &notes::legend(summary)));
    blocks.retain(|block| !block.is_empty());
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
            context::run(summary),
        ] {
            text += &self.wrapped(&phrases.join(" · "), "", Style::new());
        }
        if let Some(warning) = context::cut_short(summary) {
            let loud = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
            text += &format!("\n{}", self.wrapped(&warning, "", loud));
        }
        text
    }

    /// The first layout whose tables all fit; the narrowest where none does.
    fn layout(&self) -> &'static [&'static [Column]] {
        let fits = |layout: &&&[&[Column]]| {
            layout.iter().all(|columns| {
                self.options
                    .width
                    .is_none_or(|width| self.natural_width(columns) <= width)
            })
        };
        LAYOUTS.iter().find(fits).unwrap_or(&LAYOUTS[2])
    }

    fn natural_width(&self, columns: &[Column]) -> u16 {
        let columns = self.shown(columns);
        let gaps = GAP * u16::try_from(columns.len().saturating_sub(1)).unwrap_or(u16::MAX);
        self.widths(&columns)
            .into_iter()
            .fold(gaps, u16::saturating_add)
    }

    /// The width of each column over all groups, so that their tables line up.
    fn widths(&self, columns: &[Column]) -> Vec<u16> {
        let mut table = Table::new();
        table.set_header(self.headings(columns));
        for row in self.summary.rows() {
            table.add_row(self.cells(row, columns));
        }
        table.column_max_content_widths()
    }

    /// Without a second target there is nothing to compare.
    fn shown(&self, columns: &[Column]) -> Vec<Column> {
        let compared = self.summary.plan.targets.len() > 1;
        let shown = |column: &Column| compared || *column != Column::Ratio;
        columns.iter().copied().filter(shown).collect()
    }

    fn group(&self, group: &Group<'_>, layout: &[&[Column]]) -> String {
        let heading = self.heading(&group.heading);
        let measured = |row: &Row| row.standing != Standing::NotMeasured;
        if !group.rows.iter().any(measured) {
            return format!("{heading}not measured\n");
        }
        let tables: Vec<String> = layout
            .iter()
            .filter_map(|columns| self.part(group, columns))
            .collect();
        format!("{heading}{}", tables.join("\n"))
    }

    /// One table of a group. What is wrong with a row stands with its throughput; a part without that column shows only the
    /// rows that have figures.
    fn part(&self, group: &Group<'_>, columns: &[Column]) -> Option<String> {
        let columns = self.shown(columns);
        let says_why = columns.contains(&Column::Throughput);
        let mut rows = group
            .rows
            .iter()
            .filter(|row| says_why || row.messages_per_second.is_some())
            .peekable();
        rows.peek()?;
        let mut table = self.table(&columns);
        for row in rows {
            table.add_row(self.cells(row, &columns));
        }
        Some(self.laid_out(table, &self.widths(&columns)))
    }

    fn table(&self, columns: &[Column]) -> Table {
        let mut table = Table::new();
        table.set_header(self.headings(columns));
        table
    }

    fn headings(&self, columns: &[Column]) -> Vec<Cell> {
        let heading =
            |column: &Column| aligned(column.heading(self.summary.compared()), column.is_figure());
        columns.iter().map(heading).collect()
    }

    fn cells(&self, row: &Row, columns: &[Column]) -> Vec<Cell> {
        let cell = |column: &Column| {
            let text = column.cell(row, self.summary.compared());
            coloured(aligned(&text, column.is_figure()), row.standing)
        };
        columns.iter().map(cell).collect()
    }

    /// Throughput of every target along the sweep: how each behaves as connections, or whatever is swept, multiply.
    fn overview(&self, overview: &Overview<'_>) -> String {
        let mut table = Table::new();
        let keys = overview.others.iter().map(String::as_str);
        let labels = std::iter::once("target").chain(keys).map(Cell::new);
        let values = overview.values.iter();
        table.set_header(labels.chain(values.map(|value| {
            let heading = match overview.key {
                "connections" if value == "1" => "1\nconnection".to_owned(),
                "connections" => format!("{value}\nconnections"),
                key => format!("{key}\n{value}"),
            };
            aligned(&heading, true)
        })));
        for line in &overview.lines {
            let labels = line.labels.iter().map(|label| aligned(label, false));
            let rows = line.rows.iter();
            table.add_row(labels.chain(rows.map(|row| {
                row.map_or_else(|| aligned(ABSENT, true), |row| self.overview_cell(row))
            })));
        }
        let widths = table.column_max_content_widths();
        let title = format!("messages/s by {}", overview.along);
        format!("{}{}", self.heading(&title), self.laid_out(table, &widths))
    }

    fn overview_cell(&self, row: &Row) -> Cell {
        let text = short_throughput(row, self.summary.compared());
        coloured(aligned(&text, true), row.standing)
    }

    /// The finished table: no frame, a rule under the header, columns at least as wide as told.
    fn laid_out(&self, mut table: Table, widths: &[u16]) -> String {
        let rule = LineStyle::none().fill('─');
        table.load_style(TableStyle::new().header_separator(rule));
        if self.options.colour {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        let last = widths.len().saturating_sub(1);
        let fixed = |(index, width): (usize, &u16)| {
            let gap = if index == last { 0 } else { GAP };
            ColumnConstraint::LowerBoundary(Width::Fixed(width + gap))
        };
        let total = widths
            .iter()
            .map(|width| width + GAP)
            .sum::<u16>()
            .saturating_sub(GAP);
        match self.options.width {
            Some(width) if width < total => {
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

fn aligned(text: &str, right: bool) -> Cell {
    Cell::new(text::clean(text)).set_alignment(if right {
        CellAlignment::Right
    } else {
        CellAlignment::Left
    })
}

/// Colour repeats what the marks say.
fn coloured(cell: Cell, standing: Standing) -> Cell {
    match standing {
        Standing::Ranked => cell,
        Standing::Qualified => cell.fg(Color::Yellow),
        Standing::Invalid | Standing::Failed => cell.fg(Color::Red),
        Standing::Partial | Standing::NotMeasured => cell.add_attribute(Attribute::Dim),
    }
}
