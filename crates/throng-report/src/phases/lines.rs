//! The phases in a table: a line for each phase of each row, with what it cost both sides.

use std::rc::Rc;

use super::PhaseKind;
use crate::experiments::crowd;
use crate::format::{self, exact};
use crate::row::Row;
use crate::standing::Standing;
use crate::table::{Column, Line, Sheet, absent};

/// One phase of one row.
pub(crate) struct PhaseLine {
    row: Rc<Row>,
    phase: PhaseKind,
    /// Whether it is the row's first, which tells what row it is.
    is_first: bool,
}

impl Line for PhaseLine {
    fn standing(&self) -> Standing {
        self.row.standing
    }

    fn has_figures(&self) -> bool {
        true
    }
}

impl PhaseLine {
    fn found(&self, figure: &str) -> Option<f64> {
        self.row.value(&format!("{}_{figure}", self.phase.key()))
    }

    fn time(&self, figure: &str) -> String {
        self.found(figure).map_or_else(absent, format::time_ns)
    }

    fn ticks(&self, figure: &str) -> String {
        self.found(figure).map_or_else(absent, ticks)
    }

    /// Its length: of what it was for, without the waits for what never came.
    fn real(&self) -> String {
        let length = self
            .row
            .estimate(&format!("{}_duration_ns", self.phase.key()));
        let length = length.map_or_else(absent, |found| {
            let spread = format::spread(&found, format::time_ns);
            format!("{}{spread}", format::time_ns(found.median))
        });
        format!("{}{length}", crowd::mark(&self.row))
    }

    /// Whether the split of the CPU time of a side is noise.
    pub(super) fn is_noise(row: &Row) -> bool {
        let of_ticks = |key: &str| key.ends_with("_user_ns") || key.ends_with("_system_ns");
        let mut figures = row.figures.iter();
        figures.any(|(key, found)| of_ticks(key) && found.value < NOISE_NS)
    }
}

/// Tables of the phases that any trial came to, one for each group of rows. `with_asked` where the groups differ in nothing that their heading says.
pub(crate) fn sheet(
    groups: Vec<(String, Vec<Row>)>,
    kinds: &[PhaseKind],
    with_asked: bool,
) -> Sheet<PhaseLine> {
    let mut labels = vec![Column::words("target", |line: &PhaseLine| {
        of_first(line, line.row.target.clone())
    })];
    if with_asked {
        labels.push(Column::words("asked", |line: &PhaseLine| {
            of_first(line, crowd::asked(&line.row))
        }));
    }
    labels.push(Column::words("phase", |line: &PhaseLine| {
        line.phase.word().to_owned()
    }));
    let lines = |rows: Vec<Row>| rows.into_iter().flat_map(|row| lines(row, kinds)).collect();
    let groups = groups.into_iter();
    Sheet {
        labels,
        themes: themes(),
        is_joined: true,
        groups: groups
            .map(|(heading, rows)| (heading, lines(rows)))
            .filter(|(_, lines): &(_, Vec<_>)| !lines.is_empty())
            .collect(),
    }
}

fn lines(row: Row, kinds: &[PhaseKind]) -> Vec<PhaseLine> {
    let row = Rc::new(row);
    let came = kinds.iter().copied().filter(|phase| {
        let has = |figure| row.found(&format!("{}_{figure}", phase.key())).is_some();
        has("duration_ns") || has("generator_cpu_ns")
    });
    came.enumerate()
        .map(|(index, phase)| PhaseLine {
            row: Rc::clone(&row),
            phase,
            is_first: index == 0,
        })
        .collect()
}

fn themes() -> Vec<Vec<Column<PhaseLine>>> {
    let time = |heading: &str, figure: &'static str| {
        Column::words(heading, move |line: &PhaseLine| line.time(figure)).aligned_right()
    };
    let split = |heading: &str, figure: &'static str| {
        Column::words(heading, move |line: &PhaseLine| line.ticks(figure)).aligned_right()
    };
    vec![
        vec![
            Column::words("real", PhaseLine::real).that_says_why(),
            time("CPU time\nover", "window_ns"),
        ],
        vec![
            split("generator\nuser", "generator_user_ns"),
            split("generator\nsystem", "generator_system_ns"),
            time("generator\ntotal", "generator_cpu_ns"),
        ],
        vec![
            split("server\nuser", "server_user_ns"),
            split("server\nsystem", "server_system_ns"),
            time("server\ntotal", "server_cpu_ns"),
        ],
        vec![
            Column::words("server\nthreads", |line: &PhaseLine| {
                let threads = line.found("server_threads");
                threads.map_or_else(absent, |threads| exact(threads.round() as u64))
            })
            .aligned_right(),
            Column::words("server\nRSS", |line: &PhaseLine| {
                line.found("server_rss_bytes")
                    .map_or_else(absent, format::bytes)
            })
            .aligned_right(),
        ],
    ]
}

fn of_first(line: &PhaseLine, text: String) -> String {
    if line.is_first { text } else { String::new() }
}

/// Counted in ticks: less than this is noise.
const NOISE_NS: f64 = 50e6;

/// Shown as noise where it is.
fn ticks(nanoseconds: f64) -> String {
    let mark = if nanoseconds < NOISE_NS { "≈" } else { "" };
    format!("{mark}{}", format::time_ns(nanoseconds))
}
