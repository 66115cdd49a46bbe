//! A client: one request at a time, each on a connection of its own.

use std::net::SocketAddr;

use throng_sys::tcp_info::TcpInfo;

use super::Request;
use crate::connection::Start;
use crate::protocol::Reply;

/// Where a client is in its request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ClientState {
    /// Between requests, or done.
    #[default]
    Idle,
    /// The connect is under way.
    Connecting,
    /// Connected, the request sent, the reply not complete.
    Waiting,
}

/// What is known of a client and of its request under way.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) state: ClientState,
    /// Requests begun.
    pub(super) begun: u32,
    /// Whether any was answered.
    pub(super) is_served: bool,
    pub(super) reply: Reply,
    pub(super) local: Option<SocketAddr>,
    /// Which of the addresses the request under way goes to.
    pub(super) address: usize,
    /// Whether the request under way is one of the warm-up.
    pub(super) is_warmup: bool,
    /// From when the latency of the request counts: its due time in an open loop, the connect call otherwise.
    start_ns: u64,
    started_at_ns: u64,
    pub(super) connected_at_ns: Option<u64>,
    first_byte_at_ns: Option<u64>,
    pub(super) received_bytes: u64,
    /// When the connect completed; absent where `TCP_INFO` was to be asked and could not be read.
    syn_retransmissions: Option<u32>,
}

impl Client {
    pub(super) fn new(reply: Reply) -> Self {
        Self {
            state: ClientState::Idle,
            begun: 0,
            is_served: false,
            reply,
            local: None,
            address: 0,
            is_warmup: false,
            start_ns: 0,
            started_at_ns: 0,
            connected_at_ns: None,
            first_byte_at_ns: None,
            received_bytes: 0,
            syn_retransmissions: None,
        }
    }

    /// Which of its requests is under way, from 0.
    pub(super) fn number(&self) -> u32 {
        self.begun.wrapping_sub(1)
    }

    /// Begins a request that counts from `start_ns`.
    pub(super) fn begin(&mut self, start_ns: u64, now_ns: u64, is_warmup: bool) {
        self.state = ClientState::Connecting;
        self.begun = self.begun.wrapping_add(1);
        self.reply.restart();
        self.local = None;
        self.is_warmup = is_warmup;
        self.start_ns = start_ns;
        self.started_at_ns = now_ns;
        self.connected_at_ns = None;
        self.first_byte_at_ns = None;
        self.received_bytes = 0;
        self.syn_retransmissions = None;
    }

    /// How long the connect took.
    pub(super) fn connected(&mut self, now_ns: u64, syn_retransmissions: Option<u32>) -> u64 {
        self.state = ClientState::Waiting;
        self.connected_at_ns = Some(now_ns);
        self.syn_retransmissions = syn_retransmissions;
        now_ns.saturating_sub(self.started_at_ns)
    }

    /// Notes bytes of the reply; of the first ones, how long they took.
    pub(super) fn received(&mut self, length: usize, now_ns: u64) -> Option<u64> {
        self.received_bytes += length as u64;
        if self.first_byte_at_ns.is_some() {
            return None;
        }
        self.first_byte_at_ns = Some(now_ns);
        self.since_connected_ns(now_ns)
    }

    /// From when its latency counts, and what it belongs to.
    pub(super) fn start(&self) -> Start {
        Start {
            at_ns: self.start_ns,
            warmup: self.is_warmup,
        }
    }

    pub(super) fn latency_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.start_ns)
    }

    /// From the connect call.
    pub(super) fn duration_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.started_at_ns)
    }

    pub(super) fn has_received(&self) -> bool {
        self.first_byte_at_ns.is_some()
    }

    pub(super) fn since_connected_ns(&self, now_ns: u64) -> Option<u64> {
        let connected_at_ns = self.connected_at_ns?;
        Some(now_ns.saturating_sub(connected_at_ns))
    }

    /// Since when it has been connecting or waiting.
    pub(super) fn since_ns(&self) -> u64 {
        self.connected_at_ns.unwrap_or(self.started_at_ns)
    }

    /// Whether a last reading of `TCP_INFO` can be told from a first: that of a failed connect is the only one.
    pub(super) fn is_accounted(&self) -> bool {
        self.connected_at_ns.is_none() || self.syn_retransmissions.is_some()
    }

    /// What became of the request, its end being now and the kernel's last word on its connection `last`, asked a moment ago.
    /// `message_bytes` is what was sent.
    pub(super) fn request(
        &self,
        client: u32,
        (ended_at_ns, asked_at_ns): (u64, u64),
        last: Option<&TcpInfo>,
        message_bytes: u64,
    ) -> Request {
        let retransmissions = last.map_or(0, |info| info.total_retrans);
        let of_syn = match self.connected_at_ns {
            Some(_) => self.syn_retransmissions.unwrap_or(0),
            None => retransmissions,
        };
        let sent = last.filter(|info| self.connected_at_ns.is_some() && has_sent(info));
        let last_data_sent_ns = sent.and_then(|info| {
            let ago_ns = u64::from(info.last_data_sent_ms) * 1_000_000;
            self.since_connected_ns(asked_at_ns.saturating_sub(ago_ns))
        });
        Request {
            client,
            number: self.number(),
            local: self.local,
            started_at_ns: self.started_at_ns,
            connect_ns: self
                .connected_at_ns
                .map(|at_ns| at_ns.saturating_sub(self.started_at_ns)),
            first_byte_ns: self
                .first_byte_at_ns
                .and_then(|at_ns| self.since_connected_ns(at_ns)),
            duration_ns: ended_at_ns.saturating_sub(self.started_at_ns),
            last_data_sent_ns,
            syn_retransmissions: of_syn,
            data_retransmissions: retransmissions.saturating_sub(of_syn),
            is_acknowledged: sent.is_some_and(|info| is_acknowledged(info, message_bytes)),
            error: None,
        }
    }
}

/// Kernels that do not tell (before 4.6) are taken to have sent.
fn has_sent(info: &TcpInfo) -> bool {
    info.data_segs_out.is_none_or(|segments| segments > 0)
}

/// A reset empties the queue of what is not acknowledged: what was acknowledged is then the better account, with the SYN counted
/// as one byte.
fn is_acknowledged(info: &TcpInfo, message_bytes: u64) -> bool {
    let nothing_waits = info.unacked == 0 && info.notsent_bytes.unwrap_or(0) == 0;
    nothing_waits && info.bytes_acked.is_none_or(|bytes| bytes > message_bytes)
}
