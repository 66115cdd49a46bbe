//! How requests begin: what the pacing chooses, in the order in which it did, a few at a time.

use std::net::IpAddr;

use throng_sys::clock::monotonic_ns;

use super::super::queue_full::Attempt;
use super::Requests;
use crate::backend::{Backend, Began};
use crate::control::ShardStage;
use crate::pacing::{Pacing, Send};

/// Clients that begin before the next look at what has come: beginning takes system calls, and events have times.
const BEGIN_AT_ONCE: usize = 32;

impl<B: Backend, P: Pacing> Requests<'_, B, P> {
    pub(super) fn resume_paused(&mut self, now_ns: u64) {
        while let Some(&(until_ns, slot)) = self.paused.front()
            && until_ns <= now_ns
        {
            self.paused.pop_front();
            self.may_go_on(slot, now_ns);
        }
    }

    /// A client is free for its next request.
    pub(super) fn may_go_on(&mut self, slot: u32, now_ns: u64) {
        if self.stages.now() != ShardStage::Draining {
            self.pacing.replied(slot, now_ns, &mut self.sends);
        }
    }

    /// Those that become ready meanwhile are left for the next time: where every connect is refused that never ends.
    pub(super) fn begin_ready(&mut self) {
        if self.paced_by_clock && self.stages.now() != ShardStage::Draining {
            self.pacing.due(monotonic_ns(), &mut self.sends);
        }
        self.ready.extend(self.sends.drain(..));
        for _ in 0..self.ready.len().min(BEGIN_AT_ONCE) {
            if let Some(send) = self.ready.pop_front() {
                self.begin(send);
            }
        }
        // A count that these complete ends the warm-up, or the window, here and now.
        self.note_stage();
    }

    fn begin(&mut self, send: Send) {
        let slot = send.slot;
        let now_ns = monotonic_ns();
        let client = &mut self.clients[slot as usize];
        if u64::from(client.begun) >= self.each {
            return;
        }
        let Some(is_warmup) = self.stages.take(now_ns) else {
            return;
        };
        let start_ns = if self.paced_by_clock {
            send.start_ns
        } else {
            now_ns
        };
        client.begin(start_ns, now_ns, is_warmup);
        client.address = match &mut self.choices {
            Some(choices) => choices.next(slot),
            None => self.shard.address(slot),
        };
        self.outstanding.sent(self.stages.in_window_ns(now_ns));
        if is_warmup {
            self.record.warmup_begun += 1;
        } else {
            self.record.began(now_ns);
            self.note_lateness(send, now_ns);
        }
        self.under_way += 1;
        let assignment = &self.shard.assignment;
        // Each shard counts its own; together they number about as a single one would.
        let (shard, shards) = (assignment.shard, assignment.spec.shards);
        let number = self.begun * u64::from(shards) + u64::from(shard);
        self.begun += 1;
        let source = assignment.sources.of_request(number);
        let place = self.clients[slot as usize].address;
        if self.queue.is_waited_for(place) || self.attempt(slot, source) == Attempt::QueueFull {
            self.queue.wait(place, slot, monotonic_ns());
        }
    }

    pub(super) fn retry_full_queue(&mut self) {
        for place in self.queue.places() {
            while let Some((slot, since_ns)) = self.queue.next(place) {
                // Only Unix sockets wait so, and they have no source address.
                if self.attempt(slot, None) == Attempt::QueueFull {
                    self.queue.wait_on(place, slot, since_ns);
                    break;
                }
                self.queue.ended(since_ns, monotonic_ns());
            }
        }
    }

    fn attempt(&mut self, slot: u32, source: Option<IpAddr>) -> Attempt {
        let assignment = &self.shard.assignment;
        let nodelay = assignment.spec.nodelay;
        let address = assignment.addresses.at(self.clients[slot as usize].address);
        let began = self.shard.backend.connect(slot, address, source, nodelay);
        let now_ns = monotonic_ns();
        if self.record.log.tells_every() {
            self.clients[slot as usize].local = self.local_address(slot);
        }
        match began {
            Ok(Began::Connected) => self.connected(slot, now_ns),
            Ok(Began::UnderWay) => {}
            Ok(Began::QueueFull) => return Attempt::QueueFull,
            Err(error) => self.fail_connect(slot, &error),
        }
        Attempt::Done
    }

    fn note_lateness(&mut self, send: Send, now_ns: u64) {
        if self.paced_by_clock {
            let recorder = &mut self.recorder;
            let late_ns = now_ns.saturating_sub(send.ready_ns);
            recorder.scheduling_error.saturating_record(late_ns);
            recorder.send_delay_sum_ns += u128::from(now_ns.saturating_sub(send.start_ns));
        }
    }
}
