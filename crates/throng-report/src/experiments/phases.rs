//! What does each phase measure, and what does it cost? Phases in the order that the plan has written, each with the figures of its kind.
//!
//! Left out on purpose: ranks. A sequence has no single figure that it is about.

mod answer;
mod charts;
mod tables;

use throng_record::{PhaseName, Trial};

use crate::chart::{Chart, Drawn};
use crate::circumstances::Circumstances;
use crate::experiment::{Experiment, Section};
use crate::experiments::{crowd, messages};
use crate::format::setting_ns;
use crate::grid::Grid;
use crate::legend::spreads;
use crate::measured::Measured;
use crate::summary::Summary;
use crate::view::{Block, Brief};
use crate::worth::Sorted;

/// The experiment.
pub(crate) struct Phases;

impl Measured for Phases {
    fn shown<'a>(&self, sorted: &Sorted<'a>) -> Vec<&'a Trial> {
        crowd::shown(sorted)
    }
}

impl Experiment for Phases {
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String> {
        let phases = &asked.setting.phases;
        let mut phrases = vec![asked.connections(), crowd::connects(asked)];
        if let Some(hold_ns) = phases.hold_ns() {
            let length = asked.or_swept("hold", || setting_ns(hold_ns));
            phrases.push(format!("held for {length}"));
        }
        phrases.extend(asked.protocol());
        match phases.has(PhaseName::Exchange) {
            true => phrases.extend(asked.paced()),
            false => phrases.push(asked.repeats()),
        }
        phrases
    }

    fn answer(&self, summary: &Summary<'_>) -> Vec<String> {
        answer::sentences(summary)
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
        let mut lines = vec![spreads(&summary.rows, |key| {
            key == "opened_ns" || key.ends_with("_duration_ns") || key.ends_with("s_per_second")
        })];
        lines.push("CPU: of that side from the reading before the phase to the reading after it. threads, RSS: of the server at the end of the phase. What each figure is: throng explain figures.".to_owned());
        lines.extend(crowd::notes::legend(summary));
        lines.retain(|line| !line.is_empty());
        lines
    }

    fn notes_of_rows(&self, summary: &Summary<'_>) -> Vec<String> {
        crowd::notes::of_rows(summary)
    }

    fn sections(&self, summary: &Summary<'_>) -> Vec<Section> {
        vec![crowd::notes::errors_by_connection(summary)]
    }

    fn schedule(&self, summary: &Summary<'_>) -> Vec<String> {
        messages::notes::schedule(summary)
    }

    fn partial(&self) -> &'static str {
        crowd::PARTIAL
    }
}
