//! The flags that say how often a plan is gone through, and in which order.

use clap::Args;
use throng_lab::plan::PlanDraft;

/// Repeats, their order, and what is compared with what.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RepeatFlags {
    /// Repeats of each target and setting [default: 6; experiments backlog and fanout: 3; hold: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    repeats: Option<u32>,
    /// Target to compare the others with [default: the first]
    #[arg(long, value_name = "TARGET", help_heading = "Load")]
    baseline: Option<String>,
    /// Seed of the order of trials, of payloads and arrivals [default: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    seed: Option<u64>,
}

impl RepeatFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            repeats: flags.repeats,
            baseline: flags.baseline,
            seed: flags.seed,
            ..PlanDraft::default()
        }
    }
}
