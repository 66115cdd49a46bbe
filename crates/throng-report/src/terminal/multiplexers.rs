//! The accept experiment's tables in a terminal: the costs at both ends with their slopes, then the costs along the idle connections.

use comfy_table::{Cell, Table};

use super::Page;
use super::sheet::{Sheet, aligned, coloured, laid_out};
use crate::accept::columns::{ACCEPT, Column, DATA, has_something, shown};
use crate::accept::{self, Row};
use crate::columns::absent;
use crate::format::{self, exact};

/// From wide to narrow: the columns of each part of a table.
const LAYOUTS: [&[&[Column]]; 3] = {
    use Column::{
        AcceptFirst, AcceptLast, AcceptSlope, Accepted, DataFirst, DataLast, DataSlope, Published,
        Target,
    };
    [
        &[ACCEPT, DATA],
        &[
            &[Target, Accepted, Published],
            &[Target, AcceptFirst, AcceptLast, AcceptSlope],
            DATA,
        ],
        &[
            &[Target, Accepted, Published],
            &[Target, AcceptFirst, AcceptLast],
            &[Target, DataFirst, DataLast],
            &[Target, AcceptSlope, DataSlope],
        ],
    ]
};

impl Page<'_> {
    /// One block for each setting.
    pub(super) fn multiplexers(&self) -> Vec<String> {
        let rows = || {
            let tables = self.summary.multiplexers.iter();
            tables.flat_map(|table| &table.rows)
        };
        let layouts = LAYOUTS.iter().map(|layout| {
            let part = |columns: &&[Column]| shown(columns, rows());
            layout.iter().map(part).collect()
        });
        let sheet = Sheet::new(self.options, (), rows(), layouts.collect());
        let block = |table: &accept::Table<'_>| {
            let is_wanted = |columns: &[Column]| has_something(&table.rows, columns);
            let mut text = self.heading(&table.heading) + &sheet.draw(&table.rows, is_wanted);
            for (title, cost) in accept::CURVES {
                if let Some(curve) = self.curve(table, cost) {
                    text += &format!("\n{}{curve}", self.heading(title));
                }
            }
            text
        };
        self.summary.multiplexers.iter().map(block).collect()
    }

    /// A cost along the idle connections; `None` where it was never measured.
    fn curve(&self, of: &accept::Table<'_>, cost: accept::PickCost) -> Option<String> {
        let rows: Vec<&Row> = of.drawn(cost).collect();
        rows.first()?;
        let mut table = Table::new();
        let idle = of.idle.iter();
        let idle = idle.map(|&idle| aligned(&format!("{}\nidle", exact(idle.into())), true));
        table.set_header(std::iter::once(Cell::new("multiplexer")).chain(idle));
        for row in rows {
            let name = std::iter::once(aligned(&row.target, false));
            let costs = cost(row).at.iter().map(|cost| {
                let text = cost.map_or_else(absent, format::time_ns);
                aligned(&text, true)
            });
            let cells = name.chain(costs);
            table.add_row(cells.map(|cell| coloured(cell, row.standing)));
        }
        let widths = table.column_max_content_widths();
        Some(laid_out(table, &widths, &self.options))
    }
}
