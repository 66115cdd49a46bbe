//! The report that fits a screen: the answer, one table, what explains it, and what is in doubt. The rest is in the full report.

use anstyle::Style;

use super::Page;
use super::sheet::{Layout, Sheet, fits, laid_out};
use crate::accept::columns as accept_columns;
use crate::backlog;
use crate::columns::{self, Column, overview_title};
use crate::context;
use crate::fanout::overview;
use crate::findings::Found;
use crate::format::time_ns;
use crate::grid::{Grid, GridLine};
use crate::hold::columns as hold_columns;
use crate::overview::Overview;
use crate::ratio::Compared;
use crate::summary::{Group, Standing};

/// Lines of a screen.
const SCREEN: usize = 45;
/// Lines that a section needs for its heading, one entry, and how many more there are; with fewer there is only their number.
const LEAST: usize = 6;
/// Lines of tables that leave room for the rest.
const LINES: usize = 20;
/// From wide to narrow: one part each.
const ECHO: [&[Column]; 3] = {
    use Column::{Limit, P50, P99, Ratio, ServerCpu, ServerMemory, Target, Throughput};
    [
        &[
            Target,
            Throughput,
            Ratio,
            P50,
            P99,
            ServerCpu,
            ServerMemory,
            Limit,
        ],
        &[Target, Throughput, P50, P99, ServerCpu, Limit],
        &[Target, Throughput, P50, P99],
    ]
};
const CHURN: [&[Column]; 3] = {
    use Column::{
        ConnectP99, Cycles, Failed, FirstByteP99, Limit, P50, P99, Ratio, ServerCpuOfCycle, Target,
    };
    [
        &[
            Target,
            Cycles,
            Ratio,
            P50,
            P99,
            ConnectP99,
            FirstByteP99,
            ServerCpuOfCycle,
            Limit,
            Failed,
        ],
        &[Target, Cycles, P50, P99, ServerCpuOfCycle, Limit],
        &[Target, Cycles, P50, P99],
    ]
};
/// What the last setting of a sweep cost.
const COSTS: &[Column] = &[Column::P99, Column::ServerCpu, Column::ServerMemory];
const COSTS_AT_A_RATE: &[Column] = &[Column::ServerCpu, Column::ServerMemory];
const COSTS_OF_CYCLES: &[Column] = &[Column::P99, Column::ServerCpuOfCycle];

impl Page<'_> {
    /// The whole of it.
    pub(super) fn screen(&self) -> String {
        let answer = self.summary.answer.join(" ");
        let mut blocks = vec![self.brief_head()];
        blocks.extend((!answer.is_empty()).then(|| self.wrapped(&answer, "", Style::new())));
        if !context::has_no_figures(self.summary) {
            blocks.extend(self.main_tables());
        }
        let more = self.wrapped(
            "Every table, cause and remedy: throng report --full. A finding in depth: throng explain NAME",
            "",
            Style::new().dimmed(),
        );
        // A blank line follows each block.
        let used: usize = blocks.iter().map(|block| block.lines().count() + 1).sum();
        let room = SCREEN.saturating_sub(used + more.lines().count());
        blocks.extend(self.sections(room));
        blocks.push(more);
        blocks.join("\n")
    }

    /// What explains the figures and what is in doubt, in so many lines.
    fn sections(&self, room: usize) -> Vec<String> {
        let summary = self.summary;
        let findings: Vec<String> = summary.findings.iter().map(Found::headline).collect();
        let remarks = summary.remarks.iter().map(|remark| remark.headline());
        let disturbed = summary.disturbed.as_ref();
        let disturbed = disturbed.map(|some| some.headline(summary.trials_made));
        let left_out = summary.plan.left_out.iter();
        let left_out = left_out.map(|one| format!("{} left out: {}", one.name, one.why));
        let doubts: Vec<String> = remarks.chain(disturbed).chain(left_out).collect();
        // Doubts may have half of it, findings what these leave.
        let of_doubts = self
            .height(&doubts)
            .min((room / 2).max(room.saturating_sub(self.height(&findings))));
        let sections = [
            ("Findings", findings, room.saturating_sub(of_doubts)),
            ("Doubts", doubts, of_doubts),
        ];
        let sections = sections
            .into_iter()
            .filter(|(_, notes, _)| !notes.is_empty());
        sections
            .map(|(title, notes, room)| match room {
                _ if self.height(&notes) <= room => self.notes(title, &notes),
                0..LEAST => self.wrapped(
                    &format!("{title}: {}", notes.len()),
                    "",
                    Style::new().bold(),
                ),
                _ => self.notes_within(title, &notes, room),
            })
            .collect()
    }

    /// Lines of a section, with its heading and the blank line behind it.
    fn height(&self, notes: &[String]) -> usize {
        match notes {
            [] => 0,
            notes => self.notes("", notes).lines().count() + 1,
        }
    }

    /// As many as there is room for, and at least one; then how many more there are.
    fn notes_within(&self, title: &str, notes: &[String], room: usize) -> String {
        // The heading, the line that tells of the rest, and the blank line.
        let mut left = room.saturating_sub(3);
        let mut shown = Vec::new();
        for note in notes {
            let lines = self.wrapped(note, "- ", Style::new()).lines().count();
            if lines > left && !shown.is_empty() {
                break;
            }
            left = left.saturating_sub(lines);
            shown.push(note.clone());
        }
        let rest = notes.len() - shown.len();
        shown.extend((rest > 0).then(|| format!("{rest} more")));
        self.notes(title, &shown)
    }

    fn brief_head(&self) -> String {
        let summary = self.summary;
        let mut text = self.wrapped(&context::title(summary), "", Style::new().bold());
        let mut phrases = context::measurement(summary.plan);
        phrases.extend(context::run(summary).pop());
        text += &self.wrapped(&phrases.join(" · "), "", Style::new());
        if let Some(warning) = context::cut_short(summary) {
            text += &self.wrapped(&warning, "", Style::new().bold());
        }
        text
    }

    /// The experiment's table, or those of them that a screen holds.
    fn main_tables(&self) -> Vec<String> {
        let summary = self.summary;
        if let Some(overview) = Overview::of(summary) {
            return vec![self.overview_with_costs(&overview)];
        }
        let mut tables: Vec<String> = summary
            .groups
            .iter()
            .map(|group| self.group(group))
            .collect();
        tables.extend(times(&summary.tables).map(|grid| self.grid(&grid)));
        tables.extend(self.brief_multiplexers());
        tables.extend(self.brief_grids(overview::grids(summary)));
        tables.extend(self.brief_hold());
        tables
    }

    fn group(&self, group: &Group<'_>) -> String {
        let summary = self.summary;
        let layouts = match group.rows.iter().any(|row| row.cycles.is_some()) {
            true => CHURN,
            false => ECHO,
        };
        let one = |columns: &[Column]| -> Layout<Column> { vec![columns::shown(summary, columns)] };
        let layouts = layouts.iter().map(|columns| one(columns)).collect();
        let sheet = Sheet::new(self.options, summary.compared(), group.rows.iter(), layouts);
        sheet.draw(&group.rows, |_| true)
    }

    /// The overview of a sweep, and what its last setting cost as far as there is room.
    fn overview_with_costs(&self, overview: &Overview<'_>) -> String {
        let summary = self.summary;
        let mut costs = match summary.compared() {
            _ if summary.rows().any(|row| row.cycles.is_some()) => COSTS_OF_CYCLES,
            Compared::MessagesPerSecond => COSTS,
            // The overview has the latency already.
            Compared::LatencyP99 => COSTS_AT_A_RATE,
        };
        let (table, widths) = loop {
            let table = self.overview_table(overview, String::clone, costs);
            let widths = table.column_max_content_widths();
            match costs.split_last() {
                Some((_, fewer)) if !fits(&widths, &self.options) => costs = fewer,
                _ => break (table, widths),
            }
        };
        let of_last = match (costs, overview.values.last()) {
            ([_, ..], Some(last)) => format!(", and what it costs at {last}"),
            _ => String::new(),
        };
        let title = format!("{} by {}{of_last}", overview_title(summary), overview.along);
        self.heading(&title) + &laid_out(table, &widths, &self.options)
    }

    fn brief_multiplexers(&self) -> Option<String> {
        use accept_columns::Column::{
            AcceptFirst, AcceptLast, AcceptSlope, Accepted, DataLast, Published, Target,
        };
        let table = self.summary.multiplexers.last()?;
        let shown = |columns: &[accept_columns::Column]| {
            vec![accept_columns::shown(columns, table.rows.iter())]
        };
        let layouts = vec![
            shown(&[
                Target,
                Accepted,
                AcceptFirst,
                AcceptLast,
                AcceptSlope,
                DataLast,
                Published,
            ]),
            shown(&[Target, AcceptFirst, AcceptLast, Published]),
            shown(&[Target, AcceptFirst, AcceptLast]),
        ];
        let sheet = Sheet::new(self.options, (), table.rows.iter(), layouts);
        Some(self.heading(&table.heading) + &sheet.draw(&table.rows, |_| true))
    }

    /// All where there is room; else the last, which the others lead to.
    fn brief_grids(&self, mut grids: Vec<Grid>) -> Vec<String> {
        let lines: usize = grids.iter().map(|grid| grid.lines.len() + 4).sum();
        if lines > LINES {
            grids.drain(..grids.len() - 1);
        }
        grids.iter().map(|grid| self.grid(grid)).collect()
    }

    fn brief_hold(&self) -> Option<String> {
        use hold_columns::Column::{
            ConnectTime, Connected, GeneratorBytes, KernelBytes, PingP99, RateLast, ServerBytes,
            Setting, Target,
        };
        let rows = &self.summary.holds;
        rows.first()?;
        let one = |columns: &[hold_columns::Column]| vec![hold_columns::shown(columns, rows)];
        let layouts = vec![
            one(&[
                Target,
                Setting,
                Connected,
                ConnectTime,
                RateLast,
                ServerBytes,
                GeneratorBytes,
                KernelBytes,
                PingP99,
            ]),
            one(&[
                Target,
                Setting,
                Connected,
                ConnectTime,
                ServerBytes,
                KernelBytes,
            ]),
            one(&[Target, Setting, Connected, ConnectTime]),
        ];
        let sheet = Sheet::new(self.options, (), rows.iter(), layouts);
        Some(sheet.draw(rows, |_| true))
    }
}

/// Time of all requests: a line for each number of clients, a column for each target and backlog.
fn times(tables: &[backlog::Table<'_>]) -> Option<Grid> {
    /// Names of targets are long, and there may be six columns.
    const HEADING_WIDTH: usize = 13;
    let first = tables.first()?;
    let heading = |table: &backlog::Table<'_>| {
        let parts = table.heading.split(" · ");
        let parts: Vec<String> = parts
            .map(|part| textwrap::fill(part, HEADING_WIDTH))
            .collect();
        parts.join("\n")
    };
    let cell = |cell: &backlog::Cell| {
        let text = match (&cell.duration_ns, cell.standing) {
            (Some(found), _) => format!("{}{}", cell.trials.mark(), time_ns(found.median)),
            (None, Standing::Failed) => "✗ failed".to_owned(),
            (None, Standing::Invalid) => "✗ invalid".to_owned(),
            (None, _) => columns::absent(),
        };
        (text, cell.standing)
    };
    let line = |(index, of_first): (usize, &backlog::Cell)| GridLine {
        label: match of_first.requests_each {
            Some(requests) => format!("{} × {requests}", of_first.clients),
            None => of_first.clients.to_string(),
        },
        cells: tables
            .iter()
            .filter_map(|table| Some(cell(table.rows.get(index)?)))
            .collect(),
    };
    Some(Grid {
        title: "time of all requests".to_owned(),
        label: "clients\n× requests".to_owned(),
        headings: tables.iter().map(heading).collect(),
        lines: first.rows.iter().enumerate().map(line).collect(),
    })
}
