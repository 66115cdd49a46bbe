//! How a request ends: the kernel's last word on its connection, the close, the record, and what its client does next.

use std::borrow::Cow;
use std::net::SocketAddr;

use throng_record::{Closing, ErrorKind};
use throng_sys::address::Address;
use throng_sys::clock::monotonic_ns;
use throng_sys::socket;
use throng_sys::tcp_info::TcpInfo;

use super::client::ClientState;
use super::{EXCESS, FAILED_PAUSE_NS, Requests};
use crate::backend::Backend;
use crate::control::ShardStage;
use crate::error::LoadError;
use crate::pacing::Pacing;
use crate::protocol::Part;
use crate::shard::overdue::stalled;

/// Answered, or why not.
type Outcome = Result<(), (ErrorKind, Cow<'static, str>)>;

impl<B: Backend, P: Pacing> Requests<'_, B, P> {
    pub(super) fn tcp_info(&self, slot: u32) -> Option<TcpInfo> {
        TcpInfo::of(self.shard.backend.socket(slot)?).ok()
    }

    pub(super) fn local_address(&self, slot: u32) -> Option<SocketAddr> {
        socket::local_address(self.shard.backend.socket(slot)?).ok()
    }

    /// Whether bytes wait unread behind a whole reply. The kernel counts the end of input as a byte that came, so that its number
    /// alone does not tell.
    fn has_more(&self, slot: u32, last: Option<&TcpInfo>) -> bool {
        let came = last.and_then(|last| last.bytes_received).unwrap_or(0);
        let own = self.shard.backend.socket(slot);
        came > self.clients[slot as usize].received_bytes
            && own.is_some_and(|own| socket::receive(own, &mut [0]).is_ok_and(|length| length > 0))
    }

    /// Ends the request under way of this client, at `now_ns`, and lets it go on.
    pub(super) fn end(&mut self, slot: u32, now_ns: u64, mut outcome: Outcome) {
        let place = self.clients[slot as usize].address;
        let is_tcp = matches!(self.shard.assignment.addresses.at(place), Address::Tcp(_));
        let is_accountable = is_tcp && self.shard.backend.socket(slot).is_some();
        let last = self.tcp_info(slot);
        let asked_at_ns = monotonic_ns();
        if outcome.is_ok() && self.has_more(slot, last.as_ref()) {
            outcome = Err((ErrorKind::ExcessBytes, EXCESS.into()));
        }
        let client = &self.clients[slot as usize];
        let last = last.filter(|_| client.is_accounted());
        let size = self.shard.assignment.messages.size() as u64;
        let index = self.shard.index(slot);
        let mut request = client.request(index, (now_ns, asked_at_ns), last.as_ref(), size);
        request.error = outcome.as_ref().err().map(|(kind, _)| *kind);
        if !client.is_warmup {
            // Asked only of those that are told of: it is a system call.
            if request.local.is_none() && self.record.log.is_notable(&request) {
                request.local = self.local_address(slot);
            }
            // A connect that failed within the call sent no SYN again, and has no socket any more that could tell.
            self.record.without_tcp_info += u64::from(is_accountable && last.is_none());
            self.record.ended(now_ns, request);
        }
        self.outstanding.ended(1, self.stages.in_window_ns(now_ns));
        let start = self.clients[slot as usize].start();
        if start.warmup || outcome.is_err() {
            self.unrecorded_ns += self.stages.unrecorded_ns(start, now_ns);
        }
        let closing = self.shard.assignment.spec.closing;
        self.close(slot, outcome.is_err() || closing == Closing::Reset);
        let told = outcome.as_ref().map(|&()| ()).map_err(|(_, why)| &**why);
        self.pacing
            .ended(slot, || place, now_ns, told, &mut self.sends);
        match outcome {
            Ok(()) => self.count_answer(slot, now_ns),
            Err((kind, detail)) => {
                let errors = &mut self.recorder.errors;
                errors.count(kind, || format!("client {index}: {detail}"));
            }
        }
        self.go_on(slot, now_ns);
    }

    /// A connection that failed is reset: of an orderly close, the kernel would go on sending to a peer that may never answer.
    fn close(&mut self, slot: u32, by_reset: bool) {
        if self.clients[slot as usize].state == ClientState::Connecting {
            let place = self.clients[slot as usize].address;
            self.queue.give_up(place, slot, monotonic_ns());
        }
        if by_reset && let Some(own) = self.shard.backend.socket(slot) {
            // Where it fails, the close is an orderly one.
            let _ = socket::reset_on_close(own);
        }
        self.shard.backend.close(slot);
        self.under_way -= 1;
    }

    fn count_answer(&mut self, slot: u32, now_ns: u64) {
        let client = &mut self.clients[slot as usize];
        client.is_served = true;
        let latency_ns = client.latency_ns(now_ns);
        self.last_reply_at_ns = now_ns;
        self.progress.replies += 1;
        if self.stages.now() == ShardStage::Measuring {
            self.window.arrived += 1;
        }
        if client.is_warmup {
            return self.recorder.warmup(latency_ns);
        }
        if let Some(reply_ns) = client.since_connected_ns(now_ns) {
            self.record.reply_latency.saturating_record(reply_ns);
        }
        let duration_ns = client.duration_ns(now_ns);
        self.record.request_latency.saturating_record(duration_ns);
        let since_ns = now_ns.saturating_sub(self.stages.measuring_since_ns);
        self.recorder.measured(latency_ns, since_ns);
        self.progress.measured_replies += 1;
        self.window.replies += 1;
    }

    /// The next request follows at once, or after a pause where the connect failed and only the clock ends the work.
    fn go_on(&mut self, slot: u32, now_ns: u64) {
        let client = &mut self.clients[slot as usize];
        let failed_to_connect = client.state == ClientState::Connecting;
        client.state = ClientState::Idle;
        if failed_to_connect && self.pauses_after_failure {
            let until_ns = monotonic_ns() + FAILED_PAUSE_NS;
            self.paused.push_back((until_ns, slot));
        } else {
            self.may_go_on(slot, now_ns);
        }
    }

    #[cold]
    pub(super) fn end_overdue(&mut self, now_ns: u64) {
        let (connect_ns, reply_ns) = (
            self.shard.assignment.spec.connect_timeout_ns,
            self.shard.assignment.spec.reply_timeout_ns,
        );
        for slot in 0..self.clients.len() as u32 {
            let client = &self.clients[slot as usize];
            let waited_ns = now_ns.saturating_sub(client.since_ns());
            let (kind, detail): (_, Cow<'static, str>) = match client.state {
                ClientState::Connecting if waited_ns > connect_ns => (
                    ErrorKind::ConnectTimedOut,
                    "not connected within the connect timeout".into(),
                ),
                ClientState::Waiting if waited_ns > reply_ns && client.has_received() => {
                    let part = Part {
                        came_bytes: Some(client.received_bytes),
                        whole_bytes: client.reply.whole_bytes(),
                    };
                    let words = stalled(part, self.tcp_info(slot).as_ref());
                    (ErrorKind::ReplyStalled, words.into())
                }
                ClientState::Waiting if waited_ns > reply_ns => (
                    ErrorKind::ReplyTimedOut,
                    "no reply within the reply timeout".into(),
                ),
                _ => continue,
            };
            self.fail(slot, now_ns, kind, detail);
        }
    }

    /// After an interrupt: what is under way is neither answered nor failed.
    pub(super) fn abandon(&mut self) -> Result<(), LoadError> {
        for slot in 0..self.clients.len() as u32 {
            if self.clients[slot as usize].state != ClientState::Idle {
                self.clients[slot as usize].state = ClientState::Idle;
                self.close(slot, true);
            }
        }
        // Whatever the back end has still to be told for that.
        let now_ns = monotonic_ns();
        self.shard
            .backend
            .wait(now_ns, now_ns)
            .map_err(|error| self.shard.fault("close its connections", error))
    }
}
