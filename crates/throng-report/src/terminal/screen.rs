//! The report that fits a screen: the answer, one table, what explains it, and what is in doubt. The rest is in the full report.

use anstyle::Style;

use super::Page;
use super::sheet::{fits, laid_out};
use crate::context;
use crate::experiments;
use crate::findings::Found;
use crate::grid::Grid;
use crate::hosts;
use crate::notes;
use crate::overview::{self, Overview};
use crate::view::{self, Brief};

/// Lines of a screen.
const SCREEN: usize = 45;
/// Lines that a section needs for its heading, one entry, and how many more there are; with fewer there is only their number.
const LEAST: usize = 6;
/// Lines of tables that leave room for the rest.
const LINES: usize = 20;
impl Page<'_> {
    /// The whole of it.
    pub(super) fn screen(&self) -> String {
        let mut blocks = vec![self.brief_head()];
        blocks.extend(self.answer());
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
        let doubts = notes::doubts(summary);
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
        text += &self.circumstances(&hosts::circumstances(summary));
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
        let experiment = experiments::of(summary.plan.experiment);
        let order = view::order(&experiment.blocks(summary));
        let brief = |brief: &Brief| {
            let heading = brief.heading.as_ref();
            let heading = heading.map(|heading| self.heading(heading));
            heading.unwrap_or_default() + &self.brief(&brief.columns, &brief.rows, &order)
        };
        let (tables, grids) = experiment.brief(summary);
        let tables = tables.iter().map(brief);
        tables.chain(self.brief_grids(grids)).collect()
    }

    /// The overview of a sweep, and what its last setting cost as far as there is room.
    fn overview_with_costs(&self, overview: &Overview<'_>) -> String {
        let summary = self.summary;
        let experiment = experiments::of(summary.plan.experiment);
        let mut costs = experiment.costs(summary);
        let (table, widths) = loop {
            let table = self.overview_table(overview, String::clone, &costs);
            let widths = table.column_max_content_widths();
            if fits(&widths, &self.options) || costs.pop().is_none() {
                break (table, widths);
            }
        };
        let of_last = match (costs.as_slice(), overview.values.last()) {
            ([_, ..], Some(last)) => format!(", and what it costs at {last}"),
            _ => String::new(),
        };
        let title = format!(
            "{} by {}{of_last}",
            overview::title(summary),
            overview.along
        );
        self.heading(&title) + &laid_out(table, &widths, &self.options)
    }

    /// All where there is room; else the last, which the others lead to.
    fn brief_grids(&self, mut grids: Vec<Grid>) -> Vec<String> {
        let lines: usize = grids.iter().map(|grid| grid.lines.len() + 4).sum();
        if lines > LINES {
            grids.drain(..grids.len() - 1);
        }
        grids.iter().map(|grid| self.grid(grid)).collect()
    }
}
