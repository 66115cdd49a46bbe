//! The exchange: the one loop that joins back end, protocol, pacing and stop condition.
//!
//! A turn: look at the clock, send what is due, wait, and for each event that came read replies, record them and send what
//! follows. The clock is read once per reply, or once for all that came together: the end of one latency is the start of the
//! next message's.

mod leaving;
mod window;

use throng_record::{ErrorKind, ExchangeSpec};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::stage::Stages;
use super::{Answer, Shard, errors};
use crate::backend::{Backend, Event, What};
use crate::connection::{Start, StartTimes, State};
use crate::control::{ProgressReading, ShardStage};
use crate::error::LoadError;
use crate::pacing::{Backlog, Pacing, Send};
use crate::protocol::{Reading, Replies};
use crate::recorder::Recorder;
pub(crate) use window::Window;

/// How long the loop sleeps at most before it looks at its orders.
const LOOK_NS: u64 = 20 * MILLISECOND_NS;
/// How often connections are looked over for replies that take too long.
const OVERDUE_LOOK_NS: u64 = 100 * MILLISECOND_NS;
/// After an interrupt, replies under way are waited for this long.
const INTERRUPTED_GRACE_NS: u64 = 200 * MILLISECOND_NS;

/// What one shard measured of an exchange.
pub(crate) struct ShardExchange {
    pub(crate) recorder: Recorder,
    pub(crate) sent: u64,
    pub(crate) replies: u64,
    pub(crate) warmup_replies: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
    pub(crate) connections_served: u32,
    pub(crate) started_at_ns: u64,
    pub(crate) measuring_since_ns: u64,
    /// When the last message was sent, or sending was over.
    pub(crate) draining_since_ns: u64,
    pub(crate) last_reply_at_ns: u64,
    /// Σ latency of all measured replies.
    pub(crate) latency_sum_ns: u128,
    /// The state when sending was over.
    pub(crate) window: Window,
    /// Closed loop: replies within the window, of each connection that was open from its begin to its end.
    pub(crate) replies_each: Vec<u32>,
    pub(crate) backlog: Backlog,
}

struct Exchange<'a, B, P> {
    shard: &'a mut Shard<B>,
    replies: Replies,
    pacing: P,
    stages: Stages,
    starts: StartTimes,
    recorder: Recorder,
    sends: Vec<Send>,
    progress: ProgressReading,
    measured_sent: u64,
    received_bytes: u64,
    last_reply_at_ns: u64,
    /// Totals so far; copied when sending is over.
    running: Window,
    at_drain: Option<Window>,
    /// Of each connection its replies before the window, and from the window's end on those within it; empty unless it is asked about.
    replies_each: Vec<u32>,
    announced: ShardStage,
    /// The end of the last wait, where the events of a wait have one time.
    woken_at_ns: u64,
    next_overdue_look_ns: u64,
    open: u32,
    paced_by_clock: bool,
    /// The server serves fewer connections at once than the fleet has.
    leaves_some_waiting: bool,
    /// The warm-up waits for every connection's first reply.
    waits_for_all: bool,
}

pub(super) fn run<B: Backend, P: Pacing>(
    shard: &mut Shard<B>,
    spec: &ExchangeSpec,
    replies: Replies,
    pacing: P,
) -> Result<ShardExchange, LoadError> {
    let started_at_ns = monotonic_ns();
    let slots: Vec<u32> = (0..shard.connections.len() as u32)
        .filter(|&slot| shard.connections[slot as usize].state == State::Open)
        .collect();
    let assignment = &shard.assignment;
    let stages = Stages::new(
        spec.warmup,
        spec.stop,
        (assignment.shard, assignment.spec.shards),
        assignment.connections,
        started_at_ns,
    );
    let outstanding = spec.pacing.outstanding();
    let connections = assignment.spec.connections;
    let paced_by_clock = matches!(spec.pacing, throng_record::Pacing::Open { .. });
    let mut exchange = Exchange {
        starts: StartTimes::new(shard.connections.len(), outstanding),
        replies_each: window::room_for_each(&spec.pacing, shard.connections.len()),
        sends: Vec::with_capacity(slots.len() * outstanding as usize),
        open: slots.len() as u32,
        paced_by_clock,
        leaves_some_waiting: leaves_some_waiting(spec, connections),
        waits_for_all: waits_for_all(spec, connections),
        shard,
        replies,
        pacing,
        stages,
        recorder: Recorder::new(),
        progress: ProgressReading::default(),
        measured_sent: 0,
        received_bytes: 0,
        last_reply_at_ns: started_at_ns,
        running: Window::default(),
        at_drain: None,
        announced: ShardStage::Warmup,
        woken_at_ns: 0,
        next_overdue_look_ns: started_at_ns + OVERDUE_LOOK_NS,
    };
    exchange
        .pacing
        .begin(&slots, started_at_ns, &mut exchange.sends);
    exchange.send_all(started_at_ns);
    exchange.run_to_end()?;
    Ok(exchange.finish(started_at_ns))
}

/// An open loop may not come to every connection for long, and a bounded server never does.
pub(crate) fn waits_for_all(spec: &ExchangeSpec, connections: u32) -> bool {
    let is_paced_by_clock = matches!(spec.pacing, throng_record::Pacing::Open { .. });
    !is_paced_by_clock && !leaves_some_waiting(spec, connections)
}

/// Whether the server serves fewer connections at once than there are.
fn leaves_some_waiting(spec: &ExchangeSpec, connections: u32) -> bool {
    spec.serves_at_once
        .is_some_and(|at_once| at_once < connections)
}

impl<B: Backend, P: Pacing> Exchange<'_, B, P> {
    fn run_to_end(&mut self) -> Result<(), LoadError> {
        loop {
            let now_ns = monotonic_ns();
            self.advance(now_ns);
            if self.leaves_some_waiting {
                self.leave_unserved(now_ns);
            }
            if self.is_over(now_ns) {
                return Ok(());
            }
            self.pacing.due(now_ns, &mut self.sends);
            self.send_all(now_ns);
            let until_ns = self.wait_until_ns(now_ns);
            self.shard
                .backend
                .wait(now_ns, until_ns)
                .map_err(|error| self.shard.fault("wait for replies", error))?;
            self.woken_at_ns = if B::EVENTS_COME_TOGETHER {
                monotonic_ns()
            } else {
                0
            };
            while let Some(event) = self.shard.backend.next_event() {
                self.on_event(event);
            }
            self.shard.assignment.progress.publish(self.progress);
        }
    }

    /// Stage changes by the clock or by order, and overdue replies.
    #[inline]
    fn advance(&mut self, now_ns: u64) {
        self.stages
            .advance(now_ns, self.shard.assignment.orders.all_answered());
        if self.shard.assignment.orders.is_stopped() || self.shard.assignment.interrupt.is_raised()
        {
            self.stages.drain(now_ns);
        }
        self.note_stage();
        if now_ns >= self.next_overdue_look_ns {
            self.next_overdue_look_ns = now_ns + OVERDUE_LOOK_NS;
            self.end_overdue(now_ns);
        }
    }

    /// Keeps what is told of the window at its ends, and tells the coordinator of a new stage.
    #[inline]
    fn note_stage(&mut self) {
        let stage = self.stages.now();
        if stage == self.announced {
            return;
        }
        self.announced = stage;
        match stage {
            ShardStage::Warmup => {}
            ShardStage::Measuring => self.begin_window(),
            ShardStage::Draining => self.end_window(),
        }
        self.shard.answer(Answer::Reached(stage));
    }

    fn is_over(&self, now_ns: u64) -> bool {
        let draining = self.stages.now() == ShardStage::Draining;
        let given_up = self.shard.assignment.interrupt.is_raised()
            && now_ns.saturating_sub(self.stages.draining_since_ns) > INTERRUPTED_GRACE_NS;
        self.open == 0 || draining && (self.progress.outstanding() == 0 || given_up)
    }

    /// The next thing that only the clock brings; a due time is approached sleeping, then spinning.
    #[inline]
    fn wait_until_ns(&self, now_ns: u64) -> u64 {
        let mut until_ns = now_ns + LOOK_NS;
        if let Some(change_ns) = self.stages.next_change_ns(now_ns) {
            until_ns = until_ns.min(change_ns);
        }
        if self.stages.now() != ShardStage::Draining
            && let Some(sleep_until_ns) = self.pacing.sleep_until_ns(now_ns)
        {
            until_ns = until_ns.min(sleep_until_ns);
        }
        until_ns
    }

    #[inline]
    fn on_event(&mut self, event: Event) {
        match event.what {
            What::Received(length) => self.on_received(event.slot, length),
            What::EndOfInput => self.on_end_of_input(event.slot),
            What::Failed(error) => self.fail(
                event.slot,
                errors::of_connection(&error),
                &error.to_string(),
            ),
            What::Connected => {}
        }
    }

    #[inline]
    fn on_received(&mut self, slot: u32, length: usize) {
        self.received_bytes += length as u64;
        let now_ns = if B::EVENTS_COME_TOGETHER {
            self.woken_at_ns
        } else {
            monotonic_ns()
        };
        let index = self.shard.index(slot);
        let mut position = 0;
        while position < length {
            let connection = &mut self.shard.connections[slot as usize];
            if connection.outstanding() == 0 {
                return self.fail(
                    slot,
                    ErrorKind::ExcessBytes,
                    "bytes came that no message had asked for",
                );
            }
            let bytes = &self.shard.backend.received()[position..length];
            match self
                .replies
                .read(index, connection.replies, connection.remembered, bytes)
            {
                Reading::Partial(remembered) => {
                    connection.remembered = remembered;
                    break;
                }
                Reading::Complete(used) => {
                    position += used;
                    self.on_reply(slot, now_ns);
                }
                Reading::Wrong => {
                    let (number, remembered) = (connection.replies, connection.remembered);
                    let words = self.replies.instead(index, number, remembered, bytes);
                    return self.fail(slot, ErrorKind::WrongBytes, &words);
                }
            }
        }
        self.send_all(now_ns);
    }

    #[inline]
    fn on_reply(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.shard.connections[slot as usize];
        let start = self.starts.get(slot, connection.replies);
        if connection.replies == 0 && self.waits_for_all {
            self.shard.assignment.orders.answered();
        }
        connection.replies = connection.replies.wrapping_add(1);
        connection.remembered = 0;
        connection.waiting_since_ns = now_ns;
        self.progress.replies += 1;
        self.last_reply_at_ns = now_ns;
        self.record(start, now_ns);
        self.pacing.replied(slot, now_ns, &mut self.sends);
    }

    #[inline]
    fn record(&mut self, start: Start, now_ns: u64) {
        let latency_ns = now_ns.saturating_sub(start.at_ns);
        let since_ns = self.stages.measuring_since_ns;
        if self.stages.now() != ShardStage::Warmup {
            self.running.arrived += 1;
        }
        if start.warmup {
            self.recorder.warmup(latency_ns);
            if self.stages.now() == ShardStage::Measuring {
                self.running.recorded += 1;
                self.running.outstanding_sum_ns += u128::from(now_ns - since_ns);
            }
        } else {
            self.recorder
                .measured(latency_ns, now_ns.saturating_sub(since_ns));
            self.progress.measured_replies += 1;
            self.running.replies += 1;
            self.running.latency_sum_ns += u128::from(latency_ns);
        }
    }

    #[inline]
    fn send_all(&mut self, now_ns: u64) {
        // The list is taken out and put back, so that its memory is kept while `self` is used.
        let mut sends = std::mem::take(&mut self.sends);
        for send in sends.drain(..) {
            self.send(send, now_ns);
        }
        self.sends = sends;
    }

    #[inline]
    fn send(&mut self, send: Send, now_ns: u64) {
        let slot = send.slot;
        if self.shard.connections[slot as usize].state != State::Open {
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
        self.progress.sent += 1;
        self.measured_sent += u64::from(!warmup);
        self.starts.set(
            slot,
            n,
            Start {
                at_ns: send.start_ns,
                warmup,
            },
        );
        if self.paced_by_clock && !warmup {
            self.note_lateness(send);
        }
        let range = self
            .shard
            .assignment
            .messages
            .range(self.shard.assignment.first + slot, n);
        if let Err(error) = self.shard.backend.send(slot, range) {
            self.fail(slot, errors::of_connection(&error), &error.to_string());
        }
    }

    /// The clock is read anew: several messages may be due at once, and each send takes its time.
    #[inline]
    fn note_lateness(&mut self, send: Send) {
        let sent_at_ns = monotonic_ns();
        self.recorder
            .scheduling_error
            .saturating_record(sent_at_ns.saturating_sub(send.ready_ns));
        self.recorder.send_delay_sum_ns += u128::from(sent_at_ns.saturating_sub(send.start_ns));
    }

    fn finish(mut self, started_at_ns: u64) -> ShardExchange {
        let now_ns = monotonic_ns();
        self.stages.drain(now_ns);
        self.note_stage();
        self.shard.assignment.progress.publish(self.progress);
        let size = self.shard.assignment.messages.size() as u64;
        let served = self
            .shard
            .connections
            .iter()
            .filter(|connection| connection.replies > 0)
            .count();
        ShardExchange {
            sent: self.measured_sent,
            replies: self.running.replies,
            warmup_replies: self.progress.replies - self.running.replies,
            sent_bytes: self.progress.sent * size,
            received_bytes: self.received_bytes,
            connections_served: served as u32,
            started_at_ns,
            measuring_since_ns: self.stages.measuring_since_ns,
            draining_since_ns: self.stages.draining_since_ns,
            last_reply_at_ns: self.last_reply_at_ns,
            latency_sum_ns: self.running.latency_sum_ns,
            window: self.at_drain.unwrap_or(self.running),
            replies_each: self.replies_each,
            backlog: self.pacing.backlog(self.stages.draining_since_ns),
            recorder: self.recorder,
        }
    }
}
