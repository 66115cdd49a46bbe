//! The flags of the fan-out experiment: how many connect, what is said, and how often.

use std::time::Duration;

use clap::Args;
use throng_lab::plan::{PlanDraft, Sweep, value};
use throng_record::Arrivals;

use super::{list, lists, words};

/// How many connect, and lines at a rate.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FanoutFlags {
    /// Connections; each number of a list is a measurement of its own [default: 1000]
    #[arg(short, long, value_name = "N,…", value_parser = value::counts::<u32>, help_heading = "Load")]
    connections: Option<Vec<Sweep<u32>>>,
    /// After the single line, send lines at this rate
    #[arg(
        long,
        value_name = "PER-SECOND,…",
        value_delimiter = ',',
        help_heading = "Load"
    )]
    rate: Option<Vec<f64>>,
    /// How long lines are sent at --rate [default: 2s]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Load")]
    duration: Option<Vec<Duration>>,
    /// Gaps between lines at --rate [default: constant]
    #[arg(long, value_name = "GAPS,…", value_delimiter = ',', value_parser = words::<Arrivals>(&["constant", "exponential"]), help_heading = "Load")]
    arrivals: Option<Vec<Arrivals>>,
}

impl FanoutFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            connections: lists(flags.connections),
            rate: list(flags.rate),
            duration: list(flags.duration),
            arrivals: list(flags.arrivals),
            ..PlanDraft::default()
        }
    }
}

/// What is said.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LineFlags {
    /// Line that one client sends and all receive, without its newline; \t and other escapes work. For fanout [default: hello]
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        help_heading = "Line"
    )]
    line: Option<String>,
    /// Line that the server greets each connection with; for fanout [default: connected]
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        help_heading = "Line"
    )]
    greeting: Option<String>,
    /// The server sends no greeting; for fanout
    #[arg(long, conflicts_with = "greeting", help_heading = "Line")]
    no_greeting: bool,
}

impl LineFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        let none = flags.no_greeting.then(String::new);
        PlanDraft {
            line: flags.line.map(Sweep::from),
            greeting: flags.greeting.or(none).map(Sweep::from),
            ..PlanDraft::default()
        }
    }
}
