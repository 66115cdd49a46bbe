//! How connections leave an exchange before its end: they fail, their reply is overdue, or a server that serves fewer at once
//! never came to them.

use throng_record::ErrorKind;
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::Exchange;
use crate::backend::Backend;
use crate::connection::ConnectionState;
use crate::control::ShardStage;
use crate::pacing::Pacing;

/// A server that serves fewer connections at once than there are has answered all that it will when it has been silent for
/// so long.
const UNSERVED_GRACE_NS: u64 = 50 * MILLISECOND_NS;

impl<B: Backend, P: Pacing> Exchange<'_, B, P> {
    #[cold]
    pub(super) fn on_end_of_input(&mut self, slot: u32) {
        let connection = self.shard.connections[slot as usize];
        if connection.is_mid_reply() {
            let detail = "the peer closed in the middle of a reply";
            return self.fail(slot, ErrorKind::Truncated, detail);
        }
        let why = "the peer closed before the exchange was over";
        self.end_between_replies(slot, why);
    }

    /// The connection has an end between two replies, or after a reply that said so.
    #[cold]
    pub(super) fn end_between_replies(&mut self, slot: u32, why: &str) {
        if !self.ended_in_order(slot) {
            let detail = format!("{why}{}", self.too_few_replies(slot));
            self.fail(slot, ErrorKind::ClosedEarly, &detail);
        }
    }

    #[cold]
    pub(super) fn fail(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        if !self.shard.connections[slot as usize].is_usable() {
            return;
        }
        let outstanding = self.leave(slot);
        self.recorder.error(kind, self.shard.index(slot), detail);
        let now_ns = monotonic_ns();
        if outstanding > 0 {
            let address = || self.shard.address(slot);
            self.pacing
                .ended(slot, address, now_ns, Err(detail), &mut self.sends);
        }
        self.pacing.lost(slot, outstanding, now_ns, &mut self.sends);
    }

    /// Closes a connection, whose messages will never be answered: how many those are.
    fn leave(&mut self, slot: u32) -> u32 {
        let connection = &mut self.shard.connections[slot as usize];
        connection.state = ConnectionState::Closed;
        if connection.replies == 0 && self.waits_for_all {
            self.shard.assignment.orders.answered();
        }
        let (outstanding, first) = (connection.outstanding(), connection.replies);
        let now_ns = monotonic_ns();
        let in_window_ns = self.stages.in_window_ns(now_ns);
        self.outstanding.ended(outstanding.into(), in_window_ns);
        for back in 0..outstanding {
            let start = self.starts.get(slot, first.wrapping_add(back));
            self.running.outstanding_sum_ns += self.stages.unrecorded_ns(start, now_ns);
        }
        self.open -= 1;
        self.shard.backend.close(slot);
        outstanding
    }

    #[cold]
    pub(super) fn end_overdue(&mut self, now_ns: u64) {
        let timeout_ns = self.shard.assignment.spec.reply_timeout_ns;
        for slot in 0..self.shard.connections.len() as u32 {
            let connection = self.shard.connections[slot as usize];
            let waiting = connection.is_usable() && connection.outstanding() > 0;
            if waiting && now_ns.saturating_sub(connection.waiting_since_ns) > timeout_ns {
                let (kind, detail) = self.shard.overdue(slot, &self.replies);
                let is_silent = kind == ErrorKind::ReplyTimedOut && connection.replies == 0;
                self.silent += u32::from(is_silent);
                self.overdue.push(slot);
                self.fail(slot, kind, &detail);
            }
        }
        self.send_all(now_ns);
    }

    /// Once sending is over, and nobody has had a reply for a while: closes the connections that never had any.
    #[cold]
    pub(super) fn leave_unserved(&mut self, now_ns: u64) {
        let quiet_since_ns = self.last_reply_at_ns.max(self.stages.draining_since_ns);
        if self.stages.now() != ShardStage::Draining
            || now_ns.saturating_sub(quiet_since_ns) < UNSERVED_GRACE_NS
        {
            return;
        }
        for slot in 0..self.shard.connections.len() as u32 {
            let connection = self.shard.connections[slot as usize];
            if connection.state == ConnectionState::Open && connection.replies == 0 {
                self.silent += u32::from(!connection.is_mid_reply());
                self.unserved.push(slot);
                self.leave(slot);
            }
        }
    }
}
