//! The form in which `poll(2)` was published.

use clap::Args;
use throng_lab::plan::PlanDraft;

/// Of the accept experiment.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PublishedFlag {
    /// Call poll as the published program does, with room for all connections from the first call on; for accept
    #[arg(long, help_heading = "Load")]
    published: bool,
}

impl PublishedFlag {
    /// This flag in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        PlanDraft {
            published: self.published.then_some(true),
            ..PlanDraft::default()
        }
    }
}
