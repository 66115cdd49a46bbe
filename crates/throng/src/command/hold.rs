//! `throng hold N [TARGET…]`: the hold experiment as a command.

use clap::Args;
use throng_lab::plan::{PlanDraft, Sweep, value};
use throng_record::plan::Experiment;

use crate::catalogue::CatalogueFlag;
use crate::exit::Exit;
use crate::experiment::{self, Inputs, RunFlags};
use crate::failure::Failure;
use crate::flags::PlanFlags;

const AFTER_HELP: &str = "\
Examples:
  throng hold 100k                                  by epoll-shared, whose loops have descriptor tables of their own
  throng hold 1m --pings all                        a million, each pinged once: a minute and 10 GiB
  throng hold 1000,10000 thread-per-connection epoll-edge io-uring
  throng hold 10k epoll-edge --hold 30s --connect-rate 2000
  throng hold 10k tcp://127.0.0.1:6379 --send 'PING\\r\\n' --expect '+PONG\\r\\n'
  throng hold 50k --quick

How many connections can be held, and at how many bytes each? They are opened, left alone, a sample is
pinged, and all are closed. The memory of both sides and of the kernel is read before, while and after.
Before it starts throng says whether this machine can hold so many, and if not what would let it.";

/// Measure how many connections can be held, and how many bytes each takes
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, allow_negative_numbers = true)]
pub(crate) struct Arguments {
    /// Connections: 5000, 100k, 1m; a list measures each number apart
    #[arg(value_name = "N,…", value_parser = value::connections)]
    connections: Sweep<u32>,
    /// A built-in model, `all` of them, a catalogued server (python/asyncio), tcp://HOST:PORT or unix:PATH. A model may have options of its own: 'epoll-shared --workers 4' [default: epoll-shared]
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
    let flags = PlanDraft {
        targets: (!targets.is_empty()).then_some(targets),
        // Said in so many words, it stands in the short form too.
        connections: Some(arguments.connections.clone()),
        ..arguments.flags.0.clone()
    };
    let inputs = Inputs {
        catalogue: arguments.catalogue.folder(),
        ..Inputs::default()
    };
    experiment::carry_out(
        PlanDraft::of(Experiment::Hold),
        flags,
        &arguments.run,
        inputs,
    )
}
