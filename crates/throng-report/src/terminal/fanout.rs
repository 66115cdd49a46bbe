//! The fan-out's tables in a terminal: the overview of all settings, then for each how far its targets came, how late their lines were, and
//! what each phase cost.

use super::Page;
use super::phases;
use super::sheet::{Layout, Sheet};
use crate::fanout::columns::{CONNECTED, Column, DELIVERIES, SUSTAINED, has_something};
use crate::fanout::{Row, Table, overview};
use crate::phases::lines;

/// From wide to narrow: the columns of each part of the table of targets.
const LAYOUTS: [&[&[Column]]; 3] = {
    use Column::{
        AcknowledgeMax, AcknowledgeP50, AcknowledgeP99, ConnectRate, Connected, Deliveries, Errors,
        GetMax, GetP50, GetP99, Missing, Pss, Rss, SustainMax, SustainP50, SustainP99, Target,
    };
    [
        &[CONNECTED, DELIVERIES, SUSTAINED],
        &[
            &[Target, Connected, ConnectRate],
            &[Target, Errors, Rss, Pss],
            DELIVERIES,
            SUSTAINED,
        ],
        &[
            &[Target, Connected, ConnectRate],
            &[Target, Errors, Rss, Pss],
            &[Target, AcknowledgeP50, AcknowledgeP99, AcknowledgeMax],
            &[Target, GetP50, GetP99, GetMax],
            &[Target, Deliveries],
            &[Target, SustainP50, SustainP99, SustainMax, Missing],
        ],
    ]
};

impl Page<'_> {
    /// The overview, then one block for each setting.
    pub(super) fn fanouts(&self) -> Vec<String> {
        let tables = &self.summary.fanouts;
        let all: Vec<&Row> = tables.iter().flat_map(|table| &table.rows).collect();
        let sheet = Sheet::new(
            self.options,
            (),
            all.into_iter(),
            LAYOUTS.iter().map(|layout| owned(layout)).collect(),
        );
        let of_tables: Vec<Vec<lines::Line>> = tables.iter().map(lines_of).collect();
        let phases = phases::sheet(self.options, of_tables.iter().flatten());
        let block = |(table, lines): (&Table<'_>, &Vec<lines::Line>)| {
            let is_wanted = |columns: &[Column]| has_something(&table.rows, columns);
            let mut text = self.heading(&table.heading) + &sheet.draw(&table.rows, is_wanted);
            if !lines.is_empty() {
                text += &format!("\n{}", phases.draw(lines, |_| true));
            }
            text
        };
        let overview = overview::grids(self.summary);
        let overview = overview.iter().map(|grid| self.grid(grid));
        overview
            .chain(tables.iter().zip(&of_tables).map(block))
            .collect()
    }
}

/// The phases of its targets.
fn lines_of(table: &Table<'_>) -> Vec<lines::Line> {
    lines::of(table.phases())
}

/// A layout as sheets want it.
pub(super) fn owned<C: Copy>(layout: &[&[C]]) -> Layout<C> {
    layout.iter().map(|columns| columns.to_vec()).collect()
}
