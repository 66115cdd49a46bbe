//! What the reports show of an experiment, as data: its tables with their columns, and what the screen has of them.

use crate::grid::Grid;
use crate::phases::PhaseLine;
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, Sheet};
use crate::{accept, backlog, churn, echo, fanout, hold};
use throng_record::plan::Experiment;

/// A part of a report, in its order.
pub(crate) enum Block {
    /// Tables of rows.
    Rows(Sheet<Row>),
    /// Tables of the phases of rows.
    Phases(Sheet<PhaseLine>),
    /// A table whose columns the run decides.
    Grid(Grid),
    /// A heading, and curves below it: each with its title and its points as values from 0 to 1.
    Curves(&'static str, Vec<Curve>),
}

/// Something over time.
pub(crate) struct Curve {
    /// What it is of.
    pub(crate) title: String,
    /// As a line of blocks.
    pub(crate) spark: String,
    /// As a table.
    pub(crate) points: Grid,
}

/// Columns that a screen has, the weightiest first: of them as many as there is room for.
pub(crate) struct Brief {
    pub(crate) heading: Option<String>,
    pub(crate) columns: Vec<Column<Row>>,
    pub(crate) rows: Vec<Row>,
}

/// All there is to show.
pub(crate) fn blocks(summary: &Summary<'_>) -> Vec<Block> {
    match summary.plan.experiment {
        Experiment::Echo => echo::blocks(summary),
        Experiment::Churn => churn::blocks(summary),
        Experiment::Backlog => backlog::blocks(summary),
        Experiment::Accept => accept::blocks(summary),
        Experiment::Fanout => fanout::blocks(summary),
        Experiment::Hold => hold::blocks(summary),
    }
}

/// The headings of the tables of rows, in the order in which they stand there.
pub(crate) fn order(summary: &Summary<'_>) -> Vec<String> {
    let mut order = Vec::new();
    for block in blocks(summary) {
        if let Block::Rows(sheet) = block {
            order.extend(sheet.headings().cloned());
        }
    }
    order
}

/// What a screen has: tables, then grids.
pub(crate) fn brief(summary: &Summary<'_>) -> (Vec<Brief>, Vec<Grid>) {
    match summary.plan.experiment {
        Experiment::Echo => (echo::brief(summary), vec![]),
        Experiment::Churn => (churn::brief(summary), vec![]),
        Experiment::Backlog => (vec![], backlog::times(summary).into_iter().collect()),
        Experiment::Accept => (accept::brief(summary), vec![]),
        Experiment::Fanout => (vec![], fanout::overview::grids(summary)),
        Experiment::Hold => (hold::brief(summary), vec![]),
    }
}
