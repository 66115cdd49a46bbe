//! `throng accept [MULTIPLEXER…]`: the accept experiment as a command.

use clap::Args;
use throng_record::plan::Experiment;

use super::Measures;

/// What only this command has.
#[derive(Debug, Args)]
pub(crate) struct Own {}

impl Measures for Own {
    const EXPERIMENT: Experiment = Experiment::Accept;
    const ABOUT: &str =
        "Measure what an accept and a message cost while connections sit idle (C10K)";
    const TARGET: &str = "MULTIPLEXER";
    const TARGETS: &str = "What waits: select, poll, poll-published, epoll-level, epoll-edge, io-uring, or `all` but poll-published [default: all]";
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
}
