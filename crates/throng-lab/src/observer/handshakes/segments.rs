//! Every handshake of a server, segment by segment, by a packet socket: which SYNs and SYN-ACKs were sent again, and when.
//!
//! The kernel's `TcpExt.TCPSynRetrans` is one number for both ends. Here they are told apart:
//!
//! - A SYN with the sequence number of its client's last one is a retransmission (`tcp_retransmit_timer`). Their sum is that of
//!   the clients' `tcpi_total_retrans` once they are connected or have given up.
//! - A SYN-ACK with the sequence number of the last one is another's copy: where nothing of the client's came between, the
//!   server's timer has sent it (`reqsk_timer_handler`); after a SYN that was sent again, it answers that one.
//!
//! Left out on purpose: the third segment of the handshake, which nothing but its acknowledgement number tells from all later
//! ones. That it was dropped shows in the SYN-ACK's retransmission.

mod ledger;

use std::net::SocketAddr;

use throng_sys::namespace::Network;
use throng_sys::packet::{Interfaces, SegmentTap, TapError};

use crate::explain::FlowSeen;
use crate::observer::capture::TrialCapture;
pub(super) use ledger::Ledger;
use ledger::{Handshake, Sighting};

/// Segments that are kept before they are gone through (25 MB).
const PENDING_MAX: usize = 1 << 18;

/// While the server is under load it copies only; the account is made afterwards, or when there is no room.
#[derive(Debug)]
pub(super) struct Segments {
    tap: SegmentTap,
    pending: Vec<Sighting>,
    ledger: Ledger,
    capture: Option<TrialCapture>,
}

impl Segments {
    /// Begins to watch the handshakes with `server`: all that come after this returns are seen.
    ///
    /// # Errors
    /// [`TapError`], where they cannot be seen.
    pub(super) fn watch(
        network: &Network,
        server: SocketAddr,
        interfaces: Interfaces,
        capture: Option<TrialCapture>,
    ) -> Result<Self, TapError> {
        Ok(Self {
            tap: network.handshakes(server.port(), interfaces)?,
            pending: Vec::new(),
            ledger: Ledger::of(server),
            capture,
        })
    }

    pub(super) fn read(&mut self) {
        let (ledger, pending, capture) = (&mut self.ledger, &mut self.pending, &self.capture);
        self.tap.read(|segment| {
            if !ledger.concerns(segment) {
                return;
            }
            pending.push(Sighting::from(segment));
            if let Some(capture) = capture {
                capture.write(segment);
            }
        });
        if self.pending.len() >= PENDING_MAX {
            self.settle();
        }
    }

    fn settle(&mut self) {
        for sighting in self.pending.drain(..) {
            self.ledger.add(&sighting);
        }
    }

    /// The account, and how many segments were missed.
    pub(super) fn finish(mut self) -> (Ledger, u64) {
        self.settle();
        // It fails for no packet socket only.
        let lost = self.tap.lost().unwrap_or(0);
        (self.ledger, lost)
    }
}

impl From<&Handshake> for FlowSeen {
    fn from(handshake: &Handshake) -> Self {
        let mut flow = Self {
            syns_ns: vec![handshake.syn_ns],
            syn_acks_ns: handshake.syn_ack_ns.into_iter().collect(),
        };
        flow.syns_ns.extend(&handshake.syn_retransmissions_ns);
        flow.syn_acks_ns
            .extend(&handshake.syn_ack_retransmissions_ns);
        flow
    }
}
