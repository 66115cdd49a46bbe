//! A small table whose columns are not known before the run is: the settings of a sweep, the phases, or a curve.
//!
//! The first column names the lines, and stays where a table is too wide for its page and goes on below.

use crate::standing::Standing;

/// The table, before it is drawn.
#[derive(Debug, PartialEq)]
pub(crate) struct Grid {
    pub(crate) title: String,
    /// Of the first column.
    pub(crate) label: String,
    /// Of the others, in one or two lines.
    pub(crate) headings: Vec<String>,
    pub(crate) lines: Vec<GridLine>,
}

/// One line of it.
#[derive(Debug, PartialEq)]
pub(crate) struct GridLine {
    pub(crate) label: String,
    /// Each with what it is worth.
    pub(crate) cells: Vec<(String, Standing)>,
}
