//! What is published of an experiment: files of `reference/`, built in, each beside the experiment whose figures it has.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use throng_record::plan::Experiment;
use throng_record::{Plan, Setting, Trial};

use crate::{accept, backlog, languages};

/// What is published of one row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Published {
    /// Of an echo server.
    Echo(languages::Beside),
    /// Of an accept queue.
    Backlog(backlog::published::Published),
    /// Of a multiplexer.
    Accept(accept::published::Published),
}

impl Published {
    /// What stands beside this target at this setting. Nothing beside trials that had another backlog than was asked for.
    pub(crate) fn beside(
        plan: &Plan,
        target: u32,
        asked: &Setting,
        trials: &[&Trial],
    ) -> Option<Self> {
        let target = plan.targets.get(target as usize)?;
        match plan.experiment {
            Experiment::Echo => languages::beside(&target.name, asked).map(Self::Echo),
            Experiment::Backlog if backlog::is_as_asked(trials, asked.backlog) => {
                backlog::published::beside(target, asked).map(Self::Backlog)
            }
            Experiment::Accept => {
                accept::published::beside(target, asked.connections).map(Self::Accept)
            }
            Experiment::Backlog | Experiment::Churn | Experiment::Fanout | Experiment::Hold => None,
        }
    }
}

/// Where published figures come from.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Where they stand.
    pub source: String,
    /// The machine, as far as it is known.
    pub machine: String,
    /// The date, as far as it is known.
    pub date: String,
    /// The kernel, as far as it is known.
    pub kernel: String,
    /// What to know when reading them beside measured ones; what is left out of the source here, or of it in the source.
    pub remarks: Vec<String>,
}

impl Origin {
    /// Source, machine, date and kernel as the first lines below a table.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Self {
            source,
            machine,
            date,
            kernel,
            ..
        } = self;
        vec![
            format!("Source: {source}."),
            format!("Machine {machine}; date {date}; kernel {kernel}."),
        ]
    }
}

/// A file of `reference/`.
pub(crate) fn built_in<T: DeserializeOwned>(text: &str) -> T {
    toml::from_str(text).expect("the file is built in, and a test parses it")
}
