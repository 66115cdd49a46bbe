//! What a fleet does in the order that the plan has written.

use throng_record::{PhaseName, PhaseSpec, Sequence, Workload};

use super::exchange::{self, Asked, connections};
use super::hold;
use crate::plan::draft::Point;
use crate::plan::phases::of_key;
use crate::plan::{PlanDraft, PlanError};

/// Refuses an order that cannot be, and keys of a phase that there is not.
pub(super) fn check(draft: &PlanDraft) -> Result<(), PlanError> {
    let refuse = |why: &str| Err(PlanError::Phases(why.to_owned()));
    let kinds = kinds(draft);
    if kinds.is_empty() {
        return refuse(
            "there is none; write a table for each, in their order: [[phase]] with do = \"connect\", \"hold\", \"exchange\", \"ping\" or \"close\"",
        );
    }
    for (place, kind) in kinds.iter().enumerate() {
        if kinds[..place].contains(kind) {
            return Err(PlanError::Phases(format!(
                "`{}` occurs twice, and a trial has each kind once; compare two rates or lengths with a list of values",
                kind.name()
            )));
        }
    }
    let place = |wanted| kinds.iter().position(|&kind| kind == wanted);
    if place(PhaseName::Connect).is_some_and(|place| place > 0) {
        return refuse("`connect` is the first: all else needs open connections");
    }
    if place(PhaseName::Close).is_some_and(|place| place + 1 < kinds.len()) {
        return refuse("`close` is the last: nothing is open after it");
    }
    let mentioned = draft.mentioned();
    let lacking = |key: &&String| of_key(key).is_some_and(|kind| !kinds.contains(&kind));
    match mentioned.iter().find(lacking) {
        None => Ok(()),
        Some(key) => {
            let phase = of_key(key).map_or("", PhaseName::name);
            Err(PlanError::Phases(format!(
                "`{key}` is of the phase {phase}, which is not among them; add it, or leave {key} out"
            )))
        }
    }
}

fn kinds(draft: &PlanDraft) -> Vec<PhaseName> {
    let phases = draft.phase.iter().flatten();
    phases.map(|phase| phase.kind).collect()
}

/// The phases at one point of the sweep. Connections are opened before the first and closed after the last, whether or not it is written.
pub(super) fn asked(point: &Point, draft: &PlanDraft) -> Result<Asked, PlanError> {
    let connections = connections(point, "nothing would be opened", "1000")?;
    let mut phases = Vec::new();
    for kind in kinds(draft) {
        phases.extend(match kind {
            PhaseName::Hold => Some(hold::hold(point)),
            PhaseName::Exchange => Some(PhaseSpec::Exchange(exchange::on_kept(point)?)),
            PhaseName::Ping => hold::ping(point, connections, draft.is_shortened)?,
            _ => None,
        });
    }
    Ok(Asked {
        connections,
        phases: Sequence::on_open_connections(phases),
        workload: Workload::Echo,
        service_time_ns: None,
    })
}
