//! The flags of experiments in which every request has a connection of its own.

use clap::Args;
use throng_lab::plan::value;
use throng_lab::plan::{PlanDraft, Sweep};
use throng_record::Workload;

use super::{list, lists, words};

/// Who asks, and for what.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ClientFlags {
    /// Clients, each with one connection at a time [default: 32; churn experiment: 100]
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u32>, help_heading = "Load")]
    clients: Option<Vec<Sweep<u32>>>,
    /// What clients request and built-in servers answer [default: oneshot; churn experiment: echo; http with http:// targets]
    #[arg(long, value_name = "WORKLOAD,…", value_delimiter = ',', value_parser = words::<Workload>(&["oneshot", "http", "echo"]), help_heading = "Load")]
    workload: Option<Vec<Workload>>,
}

impl ClientFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            clients: lists(flags.clients),
            workload: list(flags.workload),
            ..PlanDraft::default()
        }
    }
}
