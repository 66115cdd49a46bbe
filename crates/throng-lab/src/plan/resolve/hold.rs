//! How connections are held, and which of them are pinged.

use throng_record::{ConnectionUse, PhaseSpec, PingSpec, Sequence, Workload};

use super::exchange::{Asked, connections, protocol, verify};
use crate::plan::draft::Point;
use crate::plan::value::Pings;
use crate::plan::{PlanError, nanoseconds};
use crate::target::TargetDraft;

/// Pinged at most, where nothing is asked for: a sample that has a 99th percentile.
const PINGS: u32 = 1_000;
/// Pings under way over the whole fleet: enough to keep both sides busy, too few to wait for one another.
const PINGS_AT_ONCE: u32 = 16;
/// The target where none is named: the model whose loops have a descriptor table each.
const TARGET: &str = "epoll-shared";

/// Where a plan names none.
pub(super) fn usual_target() -> Vec<TargetDraft> {
    vec![TARGET.into()]
}

/// The time without a word, and the pings.
pub(super) fn asked(point: &Point, is_shortened: bool) -> Result<Asked, PlanError> {
    let why = "nothing would be held";
    let connections = connections(point, why, "10000")?;
    let pinged = ping(point, connections, is_shortened)?;
    Ok(Asked {
        connections,
        phases: Sequence::on_open_connections(std::iter::once(hold(point)).chain(pinged)),
        workload: Workload::Echo,
        service_time_ns: None,
    })
}

/// Nothing is sent for so long.
pub(super) fn hold(point: &Point) -> PhaseSpec {
    PhaseSpec::Hold {
        duration_ns: nanoseconds(point.hold.unwrap_or_else(|| point.usual("hold"))),
    }
}

/// Nothing where none are asked for. A short form has fewer connections than were thought of: then all of them are pinged.
pub(super) fn ping(
    point: &Point,
    connections: u32,
    is_shortened: bool,
) -> Result<Option<PhaseSpec>, PlanError> {
    let pings = match point.pings {
        None => PINGS.min(connections),
        Some(Pings::All) => connections,
        Some(Pings::Count(pings)) if pings > connections && !is_shortened => {
            return Err(PlanError::MorePingsThanConnections { pings, connections });
        }
        Some(Pings::Count(pings)) => pings.min(connections),
    };
    let ping = PhaseSpec::Ping(PingSpec {
        protocol: protocol(point, ConnectionUse::Kept)?,
        verify: verify(point),
        pings,
        at_once: PINGS_AT_ONCE,
    });
    Ok((pings > 0).then_some(ping))
}
