//! The measured window of an exchange: what is kept of it at its two ends, so that a reply in between costs nothing more.
//!
//! How many replies each connection got is the difference of its count at both ends.

use throng_record::Pacing as PacingSpec;

use super::Exchange;
use crate::backend::Backend;
use crate::pacing::Pacing;

/// Totals of the measured window up to some moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    /// Replies that came within it, whenever their message was sent.
    pub(crate) arrived: u64,
    /// Replies to measured messages.
    pub(crate) replies: u64,
    /// Latencies in the histogram at its end, and replies within it to messages of the warm-up.
    pub(crate) recorded: u64,
    /// Σ of those, as the histogram has them, and of what the window's ends cut through or a failure ended: how long messages were
    /// outstanding, in an open loop together with their wait for the send.
    pub(crate) outstanding_sum_ns: u128,
    /// The same by counts and the clock alone, from the send: number outstanding × time.
    pub(crate) integral_ns: u128,
    /// The slowest reply to a message of the warm-up that came within it.
    pub(crate) warmup_reply_ns_max: u64,
    /// The slowest reply that came within it.
    pub(crate) reply_ns_max: u64,
}

/// Memory for a count of each connection, taken before the work begins. Only a closed loop asks each connection as soon as it has answered; what
/// others get is the pacing's choice.
pub(super) fn room_for_each(pacing: &PacingSpec, connections: usize) -> Vec<u32> {
    match pacing {
        PacingSpec::Closed { .. } => Vec::with_capacity(connections),
        PacingSpec::Lockstep { .. } | PacingSpec::Open { .. } | PacingSpec::Tasks(_) => Vec::new(),
    }
}

impl<B: Backend, P: Pacing> Exchange<'_, B, P> {
    #[cold]
    pub(super) fn begin_window(&mut self) {
        // Where there is no room, nobody asks.
        if self.replies_each.capacity() > 0 {
            let connections = self.shard.connections.iter();
            self.replies_each
                .extend(connections.map(|connection| connection.replies));
        }
    }

    #[cold]
    pub(super) fn end_window(&mut self) {
        self.add_outstanding();
        self.note_starving();
        self.at_drain = Some(self.running);
        let connections = self.shard.connections.iter();
        for (replies, connection) in self.replies_each.iter_mut().zip(connections) {
            *replies = connection.replies.wrapping_sub(*replies);
        }
    }

    /// Connections that failed are compared with nobody, even where that came out only after the window: one that falls silent fails when its
    /// reply is overdue.
    #[cold]
    pub(super) fn leave_out_failed(&mut self) {
        self.unserved.sort_unstable();
        let mut connections = (0..).zip(&self.shard.connections);
        self.replies_each.retain(|_| {
            let (slot, connection) = connections.next().expect("a count was kept of each");
            connection.is_usable() || self.unserved.binary_search(&slot).is_ok()
        });
        self.end_starving();
    }

    /// What the histogram has of the window, and the messages that its end cuts through.
    fn add_outstanding(&mut self) {
        let until_ns = self.stages.draining_since_ns;
        let window_ns = self.stages.in_window_ns(until_ns);
        self.running.integral_ns = self.outstanding.integral_ns(window_ns);
        let latency = &self.recorder.latency;
        self.running.recorded += latency.len();
        self.running.outstanding_sum_ns += (latency.mean() * latency.len() as f64) as u128;
        self.running.reply_ns_max = latency.max().max(self.running.warmup_reply_ns_max);
        for (slot, connection) in (0..).zip(&self.shard.connections) {
            if !connection.is_usable() {
                continue;
            }
            for back in 0..connection.outstanding() {
                let n = connection.replies.wrapping_add(back);
                let start = self.starts.get(slot, n);
                self.running.outstanding_sum_ns += self.stages.unrecorded_ns(start, until_ns);
            }
        }
    }
}
