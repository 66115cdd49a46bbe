//! The flags of an open loop.

use clap::Args;
use throng_lab::plan::{PlanDraft, Sweep};
use throng_record::Arrivals;

use super::{list, words};

/// By which schedule messages are sent.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ScheduleFlags {
    /// Open loop: messages per second over all connections, without waiting for replies
    #[arg(
        short,
        long,
        value_name = "PER-SECOND,…",
        value_delimiter = ',',
        help_heading = "Pacing"
    )]
    rate: Option<Vec<f64>>,
    /// Gaps between messages of an open loop [default: constant]
    #[arg(long, value_name = "GAPS,…", value_delimiter = ',', value_parser = words::<Arrivals>(&["constant", "exponential"]), help_heading = "Pacing")]
    arrivals: Option<Vec<Arrivals>>,
    /// Sleep until a message is due instead of spinning for the last microseconds: frees a core, sends up to 75 µs late
    #[arg(long, help_heading = "Pacing")]
    no_spin: bool,
}

impl ScheduleFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            rate: list(flags.rate),
            arrivals: list(flags.arrivals),
            spin: flags.no_spin.then(|| Sweep::from(false)),
            ..PlanDraft::default()
        }
    }
}
