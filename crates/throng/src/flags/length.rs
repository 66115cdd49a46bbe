//! The flags of experiments that measure for a while: warm-up and end.

use std::time::Duration;

use clap::Args;
use throng_lab::plan::{PlanDraft, Sweep, value};
use throng_record::Amount;

use super::{list, lists};

/// For how long it is measured, and what comes before.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LengthFlags {
    /// Stop after exactly this many messages, all connections together
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u64>, help_heading = "Load")]
    messages: Option<Vec<Sweep<u64>>>,
    /// Stop after this long [default: 2s]
    #[arg(short, long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Load")]
    duration: Option<Vec<Duration>>,
    /// Warm-up before the measurement: 300ms or '1000 messages' [default: 300ms]
    #[arg(long, value_name = "TIME|COUNT,…", value_delimiter = ',', value_parser = value::amount, help_heading = "Load")]
    warmup: Option<Vec<Amount>>,
}

impl LengthFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            messages: lists(flags.messages),
            duration: list(flags.duration),
            warmup: list(flags.warmup),
            ..PlanDraft::default()
        }
    }
}
