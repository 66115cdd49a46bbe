//! `throng fanout TARGET…`: the fan-out experiment as a command.

use clap::Args;
use throng_record::plan::Experiment;

use super::{Launched, Measures};

/// What only this command has.
#[derive(Debug, Args)]
pub(crate) struct Own {
    #[command(flatten)]
    launched: Launched,
}

impl Measures for Own {
    const EXPERIMENT: Experiment = Experiment::Fanout;
    const ABOUT: &str = "Measure how long N connections take to connect, to be greeted, and all to hear what one says";
    const TARGETS: &str = "A built-in model that broadcasts, `all` of them, a catalogued server (ruby/threads), tcp://HOST:PORT or unix:PATH. A model may have options of its own: 'epoll-shared --workers 4'";
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

    fn launched(&self) -> Option<&Launched> {
        Some(&self.launched)
    }
}
