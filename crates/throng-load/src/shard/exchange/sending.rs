//! Sending: what is due goes out, unless the stage or the connection is over, and in an open loop with a note of how late it is.

use throng_sys::clock::monotonic_ns;

use super::Exchange;
use crate::backend::Backend;
use crate::connection::{ConnectionState, Start};
use crate::pacing::{Pacing, Send};

impl<B: Backend, P: Pacing> Exchange<'_, B, P> {
    /// A count that these sends complete ends the warm-up, or the window, here and now.
    #[inline]
    pub(super) fn send_all(&mut self, now_ns: u64) {
        // The list is taken out and put back, so that its memory is kept while `self` is used.
        let mut sends = std::mem::take(&mut self.sends);
        for send in sends.drain(..) {
            self.send(send, now_ns);
        }
        // What a failed send made due meanwhile.
        sends.append(&mut self.sends);
        self.sends = sends;
        self.note_stage();
    }

    #[inline]
    fn send(&mut self, send: Send, now_ns: u64) {
        let slot = send.slot;
        if !self.shard.connections[slot as usize].is_usable() {
            return;
        }
        let Some(warmup) = self.stages.take(now_ns) else {
            return;
        };
        let connection = &mut self.shard.connections[slot as usize];
        let n = connection.sent;
        if connection.outstanding() == 0 {
            connection.waiting_since_ns = now_ns;
        }
        connection.sent = n.wrapping_add(1);
        self.measured_sent += u64::from(!warmup);
        self.starts.set(
            slot,
            n,
            Start {
                at_ns: send.start_ns,
                warmup,
            },
        );
        let sent_at_ns = if self.paced_by_clock && !warmup {
            self.note_lateness(send)
        } else {
            now_ns
        };
        self.outstanding.sent(self.stages.in_window_ns(sent_at_ns));
        let range = self
            .shard
            .assignment
            .messages
            .range(self.shard.assignment.first + slot, n);
        self.sent_bytes += range.len() as u64;
        match self.shard.connections[slot as usize].state {
            ConnectionState::Open => {
                if let Err(error) = self.shard.backend.send(slot, range) {
                    self.on_failure(slot, &error);
                }
            }
            ConnectionState::Ended => self.reopen(slot),
            // It is sent with what else waits for the connection.
            _ => {}
        }
    }

    /// Gives when the message is sent. The clock is read anew: several messages may be due at once, and each send takes its time. It
    /// is read before the send, which is one system call that hands the message over: a call that takes long, for the peer's sake
    /// even, is no delay of the generator's.
    #[inline]
    fn note_lateness(&mut self, send: Send) -> u64 {
        let sent_at_ns = monotonic_ns();
        self.recorder
            .scheduling_error
            .saturating_record(sent_at_ns.saturating_sub(send.ready_ns));
        self.recorder.send_delay_sum_ns += u128::from(sent_at_ns.saturating_sub(send.start_ns));
        sent_at_ns
    }
}
