//! A clause, and which of them are tried on a server.

use throng_record::ContractException;

use super::stage::{Seen, Stage};
use super::subject::Subject;
use super::{
    broadcast, crowd, echo, ending, http, listening, malformed, observed, oneshot, refusals,
    resets, slow_reader, waiting,
};
use throng_record::Workload;

/// One thing that the contract asks for.
pub(super) struct Clause {
    pub(super) name: &'static str,
    /// What it asks for, as a sentence that begins with the server.
    pub(super) due: &'static str,
    pub(super) exception: Option<ContractException>,
    /// Tries it on a server of its own.
    pub(super) run: fn(&Stage<'_>) -> Outcome,
}

/// What came of trying.
pub(super) type Outcome = Result<Verdict, Seen>;

pub(super) enum Verdict {
    Holds,
    /// It has no meaning here; why.
    Moot(String),
}

impl Clause {
    pub(super) const fn core(
        name: &'static str,
        run: fn(&Stage<'_>) -> Outcome,
        due: &'static str,
    ) -> Self {
        Self {
            name,
            due,
            exception: None,
            run,
        }
    }

    pub(super) const fn under(self, exception: ContractException) -> Self {
        Self {
            exception: Some(exception),
            ..self
        }
    }
}

/// Every clause for this server, each with the workload that it is tried with.
pub(super) fn planned(subject: &Subject<'_>) -> Vec<(Workload, &'static Clause)> {
    let usual = subject.usual_workload();
    let mut planned = Vec::new();
    for group in [&refusals::CLAUSES[..], &listening::CLAUSES] {
        planned.extend(group.iter().map(|clause| (usual, clause)));
    }
    planned.extend(observed::CLAUSES.iter().map(|clause| (usual, clause)));
    for &workload in &subject.workloads {
        for group in of(workload) {
            planned.extend(group.iter().map(|clause| (workload, clause)));
        }
    }
    planned
}

fn of(workload: Workload) -> Vec<&'static [Clause]> {
    match workload {
        Workload::Echo => vec![
            &echo::CLAUSES,
            &slow_reader::CLAUSES,
            &resets::CLAUSES,
            &crowd::CLAUSES,
            &ending::CLAUSES,
        ],
        Workload::Broadcast => vec![
            &broadcast::CLAUSES,
            &broadcast::slow::CLAUSES,
            &resets::CLAUSES,
            &crowd::CLAUSES,
            &ending::CLAUSES,
        ],
        Workload::Http => vec![
            &http::CLAUSES,
            &waiting::CLAUSES,
            &malformed::CLAUSES,
            &resets::CLAUSES,
            &crowd::CLAUSES,
            &ending::CLAUSES,
        ],
        Workload::Oneshot => vec![
            &oneshot::CLAUSES,
            &resets::CLAUSES,
            &crowd::CLAUSES,
            &ending::CLAUSES,
        ],
    }
}
