//! `throng fanout TARGET…`: the fan-out experiment as a command.

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
  throng fanout epoll-edge
  throng fanout thread-per-connection epoll-edge --connections 1000,7000 --baseline epoll-edge
  throng fanout all --quick
  throng fanout epoll-edge --connections 20000 --addresses kernel    where local ports get scarce
  throng fanout epoll-edge --rate 20 --duration 5s                   twenty lines a second to everybody
  throng fanout tcp://127.0.0.1:12345 --greeting connected --line hello
  throng fanout --command 'ruby chat.rb {port}' --no-greeting
  throng run many --quick                                            beside the published figures

N connect one after the other, each is greeted, one says a line, and all hear it. Each phase has its
time, and the CPU time of both sides; each connection the time from the put until it heard.

A flag with a list (…,…) is swept: every combination of all values is measured,
connections varying fastest.";

/// Measure how long N connections take to connect, to be greeted, and all to hear what one says
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, allow_negative_numbers = true)]
pub(crate) struct Arguments {
    /// A built-in model that broadcasts, `all` of them, a catalogued server (ruby/threads), tcp://HOST:PORT or unix:PATH. A model may have options of its own: 'epoll-shared --workers 4'
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// A server of yours to launch; {port}, {address} or {path} (with --family unix) is where it must listen. Repeatable
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
        PlanDraft::of(Experiment::Fanout),
        arguments.flags.on(targets),
        &arguments.run,
        inputs,
    )
}
