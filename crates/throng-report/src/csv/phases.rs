//! What a phase cost, in the form in which the figures of fan-out and hold have it.

use throng_record::{PhaseCost, SideCost, Trial};

use crate::phases::PhaseKind;

/// What stands in the columns of a phase: nothing where it was not measured.
pub(super) struct Costs {
    /// From the reading before the phase to the reading after it.
    pub(super) window_ns: Option<u64>,
    /// The generator's CPU time: user, system and all, in nanoseconds.
    pub(super) generator: [Option<u64>; 3],
    /// The server's.
    pub(super) server: [Option<u64>; 3],
    /// The server's threads, and its resident set in bytes, at the phase's end.
    pub(super) at_end: (Option<u32>, Option<u64>),
}

/// What this phase of the trial cost both sides.
pub(super) fn costs_of(phase: PhaseKind, trial: &Trial) -> Costs {
    let side = |pick: fn(&PhaseCost) -> Option<SideCost>| phase.cost(trial).and_then(pick);
    let server = side(|cost| cost.server);
    Costs {
        window_ns: phase.cost(trial).map(|cost| cost.window_ns),
        generator: cpu(side(|cost| cost.generator)),
        server: cpu(server),
        at_end: (
            server.map(|server| server.threads),
            server.map(|server| server.rss_bytes),
        ),
    }
}

fn cpu(cost: Option<SideCost>) -> [Option<u64>; 3] {
    [
        cost.map(|cost| cost.user_ns),
        cost.map(|cost| cost.system_ns),
        cost.map(|cost| cost.cpu_ns),
    ]
}
