//! An experiment as a command, `throng EXPERIMENT TARGET…`: what each has of its own, and what all have alike.

use std::path::Path;

use clap::{Args, Subcommand};
use throng_lab::plan::PlanDraft;
use throng_record::plan::Experiment;

use crate::catalogue::CatalogueFlag;
use crate::exit::Exit;
use crate::experiment::{self, Inputs, RunFlags};
use crate::failure::Failure;
use crate::flags::PlanFlags;
use crate::hosts::{Hosts, ListenFlag};

mod accept;
mod backlog;
mod capacity;
mod churn;
mod echo;
mod fanout;
mod hold;
mod services;

/// The experiments that have a command, in the order of help.
#[derive(Debug, Subcommand)]
pub(crate) enum OfExperiment {
    Echo(Arguments<echo::Own>),
    Backlog(Arguments<backlog::Own>),
    Accept(Arguments<accept::Own>),
    Fanout(Arguments<fanout::Own>),
    Hold(Arguments<hold::Own>),
    Churn(Arguments<churn::Own>),
    Services(Arguments<services::Own>),
    Capacity(Arguments<capacity::Own>),
}

impl OfExperiment {
    pub(crate) fn run(&self, hosts: Option<&Hosts<'_>>) -> Result<Exit, Failure> {
        match self {
            Self::Echo(arguments) => arguments.run(hosts),
            Self::Backlog(arguments) => arguments.run(hosts),
            Self::Accept(arguments) => arguments.run(hosts),
            Self::Fanout(arguments) => arguments.run(hosts),
            Self::Hold(arguments) => arguments.run(hosts),
            Self::Churn(arguments) => arguments.run(hosts),
            Self::Services(arguments) => arguments.run(hosts),
            Self::Capacity(arguments) => arguments.run(hosts),
        }
    }
}

/// What the command of one experiment has of its own.
pub(crate) trait Measures: Args {
    const EXPERIMENT: Experiment;
    /// What it measures, in a line.
    const ABOUT: &str;
    /// What help calls a target.
    const TARGET: &str = "TARGET";
    /// What a target is.
    const TARGETS: &str;
    /// Which of the words without a flag is the first target.
    const PLACE_OF_TARGETS: usize = 1;
    /// Examples, and what is measured in a few sentences.
    const AFTER_HELP: &str;

    /// Servers that are launched; an experiment may have none.
    fn launched(&self) -> Option<&Launched> {
        None
    }

    /// Where handshakes are kept.
    fn capture(&self) -> Option<&Path> {
        None
    }

    /// Keys that are no flags here.
    fn add_to(&self, _flags: &mut PlanDraft) {}
}

/// The command line of one.
#[derive(Debug, Args)]
#[command(about = M::ABOUT, after_help = M::AFTER_HELP, allow_negative_numbers = true)]
pub(crate) struct Arguments<M: Measures> {
    #[arg(index = M::PLACE_OF_TARGETS, value_name = M::TARGET, help = M::TARGETS)]
    targets: Vec<String>,
    #[command(flatten)]
    flags: PlanFlags,
    #[command(flatten)]
    own: M,
    #[command(flatten)]
    run: RunFlags,
}

/// Servers of the user's, and where the catalogue is.
#[derive(Debug, Args)]
pub(crate) struct Launched {
    /// A server of yours to launch; {port} or {address} is where it must listen. Repeatable
    #[arg(long, value_name = "[NAME=]COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    catalogue: CatalogueFlag,
    #[command(flatten)]
    listen: ListenFlag,
}

impl<M: Measures> Arguments<M> {
    fn run(&self, hosts: Option<&Hosts<'_>>) -> Result<Exit, Failure> {
        let launched = self.own.launched();
        let commands = launched.map_or(&[][..], |launched| &launched.command);
        let targets = experiment::targets(&self.targets, commands);
        let mut flags = PlanDraft {
            targets: (!targets.is_empty()).then_some(targets),
            ..self.flags.0.clone()
        };
        self.own.add_to(&mut flags);
        let inputs = Inputs {
            capture: self.own.capture(),
            catalogue: launched.and_then(|launched| launched.catalogue.folder()),
            listen: launched.and_then(|launched| launched.listen.listen),
            hosts,
        };
        experiment::carry_out(PlanDraft::of(M::EXPERIMENT), flags, &self.run, inputs)
    }
}
