//! Every handshake of a server, segment by segment: which SYNs and SYN-ACKs were sent again, and when.
//!
//! The kernel's `TcpExt.TCPSynRetrans` is one number for both ends. Here they are told apart:
//!
//! - A SYN with the sequence number of its client's last one is a retransmission (`tcp_retransmit_timer`). Their sum is that of
//!   the clients' `tcpi_total_retrans` once they are connected or have given up.
//! - A SYN-ACK with the sequence number of the last one is another's copy: where nothing of the client's came between, the
//!   server's timer has sent it (`reqsk_timer_handler`); after a SYN that was sent again, it answers that one.
//!
//! What the kernel counts, exactly (6.18): `__tcp_retransmit_skb` each SYN retransmission, and `tcp_rtx_synack` each SYN-ACK that
//! is sent again *for a request that the server has kept*, by its timer or as the answer to a repeated SYN (`tcp_check_req`, not
//! oftener than each 500 ms, `tcp_invalid_ratelimit`). A SYN cookie keeps no request: a repeated SYN is then answered by
//! `tcp_conn_request` anew, with the same sequence number within a minute, and nothing counts it. So
//!
//! `TCPSynRetrans` = SYN retransmissions + SYN-ACK retransmissions + SYN-ACKs repeated for a SYN, the last without cookies only.
//!
//! With cookies that last term is a bound (0 to all of them). It is 0 wherever no SYN-ACK was lost on its way, which a
//! loopback interface does not do: a client that has its SYN-ACK sends no SYN again.
//!
//! Left out on purpose: the third segment of the handshake, which nothing but its acknowledgement number tells from all later
//! ones. That it was dropped shows in the SYN-ACK's retransmission.

mod ledger;

use std::net::SocketAddr;

use throng_sys::namespace::Network;
use throng_sys::packet::{Interfaces, SegmentTap, TapError};

use super::capture::TrialCapture;
use super::periodic::Periodic;
use super::running::is_local;
pub(crate) use ledger::{Handshake, HandshakeCounts};
use ledger::{Ledger, Sighting};

/// The ring holds 32,768 segments: a million and a half a second.
const PERIOD_NS: u64 = 20_000_000;

/// Watches the handshakes of a server until it is stopped.
#[derive(Debug)]
pub(crate) struct HandshakeObserver {
    periodic: Periodic<Reader>,
}

/// What was seen of a server's handshakes. Times are of `CLOCK_MONOTONIC`.
#[derive(Debug)]
pub(crate) struct HandshakesSeen {
    pub(crate) counts: HandshakeCounts,
    /// Segments that the observer missed; unless it is 0 the counts are lower bounds.
    pub(crate) lost: u64,
    ledger: Ledger,
}

impl HandshakeObserver {
    /// Begins to watch the handshakes with `server`: all that come after this returns are seen.
    ///
    /// # Errors
    /// [`TapError`], where they cannot be seen.
    pub(crate) fn start(
        network: &Network,
        server: SocketAddr,
        capture: Option<TrialCapture>,
    ) -> Result<Self, TapError> {
        let interfaces = if network.is_private() || is_local(server.ip()) {
            Interfaces::Loopback
        } else {
            Interfaces::All
        };
        let reader = Reader {
            tap: network.handshakes(server.port(), interfaces)?,
            pending: Vec::new(),
            ledger: Ledger::of(server),
            capture,
        };
        let periodic = Periodic::start("handshakes", PERIOD_NS, reader, Reader::read)?;
        Ok(Self { periodic })
    }

    /// Tells what was seen up to now.
    pub(crate) fn stop(self) -> HandshakesSeen {
        let mut reader = self.periodic.stop();
        reader.settle();
        HandshakesSeen {
            counts: reader.ledger.counts,
            // It fails for no packet socket only.
            lost: reader.tap.lost().unwrap_or(0),
            ledger: reader.ledger,
        }
    }
}

impl HandshakesSeen {
    #[cfg(test)]
    /// The latest handshake of the client with this address.
    pub(crate) fn flow(&self, client: SocketAddr) -> Option<&Handshake> {
        self.flow_at(client, u64::MAX)
    }

    /// The handshake that the client with this address was in at `monotonic_ns`, or had last: a port is used again.
    pub(crate) fn flow_at(&self, client: SocketAddr, monotonic_ns: u64) -> Option<&Handshake> {
        self.ledger.flow_at(client, monotonic_ns)
    }

    #[cfg(test)]
    /// All handshakes in the order of their first segments, as far as they are kept.
    pub(crate) fn flows(&self) -> &[Handshake] {
        self.ledger.flows()
    }
}

/// Segments that are kept before they are gone through (25 MB).
const PENDING_MAX: usize = 1 << 18;

/// The thread's own. While the server is under load it copies only; the account is made afterwards, or when there is no room.
#[derive(Debug)]
struct Reader {
    tap: SegmentTap,
    pending: Vec<Sighting>,
    ledger: Ledger,
    capture: Option<TrialCapture>,
}

impl Reader {
    fn read(&mut self) {
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
}

#[cfg(test)]
mod tests;
