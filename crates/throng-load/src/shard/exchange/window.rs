//! The measured window of an exchange: what is kept of it at its two ends, so that a reply in between costs nothing more.
//!
//! How many replies each connection got is the difference of its count at both ends. A stage that changes within a turn of the loop is noted at
//! the next one, so that the ends are exact to one turn.

use throng_record::Pacing as PacingSpec;

use super::Exchange;
use crate::backend::Backend;
use crate::connection::State;
use crate::pacing::Pacing;

/// Totals of the measured window up to some moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    /// Replies that came within it, whenever their message was sent.
    pub(crate) arrived: u64,
    /// Replies to measured messages.
    pub(crate) replies: u64,
    /// Σ latency of those.
    pub(crate) latency_sum_ns: u128,
    /// Latencies in the histogram at its end, and replies within it to messages of the warm-up.
    pub(crate) recorded: u64,
    /// Σ of those, as the histogram has them, and of what the window's ends cut through: how long messages were outstanding.
    pub(crate) outstanding_sum_ns: u128,
    /// Connections whose message had by its end waited longer than any reply had taken.
    pub(crate) connections_starved: u32,
}

/// Memory for a count of each connection, taken before the work begins. Only a closed loop asks each connection as soon as it has answered; what
/// others get is the pacing's choice.
pub(super) fn room_for_each(pacing: &PacingSpec, connections: usize) -> Vec<u32> {
    match pacing {
        PacingSpec::Closed { .. } => Vec::with_capacity(connections),
        PacingSpec::Lockstep { .. } | PacingSpec::Open { .. } => Vec::new(),
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
        self.at_drain = Some(self.running);
        let mut connections = self.shard.connections.iter();
        self.replies_each.retain_mut(|replies| {
            let connection = connections.next().expect("a count was kept of each");
            *replies = connection.replies.wrapping_sub(*replies);
            connection.state == State::Open
        });
    }

    /// What the histogram has of the window, and the messages that its end cuts through.
    fn add_outstanding(&mut self) {
        let (since_ns, until_ns) = (
            self.stages.measuring_since_ns,
            self.stages.draining_since_ns,
        );
        let latency = &self.recorder.latency;
        self.running.recorded += latency.len();
        self.running.outstanding_sum_ns += (latency.mean() * latency.len() as f64) as u128;
        let slowest_ns = latency.max();
        for (slot, connection) in (0..).zip(&self.shard.connections) {
            if connection.state != State::Open {
                continue;
            }
            let mut is_starved = false;
            for back in 0..connection.outstanding() {
                let n = connection.replies.wrapping_add(back);
                let at_ns = self.starts.get(slot, n).at_ns;
                self.running.outstanding_sum_ns +=
                    u128::from(until_ns.saturating_sub(at_ns.max(since_ns)));
                is_starved |= until_ns.saturating_sub(at_ns) > slowest_ns;
            }
            self.running.connections_starved += u32::from(is_starved);
        }
    }
}
