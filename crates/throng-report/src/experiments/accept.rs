//! What does one accept cost while N connections sit idle? What does one message? The accept experiment: for each setting a row for each multiplexer, with
//! the costs at both ends, the slope between, and the costs along the idle connections.
//!
//! Left out on purpose: ranks. What a multiplexer costs depends on the number of idle connections, which is the question.

pub mod along;
mod answer;
mod charts;
mod notes;
pub mod published;
mod tables;

use throng_record::{Setting, TargetRecord, Trial};

use crate::chart::{Chart, Drawn};
use crate::circumstances::Circumstances;
use crate::detail::Detail;
use crate::experiment::Experiment;
use crate::grid::Grid;
use crate::measured::{CellShown, Measured};
use crate::published::Published;
use crate::standing::Standing;
use crate::summary::Summary;
use crate::view::{Block, Brief};
use crate::worth::{Sorted, Worth};

/// The experiment.
pub(crate) struct Accept;

impl Measured for Accept {
    /// Of a multiplexer that holds fewer, its partial trials.
    fn shown<'a>(&self, sorted: &Sorted<'a>) -> Vec<&'a Trial> {
        match sorted.standing {
            Standing::Partial => sorted.of_worth(Worth::Partial).collect(),
            _ => sorted.basis.clone(),
        }
    }

    fn detail(&self, cell: &CellShown<'_>) -> Option<Detail> {
        let idle = along::points(cell.asked.connections);
        let phases = || {
            cell.shown
                .iter()
                .filter_map(|trial| trial.phases.multiplexer())
        };
        Some(Detail::Multiplexer {
            accept: along::of(phases().map(|phase| &phase.accept), &idle),
            data: along::of(phases().map(|phase| &phase.data), &idle),
            idle,
        })
    }

    fn published(&self, of: &TargetRecord, asked: &Setting, _: &[&Trial]) -> Option<Published> {
        published::beside(of, asked.connections).map(Published::Accept)
    }
}

impl Experiment for Accept {
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String> {
        vec![
            format!("{}, all but one idle", asked.connections()),
            asked.repeats(),
        ]
    }

    fn has_server(&self) -> bool {
        false
    }

    /// The last setting, which the others lead to.
    fn answer(&self, summary: &Summary<'_>) -> Vec<String> {
        let last = summary.by_setting().pop();
        last.and_then(|(_, rows)| answer::sentence(&rows))
            .into_iter()
            .collect()
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
        notes::of_rows(summary)
    }

    fn stopped(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::stopped(summary)
    }

    fn sources(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::sources(summary)
    }

    fn partial(&self) -> &'static str {
        "fewer connections were accepted than asked for"
    }
}
