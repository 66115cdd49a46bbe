//! Responses to requests for pages: their statuses, and those that are whole but not right.
//!
//! A response that is not right is an error, and leaves its connection as it is where its end is known: the next one follows. It is in no latency
//! and in no throughput. What it means for the pacing is what a reply means.

use throng_record::{ErrorKind, PagesRecord};

use super::Exchange;
use crate::backend::Backend;
use crate::pacing::Pacing;
use crate::protocol::{CLOSES, Response};

impl<B: Backend, P: Pacing> Exchange<'_, B, P> {
    /// A whole response has come.
    #[inline]
    pub(super) fn on_response(&mut self, slot: u32, now_ns: u64, response: Response) {
        let n = self.shard.connections[slot as usize].replies;
        if !self.starts.get(slot, n).warmup {
            self.statuses[0] += u64::from(response.interims);
            // Of three digits, as the parser has seen to.
            let class = usize::from(response.status / 100).clamp(1, 5);
            self.statuses[class - 1] += 1;
        }
        if response.is_refused {
            let (kind, words) = self.replies.refusal();
            if response.closes && self.would_end_too_early(slot) {
                return self.fail(slot, kind, &words);
            }
            self.on_refused(slot, now_ns, kind, &words);
        } else {
            self.on_reply(slot, now_ns);
        }
        if response.closes {
            self.end_between_replies(slot, CLOSES);
        }
    }

    #[cold]
    fn on_refused(&mut self, slot: u32, now_ns: u64, kind: ErrorKind, words: &str) {
        let start = self.take_reply(slot, now_ns);
        let in_window_ns = self.stages.in_window_ns(now_ns);
        self.outstanding.ended(1, in_window_ns);
        self.running.outstanding_sum_ns += self.stages.unrecorded_ns(start, now_ns);
        self.recorder.error(kind, self.shard.index(slot), words);
        let address = || self.shard.address(slot);
        self.pacing
            .ended(slot, address, now_ns, Err(words), &mut self.sends);
        self.pacing.replied(slot, now_ns, &mut self.sends);
    }

    /// What became of the pages; absent where none were asked for.
    pub(super) fn pages_record(&self) -> Option<PagesRecord> {
        self.replies.are_pages().then_some(PagesRecord {
            reconnects: self.reopening.reconnects,
            sent_again: self.reopening.sent_again,
            statuses: self.statuses,
        })
    }
}
