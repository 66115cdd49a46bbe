//! How long does each client take for its requests to several services? A row for each target at each setting: when its clients were done, beside what is
//! published, where their time went, and what each service cost.
//!
//! Left out on purpose: ranks. Rows are read beside each other, and what is asked of them differs.

mod answer;
mod charts;
pub mod failed;
mod notes;
pub mod published;
mod tables;

use throng_record::{Plan, Setting, Stop, TargetRecord, TasksSpec, Trial};

use crate::chart::{Chart, Drawn};
use crate::circumstances::Circumstances;
use crate::detail::Detail;
use crate::experiment::Experiment;
use crate::experiments::crowd;
use crate::format::{exact, plural};
use crate::grid::Grid;
use crate::leading::Leading;
use crate::measured::{CellShown, Measured};
use crate::published::Published;
use crate::summary::Summary;
use crate::view::{Block, Brief};
use crate::worth::Sorted;
use failed::FailedService;

/// The experiment.
pub(crate) struct Services;

impl Measured for Services {
    fn leading(&self, _: &Plan) -> Leading {
        Leading::None
    }

    /// What the other services did where one failed is asked about as well; such figures carry a mark.
    fn shown<'a>(&self, sorted: &Sorted<'a>) -> Vec<&'a Trial> {
        crowd::shown(sorted)
    }

    fn detail(&self, cell: &CellShown<'_>) -> Option<Detail> {
        let failed: Vec<FailedService> = cell
            .shown
            .iter()
            .flat_map(|trial| failed::of(trial))
            .collect();
        (!failed.is_empty()).then_some(Detail::Services { failed })
    }

    fn published(
        &self,
        of: &TargetRecord,
        asked: &Setting,
        _trials: &[&Trial],
    ) -> Option<Published> {
        published::beside(of, asked).map(Published::Services)
    }
}

impl Experiment for Services {
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String> {
        circumstances(asked)
    }

    fn unit(&self) -> &'static str {
        "requests/s"
    }

    fn answer(&self, summary: &Summary<'_>) -> Vec<String> {
        answer::sentences(summary)
    }

    fn blocks(&self, summary: &Summary<'_>) -> Vec<Block> {
        tables::blocks(summary)
    }

    fn brief(&self, summary: &Summary<'_>) -> (Vec<Brief>, Vec<Grid>) {
        (vec![tables::brief(summary)], Vec::new())
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

    fn sources(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::sources(summary)
    }
}

/// The tasks of a setting, and whether they keep their connections.
pub(super) fn tasks(asked: &Setting) -> Option<(&TasksSpec, bool)> {
    let is_kept = !asked.phases.is_of_requests();
    Some((asked.phases.tasks()?, is_kept))
}

/// Requests of each task.
pub(super) fn requests(asked: &Setting) -> u64 {
    let stop = asked.phases.exchange().map(|spec| spec.stop);
    stop.map_or(0, Stop::each)
}

/// How many clients there are.
pub(super) fn clients(asked: &Setting) -> u32 {
    asked.phases.clients(asked.connections)
}

/// Who asks whom how often.
fn circumstances(asked: &Circumstances<'_>) -> Vec<String> {
    let Some((tasks, is_kept)) = tasks(asked.setting) else {
        return vec![asked.repeats()];
    };
    let number = |key, number: u32, noun: &str| match asked.swept(key) {
        Some(numbers) => format!("{numbers} {noun}s"),
        None => plural(number.into(), noun),
    };
    let requests = asked.or_swept("requests", || exact(requests(asked.setting)));
    let mut phrases = vec![format!(
        "{}, each asking {} {requests} times",
        number("clients", clients(asked.setting), "client"),
        number("services", tasks.services, "service"),
    )];
    if asked.swept("reuse").is_none() {
        phrases.push(match is_kept {
            true => "on kept connections".to_owned(),
            false => "each request on a connection of its own".to_owned(),
        });
    }
    if asked.swept("listeners").is_none() && asked.setting.listeners > 1 {
        let choice = match tasks.choices {
            1 => "one for each client",
            _ => "one by chance for each request",
        };
        phrases.push(format!(
            "{} of each service, {choice}",
            plural(asked.setting.listeners.into(), "listener")
        ));
    }
    let count = asked
        .swept("count")
        .or_else(|| published::count(asked.setting).map(exact));
    let workload = asked.or_swept("workload", || asked.setting.workload.name().to_owned());
    phrases.push(match count {
        Some(count) => format!("counting to {count} for each, asked in {workload}"),
        None => format!("asked in {workload}"),
    });
    phrases.push(asked.repeats());
    phrases
}
