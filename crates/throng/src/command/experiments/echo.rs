//! `throng echo TARGET…`: the echo experiment as a command.

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
    const EXPERIMENT: Experiment = Experiment::Echo;
    const ABOUT: &str =
        "Measure messages per second and latency of servers that answer each message";
    const TARGETS: &str = "A built-in model, `all` of them, a catalogued server (python/asyncio), tcp://HOST:PORT or unix:PATH. A model may have options of its own: 'prefork --workers 8'";
    const AFTER_HELP: &str = "\
Examples:
  throng echo epoll-edge
  throng echo thread-per-connection epoll-edge --connections 10,100,1000 --baseline epoll-edge
  throng echo all --quick
  throng echo epoll-edge --connections 1,100 --size 6,1024 --outstanding 1,8
  throng echo python/asyncio go/goroutines epoll-edge
  throng echo 'prefork --workers 8' 'prefork --workers 64' --connections 64
  throng echo io-uring --rate 20000 --arrivals exponential
  throng echo --command 'python3 mine.py {port}' epoll-edge
  throng echo tcp://127.0.0.1:6379 --send 'PING\\r\\n' --expect '+PONG\\r\\n'
  throng echo poll --quick --format csv --output poll.csv

`throng servers` lists the built-in models and the catalogue; `python` stands for all servers of
a language, `catalogue` for all.

A flag with a list (…,…) is swept: every combination of all values is measured,
connections varying fastest.";

    fn launched(&self) -> Option<&Launched> {
        Some(&self.launched)
    }
}
