//! The flags of the hold experiment: how long connections are held, and how many are pinged.

use std::time::Duration;

use clap::Args;
use throng_lab::plan::value::{self, Pings};
use throng_lab::plan::{PlanDraft, Sweep};

use super::{list, lists};

/// What is done with connections that are held.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HoldFlags {
    /// How long all connections stay open before the pings; for hold [default: 2s]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Load")]
    hold: Option<Vec<Duration>>,
    /// Connections to ping, spread evenly, or all; for hold [default: 1000 at most]
    #[arg(long, value_name = "N|all,…", value_parser = value::pings, help_heading = "Load")]
    pings: Option<Vec<Sweep<Pings>>>,
}

impl HoldFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            hold: list(flags.hold),
            pings: lists(flags.pings),
            ..PlanDraft::default()
        }
    }
}
