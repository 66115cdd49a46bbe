//! N connect, all are greeted, one speaks, all hear: how long is each phase? The fan-out experiment: for each setting a row for each target, with the phases
//! of both sides and the latency of every delivery; and each phase's length along the settings, with the published ones.
//!
//! Left out on purpose: ranks. Which target is faster depends on the phase, and on the number of connections, which is the question.

mod answer;
mod charts;
mod late;
mod notes;
pub mod order;
mod overview;
pub mod published;
mod tables;

use throng_record::{Arrivals, Trial};

use crate::answer::chosen;
use crate::chart::{Chart, Drawn};
use crate::circumstances::{Circumstances, quoted};
use crate::detail::Detail;
use crate::experiment::{Experiment, Section};
use crate::experiments::crowd;
use crate::format::setting_ns;
use crate::grid::Grid;
use crate::measured::{CellShown, Measured};
use crate::summary::Summary;
use crate::view::{Block, Brief};
use crate::worth::Sorted;

/// The experiment.
pub(crate) struct Fanout;

impl Measured for Fanout {
    fn shown<'a>(&self, sorted: &Sorted<'a>) -> Vec<&'a Trial> {
        crowd::shown(sorted)
    }

    fn detail(&self, cell: &CellShown<'_>) -> Option<Detail> {
        Some(Detail::Fanout {
            order: order::of(cell.shown, cell.asked.connections),
        })
    }
}

impl Experiment for Fanout {
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String> {
        circumstances(asked)
    }

    fn answer(&self, summary: &Summary<'_>) -> Vec<String> {
        let settings = summary.by_setting();
        let said = chosen(&settings);
        said.filter_map(|(heading, rows)| answer::sentence(heading, rows))
            .collect()
    }

    fn blocks(&self, summary: &Summary<'_>) -> Vec<Block> {
        tables::blocks(summary)
    }

    fn brief(&self, summary: &Summary<'_>) -> (Vec<Brief>, Vec<Grid>) {
        (Vec::new(), overview::grids(summary))
    }

    fn charts(&self, drawn: &Drawn<'_>) -> Vec<Chart> {
        charts::charts(drawn)
    }

    fn legend(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::legend(summary)
    }

    fn notes_of_rows(&self, summary: &Summary<'_>) -> Vec<String> {
        crowd::notes::of_rows(summary)
    }

    fn sections(&self, summary: &Summary<'_>) -> Vec<Section> {
        vec![
            crowd::notes::errors_by_connection(summary),
            ("Who hears late", late::lines(summary)),
        ]
    }

    fn schedule(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::schedule(summary)
    }

    fn sources(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::sources(summary)
    }

    fn partial(&self) -> &'static str {
        crowd::PARTIAL
    }
}

/// Who connects how, is greeted with what, and hears what.
fn circumstances(asked: &Circumstances<'_>) -> Vec<String> {
    let mut phrases = vec![asked.connections(), crowd::connects(asked)];
    let phases = &asked.setting.phases;
    if let Some(put) = phases.put() {
        let greeting = asked.or_swept("greeting", || match phases.greeting() {
            Some(greeting) => quoted(greeting),
            None => "nothing".to_owned(),
        });
        let line = asked.or_swept("line", || quoted(&put.line));
        phrases.push(format!(
            "each greeted with {greeting}; {line} put to one of them comes out of all"
        ));
        if let Some(sustain) = phases.sustain() {
            let lines = match asked.swept("rate") {
                Some(rates) => format!("{rates} lines/s"),
                None => format!("{} lines/s", sustain.rate_per_second),
            };
            let gaps = asked.or_swept("arrivals", || match sustain.arrivals {
                Arrivals::Constant => "equal".to_owned(),
                Arrivals::Exponential => "exponential".to_owned(),
            });
            let length = asked.or_swept("duration", || setting_ns(sustain.duration_ns));
            phrases.push(format!("then {lines} for {length}, {gaps} gaps"));
        }
    }
    phrases.push(asked.repeats());
    phrases
}
