//! How long do all clients' requests take, against the least possible? The backlog experiment: a table for each target and each of whatever is swept
//! beside clients and requests, a row for each number of clients × requests.
//!
//! Times are medians over the trials, latencies those of all their connections together. The kernel's counts are medians, since they belong to a run as a
//! whole; failed and slow requests are sums, since one in a thousand counts. What was not seen is absent, and never 0.

mod answer;
mod charts;
mod notes;
pub mod published;
mod tables;

use throng_record::{Plan, Setting, TargetRecord, Trial};

use crate::chart::{Chart, Drawn};
use crate::circumstances::Circumstances;
use crate::experiment::Experiment;
use crate::format::{exact, plural, setting_ns};
use crate::grid::Grid;
use crate::leading::Leading;
use crate::listener;
use crate::measured::Measured;
use crate::published::Published;
use crate::setting::requests_each;
use crate::standing::Standing;
use crate::summary::Summary;
use crate::view::{Block, Brief};
use crate::worth::Sorted;

/// The experiment.
pub(crate) struct Backlog;

impl Measured for Backlog {
    fn leading(&self, _: &Plan) -> Leading {
        Leading::TotalTime
    }

    /// All that stand, ranked or not: requests that failed are what is asked about.
    fn shown<'a>(&self, sorted: &Sorted<'a>) -> Vec<&'a Trial> {
        match sorted.standing {
            Standing::Ranked | Standing::Qualified | Standing::Partial => sorted.with_figures(),
            _ => Vec::new(),
        }
    }

    fn published(
        &self,
        of: &TargetRecord,
        asked: &Setting,
        trials: &[&Trial],
    ) -> Option<Published> {
        if !listener::is_as_asked(trials, asked.backlog) {
            return None;
        }
        published::beside(of, asked).map(Published::Backlog)
    }
}

impl Experiment for Backlog {
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String> {
        let mut phrases: Vec<String> = asked.protocol().into_iter().collect();
        phrases.extend([clients(asked), service_time(asked), asked.repeats()]);
        phrases
    }

    fn answer(&self, summary: &Summary<'_>) -> Vec<String> {
        answer::sentences(&tables::tables(summary))
    }

    fn blocks(&self, summary: &Summary<'_>) -> Vec<Block> {
        tables::blocks(summary)
    }

    fn brief(&self, summary: &Summary<'_>) -> (Vec<Brief>, Vec<Grid>) {
        (Vec::new(), tables::times(summary).into_iter().collect())
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

    fn partial(&self) -> &'static str {
        "requests failed as the kernel's account explains"
    }

    fn sources(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::sources(summary)
    }
}

/// Who asks how much.
fn clients(asked: &Circumstances<'_>) -> String {
    let number = exact(asked.setting.connections.into());
    let clients = asked
        .swept("clients")
        .unwrap_or_else(|| asked.or_swept("connections", || number));
    let all = || asked.plan.settings.iter().filter_map(requests_each);
    let requests = match (asked.swept("requests"), all().min(), all().max()) {
        (Some(requests), _, _) => format!("{requests} requests each"),
        (None, Some(least), Some(most)) if least != most => {
            let total = u64::from(asked.setting.connections)
                * requests_each(asked.setting).unwrap_or_default();
            format!("{} requests in all", exact(total))
        }
        (None, each, _) => format!("{} each", plural(each.unwrap_or_default(), "request")),
    };
    format!("{clients} clients, {requests}, each on a connection of its own")
}

/// How long a request is to take, or is said to take.
fn service_time(asked: &Circumstances<'_>) -> String {
    let shared = || asked.setting.service_time_ns.map(setting_ns);
    match asked.swept("service-time").or_else(shared) {
        Some(time) => format!("service time {time}"),
        None => "service time not known".to_owned(),
    }
}
