//! Services that failed, of a trial in which the others went on.

use serde::Serialize;
use throng_record::Trial;

/// A service of which a task failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailedService {
    /// Its number, from 1.
    pub service: usize,
    /// Of how many.
    pub of: usize,
    /// Tasks that failed there.
    pub tasks: u32,
    /// How the first failed.
    pub first_failure: String,
}

/// Those of a trial, by number.
pub(super) fn of(trial: &Trial) -> Vec<FailedService> {
    let Some(tasks) = trial.phases.tasks() else {
        return vec![];
    };
    let of = tasks.services.len();
    let failed = tasks.failed_services();
    failed
        .map(|(service, found)| FailedService {
            service,
            of,
            tasks: found.failed,
            first_failure: found.first_failure.clone().unwrap_or_default(),
        })
        .collect()
}
