//! The phases in a table: a line for each phase of each row, with what it cost both sides.

use super::{Cost, Phase};
use crate::columns::{Tabular, absent};
use crate::crowd::Crowd;
use crate::format::{self, exact};
use crate::summary::Standing;

/// One phase of one row: a line of the table of phases.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Empty but for the row's first phase.
    target: String,
    /// What was asked of it; likewise.
    asked: String,
    standing: Standing,
    mark: &'static str,
    phase: Phase,
}

/// The lines of some rows, in their order.
pub(crate) fn of<'a>(rows: impl Iterator<Item = (&'a Crowd, &'a [Phase])>) -> Vec<Line> {
    let of_row = |(crowd, phases): (&Crowd, &[Phase])| {
        let line = |(index, phase): (usize, &Phase)| {
            let of_first = |text: String| if index == 0 { text } else { String::new() };
            Line {
                target: of_first(crowd.target.clone()),
                asked: of_first(crowd.asked()),
                standing: crowd.standing,
                mark: crowd.mark(),
                phase: phase.clone(),
            }
        };
        phases.iter().enumerate().map(line).collect::<Vec<_>>()
    };
    rows.flat_map(of_row).collect()
}

/// These columns in a table of several settings.
pub(crate) fn with_setting(columns: &[Column]) -> Vec<Column> {
    let with = |&column: &Column| match column {
        Column::Target => vec![Column::Target, Column::Setting],
        other => vec![other],
    };
    columns.iter().flat_map(with).collect()
}

/// A column of the table of phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Target,
    Setting,
    Phase,
    Real,
    Window,
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
    /// Every column of a table whose heading says what was asked, in the order of the report.
    pub(crate) const AT_ONE_SETTING: [Self; 12] = [
        Self::Target,
        Self::Phase,
        Self::Real,
        Self::Window,
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
            Self::Setting => "asked",
            Self::Phase => "phase",
            Self::Real => "real",
            Self::Window => "CPU time\nover",
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
        !matches!(
            self,
            Self::Target | Self::Setting | Self::Phase | Self::Real
        )
    }

    fn cell(self, line: &Line, (): ()) -> String {
        let phase = &line.phase;
        let of = |cost: Option<Cost>, words: fn(&Cost) -> String| {
            cost.as_ref().map_or_else(absent, words)
        };
        match self {
            Self::Target => line.target.clone(),
            Self::Setting => line.asked.clone(),
            Self::Phase => phase.phase.word().to_owned(),
            Self::Real => {
                let length = phase.duration_ns.map_or_else(absent, |found| {
                    let spread = format::spread(&found, format::time_ns);
                    format!("{}{spread}", format::time_ns(found.median))
                });
                format!("{}{length}", line.mark)
            }
            Self::Window => phase.window_ns.map_or_else(absent, format::time_ns),
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
    let mark = if nanoseconds < NOISE_NS { "≈" } else { "" };
    format!("{mark}{}", format::time_ns(nanoseconds))
}

/// Whether the split of one of these is noise.
pub(super) fn is_noise(cost: &Cost) -> bool {
    let parts = [cost.user_ns, cost.system_ns];
    parts.iter().any(|&part| ticks(part).starts_with('~'))
}
