//! The account of all handshakes, made segment by segment.
//!
//! Two bounds on its memory: the times are kept of so many handshakes, and segments are told apart for so many clients.
//! Beyond the former handshakes are counted only, beyond the latter they are counted as not told apart.

use std::collections::HashMap;
use std::net::SocketAddr;

use throng_sys::packet::{Segment, SegmentKind};

use crate::observer::handshakes::{HandshakeCounts, canonical};

/// Some 25 MB.
const HANDSHAKES_MAX: usize = 200_000;
/// Some 80 MB: a million connections with an address each.
const CLIENTS_MAX: usize = 1 << 20;
/// Retransmissions whose times are kept of one handshake; the kernel sends a SYN at most 127 times more (`tcp_syn_retries`).
const TIMES_MAX: usize = 128;

/// One handshake: a client's SYN, all copies of it, and the answers. Times are of `CLOCK_MONOTONIC`.
#[derive(Clone, Debug)]
pub(crate) struct Handshake {
    pub(crate) syn_ns: u64,
    pub(crate) syn_retransmissions_ns: Vec<u64>,
    /// The first one.
    pub(crate) syn_ack_ns: Option<u64>,
    /// Further ones, whatever for.
    pub(crate) syn_ack_retransmissions_ns: Vec<u64>,
    /// The first of either side.
    pub(crate) reset_ns: Option<u64>,
    /// The client's handshake before, by its place.
    before: Option<u32>,
}

/// What the account takes of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    pub(super) monotonic_ns: u64,
    pub(super) source: SocketAddr,
    pub(super) destination: SocketAddr,
    pub(super) kind: SegmentKind,
    pub(super) sequence: u32,
}

impl From<&Segment<'_>> for Sighting {
    fn from(segment: &Segment<'_>) -> Self {
        Self {
            monotonic_ns: segment.monotonic_ns,
            source: segment.source,
            destination: segment.destination,
            kind: segment.kind,
            sequence: segment.sequence,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Ledger {
    server: SocketAddr,
    pub(crate) counts: HandshakeCounts,
    clients: HashMap<SocketAddr, Client>,
    handshakes: Vec<Handshake>,
}

/// What tells a client's next segment from a copy.
#[derive(Debug)]
struct Client {
    sequence: u32,
    answer: Option<u32>,
    last: SegmentKind,
    /// Of its latest handshake that is kept.
    place: Option<u32>,
    /// Whether the latest is kept.
    is_kept: bool,
}

impl Ledger {
    pub(super) fn of(server: SocketAddr) -> Self {
        Self {
            server: canonical(server),
            counts: HandshakeCounts::default(),
            clients: HashMap::new(),
            handshakes: Vec::new(),
        }
    }

    /// Takes a segment into account; false if it is of another server on the port.
    pub(super) fn add(&mut self, segment: &Sighting) -> bool {
        let is_to_server = self.is_server(segment.destination);
        let is_from_server = self.is_server(segment.source);
        match segment.kind {
            SegmentKind::Syn if is_to_server => self.add_syn(segment),
            SegmentKind::SynAck if is_from_server => self.add_syn_ack(segment),
            SegmentKind::Reset if is_from_server => {
                self.counts.server_resets += 1;
                self.add_reset(segment.destination, segment.monotonic_ns);
            }
            SegmentKind::Reset if is_to_server => {
                self.counts.client_resets += 1;
                self.add_reset(segment.source, segment.monotonic_ns);
            }
            _ => return false,
        }
        true
    }

    /// Whether it is of this server, and not of another on the port.
    pub(super) fn concerns(&self, segment: &Segment<'_>) -> bool {
        self.is_server(segment.destination) || self.is_server(segment.source)
    }

    fn is_server(&self, address: SocketAddr) -> bool {
        let ip = self.server.ip();
        address.port() == self.server.port() && (ip.is_unspecified() || address.ip() == ip)
    }

    fn add_syn(&mut self, segment: &Sighting) {
        if let Some(client) = self.clients.get_mut(&segment.source)
            && client.sequence == segment.sequence
        {
            self.counts.syn_retransmissions += 1;
            client.last = SegmentKind::Syn;
            if let Some(kept) = client.kept(&mut self.handshakes) {
                push(&mut kept.syn_retransmissions_ns, segment.monotonic_ns);
            }
            return;
        }
        let known = self.clients.get(&segment.source);
        if known.is_none() && self.clients.len() >= CLIENTS_MAX {
            self.counts.untold += 1;
            return;
        }
        self.counts.syns += 1;
        let before = known.and_then(|client| client.place);
        let is_kept = self.handshakes.len() < HANDSHAKES_MAX;
        let mut place = before;
        if is_kept {
            place = Some(self.handshakes.len() as u32);
            self.handshakes.push(Handshake {
                syn_ns: segment.monotonic_ns,
                syn_retransmissions_ns: Vec::new(),
                syn_ack_ns: None,
                syn_ack_retransmissions_ns: Vec::new(),
                reset_ns: None,
                before,
            });
        } else {
            self.counts.not_kept += 1;
        }
        let client = Client {
            sequence: segment.sequence,
            answer: None,
            last: SegmentKind::Syn,
            place,
            is_kept,
        };
        self.clients.insert(segment.source, client);
    }

    fn add_syn_ack(&mut self, segment: &Sighting) {
        let Some(client) = self.clients.get_mut(&segment.destination) else {
            self.counts.untold += 1;
            return;
        };
        let last = std::mem::replace(&mut client.last, SegmentKind::SynAck);
        let is_copy = client.answer == Some(segment.sequence);
        client.answer = Some(segment.sequence);
        let count = match (is_copy, last) {
            (false, _) => &mut self.counts.syn_acks,
            (true, SegmentKind::Syn) => &mut self.counts.syn_acks_repeated_for_syn,
            (true, _) => &mut self.counts.syn_ack_retransmissions,
        };
        *count += 1;
        if let Some(kept) = client.kept(&mut self.handshakes) {
            match kept.syn_ack_ns {
                None => kept.syn_ack_ns = Some(segment.monotonic_ns),
                Some(_) => push(&mut kept.syn_ack_retransmissions_ns, segment.monotonic_ns),
            }
        }
    }

    fn add_reset(&mut self, client: SocketAddr, at_ns: u64) {
        let client = self.clients.get(&client);
        if let Some(kept) = client.and_then(|client| client.kept(&mut self.handshakes)) {
            kept.reset_ns.get_or_insert(at_ns);
        }
    }

    #[cfg(test)]
    pub(crate) fn flows(&self) -> &[Handshake] {
        &self.handshakes
    }

    /// The handshake that this client was in at `at_ns`, or had last: a port is used again.
    pub(crate) fn flow_at(&self, client: SocketAddr, at_ns: u64) -> Option<&Handshake> {
        let client = self.clients.get(&canonical(client))?;
        // Whatever is kept was over before.
        let mut place = client.place.filter(|_| client.is_kept);
        while let Some(handshake) = self.handshakes.get(place? as usize) {
            if handshake.syn_ns <= at_ns {
                return Some(handshake);
            }
            place = handshake.before;
        }
        None
    }
}

impl Client {
    /// Its latest handshake.
    fn kept<'a>(&self, handshakes: &'a mut [Handshake]) -> Option<&'a mut Handshake> {
        let place = self.place.filter(|_| self.is_kept)?;
        handshakes.get_mut(place as usize)
    }
}

fn push(times_ns: &mut Vec<u64>, at_ns: u64) {
    if times_ns.len() < TIMES_MAX {
        times_ns.push(at_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = "127.0.0.1:80";

    fn segment(kind: SegmentKind, client: u16, sequence: u32, at_ns: u64) -> Sighting {
        let (client, server) = (
            SocketAddr::from(([127, 0, 0, 1], client)),
            SERVER.parse().unwrap(),
        );
        let (source, destination) = match kind {
            SegmentKind::SynAck => (server, client),
            _ => (client, server),
        };
        Sighting {
            monotonic_ns: at_ns,
            source,
            destination,
            kind,
            sequence,
        }
    }

    fn counted(segments: &[(SegmentKind, u16, u32)]) -> Ledger {
        let mut ledger = Ledger::of(SERVER.parse().unwrap());
        for (&(kind, client, sequence), at_ns) in segments.iter().zip(1..) {
            assert!(ledger.add(&segment(kind, client, sequence, at_ns)));
        }
        ledger
    }

    #[test]
    fn copies_are_told_from_first_ones() {
        use SegmentKind::{Reset, Syn, SynAck};
        let ledger = counted(&[
            (Syn, 1, 10),
            (Syn, 2, 10),
            (Syn, 1, 10),
            (SynAck, 1, 70),
            (SynAck, 1, 70),
            (Syn, 1, 10),
            (SynAck, 1, 70),
            (SynAck, 2, 70),
            (Reset, 2, 11),
            // The port is used again.
            (Syn, 1, 11),
            (SynAck, 1, 70),
            // Begun before anybody looked.
            (SynAck, 3, 1),
        ]);
        let expected = HandshakeCounts {
            syns: 3,
            syn_retransmissions: 2,
            syn_acks: 3,
            syn_ack_retransmissions: 1,
            syn_acks_repeated_for_syn: 1,
            client_resets: 1,
            untold: 1,
            ..HandshakeCounts::default()
        };
        assert_eq!(ledger.counts, expected);
        let client = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let first = ledger.flow_at(client(1), 9).unwrap();
        assert_eq!((first.syn_ns, first.syn_ack_ns), (1, Some(4)));
        assert_eq!(first.syn_retransmissions_ns, [3, 6]);
        assert_eq!(first.syn_ack_retransmissions_ns, [5, 7]);
        let second = ledger.flow_at(client(1), u64::MAX).unwrap();
        assert_eq!((second.syn_ns, second.syn_ack_ns), (10, Some(11)));
        assert!(second.syn_retransmissions_ns.is_empty());
        assert_eq!(
            ledger.flow_at(client(2), u64::MAX).unwrap().reset_ns,
            Some(9)
        );
        assert!(ledger.flow_at(client(1), 0).is_none());
        assert!(ledger.flow_at(client(3), u64::MAX).is_none());
    }

    #[test]
    fn other_servers_on_the_port_are_left_out() {
        let mut ledger = Ledger::of("127.0.0.2:80".parse().unwrap());
        assert!(!ledger.add(&segment(SegmentKind::Syn, 1, 1, 1)));
        let mut any = Ledger::of("0.0.0.0:80".parse().unwrap());
        assert!(any.add(&segment(SegmentKind::Syn, 1, 1, 1)));
        assert_eq!((ledger.counts.syns, any.counts.syns), (0, 1));
    }

    #[test]
    fn handshakes_beyond_the_bound_are_counted_only() {
        let mut ledger = Ledger::of(SERVER.parse().unwrap());
        let handshakes = HANDSHAKES_MAX as u32 + 3;
        for number in 0..handshakes {
            let client = (number % 60_000) as u16;
            ledger.add(&segment(
                SegmentKind::Syn,
                client,
                number,
                u64::from(number),
            ));
            ledger.add(&segment(
                SegmentKind::SynAck,
                client,
                number,
                u64::from(number),
            ));
        }
        let counts = ledger.counts;
        assert_eq!((counts.syns, counts.not_kept), (u64::from(handshakes), 3));
        assert_eq!(counts.syn_acks, u64::from(handshakes));
        assert_eq!(ledger.flows().len(), HANDSHAKES_MAX);
    }
}
