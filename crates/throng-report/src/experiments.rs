//! The experiments, a folder each: tables, words, how to read them, and what is published. Each is pure: a record in, rows and pages out.

pub mod accept;
pub mod backlog;
pub mod capacity;
mod churn;
pub(crate) mod crowd;
pub mod echo;
pub mod fanout;
pub mod hold;
mod messages;
mod phases;
pub mod services;
pub(crate) mod tls;

use throng_record::plan;

use crate::experiment::Experiment;

/// The one that a plan asks for.
pub(crate) fn of(kind: plan::Experiment) -> &'static dyn Experiment {
    match kind {
        plan::Experiment::Echo => &echo::Echo,
        plan::Experiment::Churn => &churn::Churn,
        plan::Experiment::Backlog => &backlog::Backlog,
        plan::Experiment::Accept => &accept::Accept,
        plan::Experiment::Fanout => &fanout::Fanout,
        plan::Experiment::Hold => &hold::Hold,
        plan::Experiment::Services => &services::Services,
        plan::Experiment::Capacity => &capacity::Capacity,
        plan::Experiment::Phases => &phases::Phases,
    }
}
