//! What an experiment decides about its pages: the words of the answer, its tables, and how to read them.
//!
//! Renderers know this trait and no experiment. Each experiment is a folder in [`crate::experiments`].

use crate::chart::{Chart, Drawn};
use crate::circumstances::Circumstances;
use crate::grid::Grid;
use crate::measured::Measured;
use crate::row::Row;
use crate::summary::Summary;
use crate::table::Column;
use crate::view::{Block, Brief};

/// A section below the tables: its title and its notes.
pub(crate) type Section = (&'static str, Vec<String>);

/// From rows to pages.
pub(crate) trait Experiment: Measured {
    /// What was measured and how, each circumstance a phrase.
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String>;

    /// Whether there is a server; else one process is both ends.
    fn has_server(&self) -> bool {
        true
    }

    /// What the throughput counts.
    fn unit(&self) -> &'static str {
        "messages/s"
    }

    /// The answer to its question, in sentences that hold no more than the figures; none where nothing was measured.
    fn answer(&self, summary: &Summary<'_>) -> Vec<String>;

    /// All there is to show.
    fn blocks(&self, summary: &Summary<'_>) -> Vec<Block>;

    /// What a screen has: tables, then grids.
    fn brief(&self, summary: &Summary<'_>) -> (Vec<Brief>, Vec<Grid>);

    /// What is looked at, the chart of the question first.
    fn charts(&self, _drawn: &Drawn<'_>) -> Vec<Chart> {
        Vec::new()
    }

    /// Columns of the last setting beside the overview of a sweep, the weightiest first.
    fn costs(&self, _summary: &Summary<'_>) -> Vec<Column<Row>> {
        Vec::new()
    }

    /// How to read the columns.
    fn legend(&self, summary: &Summary<'_>) -> Vec<String>;

    /// What a reader must know of single rows.
    fn notes_of_rows(&self, _summary: &Summary<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Why there are fewer connections than were asked for.
    fn stopped(&self, summary: &Summary<'_>) -> Vec<String> {
        let line = |row: &Row| {
            let reasons = row.stopped_by.join("; ");
            (!reasons.is_empty()).then(|| format!("{} at {}: {reasons}.", row.target, row.heading))
        };
        summary.rows.iter().filter_map(line).collect()
    }

    /// Sections of its own.
    fn sections(&self, _summary: &Summary<'_>) -> Vec<Section> {
        Vec::new()
    }

    /// How well the generator kept its schedule.
    fn schedule(&self, _summary: &Summary<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Whence the published figures are, and what is different there.
    fn sources(&self, _summary: &Summary<'_>) -> Vec<String> {
        Vec::new()
    }

    /// What it is when a trial is partial.
    fn partial(&self) -> &'static str {
        "the server serves fewer connections at once"
    }
}
