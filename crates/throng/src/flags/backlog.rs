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
    /// Requests that each client makes, one after the other, each on a new connection [default: 5]
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u64>, help_heading = "Load")]
    requests: Option<Vec<Sweep<u64>>>,
    /// The same as a number for all clients together, which share it evenly
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u64>, help_heading = "Load")]
    requests_total: Option<Vec<Sweep<u64>>>,
    /// How long built-in servers are to take for a request, and others are said to take [default: 40ms]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = value::duration, help_heading = "Load")]
    service_time: Option<Vec<Duration>>,
    /// Let event loops wait inline for the service time: nobody else is served meanwhile
    #[arg(long, help_heading = "Load")]
    delay_inline: bool,
    /// Observe neither the accept queue nor the handshakes: what slow requests waited for is then mostly not explained
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
