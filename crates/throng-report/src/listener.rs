//! What was seen of the listener of a trial.

use throng_record::Trial;

use crate::figure::OneTrial;

/// The backlog in force, as found: of which worth the trial is does not matter for it.
pub(crate) fn backlog_in_force(trial: &Trial) -> Option<u32> {
    let listeners = &trial.accept_queue.as_ref()?.listeners;
    listeners.first().map(|listener| listener.backlog)
}

/// Whether no trial is known to have had another backlog than was asked for.
pub(crate) fn is_as_asked(trials: &[&Trial], asked: u32) -> bool {
    let mut found = trials.iter().filter_map(|trial| backlog_in_force(trial));
    found.all(|found| found == asked)
}

/// All listeners of the port together where there are several.
pub(crate) fn accept_queue_max(one: &OneTrial<'_>) -> Option<f64> {
    let queue = one.trial.accept_queue.as_ref()?;
    let together = queue.depths.iter().map(|sample| sample.depth).max();
    let longest = queue
        .listeners
        .iter()
        .map(|listener| listener.depth_max)
        .max();
    together.max(longest).map(f64::from)
}
