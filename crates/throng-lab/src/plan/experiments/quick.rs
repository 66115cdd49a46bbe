//! Short forms of plans that have no `[quick]` table: fewer repeats, less time, fewer connections.

use std::time::Duration;

use crate::plan::{PlanDraft, Sweep};

/// No measurement is longer, and nothing lingers longer.
const LONGEST: Duration = Duration::from_millis(400);

/// Two repeats of 400 ms, or as many messages as are asked for.
pub(super) fn shorter(draft: &PlanDraft) -> PlanDraft {
    let ends_by_time = draft.messages.is_none();
    PlanDraft {
        repeats: Some(draft.repeats.unwrap_or(2).min(2)),
        duration: ends_by_time.then(|| at_most(draft.duration.as_ref())),
        ..PlanDraft::default()
    }
}

/// Once.
pub(super) fn once() -> PlanDraft {
    PlanDraft {
        repeats: Some(1),
        ..PlanDraft::default()
    }
}

/// Once, with fewer connections.
pub(super) fn with_fewer(connections: Sweep<u32>, most: u32) -> PlanDraft {
    PlanDraft {
        connections: Some(connections.map(|connections| connections.min(most))),
        ..once()
    }
}

/// What is asked for, as far as it is short.
pub(super) fn at_most(lengths: Option<&Sweep<Duration>>) -> Sweep<Duration> {
    let lengths = lengths.cloned().unwrap_or(LONGEST.into());
    lengths.map(|length| length.min(LONGEST))
}
