//! `throng accept [MULTIPLEXER…]`: the accept experiment as a command.

use clap::Args;
use throng_lab::plan::PlanDraft;
use throng_record::plan::Experiment;

use crate::exit::Exit;
use crate::experiment::{self, Inputs, RunFlags};
use crate::failure::Failure;
use crate::flags::PlanFlags;

const AFTER_HELP: &str = "\
Examples:
  throng accept                                      all five, up to 10,000 connections
  throng accept poll epoll-edge --connections 2000 --repeats 1
  throng accept poll poll-published --connections 1000,10000
  throng accept select --connections 2000            where its sets of descriptors end
  throng accept --quick                              once, up to 2,000 connections
  throng run c10k                                    the published measurement, on this machine

What does one accept, and one message, cost while N other connections sit idle? There is no
server: one process connects to itself, again and again, and times how long its wait, and the
accept or the read after it, take with one more idle connection each time. The report has the
cost with few and with all, and the slope: nanoseconds that each idle connection adds.";

/// Measure what an accept and a message cost while connections sit idle (C10K)
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, allow_negative_numbers = true)]
pub(crate) struct Arguments {
    /// What waits: select, poll, poll-published, epoll-level, epoll-edge, io-uring, or `all` but poll-published [default: all]
    #[arg(value_name = "MULTIPLEXER")]
    targets: Vec<String>,
    #[command(flatten)]
    flags: PlanFlags,
    #[command(flatten)]
    run: RunFlags,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let targets = experiment::targets(&arguments.targets, &[]);
    let flags = PlanDraft {
        targets: (!targets.is_empty()).then_some(targets),
        ..arguments.flags.0.clone()
    };
    experiment::carry_out(
        PlanDraft::of(Experiment::Accept),
        flags,
        &arguments.run,
        Inputs::default(),
    )
}
