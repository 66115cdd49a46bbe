//! What the connections of a fleet send and hear over all its phases, and how a back end should expect them to be used.

use std::sync::Arc;

use throng_record::{ConnectionUse, ExchangeSpec, Pacing, PhaseSpec, PingSpec, Protocol};

use crate::backend::io_uring::Usage;
use crate::control::Relay;
use crate::messages::Messages;
use crate::protocol::usual_reply_bytes;
use crate::script::Script;

/// Of connections that send nothing.
const SILENT: Usage = Usage {
    reply_bytes: 1,
    silent_sends: true,
    sends_at_once: false,
    is_short: false,
};

/// What a fleet's connections send and hear.
pub(super) struct Payload {
    pub(super) messages: Messages,
    pub(super) usage: Usage,
    pub(super) fanout: Option<(Arc<Script>, Arc<Relay>)>,
}

impl Payload {
    /// The script takes the place of messages.
    pub(super) fn script(script: Script) -> Self {
        let usage = Usage {
            reply_bytes: script.line_bytes_max(),
            // Numbered lines may queue up on the speaker, and must stay in order.
            silent_sends: script.due_ns().is_empty(),
            sends_at_once: true,
            is_short: false,
        };
        Self {
            messages: Messages::of(&Protocol::Echo { size_bytes: 1 }, 0),
            usage,
            fanout: Some((Arc::new(script), Arc::new(Relay::default()))),
        }
    }

    /// Those of the phases that have any. One block of messages serves all of them: they have been found to speak one protocol.
    pub(super) fn messages(phases: &[PhaseSpec], seed: u64) -> Self {
        let speaking = || phases.iter().filter_map(speaks);
        let silent = Protocol::Echo { size_bytes: 1 };
        let protocol = speaking().next().map_or(&silent, |(protocol, _)| protocol);
        let usages = speaking().map(|(_, usage)| usage);
        Self {
            messages: Messages::of(protocol, seed),
            usage: usages.reduce(both).unwrap_or(SILENT),
            fanout: None,
        }
    }
}

fn speaks(phase: &PhaseSpec) -> Option<(&Protocol, Usage)> {
    match phase {
        PhaseSpec::Exchange(spec) => Some((&spec.protocol, of_exchange(spec))),
        PhaseSpec::Ping(spec) => Some((&spec.protocol, of_pings(spec))),
        _ => None,
    }
}

/// What serves the phases of both.
fn both(one: Usage, other: Usage) -> Usage {
    Usage {
        reply_bytes: one.reply_bytes.max(other.reply_bytes),
        silent_sends: one.silent_sends && other.silent_sends,
        sends_at_once: one.sends_at_once || other.sends_at_once,
        is_short: one.is_short || other.is_short,
    }
}

/// How the connections of an exchange are used, as far as a back end must know.
fn of_exchange(exchange: &ExchangeSpec) -> Usage {
    let outstanding = exchange.pacing.outstanding();
    let is_short = exchange.connection != ConnectionUse::Kept;
    let is_echo = matches!(exchange.protocol, Protocol::Echo { .. });
    Usage {
        reply_bytes: usual_reply_bytes(&exchange.protocol).saturating_mul(outstanding as usize),
        silent_sends: outstanding == 1 && is_echo && !is_short,
        sends_at_once: is_short || matches!(exchange.pacing, Pacing::Open { .. }),
        is_short,
    }
}

/// A ping is one short message on a connection that then falls silent again.
fn of_pings(spec: &PingSpec) -> Usage {
    Usage {
        reply_bytes: usual_reply_bytes(&spec.protocol),
        silent_sends: matches!(spec.protocol, Protocol::Echo { .. }),
        sends_at_once: false,
        is_short: false,
    }
}

#[cfg(test)]
mod tests {
    use throng_record::Arrivals;

    use super::*;

    #[test]
    fn a_back_end_is_made_for_all_phases() {
        let protocol = Protocol::Echo { size_bytes: 6 };
        let ping = PhaseSpec::Ping(PingSpec {
            protocol: protocol.clone(),
            verify: true,
            pings: 1,
            at_once: 1,
        });
        let exchange = PhaseSpec::Exchange(ExchangeSpec {
            protocol,
            pacing: Pacing::Open {
                rate_per_second: 1.0,
                arrivals: Arrivals::Constant,
                outstanding: 3,
                spin: false,
            },
            ..ExchangeSpec::default()
        });
        let usage = |phases: &[PhaseSpec]| {
            let usage = Payload::messages(phases, 1).usage;
            let sends = (usage.silent_sends, usage.sends_at_once);
            (usage.reply_bytes, sends, usage.is_short)
        };
        assert_eq!(usage(&[]), (1, (true, false), false));
        let pings = std::slice::from_ref(&ping);
        assert_eq!(usage(pings), (6, (true, false), false));
        assert_eq!(usage(&[ping, exchange]), (18, (false, true), false));
    }
}
