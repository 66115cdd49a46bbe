//! The flags that only the backlog experiment has: how many clients, how often each asks, what a request takes.

use std::time::Duration;

use clap::Args;
use throng_lab::plan::value;
use throng_lab::plan::{PlanDraft, Sweep};

use super::{ClientFlags, list, lists};

/// The load of clients that connect for each request.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct BacklogFlags {
    #[command(flatten)]
    clients: ClientFlags,
    /// Requests of each client, one after another, each on a new connection [default: 5]
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u64>, help_heading = "Load")]
    requests: Option<Vec<Sweep<u64>>>,
    /// Requests of all clients together, shared evenly; in place of --requests
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u64>, help_heading = "Load")]
    requests_total: Option<Vec<Sweep<u64>>>,
    /// Service time of a request: built-in servers are told it, of others it is assumed [default: 40ms]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = value::duration, help_heading = "Load")]
    service_time: Option<Vec<Duration>>,
    /// Event loops block for the service time, so that all their other connections wait
    #[arg(long, help_heading = "Load")]
    delay_inline: bool,
    /// Do not observe the accept queue and the handshakes; most slow requests then have no known cause
    #[arg(long, help_heading = "Load")]
    no_observe: bool,
}

impl BacklogFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            requests: lists(flags.requests),
            requests_total: lists(flags.requests_total),
            service_time: list(flags.service_time),
            delay_inline: flags.delay_inline.then(|| Sweep::from(true)),
            observe: flags.no_observe.then(|| Sweep::from(false)),
            ..flags.clients.draft()
        }
    }
}
