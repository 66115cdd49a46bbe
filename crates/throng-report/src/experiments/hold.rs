//! How many connections can be held, at how many bytes each? The hold experiment: a row for each target at each setting, with its connects over time, the
//! memory of a connection on both sides and in the kernel, and its pings.
//!
//! Left out on purpose: ranks. How many can be held is one question, at how many bytes each another.

mod answer;
mod charts;
pub mod curve;
pub mod memory;
mod notes;
mod tables;

use throng_record::{Sequence, Trial};

use crate::chart::{Chart, Drawn};
use crate::circumstances::Circumstances;
use crate::detail::Detail;
use crate::experiment::{Experiment, Section};
use crate::experiments::crowd;
use crate::format::{exact, setting_ns};
use crate::grid::Grid;
use crate::measured::{CellShown, Measured};
use crate::median;
use crate::summary::Summary;
use crate::view::{Block, Brief};
use crate::worth::Sorted;

/// The experiment.
pub(crate) struct Hold;

impl Measured for Hold {
    fn shown<'a>(&self, sorted: &Sorted<'a>) -> Vec<&'a Trial> {
        crowd::shown(sorted)
    }

    fn detail(&self, cell: &CellShown<'_>) -> Option<Detail> {
        let typical = typical(cell.shown);
        let connect = typical.and_then(|trial| trial.phases.connect());
        Some(Detail::Hold {
            curve: connect.map(curve::points).unwrap_or_default(),
            kernel: typical.and_then(memory::of),
        })
    }
}

impl Experiment for Hold {
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String> {
        circumstances(asked)
    }

    fn answer(&self, summary: &Summary<'_>) -> Vec<String> {
        answer::sentences(&tables::by_target(summary))
    }

    fn blocks(&self, summary: &Summary<'_>) -> Vec<Block> {
        tables::blocks(summary)
    }

    fn brief(&self, summary: &Summary<'_>) -> (Vec<Brief>, Vec<Grid>) {
        (tables::brief(summary), Vec::new())
    }

    fn charts(&self, drawn: &Drawn<'_>) -> Vec<Chart> {
        charts::charts(drawn)
    }

    fn legend(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::legend(summary)
    }

    fn notes_of_rows(&self, summary: &Summary<'_>) -> Vec<String> {
        [crowd::notes::of_rows(summary), notes::of_rows(summary)].concat()
    }

    fn sections(&self, summary: &Summary<'_>) -> Vec<Section> {
        vec![
            crowd::notes::errors_by_connection(summary),
            ("Kernel memory", notes::of_kernel(summary)),
        ]
    }

    fn partial(&self) -> &'static str {
        crowd::PARTIAL
    }
}

/// Who connects how, and is pinged after what time.
fn circumstances(asked: &Circumstances<'_>) -> Vec<String> {
    let mut phrases = vec![asked.connections(), crowd::connects(asked)];
    let phases = &asked.setting.phases;
    if let Some(hold_ns) = phases.hold_ns() {
        phrases.push(match (asked.swept("hold"), hold_ns) {
            (Some(lengths), _) => format!("held for {lengths}"),
            (None, 0) => "not held".to_owned(),
            (None, length_ns) => format!("held for {}", setting_ns(length_ns)),
        });
        let pinged = |phases: &Sequence| phases.ping().map_or(0, |ping| ping.pings);
        let number = pinged(phases);
        let all = || asked.plan.settings.iter();
        let are_all = all().all(|one| pinged(&one.phases) == one.connections);
        let pings = match asked.swept("pings") {
            Some(pings) => format!("{pings} of them pinged"),
            None if number == 0 => "none pinged".to_owned(),
            None if are_all => "each pinged once".to_owned(),
            None => format!("{} of them pinged", exact(number.into())),
        };
        phrases.push(match number {
            0 => pings,
            _ => format!("{pings}: {}", asked.protocol().unwrap_or_default()),
        });
    }
    phrases.push(asked.repeats());
    phrases
}

/// The trial whose connecting took the median time; of an even number the shorter of the middle two.
fn typical<'a>(trials: &[&'a Trial]) -> Option<&'a Trial> {
    let length = |trial: &&Trial| Some(trial.phases.connect()?.opened_ns as f64);
    median::typical(trials.iter().copied(), length)
}
