//! What does each phase measure, and what does it cost? The phases of the plan file, in their order.

use throng_record::{PhaseName, PhaseSpec, Sequence};

use super::exchange::{connections, on_kept};
use super::{Asked, Asking, Asks, hold, quick};
use crate::plan::keys::own::OwnKeys;
use crate::plan::phases::of_key;
use crate::plan::{PlanDraft, PlanError};

/// The experiment.
pub(super) struct Phases;

const KEYS: OwnKeys = OwnKeys {
    uses: &[
        "phase",
        "hold",
        "pings",
        "connect-concurrency",
        "connect-rate",
        "tls",
        "tls-resumption",
        "ca",
        "sni",
        "insecure",
    ],
    ..OwnKeys::NONE
};

impl Asks for Phases {
    fn keys(&self) -> &'static OwnKeys {
        &KEYS
    }

    fn takes_tls(&self) -> bool {
        true
    }

    fn check(&self, draft: &PlanDraft) -> Result<(), PlanError> {
        check(draft)
    }

    /// Connections are opened before the first and closed after the last, whether or not it is written.
    fn asked(&self, asking: &Asking<'_>, _notes: &mut Vec<String>) -> Result<Asked, PlanError> {
        let connections = connections(asking.point, "nothing would be opened", "1000")?;
        let mut phases = Vec::new();
        for kind in kinds(asking.draft) {
            phases.extend(match kind {
                PhaseName::Hold => Some(hold::hold(asking.point)),
                PhaseName::Exchange => Some(PhaseSpec::Exchange(on_kept(asking.point)?)),
                PhaseName::Ping => hold::ping(asking, connections)?,
                _ => None,
            });
        }
        Ok(Asked::echoed(
            connections,
            Sequence::on_open_connections(phases),
        ))
    }

    fn short(&self, draft: &PlanDraft) -> PlanDraft {
        let ends_by_time = draft.messages.is_none() && draft.confidence.is_none();
        let has_length = draft.has_phase(PhaseName::Exchange) && ends_by_time;
        let is_held = draft.has_phase(PhaseName::Hold);
        let connections = draft.connections.clone();
        PlanDraft {
            connections: connections.map(|all| all.map(|one| one.min(10_000))),
            duration: has_length.then(|| quick::at_most(draft.duration.as_ref())),
            hold: is_held.then(|| quick::at_most(draft.hold.as_ref())),
            ..quick::once()
        }
    }
}

/// Refuses an order that cannot be, and keys of a phase that there is not.
fn check(draft: &PlanDraft) -> Result<(), PlanError> {
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
