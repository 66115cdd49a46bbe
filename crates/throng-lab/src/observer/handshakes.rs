//! The handshakes of a server: which SYNs and SYN-ACKs were sent again, when, and by whom.
//!
//! What the kernel counts in `TcpExt.TCPSynRetrans`, exactly (6.18): `__tcp_retransmit_skb` each SYN retransmission, and
//! `tcp_rtx_synack` each SYN-ACK that is sent again *for a request that the server has kept*, by its timer or as the answer to a
//! repeated SYN (`tcp_check_req`, not oftener than each 500 ms, `tcp_invalid_ratelimit`). A SYN cookie keeps no request: a repeated
//! SYN is then answered by `tcp_conn_request` anew, with the same sequence number within a minute, and nothing counts it. So
//!
//! `TCPSynRetrans` = SYN retransmissions + SYN-ACK retransmissions + SYN-ACKs repeated for a SYN, the last without cookies only.
//!
//! With cookies that last term is a bound (0 to all of them) where segments are seen. It is 0 wherever no SYN-ACK was lost on its
//! way, which a loopback interface does not do: a client that has its SYN-ACK sends no SYN again.
//!
//! A packet socket in the server's network sees every SYN, SYN-ACK and RST of its port, without root too where the network is private. It
//! knows nothing of other networks, so a server with the same address and port in another one is not taken for this one (which the
//! kernel's trace events cannot tell apart). It is asked about every packet on the interface: 2 to 3 µs for each connection on loopback.

mod segments;

use std::net::{IpAddr, SocketAddr};

use throng_record::HandshakesRecord;
use throng_sys::namespace::Network;
use throng_sys::packet::{Interfaces, TapError};

use super::capture::TrialCapture;
use super::periodic::Periodic;
use crate::explain::FlowSeen;
use segments::{Ledger, Segments};

/// The ring of a packet socket holds 32,768 segments: a million and a half a second.
const PERIOD_NS: u64 = 20_000_000;

/// Watches the handshakes of a server until it is stopped.
#[derive(Debug)]
pub(crate) struct HandshakeObserver(Periodic<Segments>);

/// How many segments there were of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HandshakeCounts {
    /// First ones: handshakes begun.
    pub(crate) syns: u64,
    pub(crate) syn_retransmissions: u64,
    /// First ones: handshakes granted.
    pub(crate) syn_acks: u64,
    /// Sent again by the server's timer.
    pub(crate) syn_ack_retransmissions: u64,
    /// The same SYN-ACK sent again as the answer to a SYN that was sent again.
    pub(crate) syn_acks_repeated_for_syn: u64,
    pub(crate) client_resets: u64,
    pub(crate) server_resets: u64,
    /// SYNs and SYN-ACKs in none of the counts above: too many clients, or a handshake begun before anybody looked.
    pub(crate) untold: u64,
    /// Handshakes in the counts of which no times are kept.
    pub(crate) not_kept: u64,
}

/// What was seen of a server's handshakes. Times are of `CLOCK_MONOTONIC`.
#[derive(Debug)]
pub(crate) struct HandshakesSeen {
    ledger: Ledger,
    /// Segments that the observer missed; unless it is 0 the counts are lower bounds.
    lost: u64,
}

impl HandshakeObserver {
    /// Begins to watch the handshakes with `server`: all that come after this returns are seen.
    ///
    /// # Errors
    /// [`TapError`], where they cannot be seen.
    pub(crate) fn start(
        network: &Network,
        server: SocketAddr,
        interfaces: Interfaces,
        capture: Option<TrialCapture>,
    ) -> Result<Self, TapError> {
        let watch = Segments::watch(network, server, interfaces, capture)?;
        let periodic = Periodic::start("handshakes", PERIOD_NS, watch, Segments::read)?;
        Ok(Self(periodic))
    }

    /// Tells what was seen up to now.
    pub(crate) fn stop(self) -> HandshakesSeen {
        let (ledger, lost) = self.0.stop().finish();
        HandshakesSeen { ledger, lost }
    }
}

impl HandshakesSeen {
    /// What was seen of the handshake that the client with this address had ended by `until_ns`.
    pub(crate) fn flow(&self, client: SocketAddr, until_ns: u64) -> Option<FlowSeen> {
        self.ledger.flow_at(client, until_ns).map(FlowSeen::from)
    }

    /// As it stands in the record.
    pub(crate) fn record(&self) -> HandshakesRecord {
        let counts = &self.ledger.counts;
        HandshakesRecord {
            syns: counts.syns,
            syn_retransmissions: counts.syn_retransmissions,
            syn_acks: counts.syn_acks,
            syn_ack_retransmissions: counts.syn_ack_retransmissions,
            syn_acks_repeated: counts.syn_acks_repeated_for_syn,
            resets_by_server: counts.server_resets,
            resets_by_client: counts.client_resets,
            segments_lost: self.lost + counts.untold,
        }
    }
}

/// As in the packets: an IPv4 address is one, also where a socket of IPv6 tells of it; and without scope.
fn canonical(address: SocketAddr) -> SocketAddr {
    let ip: IpAddr = address.ip().to_canonical();
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests;
