//! The flags that say how connects follow one another.

use clap::Args;
use throng_lab::plan::{PlanDraft, Sweep, value};

use super::{list, lists};

/// Where the connects are themselves measured.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConnectFlags {
    /// Connects in flight for each shard; 1: one after another over all shards. For fanout and hold [default: 1; hold: 64, fewer with many shards]
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u32>, help_heading = "Load")]
    connect_concurrency: Option<Vec<Sweep<u32>>>,
    /// Connects begun per second; for fanout and hold [default: as fast as possible]
    #[arg(
        long,
        value_name = "PER-SECOND,…",
        value_delimiter = ',',
        help_heading = "Load"
    )]
    connect_rate: Option<Vec<f64>>,
}

impl ConnectFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            connect_concurrency: lists(flags.connect_concurrency),
            connect_rate: list(flags.connect_rate),
            ..PlanDraft::default()
        }
    }
}
