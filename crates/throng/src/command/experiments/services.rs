//! `throng services TARGET…`: the services experiment as a command.

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
    const EXPERIMENT: Experiment = Experiment::Services;
    const ABOUT: &str =
        "Measure how long clients take for their requests to several services at once";
    const TARGETS: &str = "A built-in model, `all` of them, a catalogued server (python/system-2), of which so many services are launched; or running services, tcp://HOST:PORT or unix:PATH, all of them together. A server may have values of its own: 'python/system-4 --listeners 1,5'";
    const AFTER_HELP: &str = "\
Examples:
  throng services epoll-edge                         20 services, 20 clients, 400,000 requests
  throng services python/system-2 --reuse true,false
  throng services 'python/system-4 --poll single' --listeners 1,5,10 --choice bound
  throng services go/net node/net --clients 5 --requests 100
  throng services unix:/run/a.sock unix:/run/b.sock  two services that run already

Each client has a task with every service: --requests, one after another, on a connection
that is kept (--reuse true) or on one for each (false). A request asks the service to
--count. A client is done when all of its tasks are.

A flag with a list (…,…) is swept: every combination of all values is measured,
clients varying fastest.";

    fn launched(&self) -> Option<&Launched> {
        Some(&self.launched)
    }
}
