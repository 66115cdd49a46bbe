//! The report for a terminal: made to be understood in one look, at any width, with colour or without.
//!
//! Tables are laid out by `sheet`, one layout for the whole report.

mod fanout;
mod grid;
mod hold;
mod multiplexers;
mod phases;
mod screen;
mod sheet;

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, Table};
use throng_record::plan::Experiment;

use crate::Options;
use crate::backlog::{self, columns as backlog_columns};
use crate::columns::{self, Column, OF_CYCLES, Tabular as _, overview_title, short_throughput};
use crate::context;
use crate::format::ABSENT;
use crate::notes;
use crate::overview::Overview;
use crate::summary::{Group, Row, Standing, Summary};
use crate::text;
use sheet::{Layout, Sheet, aligned, coloured, laid_out};

/// From wide to narrow: the columns of each part of a table.
const LAYOUTS: [&[&[Column]]; 3] = {
    use Column::{
        Limit, Max, P50, P90, P99, P999, Published, Ratio, ServerCpu, ServerMemory, Target,
        Throughput,
    };
    [
        &[&Column::ALL],
        &[
            &[Target, Throughput, Ratio, Published, Limit],
            &[Target, P50, P90, P99, P999, Max, ServerCpu, ServerMemory],
        ],
        &[
            &[Target, Throughput, Ratio],
            &[Target, P50, P90, P99, P999, Max],
            &[Target, Published, ServerCpu, ServerMemory, Limit],
        ],
    ]
};

/// The same of the churn experiment.
const CHURN_LAYOUTS: [&[&[Column]]; 3] = {
    use Column::{
        ConnectP50, ConnectP99, Cycles, Failed, FirstByteP50, FirstByteP99, Limit, P50, P99, Ratio,
        ServerCpu, Target, TimeWait,
    };
    [
        &[&OF_CYCLES],
        &[
            &[Target, Cycles, Ratio, Limit, TimeWait, Failed],
            &[
                Target,
                P50,
                P99,
                ConnectP50,
                ConnectP99,
                FirstByteP50,
                FirstByteP99,
                ServerCpu,
            ],
        ],
        &[
            &[Target, Cycles, Ratio],
            &[Target, P50, P99, ConnectP50, ConnectP99],
            &[Target, FirstByteP50, FirstByteP99, ServerCpu],
            &[Target, Limit, TimeWait, Failed],
        ],
    ]
};

/// The same of the backlog experiment.
const BACKLOG_LAYOUTS: [&[&[backlog_columns::Column]]; 3] = {
    use backlog_columns::Column::{
        Amplification, ByAcceptQueue, ByFinalAck, ByService, BySyn, Clients, ConnectMax,
        ConnectP50, Cookies, Data, Depth, Drops, Failed, FirstByteMax, FirstByteP50, Least,
        NotExplained, Overflows, Published, PublishedAmplification, Requests, SlowConnects,
        SlowFirstBytes, SynAcks, Syns, Total,
    };
    [
        &[
            backlog_columns::TIMES,
            backlog_columns::ACCOUNT,
            backlog_columns::SLOW,
        ],
        &[
            &[
                Clients,
                Total,
                Least,
                Amplification,
                Published,
                PublishedAmplification,
            ],
            &[Clients, Failed],
            backlog_columns::ACCOUNT,
            backlog_columns::SLOW,
        ],
        &[
            &[Clients, Total, Least, Amplification],
            &[Clients, Published, PublishedAmplification, Failed],
            &[Clients, ConnectP50, ConnectMax, FirstByteP50, FirstByteMax],
            &[
                Clients, Overflows, Drops, Cookies, Syns, SynAcks, Data, Depth,
            ],
            &[Clients, Requests, SlowConnects, BySyn],
            &[
                Clients,
                SlowFirstBytes,
                ByFinalAck,
                ByAcceptQueue,
                ByService,
                NotExplained,
            ],
        ],
    ]
};

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
    blocks.extend(page.groups());
    blocks.extend(page.tables());
    blocks.extend(page.multiplexers());
    blocks.extend(page.fanouts());
    blocks.extend(page.holds());
    if let Some(overview) = Overview::of(summary) {
        blocks.push(page.overview(&overview));
    }
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

    /// The echo or the churn experiment's tables.
    fn groups(&self) -> Vec<String> {
        let summary = self.summary;
        let layouts = match summary.plan.experiment {
            Experiment::Churn => CHURN_LAYOUTS,
            Experiment::Echo
            | Experiment::Backlog
            | Experiment::Accept
            | Experiment::Fanout
            | Experiment::Hold => LAYOUTS,
        };
        let part = |columns: &&[Column]| columns::shown(summary, columns);
        let layouts = layouts
            .iter()
            .map(|layout| layout.iter().map(part).collect::<Layout<Column>>());
        let sheet = Sheet::new(
            self.options,
            summary.compared(),
            summary.rows(),
            layouts.collect(),
        );
        let table = |group: &Group<'_>| {
            let measured = |row: &Row| row.standing != Standing::NotMeasured;
            let body = if group.rows.iter().any(measured) {
                sheet.draw(&group.rows, |_| true)
            } else {
                "not measured\n".to_owned()
            };
            self.heading(&group.heading) + &body
        };
        summary.groups.iter().map(table).collect()
    }

    /// The backlog experiment's tables.
    fn tables(&self) -> Vec<String> {
        let summary = self.summary;
        let layouts = BACKLOG_LAYOUTS.iter().map(|layout| {
            let part = |columns: &&[_]| backlog_columns::shown(summary, columns);
            layout.iter().map(part).collect()
        });
        let rows = summary.tables.iter().flat_map(|table| &table.rows);
        let sheet = Sheet::new(self.options, (), rows, layouts.collect());
        let table = |table: &backlog::Table<'_>| {
            let is_wanted = |columns: &[_]| backlog_columns::has_something(table, columns);
            self.heading(&table.heading) + &sheet.draw(&table.rows, is_wanted)
        };
        summary.tables.iter().map(table).collect()
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
        let title = format!("{} by {}", overview_title(self.summary), overview.along);
        self.heading(&title) + &laid_out(table, &widths, &self.options)
    }

    /// A line for each target and combination of the other keys, a column for each value along the sweep, then these columns of the last one.
    fn overview_table(
        &self,
        overview: &Overview<'_>,
        heading: impl Fn(&String) -> String,
        of_last: &[Column],
    ) -> Table {
        let compared = self.summary.compared();
        let mut table = Table::new();
        let keys = overview.others.iter().map(String::as_str);
        let labels = std::iter::once("target").chain(keys).map(Cell::new);
        let values = overview
            .values
            .iter()
            .map(|value| aligned(&heading(value), true));
        let further = of_last
            .iter()
            .map(|column| aligned(column.heading(compared), true));
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
                .map(|column| cell(last, &|row| column.cell(row, compared)));
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
