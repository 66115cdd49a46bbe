//! What the reports show of an experiment, as data: its tables with their columns, and what the screen has of them.

use crate::grid::Grid;
use crate::phases::PhaseLine;
use crate::row::Row;
use crate::table::{Column, Sheet};

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

/// The headings of the tables of rows, in the order in which they stand there.
pub(crate) fn order(blocks: &[Block]) -> Vec<String> {
    let mut order = Vec::new();
    for block in blocks {
        if let Block::Rows(sheet) = block {
            order.extend(sheet.headings().cloned());
        }
    }
    order
}
