//! The end of the window of requests: what the schedule still owes, and how long requests were outstanding by their records and by
//! the clock.

use super::Requests;
use super::client::ClientState;
use crate::backend::Backend;
use crate::pacing::Pacing;

impl<B: Backend, P: Pacing> Requests<'_, B, P> {
    #[cold]
    pub(super) fn end_window(&mut self) {
        self.note_backlog();
        let until_ns = self.stages.draining_since_ns;
        let latency = &self.recorder.latency;
        let under_way = self.clients.iter();
        let under_way = under_way.filter(|client| client.state != ClientState::Idle);
        let cut_ns: u128 = under_way
            .map(|client| self.stages.unrecorded_ns(client.start(), until_ns))
            .sum();
        let recorded_ns = (latency.mean() * latency.len() as f64) as u128;
        self.window.outstanding_sum_ns = recorded_ns + self.unrecorded_ns + cut_ns;
        let window_ns = self.stages.in_window_ns(until_ns);
        self.window.integral_ns = self.outstanding.integral_ns(window_ns);
    }

    /// What waits for a client, and what has one and was not begun.
    fn note_backlog(&mut self) {
        let mut backlog = self.pacing.backlog(self.stages.draining_since_ns);
        backlog.unsent += (self.ready.len() + self.sends.len()) as u64;
        self.ready.clear();
        self.sends.clear();
        self.backlog = Some(backlog);
    }
}
