//! How many connections can be held, at how many bytes each?

use throng_record::plan::Experiment::Echo;
use throng_record::{ConnectionUse, PhaseSpec, PingSpec, Sequence};

use super::exchange::{connections, protocol, verify};
use super::{Asked, Asking, Asks, quick};
use crate::plan::draft::Point;
use crate::plan::keys::instead::Instead::{LeaveOut, Take, Write};
use crate::plan::keys::instead::REPEATS;
use crate::plan::keys::own::OwnKeys;
use crate::plan::keys::{self, Usual};
use crate::plan::value::Pings;
use crate::plan::{PlanDraft, PlanError, nanoseconds};

/// The experiment.
pub(super) struct Hold;

/// Pinged at most, where nothing is asked for: a sample that has a 99th percentile.
const PINGS: u32 = 1_000;
/// Pings under way over the whole fleet: enough to keep both sides busy, too few to wait for one another.
const PINGS_AT_ONCE: u32 = 16;
/// The target where none is named: the model whose loops have a descriptor table each.
const TARGET: &str = "epoll-shared";

const HELD: &str = "its connections are held, and each is pinged once at most";
const LENGTH: &str = "hold = \"1s\"";

const KEYS: OwnKeys = OwnKeys {
    uses: &[
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
    usual: &[
        ("targets", Usual::Words(TARGET)),
        ("connections", Usual::Value("10000")),
        // Memory hardly varies, and a million connections take a minute.
        ("repeats", Usual::Value("1")),
    ],
    refuses: &[
        (
            &["requests", "requests-total", "messages"],
            HELD,
            Write("pings = 100"),
        ),
        (&["duration", "max-duration"], HELD, Write(LENGTH)),
        (&["warmup"], "what it measures is the first time", LeaveOut),
        (&["confidence"], HELD, Write(REPEATS)),
        (
            &["outstanding", "lockstep", "rate", "arrivals", "spin"],
            HELD,
            Take(Echo),
        ),
    ],
    first_word: Some("connections"),
    ..OwnKeys::NONE
};

impl Asks for Hold {
    fn keys(&self) -> &'static OwnKeys {
        &KEYS
    }

    fn takes_tls(&self) -> bool {
        true
    }

    /// The time without a word, and the pings.
    fn asked(&self, asking: &Asking<'_>, _notes: &mut Vec<String>) -> Result<Asked, PlanError> {
        let connections = connections(asking.point, "nothing would be held", "10000")?;
        let held = std::iter::once(hold(asking.point));
        let pinged = ping(asking, connections)?;
        Ok(Asked::echoed(
            connections,
            Sequence::on_open_connections(held.chain(pinged)),
        ))
    }

    fn short(&self, draft: &PlanDraft) -> PlanDraft {
        let usual = || keys::usual("connections", &KEYS);
        let connections = draft.connections.clone().unwrap_or_else(usual);
        PlanDraft {
            hold: Some(quick::at_most(draft.hold.as_ref())),
            ..quick::with_fewer(connections, 10_000)
        }
    }

    fn usual_target(&self) -> Option<&'static str> {
        Some(TARGET)
    }

    fn instead_of_a_page(&self) -> (&'static str, &'static str) {
        (
            "sends back what it gets",
            "to ping it with one fixed request, write tcp://HOST:PORT with --send and --expect",
        )
    }
}

/// Nothing is sent for so long.
pub(super) fn hold(point: &Point) -> PhaseSpec {
    PhaseSpec::Hold {
        duration_ns: nanoseconds(point.hold.unwrap_or_else(|| point.usual("hold"))),
    }
}

/// Nothing where none are asked for. A short form has fewer connections than were thought of: then all of them are pinged.
pub(super) fn ping(asking: &Asking<'_>, connections: u32) -> Result<Option<PhaseSpec>, PlanError> {
    let (point, is_shortened) = (asking.point, asking.draft.is_shortened);
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
