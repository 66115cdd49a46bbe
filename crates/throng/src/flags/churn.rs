//! The flags that only the churn experiment has.

use clap::Args;
use throng_lab::plan::{PlanDraft, Sweep};
use throng_record::Closing;

use super::{list, words};

/// How a cycle ends, and whether it is watched.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ChurnFlags {
    /// How the generator closes: FIN, which leaves TIME_WAIT on the side that closes first, or RST, which leaves none [default: fin]
    #[arg(long, value_name = "CLOSING,…", value_delimiter = ',', value_parser = words::<Closing>(&["fin", "reset"]), help_heading = "Load")]
    closing: Option<Vec<Closing>>,
    /// Observe the accept queue and the handshakes; churn does not by default, because it costs CPU time
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
