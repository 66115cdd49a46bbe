//! Messages that each have a connection of their own: the loop of a shard's clients, each of which connects, sends its request
//! at once, receives until the reply is complete, closes, and goes on with its next.
//!
//! A turn: look at the clock, let the clients begin that the pacing has chosen, wait, and for each event take its client further.
//! Whatever fails ends that request only. To the pacing a client is what a kept connection is: free when its request has ended.

mod beginning;
mod client;
mod ending;
mod measured;
mod request;
mod request_log;
mod window;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;

use throng_record::{Amount, ErrorKind, ExchangeSpec, Stop};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::connect::RETRANSMITTED_FROM_NS;
use super::exchange::{ShardExchange, Window};
use super::outstanding::Outstanding;
use super::queue_full::{self, QueueFull};
use super::stage::Stages;
use super::{Answer, Shard, errors};
use crate::addresses::Choices;
use crate::backend::{Backend, Event, What};
use crate::control::{ProgressReading, ShardStage};
use crate::error::LoadError;
use crate::pacing::{Backlog, Pacing, Send};
use crate::protocol::{Reply, Verdict};
use crate::recorder::Recorder;
use client::{Client, ClientState};

pub(crate) use measured::{ShardConnections, ShardRequests};
pub(crate) use request::Request;
pub(crate) use request_log::RequestLog;

/// How long the loop sleeps at most before it looks at its orders.
const LOOK_NS: u64 = 20 * MILLISECOND_NS;
/// How often clients are looked over for connects and replies that take too long.
const OVERDUE_LOOK_NS: u64 = 50 * MILLISECOND_NS;
const EXCESS: &str = "more bytes came than the reply has";
/// Where only the clock ends the requests, a client whose connect failed at once waits so long: else it would do nothing but fail.
const FAILED_PAUSE_NS: u64 = MILLISECOND_NS;

struct Requests<'a, B, P> {
    shard: &'a mut Shard<B>,
    clients: Vec<Client>,
    pacing: P,
    /// What the pacing has just chosen.
    sends: Vec<Send>,
    /// Requests that are to begin.
    ready: VecDeque<Send>,
    /// Clients that pause, and until when, the next first: all pause for the same time.
    paused: VecDeque<(u64, u32)>,
    queue: QueueFull,
    /// Where a request chooses among several listeners.
    choices: Option<Choices>,
    under_way: u32,
    /// Requests of each client at most.
    each: u64,
    pauses_after_failure: bool,
    stages: Stages,
    announced: ShardStage,
    recorder: Recorder,
    record: ShardConnections,
    progress: ProgressReading,
    /// Requests begun, warm-up included.
    begun: u64,
    /// Requests that have begun and not ended.
    outstanding: Outstanding,
    /// How long those were outstanding within the window that left no latency: they failed, or were of the warm-up.
    unrecorded_ns: u128,
    sent_bytes: u64,
    measured_sent: u64,
    received_bytes: u64,
    last_reply_at_ns: u64,
    window: Window,
    /// Open loop: what its schedule still owed when the last request began.
    backlog: Option<Backlog>,
    paced_by_clock: bool,
    /// The end of the last wait, where the events of a wait have one time.
    woken_at_ns: u64,
    next_overdue_look_ns: u64,
}

pub(super) fn run<B: Backend, P: Pacing>(
    shard: &mut Shard<B>,
    spec: &ExchangeSpec,
    log: RequestLog,
    pacing: P,
) -> Result<ShardRequests, LoadError> {
    let started_at_ns = monotonic_ns();
    let mut requests = Requests::new(shard, spec, log, pacing, started_at_ns);
    requests.run_to_end()?;
    requests.abandon()?;
    Ok(requests.finish(started_at_ns))
}

impl<'a, B: Backend, P: Pacing> Requests<'a, B, P> {
    fn new(
        shard: &'a mut Shard<B>,
        spec: &ExchangeSpec,
        log: RequestLog,
        mut pacing: P,
        now_ns: u64,
    ) -> Self {
        let assignment = &shard.assignment;
        let reply = Reply::of(&spec.protocol, &assignment.messages, spec.verify);
        let of_shards = (assignment.shard, assignment.spec.shards);
        let clients = assignment.connections;
        let slots: Vec<u32> = (0..clients).collect();
        let mut sends = Vec::with_capacity(slots.len());
        pacing.begin(&slots, now_ns, &mut sends);
        let paced_by_clock = matches!(spec.pacing, throng_record::Pacing::Open { .. });
        let until_a_time = matches!(spec.stop, Stop::DurationNs(_))
            || matches!(spec.warmup, Amount::DurationNs(1..));
        Self {
            clients: vec![Client::new(reply); clients as usize],
            pacing,
            sends,
            ready: VecDeque::with_capacity(slots.len()),
            paused: VecDeque::new(),
            queue: QueueFull::new(shard.assignment.addresses.number()),
            choices: Choices::of(spec.pacing.tasks(), shard.seed()),
            under_way: 0,
            each: spec.stop.each(),
            pauses_after_failure: until_a_time && !paced_by_clock,
            stages: Stages::new(spec.warmup, spec.stop, of_shards, clients, now_ns),
            announced: ShardStage::Warmup,
            shard,
            recorder: Recorder::new(),
            record: ShardConnections::new(log),
            progress: ProgressReading::default(),
            begun: 0,
            outstanding: Outstanding::default(),
            unrecorded_ns: 0,
            sent_bytes: 0,
            measured_sent: 0,
            received_bytes: 0,
            last_reply_at_ns: now_ns,
            window: Window::default(),
            backlog: None,
            paced_by_clock,
            woken_at_ns: 0,
            next_overdue_look_ns: now_ns + OVERDUE_LOOK_NS,
        }
    }

    fn run_to_end(&mut self) -> Result<(), LoadError> {
        loop {
            let now_ns = monotonic_ns();
            self.stages.advance(now_ns, true);
            if self.pacing.is_done() {
                self.stages.drain(now_ns);
            }
            self.note_stage();
            self.resume_paused(now_ns);
            self.retry_full_queue();
            self.begin_ready();
            if now_ns >= self.next_overdue_look_ns {
                self.next_overdue_look_ns = now_ns + OVERDUE_LOOK_NS;
                self.end_overdue(now_ns);
            }
            self.shard.assignment.progress.publish(self.progress);
            if self.is_over() {
                return Ok(());
            }
            self.wait()?;
            while let Some(event) = self.shard.backend.next_event() {
                self.on_event(event);
                self.begin_ready();
            }
        }
    }

    /// Nobody will begin any more, and nothing is under way that is waited for.
    fn is_over(&self) -> bool {
        let nobody_begins = self.stages.now() == ShardStage::Draining;
        self.shard.assignment.interrupt.is_raised() || self.under_way == 0 && nobody_begins
    }

    /// That of the end is told by the answer: requests are measured to the last one's end.
    fn note_stage(&mut self) {
        let stage = self.stages.now();
        if stage == ShardStage::Draining && self.backlog.is_none() {
            self.end_window();
        }
        if stage != ShardStage::Warmup && self.announced == ShardStage::Warmup {
            self.announced = ShardStage::Measuring;
            self.shard.answer(Answer::Reached(ShardStage::Measuring));
        }
    }

    fn wait(&mut self) -> Result<(), LoadError> {
        let now_ns = monotonic_ns();
        let mut until_ns = now_ns + LOOK_NS;
        if let Some(change_ns) = self.stages.next_change_ns(now_ns) {
            until_ns = until_ns.min(change_ns);
        }
        if let Some(&(resume_ns, _)) = self.paused.front() {
            until_ns = until_ns.min(resume_ns);
        }
        if !self.queue.is_empty() {
            until_ns = until_ns.min(now_ns + queue_full::PAUSE_NS);
        }
        if self.stages.now() != ShardStage::Draining
            && let Some(sleep_until_ns) = self.pacing.sleep_until_ns(now_ns)
        {
            until_ns = until_ns.min(sleep_until_ns);
        }
        if !self.ready.is_empty() {
            until_ns = now_ns;
        }
        self.shard
            .backend
            .wait(now_ns, until_ns)
            .map_err(|error| self.shard.fault("wait for replies", error))?;
        self.woken_at_ns = monotonic_ns();
        Ok(())
    }

    fn on_event(&mut self, event: Event) {
        let slot = event.slot;
        let seen_by_wait = B::EVENTS_COME_TOGETHER || matches!(event.what, What::Connected);
        // What completes while it is submitted is later than the wait.
        let woke_since = self.woken_at_ns >= self.clients[slot as usize].since_ns();
        let now_ns = if seen_by_wait && woke_since {
            self.woken_at_ns
        } else {
            monotonic_ns()
        };
        match (self.clients[slot as usize].state, event.what) {
            (ClientState::Idle, _) => {}
            (ClientState::Connecting, What::Connected) => self.connected(slot, now_ns),
            (ClientState::Connecting, What::Failed(error)) => self.fail_connect(slot, &error),
            (_, What::Received(length)) => self.received(slot, length, now_ns),
            (_, What::EndOfInput) => self.end_of_input(slot, now_ns),
            (_, What::Failed(error)) => self.fail_open(slot, &error),
            (ClientState::Waiting, What::Connected) | (_, What::Handshake(_)) => {}
        }
    }

    /// Reads the kernel's account of the handshake where there may be something to learn, and sends the request.
    fn connected(&mut self, slot: u32, now_ns: u64) {
        let took_ns = self.clients[slot as usize].duration_ns(now_ns);
        let syn_retransmissions = if took_ns >= RETRANSMITTED_FROM_NS {
            self.tcp_info(slot).map(|info| info.total_retrans)
        } else {
            Some(0)
        };
        let client = &mut self.clients[slot as usize];
        let connect_ns = client.connected(now_ns, syn_retransmissions);
        let n = client.number();
        if client.is_warmup {
            self.record.warmup_connected += 1;
        } else {
            self.record.connect_latency.saturating_record(connect_ns);
            self.record.connected += 1;
            self.measured_sent += 1;
        }
        let assignment = &self.shard.assignment;
        self.sent_bytes += assignment.messages.size() as u64;
        let message = assignment.messages.range(assignment.first + slot, n);
        if let Err(error) = self.shard.backend.send(slot, message) {
            self.fail_open(slot, &error);
        }
    }

    fn received(&mut self, slot: u32, length: usize, now_ns: u64) {
        let index = self.shard.index(slot);
        let client = &mut self.clients[slot as usize];
        self.received_bytes += length as u64;
        if let Some(first_byte_ns) = client.received(length, now_ns)
            && !client.is_warmup
        {
            let latency = &mut self.record.first_byte_latency;
            latency.saturating_record(first_byte_ns);
        }
        let bytes = &self.shard.backend.received()[..length];
        let n = client.number();
        match client.reply.read(index, n, bytes) {
            Verdict::Unfinished => {}
            Verdict::Complete(used) if used < length => {
                self.fail(slot, now_ns, ErrorKind::ExcessBytes, EXCESS);
            }
            Verdict::Complete(_) => self.answered(slot, now_ns),
            Verdict::Wrong(complaint) => {
                self.fail(slot, now_ns, ErrorKind::WrongBytes, complaint);
            }
            Verdict::Status(line) => self.fail(slot, now_ns, ErrorKind::HttpStatus, line),
        }
    }

    fn end_of_input(&mut self, slot: u32, now_ns: u64) {
        let client = &self.clients[slot as usize];
        if client.reply.is_complete_at_end() {
            return self.answered(slot, now_ns);
        }
        let (kind, detail) = if client.has_received() {
            (
                ErrorKind::Truncated,
                "the peer closed in the middle of a reply",
            )
        } else {
            (ErrorKind::ClosedEarly, "the peer closed without a reply")
        };
        self.fail(slot, now_ns, kind, detail);
    }

    fn fail_connect(&mut self, slot: u32, error: &io::Error) {
        self.fail(
            slot,
            monotonic_ns(),
            errors::of_connect(error),
            error.to_string(),
        );
    }

    fn fail_open(&mut self, slot: u32, error: &io::Error) {
        self.fail(
            slot,
            monotonic_ns(),
            errors::of_connection(error),
            error.to_string(),
        );
    }

    fn fail(
        &mut self,
        slot: u32,
        now_ns: u64,
        kind: ErrorKind,
        detail: impl Into<Cow<'static, str>>,
    ) {
        self.end(slot, now_ns, Err((kind, detail.into())));
    }

    fn answered(&mut self, slot: u32, now_ns: u64) {
        self.end(slot, now_ns, Ok(()));
    }

    fn finish(mut self, started_at_ns: u64) -> ShardRequests {
        let now_ns = monotonic_ns();
        self.record.queue_full = self.queue.waits;
        let mut stages = self.stages;
        stages.drain(now_ns);
        let served = self.clients.iter().filter(|client| client.is_served);
        ShardRequests {
            exchange: ShardExchange {
                sent: self.measured_sent,
                replies: self.window.replies,
                warmup_replies: self.progress.replies - self.window.replies,
                sent_bytes: self.sent_bytes,
                received_bytes: self.received_bytes,
                connections_served: served.count() as u32,
                connections_silent: 0,
                started_at_ns,
                measuring_since_ns: stages.measuring_since_ns,
                draining_since_ns: stages.draining_since_ns,
                last_reply_at_ns: self.last_reply_at_ns,
                window: self.window,
                replies_each: Vec::new(),
                silences: Vec::new(),
                starving: Vec::new(),
                backlog: self.backlog.unwrap_or_default(),
                tasks: self.pacing.tasks(),
                pages: None,
                recorder: self.recorder,
            },
            connections: self.record,
        }
    }
}
