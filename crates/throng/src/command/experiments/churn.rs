//! `throng churn TARGET…`: the churn experiment as a command.

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
    const EXPERIMENT: Experiment = Experiment::Churn;
    const ABOUT: &str = "Measure connections that live for one request: cycles of connect, request, reply and close";
    const TARGETS: &str = "A built-in model, `all` of them, a catalogued server (python/asyncio), tcp://HOST:PORT or http://HOST:PORT/PATH. A model may have options of its own: 'prefork --workers 8'";
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

    fn launched(&self) -> Option<&Launched> {
        Some(&self.launched)
    }
}
