//! The phases of a fan-out in a table: a line for each phase of each target, with what it cost both sides.

use super::phases::{Cost, Phase, PhaseKind};
use super::{Row, Table};
use crate::columns::{Tabular, absent};
use crate::format::{self, exact};
use crate::summary::Standing;

/// One phase of one target: a line of the table of phases.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Empty but for the target's first phase.
    target: String,
    standing: Standing,
    mark: &'static str,
    phase: Phase,
}

/// The lines of a table, the targets in their order.
pub(crate) fn of(table: &Table<'_>) -> Vec<Line> {
    let of_row = |row: &Row| {
        let line = |(index, phase): (usize, &Phase)| Line {
            target: if index == 0 {
                row.crowd.target.clone()
            } else {
                String::new()
            },
            standing: row.crowd.standing,
            mark: row.crowd.mark(),
            phase: phase.clone(),
        };
        row.phases.iter().enumerate().map(line).collect::<Vec<_>>()
    };
    table.rows.iter().flat_map(of_row).collect()
}

/// A column of the table of phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Target,
    Phase,
    Real,
    GeneratorUser,
    GeneratorSystem,
    GeneratorTotal,
    ServerUser,
    ServerSystem,
    ServerTotal,
    Threads,
    Rss,
}

impl Column {
    /// Every column, in the order of the report.
    pub(crate) const ALL: [Self; 11] = [
        Self::Target,
        Self::Phase,
        Self::Real,
        Self::GeneratorUser,
        Self::GeneratorSystem,
        Self::GeneratorTotal,
        Self::ServerUser,
        Self::ServerSystem,
        Self::ServerTotal,
        Self::Threads,
        Self::Rss,
    ];
}

impl Tabular for Column {
    type Row = Line;
    type Context = ();

    fn heading(self, (): ()) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Phase => "phase",
            Self::Real => "real",
            Self::GeneratorUser => "generator\nuser",
            Self::GeneratorSystem => "generator\nsystem",
            Self::GeneratorTotal => "generator\ntotal",
            Self::ServerUser => "server\nuser",
            Self::ServerSystem => "server\nsystem",
            Self::ServerTotal => "server\ntotal",
            Self::Threads => "server\nthreads",
            Self::Rss => "server\nRSS",
        }
    }

    fn is_figure(self) -> bool {
        !matches!(self, Self::Target | Self::Phase | Self::Real)
    }

    fn cell(self, line: &Line, (): ()) -> String {
        let phase = &line.phase;
        let of = |cost: Option<Cost>, words: fn(&Cost) -> String| {
            cost.as_ref().map_or_else(absent, words)
        };
        match self {
            Self::Target => line.target.clone(),
            Self::Phase => phase.phase.word().to_owned(),
            Self::Real => phase.duration_ns.map_or_else(absent, |found| {
                let spread = format::spread(&found, format::time_ns);
                format!("{}{}{spread}", line.mark, format::time_ns(found.median))
            }),
            Self::GeneratorUser => of(phase.generator, |cost| ticks(cost.user_ns)),
            Self::GeneratorSystem => of(phase.generator, |cost| ticks(cost.system_ns)),
            Self::GeneratorTotal => of(phase.generator, |cost| format::time_ns(cost.cpu_ns)),
            Self::ServerUser => of(phase.server, |cost| ticks(cost.user_ns)),
            Self::ServerSystem => of(phase.server, |cost| ticks(cost.system_ns)),
            Self::ServerTotal => of(phase.server, |cost| format::time_ns(cost.cpu_ns)),
            Self::Threads => of(phase.server, |cost| exact(cost.threads.round() as u64)),
            Self::Rss => of(phase.server, |cost| format::bytes(cost.rss_bytes)),
        }
    }

    /// Nothing here does: targets without any phase stand in the table of targets.
    fn says_why(self) -> bool {
        self == Self::Phase
    }

    fn standing(line: &Line) -> Standing {
        line.standing
    }

    fn has_figures(_: &Line) -> bool {
        true
    }
}

/// Counted in ticks, below 50 ms it is noise, and is shown as such.
fn ticks(nanoseconds: f64) -> String {
    const NOISE_NS: f64 = 50e6;
    let mark = if nanoseconds < NOISE_NS { "~" } else { "" };
    format!("{mark}{}", format::time_ns(nanoseconds))
}

/// Whether the split is noise in any of these.
pub(crate) fn has_noise(rows: &[Row]) -> bool {
    let phases = rows.iter().flat_map(|row| &row.phases);
    let costs = phases.flat_map(|phase| [phase.generator, phase.server]);
    costs.flatten().any(|cost| {
        [cost.user_ns, cost.system_ns]
            .iter()
            .any(|&part| ticks(part).starts_with('~'))
    })
}

/// Whether the put has a length anywhere.
pub(crate) fn has_put(rows: &[Row]) -> bool {
    rows.iter()
        .any(|row| row.duration_ns(PhaseKind::Put).is_some())
}
