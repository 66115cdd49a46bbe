//! The hold experiment's tables in a terminal: connects, memory and pings of every target, what each phase cost, then the connects over time
//! as lines of blocks.

use anstyle::Style;

use super::Page;
use super::phases;
use super::sheet::Sheet;
use crate::hold::columns::{CONNECTS, Column, MEMORY, PINGS, has_something, shown};
use crate::hold::{self, Row, curve, notes};
use crate::phases::lines;

/// From wide to narrow: the columns of each part of the table.
const LAYOUTS: [&[&[Column]]; 4] = {
    use Column::{
        Answered, ConnectMax, ConnectP50, ConnectP99, ConnectTime, Connected, Errors,
        GeneratorBytes, KernelBytes, KernelGrown, KernelLeft, NotPinged, PingMax, PingP50, PingP99,
        PingTime, RateFirst, RateLast, ServerBytes, Setting, Target,
    };
    [
        &[CONNECTS, MEMORY, PINGS],
        &[
            &[Target, Setting, Connected, ConnectTime, RateFirst, RateLast],
            &[Target, Setting, ConnectP50, ConnectP99, ConnectMax],
            &[Target, Setting, ServerBytes, GeneratorBytes, KernelBytes],
            &[Target, Setting, KernelGrown, KernelLeft],
            PINGS,
        ],
        &[
            &[Target, Setting, Connected, ConnectTime],
            &[Target, Setting, RateFirst, RateLast],
            &[Target, Setting, ConnectP50, ConnectP99, ConnectMax],
            &[Target, Setting, ServerBytes, GeneratorBytes],
            &[Target, Setting, KernelBytes, KernelGrown, KernelLeft],
            &[Target, Setting, Answered, NotPinged, Errors],
            &[Target, Setting, PingTime, PingP50, PingP99, PingMax],
        ],
        &[
            &[Target, Setting, Connected, ConnectTime],
            &[Target, Setting, RateFirst],
            &[Target, Setting, RateLast],
            &[Target, Setting, ConnectP50, ConnectP99, ConnectMax],
            &[Target, Setting, ServerBytes],
            &[Target, Setting, GeneratorBytes],
            &[Target, Setting, KernelBytes],
            &[Target, Setting, KernelGrown, KernelLeft],
            &[Target, Setting, Answered, NotPinged, Errors],
            &[Target, Setting, PingTime, PingP50, PingP99, PingMax],
        ],
    ]
};

impl Page<'_> {
    /// The table, then the curves.
    pub(super) fn holds(&self) -> Vec<String> {
        let rows = &self.summary.holds;
        if rows.is_empty() {
            return Vec::new();
        }
        let layouts = LAYOUTS.iter().map(|layout| {
            let layout = layout.iter();
            layout.map(|columns| shown(columns, rows)).collect()
        });
        let sheet = Sheet::new(self.options, (), rows.iter(), layouts.collect());
        let mut blocks = vec![sheet.draw(rows, |columns| has_something(rows, columns))];
        let lines = lines::of(hold::phases(rows));
        if !lines.is_empty() {
            let phases = phases::sheet_with_settings(self.options, lines.iter());
            blocks.push(self.heading("phases") + &phases.draw(&lines, |_| true));
        }
        let curves: String = rows.iter().filter_map(|row| self.curve_of(row)).collect();
        if !curves.is_empty() {
            blocks.push(self.heading("connects/s over time") + &curves);
        }
        blocks
    }

    /// A point is at least one connect long: fewer than three are no curve.
    fn curve_of(&self, row: &Row) -> Option<String> {
        (row.curve.len() >= 3).then(|| {
            let title = self.wrapped(&notes::curve_title(row), "", Style::new());
            format!("{title}  {}\n", curve::spark(&row.curve))
        })
    }
}
