//! Connections that starve: at the window's end they had waited for longer than any reply of the window took, while others were answered.
//!
//! Waited is what passed from the send (or the connection's last reply) to the last reply that any connection of the shard got: where nobody
//! got any for a while, as at the end of a window in which the machine stood still, nobody was preferred.

use throng_record::histogram;

use super::Exchange;
use crate::backend::Backend;
use crate::pacing::Pacing;

/// One connection that starved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Starving {
    slot: u32,
    /// Which message it waited with.
    n: u32,
    pub(crate) waited_ns: u64,
    /// No percentile has that message in: it was sent in the warm-up, or never answered.
    pub(crate) is_left_out: bool,
}

impl<B: Backend, P: Pacing> Exchange<'_, B, P> {
    /// At the window's end.
    pub(super) fn note_starving(&mut self) {
        let slowest_ns = self.running.reply_ns_max.min(histogram::HIGHEST_NS);
        for (slot, connection) in (0..).zip(&self.shard.connections) {
            if !connection.is_usable() || connection.outstanding() == 0 {
                continue;
            }
            let waited_ns = self
                .last_reply_at_ns
                .saturating_sub(connection.waiting_since_ns);
            if waited_ns > slowest_ns {
                let n = connection.replies;
                self.starving.push(Starving {
                    slot,
                    n,
                    waited_ns,
                    is_left_out: self.starts.get(slot, n).warmup,
                });
            }
        }
    }

    /// When all was answered or given up. Of those that failed since, only those remain whose reply was overdue.
    pub(super) fn end_starving(&mut self) {
        self.overdue.sort_unstable();
        self.starving.retain_mut(|starving| {
            let connection = &self.shard.connections[starving.slot as usize];
            starving.is_left_out |= connection.replies == starving.n;
            connection.is_usable() || self.overdue.binary_search(&starving.slot).is_ok()
        });
    }
}
