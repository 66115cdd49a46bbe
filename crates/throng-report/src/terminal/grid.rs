//! A grid in a terminal: in as many parts as its page is too narrow for, each with the column that names the lines.

use comfy_table::{Cell, Table};

use super::Page;
use super::sheet::{GAP, aligned, coloured, laid_out};
use crate::grid::{Grid, GridLine};

impl Page<'_> {
    pub(super) fn grid(&self, grid: &Grid) -> String {
        let widths = self
            .table(grid, 0..grid.headings.len())
            .column_max_content_widths();
        let parts: Vec<String> = self
            .parts(&widths)
            .into_iter()
            .map(|columns| {
                let table = self.table(grid, columns);
                let widths = table.column_max_content_widths();
                laid_out(table, &widths, &self.options)
            })
            .collect();
        self.heading(&grid.title) + &parts.join("\n")
    }

    /// The columns of each part: as many as fit beside the first one, and at least one.
    fn parts(&self, widths: &[u16]) -> Vec<std::ops::Range<usize>> {
        let Some((label, columns)) = widths.split_first() else {
            return Vec::new();
        };
        let most = self.options.width.unwrap_or(u16::MAX);
        let mut parts = Vec::new();
        let mut begin = 0;
        let mut used = *label;
        for (index, width) in columns.iter().enumerate() {
            let wider = used.saturating_add(GAP + width);
            if wider > most && index > begin {
                parts.push(begin..index);
                begin = index;
                used = label + GAP + width;
            } else {
                used = wider;
            }
        }
        parts.push(begin..columns.len());
        parts
    }

    fn table(&self, grid: &Grid, columns: std::ops::Range<usize>) -> Table {
        let mut table = Table::new();
        let headings = grid.headings[columns.clone()].iter();
        let headings = headings.map(|heading| aligned(heading, true));
        table.set_header(std::iter::once(Cell::new(&grid.label)).chain(headings));
        for line in &grid.lines {
            table.add_row(cells(line, columns.clone()));
        }
        table
    }
}

fn cells(line: &GridLine, columns: std::ops::Range<usize>) -> impl Iterator<Item = Cell> + '_ {
    let figures = line.cells[columns].iter();
    let figures = figures.map(|(text, standing)| coloured(aligned(text, true), *standing));
    std::iter::once(aligned(&line.label, false)).chain(figures)
}
