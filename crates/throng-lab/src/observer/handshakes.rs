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
//! Two ways to know. The kernel's own trace events tell of what is sent again and cost nothing while nothing is; they take root, and
//! both ends on this host. A packet socket sees every segment, also from within a private network without root and of a peer
//! elsewhere, and its segments can be kept for other tools; it is asked about every packet on the interface, 2 to 3 µs for each
//! connection on loopback.

mod retransmissions;
mod segments;

use std::net::{IpAddr, SocketAddr};

use throng_record::{HandshakesRecord, HandshakesSeenBy};
use throng_sys::namespace::Network;
use throng_sys::packet::{Interfaces, TapError};

use super::capture::TrialCapture;
use super::periodic::Periodic;
use super::running::is_local;
use crate::explain::FlowSeen;
use retransmissions::Retransmissions;
use segments::Segments;

/// The ring of a packet socket holds 32,768 segments: a million and a half a second. The buffers of
/// trace events hold 180,000 in all.
const PERIOD_NS: u64 = 20_000_000;

/// Watches the handshakes of a server until it is stopped.
#[derive(Debug)]
pub(crate) struct HandshakeObserver(By);

#[derive(Debug)]
enum By {
    TraceEvents(Periodic<Retransmissions>),
    PacketSocket(Periodic<Segments>),
}

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
    account: Account,
    /// Segments that the observer missed; unless it is 0 the counts are lower bounds.
    lost: u64,
}

#[derive(Debug)]
enum Account {
    Retransmissions(retransmissions::Ledger),
    Segments(segments::Ledger),
}

impl HandshakeObserver {
    /// Begins to watch the handshakes with `server`: all that come after this returns are seen. By the cheaper way where it is to be
    /// had, unless segments are to be kept.
    ///
    /// # Errors
    /// [`TapError`], where they cannot be seen either way.
    pub(crate) fn start(
        network: &Network,
        server: SocketAddr,
        capture: Option<TrialCapture>,
    ) -> Result<Self, TapError> {
        let is_here = network.is_private() || is_local(server.ip());
        if is_here
            && capture.is_none()
            && let Ok(observer) = Self::of_retransmissions(server)
        {
            return Ok(observer);
        }
        let interfaces = if is_here {
            Interfaces::Loopback
        } else {
            Interfaces::All
        };
        Self::of_segments(network, server, interfaces, capture)
    }

    fn of_retransmissions(server: SocketAddr) -> std::io::Result<Self> {
        let watch = Retransmissions::watch(server)?;
        let periodic = Periodic::start("handshakes", PERIOD_NS, watch, Retransmissions::read)?;
        Ok(Self(By::TraceEvents(periodic)))
    }

    fn of_segments(
        network: &Network,
        server: SocketAddr,
        interfaces: Interfaces,
        capture: Option<TrialCapture>,
    ) -> Result<Self, TapError> {
        let watch = Segments::watch(network, server, interfaces, capture)?;
        let periodic = Periodic::start("handshakes", PERIOD_NS, watch, Segments::read)?;
        Ok(Self(By::PacketSocket(periodic)))
    }

    /// Tells what was seen up to now.
    pub(crate) fn stop(self) -> HandshakesSeen {
        let (account, lost) = match self.0 {
            By::TraceEvents(periodic) => {
                let (ledger, lost) = periodic.stop().finish();
                (Account::Retransmissions(ledger), lost)
            }
            By::PacketSocket(periodic) => {
                let (ledger, lost) = periodic.stop().finish();
                (Account::Segments(ledger), lost)
            }
        };
        HandshakesSeen { account, lost }
    }
}

impl HandshakesSeen {
    /// What was seen of the handshake that the client with this address began at `from_ns` and had ended by `until_ns`, and maybe
    /// of others from the same port.
    pub(crate) fn flow(&self, client: SocketAddr, from_ns: u64, until_ns: u64) -> Option<FlowSeen> {
        match &self.account {
            Account::Retransmissions(ledger) => ledger.flow(client, from_ns),
            Account::Segments(ledger) => ledger.flow_at(client, until_ns).map(FlowSeen::from),
        }
    }

    /// As it stands in the record.
    pub(crate) fn record(&self) -> HandshakesRecord {
        let counts = self.counts();
        let (seen_by, sees_all) = match self.account {
            Account::Retransmissions(_) => (HandshakesSeenBy::TraceEvents, false),
            Account::Segments(_) => (HandshakesSeenBy::PacketSocket, true),
        };
        let of_all = |count: u64| sees_all.then_some(count);
        HandshakesRecord {
            seen_by,
            syns: of_all(counts.syns),
            syn_retransmissions: counts.syn_retransmissions,
            syn_acks: of_all(counts.syn_acks),
            syn_ack_retransmissions: counts.syn_ack_retransmissions,
            syn_acks_repeated: counts.syn_acks_repeated_for_syn,
            resets_by_server: of_all(counts.server_resets),
            resets_by_client: of_all(counts.client_resets),
            segments_lost: self.lost + counts.untold,
        }
    }

    fn counts(&self) -> &HandshakeCounts {
        match &self.account {
            Account::Retransmissions(ledger) => &ledger.counts,
            Account::Segments(ledger) => &ledger.counts,
        }
    }

    #[cfg(test)]
    /// All handshakes in the order of their first segments, as far as they are kept.
    pub(crate) fn segments(&self) -> &segments::Ledger {
        match &self.account {
            Account::Segments(ledger) => ledger,
            Account::Retransmissions(_) => panic!("no segments were seen"),
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
