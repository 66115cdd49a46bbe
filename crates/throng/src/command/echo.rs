//! `throng echo TARGET…`: the echo experiment as a command.

use clap::Args;
use throng_lab::plan::PlanDraft;

use crate::exit::Exit;
use crate::experiment::{self, RunFlags};
use crate::failure::Failure;
use crate::flags::{CommonFlags, EchoFlags, Targets};

const AFTER_HELP: &str = "\
Examples:
  throng echo epoll-edge
  throng echo thread-per-connection epoll-edge --connections 10,100,1000 --baseline epoll-edge
  throng echo all --quick
  throng echo epoll-edge --connections 1,100 --size 6,1024 --outstanding 1,8
  throng echo 'prefork --workers 8' 'prefork --workers 64' --connections 64
  throng echo io-uring --rate 20000 --arrivals exponential
  throng echo --command 'python3 mine.py {port}' epoll-edge
  throng echo tcp://127.0.0.1:6379 --send 'PING\\r\\n' --expect '+PONG\\r\\n'
  throng echo poll --quick --format csv --output poll.csv

`throng servers` lists the built-in models.

A flag with a list (…,…) is swept: every combination of all values is measured,
connections varying fastest.";

/// Measure how many messages a second servers send back, and at what latency
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, allow_negative_numbers = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    targets: Targets,
    #[command(flatten)]
    load: EchoFlags,
    #[command(flatten)]
    common: CommonFlags,
    #[command(flatten)]
    run: RunFlags,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let flags = PlanDraft {
        targets: Some(arguments.targets.drafts()),
        ..arguments.common.draft().overlay(arguments.load.draft())
    };
    experiment::carry_out(PlanDraft::default(), flags, &arguments.run, None)
}
