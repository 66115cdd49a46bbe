//! Pings: one message on some of many idle connections, a few under way at a time, each awaited until its last byte.
//!
//! A server that answers nobody costs one round of time-outs and not one for every few connections: then no more are sent.

use std::collections::VecDeque;

use throng_record::{ErrorCounts, ErrorKind, Protocol, histogram};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::{Shard, errors};
use crate::backend::{Backend, Event, What};
use crate::connection::ConnectionState;
use crate::control::ProgressReading;
use crate::error::LoadError;
use crate::protocol::{Reading, Replies};

/// How often orders and overdue answers are looked at.
const LOOK_NS: u64 = 20 * MILLISECOND_NS;
/// So many time-outs in succession say nothing yet, however few pings go on at once.
const UNANSWERED_MIN: usize = 4;

/// Which of a fleet's open connections are pinged: spread evenly over all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Open connections of the shards before this one.
    pub(crate) before: u64,
    /// Open connections of the fleet.
    pub(crate) all: u64,
    /// How many are pinged; not more than there are.
    pub(crate) pings: u64,
}

impl Sample {
    /// Whether the n-th open connection of this shard is one of them: the i-th ping goes to number ⌊i × all ÷ pings⌋ of them all.
    fn has(&self, n: u64) -> bool {
        let at = self.before + n;
        let up_to =
            |at: u64| (u128::from(at) * u128::from(self.pings)).div_ceil(self.all.max(1).into());
        up_to(at + 1) > up_to(at)
    }
}

/// What a shard is asked to ping, and how.
pub(crate) struct Pings {
    /// What is sent, and how the answer ends.
    pub(crate) protocol: Protocol,
    /// Whether the answer's bytes are compared.
    pub(crate) verify: bool,
    /// Which connections.
    pub(crate) sample: Sample,
    /// Pings under way at once, at least 1.
    pub(crate) at_once: u32,
}

/// What one shard measured of its pings.
pub(crate) struct ShardPings {
    pub(crate) pinged: u32,
    pub(crate) answered: u32,
    pub(crate) not_pinged: u32,
    /// The first ping and the last answer.
    pub(crate) span_ns: Option<(u64, u64)>,
    pub(crate) latency: hdrhistogram::Histogram<u64>,
    pub(crate) ping_errors: ErrorCounts,
    pub(crate) lost_errors: ErrorCounts,
}

struct Pinging<'a, B> {
    shard: &'a mut Shard<B>,
    replies: Replies,
    at_once: usize,
    /// Slots to be pinged, the next one first.
    waiting: VecDeque<u32>,
    /// Slots pinged, the longest ago first; those that are answered behind one that is not are still in it.
    under_way: VecDeque<u32>,
    unanswered: usize,
    /// Time-outs since the last answer.
    timed_out: usize,
    record: ShardPings,
}

pub(super) fn run<B: Backend>(
    shard: &mut Shard<B>,
    pings: &Pings,
) -> Result<ShardPings, LoadError> {
    let replies = Replies::of(&pings.protocol, &shard.assignment.messages, pings.verify);
    let open = (0..).zip(&shard.connections);
    let open = open.filter(|(_, connection)| connection.state == ConnectionState::Open);
    let waiting = (0..)
        .zip(open)
        .filter(|&(n, _)| pings.sample.has(n))
        .map(|(_, (slot, _))| slot)
        .collect();
    let mut pinging = Pinging {
        shard,
        replies,
        at_once: pings.at_once as usize,
        waiting,
        under_way: VecDeque::new(),
        unanswered: 0,
        timed_out: 0,
        record: ShardPings {
            pinged: 0,
            answered: 0,
            not_pinged: 0,
            span_ns: None,
            latency: histogram::empty(),
            ping_errors: ErrorCounts::default(),
            lost_errors: ErrorCounts::default(),
        },
    };
    pinging.run_to_end()?;
    Ok(pinging.record)
}

impl<B: Backend> Pinging<'_, B> {
    fn run_to_end(&mut self) -> Result<(), LoadError> {
        while !self.shard.assignment.interrupt.is_raised() {
            while self.unanswered < self.at_once
                && self.unanswered + self.timed_out < self.unanswered_max()
                && let Some(slot) = self.waiting.pop_front()
            {
                self.ping(slot);
            }
            if self.unanswered == 0 && self.waiting.is_empty() {
                break;
            }
            let now_ns = monotonic_ns();
            self.shard
                .backend
                .wait(now_ns, now_ns + LOOK_NS)
                .map_err(|error| self.shard.fault("wait for answers", error))?;
            while let Some(event) = self.shard.backend.next_event() {
                self.on_event(event);
            }
            self.end_overdue();
            if self.timed_out >= self.unanswered_max() {
                self.record.not_pinged += self.waiting.len() as u32;
                self.waiting.clear();
            }
            self.shard.assignment.progress.publish(ProgressReading {
                replies: self.record.answered.into(),
                ..ProgressReading::default()
            });
        }
        Ok(())
    }

    /// So many time-outs in succession, and no more is sent.
    fn unanswered_max(&self) -> usize {
        self.at_once.max(UNANSWERED_MIN)
    }

    /// Sends, unless the connection was lost while it waited.
    fn ping(&mut self, slot: u32) {
        let index = self.shard.index(slot);
        let connection = &mut self.shard.connections[slot as usize];
        if connection.state != ConnectionState::Open {
            return;
        }
        let now_ns = monotonic_ns();
        let range = self.shard.assignment.messages.range(index, connection.sent);
        connection.sent = connection.sent.wrapping_add(1);
        connection.waiting_since_ns = now_ns;
        self.under_way.push_back(slot);
        self.unanswered += 1;
        self.record.pinged += 1;
        self.record.span_ns.get_or_insert((now_ns, now_ns));
        if let Err(error) = self.shard.backend.send(slot, range) {
            self.fail(slot, errors::of_connection(&error), &error.to_string());
        }
    }

    fn is_under_way(&self, slot: u32) -> bool {
        let connection = &self.shard.connections[slot as usize];
        connection.state == ConnectionState::Open && connection.outstanding() > 0
    }

    fn on_event(&mut self, event: Event) {
        if !self.is_under_way(event.slot) {
            self.shard.lose(event, &mut self.record.lost_errors);
            return;
        }
        match event.what {
            What::Received(length) => self.on_received(event.slot, length),
            What::EndOfInput => {
                let is_mid_reply = self.shard.connections[event.slot as usize].is_mid_reply();
                let (kind, detail) = if is_mid_reply {
                    (
                        ErrorKind::Truncated,
                        "the peer closed in the middle of an answer",
                    )
                } else {
                    (
                        ErrorKind::ClosedEarly,
                        "the peer closed instead of answering",
                    )
                };
                self.fail(event.slot, kind, detail);
            }
            What::Failed(error) => self.fail(
                event.slot,
                errors::of_connection(&error),
                &error.to_string(),
            ),
            What::Connected | What::Handshake(_) => {}
        }
    }

    fn on_received(&mut self, slot: u32, length: usize) {
        let now_ns = monotonic_ns();
        let index = self.shard.index(slot);
        let connection = &mut self.shard.connections[slot as usize];
        let bytes = self.shard.backend.received();
        match self
            .replies
            .read(index, connection.replies, connection.remembered, bytes)
        {
            Reading::Partial(remembered) => connection.remembered = remembered,
            Reading::Complete(used) if used == length => self.answered(slot, now_ns),
            Reading::Complete(_) => self.fail(
                slot,
                ErrorKind::ExcessBytes,
                "more bytes came than the answer has",
            ),
            Reading::Wrong => {
                let (number, remembered) = (connection.replies, connection.remembered);
                let (kind, words) = self.replies.instead(index, number, remembered, bytes);
                self.fail(slot, kind, &words);
            }
        }
    }

    fn answered(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.shard.connections[slot as usize];
        connection.replies = connection.replies.wrapping_add(1);
        connection.remembered = 0;
        let latency_ns = now_ns.saturating_sub(connection.waiting_since_ns);
        self.unanswered -= 1;
        self.timed_out = 0;
        self.record.answered += 1;
        self.record.latency.saturating_record(latency_ns);
        if let Some((_, last_ns)) = &mut self.record.span_ns {
            *last_ns = now_ns;
        }
    }

    /// Ends a connection whose answer has not come.
    fn fail(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        let index = self.shard.index(slot);
        self.unanswered -= 1;
        self.shard.connections[slot as usize].state = ConnectionState::Closed;
        self.shard.backend.close(slot);
        self.record
            .ping_errors
            .count_at(index, kind, || detail.to_owned());
    }

    /// All have the same time, so that only the front may be overdue.
    fn end_overdue(&mut self) {
        let timeout_ns = self.shard.assignment.spec.reply_timeout_ns;
        while let Some(&slot) = self.under_way.front() {
            if self.is_under_way(slot) {
                let since_ns = self.shard.connections[slot as usize].waiting_since_ns;
                if monotonic_ns().saturating_sub(since_ns) <= timeout_ns {
                    return;
                }
                let (kind, detail) = self.shard.overdue(slot, &self.replies);
                self.fail(slot, kind, &detail);
                self.timed_out += 1;
            }
            self.under_way.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_many_as_asked_for_are_pinged_and_evenly_spread(
            shards in proptest::collection::vec(0_u64..40, 1..6),
            part in 0.0..=1.0,
        ) {
            let all: u64 = shards.iter().sum();
            let pings = (all as f64 * part) as u64;
            let mut before = 0;
            let mut pinged = vec![];
            for open in shards {
                let sample = Sample { before, all, pings };
                pinged.extend((0..open).filter(|&n| sample.has(n)).map(|n| before + n));
                before += open;
            }
            prop_assert_eq!(pinged.len() as u64, pings);
            let gaps: Vec<_> = pinged.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let (least, most) = (gaps.iter().min(), gaps.iter().max());
            prop_assert!(most.unwrap_or(&0) - least.unwrap_or(&0) <= 1);
        }
    }
}
