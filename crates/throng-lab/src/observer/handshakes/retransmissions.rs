//! The handshakes of a server of which something was sent again, as the kernel tells of it.
//!
//! Whether a SYN-ACK was sent by the server's timer or answers a SYN that was sent again is not told. The timer's first is due a
//! second after the request was made (`TCP_TIMEOUT_INIT`, include/net/tcp.h), and so after the last SYN; an answer follows at once.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;

use throng_sys::clock::MILLISECOND_NS;
use throng_sys::retransmission::{Retransmission, RetransmissionKind, RetransmissionTap};

use super::{HandshakeCounts, canonical};
use crate::explain::FlowSeen;

/// Some 70 MB. Further ones are lost.
const KEPT_MAX: usize = 1 << 20;
/// A SYN-ACK so soon after a SYN that was sent again answers it.
const ANSWER_MAX_NS: u64 = 500 * MILLISECOND_NS;

/// Keeps all that is sent again.
#[derive(Debug)]
pub(super) struct Retransmissions {
    tap: RetransmissionTap,
    server: SocketAddr,
    kept: Vec<Retransmission>,
    lost: u64,
}

/// What was sent again, by client, in the order of time.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) counts: HandshakeCounts,
    clients: HashMap<SocketAddr, Vec<Retransmission>>,
    /// Nothing is missing.
    is_whole: bool,
}

impl Retransmissions {
    /// Begins to listen for those of handshakes with `server`: all that are sent again after this returns are heard of.
    ///
    /// # Errors
    /// As [`RetransmissionTap::start`].
    pub(super) fn watch(server: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            tap: RetransmissionTap::start(server.port())?,
            server: canonical(server),
            kept: Vec::new(),
            lost: 0,
        })
    }

    pub(super) fn read(&mut self) {
        let (ip, kept, lost) = (self.server.ip(), &mut self.kept, &mut self.lost);
        let outcome = self.tap.read(|one| {
            if !ip.is_unspecified() && one.server.ip() != ip {
                return;
            }
            if kept.len() < KEPT_MAX {
                kept.push(*one);
            } else {
                *lost += 1;
            }
        });
        if outcome.is_err() {
            // How many is not known.
            self.lost += 1;
        }
    }

    /// The account, and how many were missed.
    pub(super) fn finish(self) -> (Ledger, u64) {
        // Where that is not told, it is not said that there were none.
        let lost = self.lost + self.tap.lost().unwrap_or(1);
        (Ledger::of(self.kept, lost == 0), lost)
    }
}

impl Ledger {
    fn of(mut heard: Vec<Retransmission>, is_whole: bool) -> Self {
        heard.sort_by_key(|one| one.monotonic_ns);
        let mut ledger = Self {
            counts: HandshakeCounts::default(),
            clients: HashMap::new(),
            is_whole,
        };
        for one in heard {
            ledger.add(one);
        }
        ledger
    }

    fn add(&mut self, one: Retransmission) {
        let before = self.clients.entry(one.client).or_default();
        let answers = before.last().is_some_and(|last| {
            last.kind == RetransmissionKind::Syn
                && one.monotonic_ns - last.monotonic_ns < ANSWER_MAX_NS
        });
        let count = match one.kind {
            RetransmissionKind::Syn => &mut self.counts.syn_retransmissions,
            RetransmissionKind::SynAck if answers => &mut self.counts.syn_acks_repeated_for_syn,
            RetransmissionKind::SynAck => &mut self.counts.syn_ack_retransmissions,
        };
        *count += 1;
        before.push(one);
    }

    /// The first SYN that this client sent at `from_ns`, and all that was sent again of its connections, earlier and later ones
    /// included; `None` where something was missed.
    pub(super) fn flow(&self, client: SocketAddr, from_ns: u64) -> Option<FlowSeen> {
        if !self.is_whole {
            return None;
        }
        let all = self.clients.get(&canonical(client));
        let times_of = |kind| {
            let all = all.into_iter().flatten();
            all.filter(move |one| one.kind == kind)
                .map(|one| one.monotonic_ns)
        };
        let first_ns = std::iter::once(from_ns);
        Some(FlowSeen {
            syns_ns: first_ns.chain(times_of(RetransmissionKind::Syn)).collect(),
            syn_acks_ns: times_of(RetransmissionKind::SynAck).collect(),
            tells_first: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn client(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    fn heard(all: &[(RetransmissionKind, u16, u64)]) -> Ledger {
        let heard = all
            .iter()
            .map(|&(kind, port, monotonic_ns)| Retransmission {
                monotonic_ns,
                kind,
                client: client(port),
                server: client(80),
            });
        Ledger::of(heard.collect(), true)
    }

    #[test]
    fn answers_are_told_from_the_timers_and_flows_from_one_another() {
        use RetransmissionKind::{Syn, SynAck};
        // CPU by CPU, as they are read.
        let ledger = heard(&[
            (Syn, 1, SECOND_NS),
            (Syn, 1, 2 * SECOND_NS),
            (Syn, 2, SECOND_NS),
            (SynAck, 2, 2 * SECOND_NS + 1),
            (SynAck, 1, SECOND_NS + 9),
            (SynAck, 3, SECOND_NS),
            // The port is used again.
            (SynAck, 1, 70 * SECOND_NS),
        ]);
        let expected = HandshakeCounts {
            syn_retransmissions: 3,
            syn_acks_repeated_for_syn: 1,
            syn_ack_retransmissions: 3,
            ..HandshakeCounts::default()
        };
        assert_eq!(ledger.counts, expected);
        let flow = |port| ledger.flow(client(port), 7).unwrap();
        assert_eq!(flow(1).syns_ns, [7, SECOND_NS, 2 * SECOND_NS]);
        assert_eq!(flow(1).syn_acks_ns, [SECOND_NS + 9, 70 * SECOND_NS]);
        assert_eq!(flow(2).syns_ns, [7, SECOND_NS]);
        assert_eq!(flow(2).syn_acks_ns, [2 * SECOND_NS + 1]);
        let untouched = flow(9);
        assert_eq!((untouched.syns_ns, untouched.tells_first), (vec![7], false));
    }

    #[test]
    fn nothing_is_said_of_a_flow_where_something_was_missed() {
        assert_eq!(Ledger::of(Vec::new(), false).flow(client(1), 0), None);
    }
}
