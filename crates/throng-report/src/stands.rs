//! Which trials the figures of a row stand on, by experiment.
//!
//! **Echo and churn**: those that rank it (see [`crate::summary`]), or none.
//! **Backlog**: all that stand, ranked or not. Requests that failed are what is asked about.
//! **Accept**: the same as echo, and of a multiplexer that holds fewer its partial trials.
//! **Many connections**: where a server runs into its real limit is the question, so that there are figures of whatever there is: without valid trials of the
//! partial ones, else of the invalid, failed or interrupted ones, as far as they came. Such figures carry a mark, and are never compared.

use throng_record::Trial;
use throng_record::plan::Experiment;

use crate::summary::Standing;
use crate::worth::{Sorted, Worth};

/// The trials of a row that its figures are made from.
pub(crate) fn shown<'a>(experiment: Experiment, sorted: &Sorted<'a>) -> Vec<&'a Trial> {
    let of_worth = |worth| sorted.of_worth(worth).collect();
    match (experiment, sorted.standing) {
        (Experiment::Echo | Experiment::Churn, _) => sorted.basis.clone(),
        (Experiment::Backlog, Standing::Ranked | Standing::Qualified | Standing::Partial) => {
            sorted.with_figures()
        }
        (Experiment::Backlog, _) => vec![],
        (Experiment::Accept, Standing::Partial) => of_worth(Worth::Partial),
        (Experiment::Accept, _) => sorted.basis.clone(),
        (Experiment::Fanout | Experiment::Hold, standing) => match standing {
            Standing::Ranked | Standing::Qualified => sorted.basis.clone(),
            Standing::Partial => of_worth(Worth::Partial),
            Standing::Invalid => of_worth(Worth::Invalid),
            Standing::Failed => came_to_something(sorted),
            Standing::Spared => vec![],
            Standing::NotMeasured => of_worth(Worth::Interrupted),
        },
    }
}

/// Of those that failed the ones that had begun to measure.
fn came_to_something<'a>(sorted: &Sorted<'a>) -> Vec<&'a Trial> {
    let failed = sorted.of_worth(Worth::Failed);
    failed.filter(|trial| !trial.phases.0.is_empty()).collect()
}

/// Those of them that measured anything.
pub(crate) fn behind(shown: &[&Trial]) -> u32 {
    let measured = shown.iter().filter(|trial| !trial.phases.0.is_empty());
    u32::try_from(measured.count()).unwrap_or(u32::MAX)
}
