//! Which clauses are tried on a server, and in which order.

use throng_record::Workload;

use super::clause::Clause;
use super::subject::Subject;
use super::{
    broadcast, crowd, echo, ending, framed, http, listening, malformed, observed, oneshot,
    refusals, resets, slow_reader, waiting,
};

/// Every clause for this server, each with the workload that it is tried with.
pub(super) fn clauses(subject: &Subject<'_>) -> Vec<(Workload, &'static Clause)> {
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
        Workload::Framed => vec![
            &framed::CLAUSES,
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
