//! `throng churn TARGET…`: the churn experiment as a command.

use clap::Args;
use throng_lab::plan::PlanDraft;
use throng_record::plan::Experiment;

use crate::catalogue::CatalogueFlag;
use crate::exit::Exit;
use crate::experiment::{self, Inputs, RunFlags};
use crate::failure::Failure;
use crate::flags::PlanFlags;

const AFTER_HELP: &str = "\
Examples:
  throng churn epoll-edge                            100 clients, echo, closed by FIN
  throng churn all --clients 10,100,1000
  throng churn epoll-edge thread-per-connection --closing fin,reset
  throng churn epoll-edge --rate 5000 --duration 10s
  throng churn http://127.0.0.1:8080/index.html --clients 50

Every request has a connection of its own: connect, ask, receive, close. A cycle is all of
that. Without --rate each client begins its next cycle when its last one has ended.

A flag with a list (…,…) is swept: every combination of all values is measured,
clients varying fastest.";

/// Measure connections that live for one request: cycles of connect, request, reply and close
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, allow_negative_numbers = true)]
pub(crate) struct Arguments {
    /// A built-in model, `all` of them, a catalogued server (python/asyncio), tcp://HOST:PORT or http://HOST:PORT/PATH. A model may have options of its own: 'prefork --workers 8'
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// A server of yours to launch; {port} or {address} is where it must listen. Repeatable
    #[arg(long, value_name = "[NAME=]COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    flags: PlanFlags,
    #[command(flatten)]
    catalogue: CatalogueFlag,
    #[command(flatten)]
    run: RunFlags,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let targets = experiment::targets(&arguments.targets, &arguments.command);
    let inputs = Inputs {
        catalogue: arguments.catalogue.folder(),
        ..Inputs::default()
    };
    experiment::carry_out(
        PlanDraft::of(Experiment::Churn),
        arguments.flags.on(targets),
        &arguments.run,
        inputs,
    )
}
