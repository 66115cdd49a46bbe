//! The flags that only the churn experiment has.

use clap::Args;
use throng_lab::plan::{PlanDraft, Sweep};
use throng_record::Closing;

use super::{list, words};

/// How a cycle ends, and whether it is watched.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ChurnFlags {
    /// How the generator closes: by a FIN, which leaves its port in TIME_WAIT where the server does not close first, or by a RST [default: fin]
    #[arg(long, value_name = "CLOSING,…", value_delimiter = ',', value_parser = words::<Closing>(&["fin", "reset"]), help_heading = "Load")]
    closing: Option<Vec<Closing>>,
    /// Observe the accept queue and the handshakes, which the churn experiment leaves out since it costs CPU time
    #[arg(long, help_heading = "Load")]
    observe: bool,
}

impl ChurnFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            closing: list(flags.closing),
            observe: flags.observe.then(|| Sweep::from(true)),
            ..PlanDraft::default()
        }
    }
}
