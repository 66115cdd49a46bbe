//! The exchange: the one loop that joins back end, protocol, pacing and stop condition.
//!
//! A turn: look at the clock, send what is due, wait, and for each event that came read replies, record them and send what
//! follows. The clock is read once per reply, or once for all that came together: the end of one latency is the start of the
//! next message's.

mod leaving;
mod reopening;
mod responses;
mod sending;
mod silence;
mod starving;
mod window;

use throng_record::{ErrorKind, ExchangeSpec, FleetSpec, PagesRecord, TasksRecord};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::outstanding::Outstanding;
use super::queue_full;
use super::stage::Stages;
use super::{Answer, Shard, errors};
use crate::backend::{Backend, Event, What};
use crate::connection::{Connection, ConnectionState, Start, StartTimes};
use crate::control::{ProgressReading, ShardStage};
use crate::error::LoadError;
use crate::pacing::{Backlog, Pacing, Send};
use crate::protocol::{Reading, Replies};
use crate::recorder::Recorder;
use reopening::Reopening;
use silence::Silences;
pub(crate) use silence::{LEAST_NS as SILENCE_LEAST_NS, ShardSilence};
pub(crate) use starving::Starving;
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
    /// As in [`throng_record::ExchangePhase`].
    pub(crate) connections_silent: u32,
    pub(crate) started_at_ns: u64,
    pub(crate) measuring_since_ns: u64,
    /// When the last message was sent, or sending was over.
    pub(crate) draining_since_ns: u64,
    pub(crate) last_reply_at_ns: u64,
    /// The state when sending was over.
    pub(crate) window: Window,
    /// Closed loop: replies within the window, of each connection that was open until all was answered.
    pub(crate) replies_each: Vec<u32>,
    pub(crate) silences: Vec<ShardSilence>,
    pub(crate) starving: Vec<Starving>,
    pub(crate) backlog: Backlog,
    pub(crate) tasks: Option<TasksRecord>,
    /// Where pages are asked for.
    pub(crate) pages: Option<PagesRecord>,
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
    outstanding: Outstanding,
    /// Warm-up included.
    sent_bytes: u64,
    measured_sent: u64,
    received_bytes: u64,
    last_reply_at_ns: u64,
    /// Totals so far; copied when sending is over.
    running: Window,
    at_drain: Option<Window>,
    /// Of each connection its replies before the window, and from the window's end on those within it; empty unless it is asked about.
    replies_each: Vec<u32>,
    silences: Silences,
    reopening: Reopening,
    /// Responses to measured requests, by class of status.
    statuses: [u64; 5],
    starving: Vec<Starving>,
    /// Connections whose reply was overdue.
    overdue: Vec<u32>,
    /// Connections that a bounded server never came to.
    unserved: Vec<u32>,
    announced: ShardStage,
    /// The end of the last wait, where the events of a wait have one time.
    woken_at_ns: u64,
    next_overdue_look_ns: u64,
    open: u32,
    /// Of which not a byte has come although they were open until their time was over.
    silent: u32,
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
        .filter(|&slot| shard.connections[slot as usize].is_usable())
        .collect();
    let before = shard
        .connections
        .iter()
        .map(|connection| connection.replies);
    let reopening = Reopening::new(replies.are_pages(), before);
    // What was sent and answered in a phase before is none of this one's.
    for &slot in &slots {
        let connection = &mut shard.connections[slot as usize];
        (connection.sent, connection.replies) = (0, 0);
    }
    let assignment = &shard.assignment;
    let stages = Stages::new(
        spec.warmup,
        spec.stop,
        (assignment.shard, assignment.spec.shards),
        assignment.connections / spec.pacing.tasks().map_or(1, |tasks| tasks.choices),
        started_at_ns,
    );
    let outstanding = spec.pacing.outstanding();
    let fleet = &assignment.spec;
    let paced_by_clock = matches!(spec.pacing, throng_record::Pacing::Open { .. });
    let mut exchange = Exchange {
        starts: StartTimes::new(shard.connections.len(), outstanding),
        replies_each: window::room_for_each(&spec.pacing, shard.connections.len()),
        silences: Silences::new(started_at_ns),
        reopening,
        statuses: [0; 5],
        starving: Vec::new(),
        overdue: Vec::new(),
        unserved: Vec::new(),
        sends: Vec::with_capacity(slots.len() * outstanding as usize),
        open: slots.len() as u32,
        silent: 0,
        paced_by_clock,
        leaves_some_waiting: leaves_some_waiting(fleet),
        waits_for_all: waits_for_all(spec, fleet),
        shard,
        replies,
        pacing,
        stages,
        recorder: Recorder::new(),
        progress: ProgressReading::default(),
        outstanding: Outstanding::default(),
        sent_bytes: 0,
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
pub(crate) fn waits_for_all(spec: &ExchangeSpec, fleet: &FleetSpec) -> bool {
    let is_paced_by_clock = matches!(spec.pacing, throng_record::Pacing::Open { .. });
    !is_paced_by_clock && !leaves_some_waiting(fleet)
}

/// Whether the server serves fewer connections at once than there are.
fn leaves_some_waiting(fleet: &FleetSpec) -> bool {
    fleet
        .serves_at_once
        .is_some_and(|at_once| at_once < fleet.connections)
}

impl<B: Backend, P: Pacing> Exchange<'_, B, P> {
    fn run_to_end(&mut self) -> Result<(), LoadError> {
        loop {
            let now_ns = monotonic_ns();
            self.silences.turn(now_ns, self.last_reply_at_ns);
            self.advance(now_ns);
            if self.leaves_some_waiting {
                self.leave_unserved(now_ns);
            }
            if self.is_over(now_ns) {
                return Ok(());
            }
            if self.reopening.is_waiting() {
                self.retry_reopening();
            }
            self.pacing.due(now_ns, &mut self.sends);
            self.send_all(now_ns);
            let until_ns = self.wait_until_ns(now_ns);
            self.silences.wait_until(until_ns);
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
        let is_stopped = self.shard.assignment.orders.is_stopped();
        if is_stopped || self.shard.assignment.interrupt.is_raised() || self.pacing.is_done() {
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
        self.open == 0 || draining && (self.outstanding.number() == 0 || given_up)
    }

    /// The next thing that only the clock brings; a due time is approached sleeping, then spinning.
    #[inline]
    fn wait_until_ns(&self, now_ns: u64) -> u64 {
        let mut until_ns = now_ns + LOOK_NS;
        if let Some(change_ns) = self.stages.next_change_ns(now_ns) {
            until_ns = until_ns.min(change_ns);
        }
        if self.reopening.is_waiting() {
            until_ns = until_ns.min(now_ns + queue_full::PAUSE_NS);
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
            What::Failed(error) => self.on_failure(event.slot, &error),
            What::Connected => self.reopened(event.slot),
            What::Handshake(_) => {}
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
                    if connection.first_piece_at_ns == 0 {
                        connection.first_piece_at_ns = now_ns;
                    }
                    break;
                }
                Reading::Complete(used) => {
                    position += used;
                    match self.replies.response() {
                        None => self.on_reply(slot, now_ns),
                        Some(response) => self.on_response(slot, now_ns, response),
                    }
                    if !self.shard.connections[slot as usize].is_open() {
                        break;
                    }
                }
                Reading::Wrong => {
                    let (number, remembered) = (connection.replies, connection.remembered);
                    let (kind, words) = self.replies.instead(index, number, remembered, bytes);
                    return self.fail(slot, kind, &words);
                }
            }
        }
        self.send_all(now_ns);
    }

    #[inline]
    fn on_reply(&mut self, slot: u32, now_ns: u64) {
        let start = self.take_reply(slot, now_ns);
        self.progress.replies += 1;
        self.record(start, now_ns);
        let address = || self.shard.address(slot);
        self.pacing
            .ended(slot, address, now_ns, Ok(()), &mut self.sends);
        self.pacing.replied(slot, now_ns, &mut self.sends);
    }

    /// A whole reply has come, right or not: when its message began.
    #[inline]
    fn take_reply(&mut self, slot: u32, now_ns: u64) -> Start {
        if now_ns.saturating_sub(self.last_reply_at_ns) >= SILENCE_LEAST_NS {
            self.note_silence(now_ns);
        }
        let connection = &mut self.shard.connections[slot as usize];
        let start = self.starts.get(slot, connection.replies);
        if connection.replies == 0 && self.waits_for_all {
            self.shard.assignment.orders.answered();
        }
        connection.replies = connection.replies.wrapping_add(1);
        connection.remembered = 0;
        connection.waiting_since_ns = now_ns;
        let first_piece_at_ns = std::mem::take(&mut connection.first_piece_at_ns);
        if first_piece_at_ns > 0 && !start.warmup {
            let took_ns = now_ns.saturating_sub(first_piece_at_ns);
            self.recorder.between_pieces.saturating_record(took_ns);
        }
        self.last_reply_at_ns = now_ns;
        start
    }

    #[inline]
    fn record(&mut self, start: Start, now_ns: u64) {
        let latency_ns = now_ns.saturating_sub(start.at_ns);
        let since_ns = self.stages.measuring_since_ns;
        self.outstanding.ended(1, self.stages.in_window_ns(now_ns));
        if self.stages.now() != ShardStage::Warmup {
            self.running.arrived += 1;
        }
        if start.warmup {
            self.recorder.warmup(latency_ns);
            if self.stages.now() == ShardStage::Measuring {
                self.running.recorded += 1;
                self.running.warmup_reply_ns_max = self.running.warmup_reply_ns_max.max(latency_ns);
                self.running.outstanding_sum_ns += u128::from(now_ns - since_ns);
            }
        } else {
            self.recorder
                .measured(latency_ns, now_ns.saturating_sub(since_ns));
            self.progress.measured_replies += 1;
            self.running.replies += 1;
        }
    }

    fn finish(mut self, started_at_ns: u64) -> ShardExchange {
        let now_ns = monotonic_ns();
        self.stages.drain(now_ns);
        self.note_stage();
        self.shard.assignment.progress.publish(self.progress);
        let connections = self.shard.connections.iter();
        let served = connections.filter(|connection| connection.replies > 0);
        let served = served.count();
        let is_silent = |connection: &&Connection| {
            connection.state == ConnectionState::Open
                && connection.replies == 0
                && !connection.is_mid_reply()
        };
        let silent = self.shard.connections.iter().filter(is_silent).count();
        self.leave_out_failed();
        let pages = self.pages_record();
        ShardExchange {
            sent: self.measured_sent,
            replies: self.running.replies,
            warmup_replies: self.progress.replies - self.running.replies,
            sent_bytes: self.sent_bytes,
            received_bytes: self.received_bytes,
            connections_served: served as u32,
            connections_silent: self.silent + silent as u32,
            started_at_ns,
            measuring_since_ns: self.stages.measuring_since_ns,
            draining_since_ns: self.stages.draining_since_ns,
            last_reply_at_ns: self.last_reply_at_ns,
            window: self.at_drain.unwrap_or(self.running),
            replies_each: self.replies_each,
            silences: self.silences.found,
            starving: self.starving,
            backlog: self.pacing.backlog(self.stages.draining_since_ns),
            tasks: self.pacing.tasks(),
            pages,
            recorder: self.recorder,
        }
    }
}
