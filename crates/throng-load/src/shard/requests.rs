//! Messages that each have a connection of their own: the loop of a shard's clients, each of which connects, sends its request
//! at once, receives until the reply is complete, closes, and goes on with its next.
//!
//! A turn: look at the clock, let the clients begin that may, wait, and for each event take its client further. Whatever fails
//! ends that request only. Left out for now: warm-up, and arrivals that do not wait for replies, which would put clients into
//! `ready` by the clock instead of by the end of their last request.

mod client;
mod ending;
mod kept;
mod measured;
mod request;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;

use throng_record::{ErrorKind, ExchangeSpec, Stop};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};
use throng_sys::socket;

use super::exchange::{ShardExchange, Window};
use super::stage::Stages;
use super::{Answer, Shard, errors};
use crate::backend::{Backend, Began, Event, What};
use crate::control::{ProgressReading, ShardStage};
use crate::error::LoadError;
use crate::pacing::Backlog;
use crate::protocol::{Reply, Verdict};
use crate::recorder::Recorder;
use client::{Client, State};

pub(crate) use kept::Kept;
pub(crate) use measured::{ShardConnections, ShardRequests};
pub(crate) use request::Request;

/// How long the loop sleeps at most before it looks at its orders.
const LOOK_NS: u64 = 20 * MILLISECOND_NS;
/// How often clients are looked over for connects and replies that take too long.
const OVERDUE_LOOK_NS: u64 = 50 * MILLISECOND_NS;
/// Clients that begin before the next look at what has come: beginning takes system calls, and events have times.
const BEGIN_AT_ONCE: usize = 32;
const EXCESS: &str = "more bytes came than the reply has";
/// Where only the clock ends the requests, a client whose connect failed at once waits so long: else it would do nothing but fail.
const FAILED_PAUSE_NS: u64 = MILLISECOND_NS;

struct Requests<'a, B> {
    shard: &'a mut Shard<B>,
    clients: Vec<Client>,
    /// Clients that may begin their next request.
    ready: VecDeque<u32>,
    /// Clients that pause, and until when, the next first: all pause for the same time.
    paused: VecDeque<(u64, u32)>,
    under_way: u32,
    /// Requests of each client at most.
    each: u64,
    pauses_after_failure: bool,
    stages: Stages,
    announced: ShardStage,
    recorder: Recorder,
    record: ShardConnections,
    progress: ProgressReading,
    received_bytes: u64,
    last_reply_at_ns: u64,
    window: Window,
    /// The end of the last wait, where the events of a wait have one time.
    woken_at_ns: u64,
    next_overdue_look_ns: u64,
}

pub(super) fn run<B: Backend>(
    shard: &mut Shard<B>,
    spec: &ExchangeSpec,
    slow_first_byte_ns: u64,
) -> Result<ShardRequests, LoadError> {
    let mut requests = Requests::new(shard, spec, slow_first_byte_ns);
    let started_at_ns = requests.stages.measuring_since_ns;
    requests.run_to_end()?;
    requests.abandon()?;
    Ok(requests.finish(started_at_ns))
}

impl<'a, B: Backend> Requests<'a, B> {
    fn new(shard: &'a mut Shard<B>, spec: &ExchangeSpec, slow_first_byte_ns: u64) -> Self {
        let assignment = &shard.assignment;
        let now_ns = monotonic_ns();
        let reply = Reply::of(&spec.protocol, &assignment.messages, spec.verify);
        let of_shards = (assignment.shard, assignment.spec.shards);
        let clients = assignment.connections;
        Self {
            clients: vec![Client::new(reply); clients as usize],
            ready: (0..clients).collect(),
            paused: VecDeque::new(),
            under_way: 0,
            each: match spec.stop {
                Stop::MessagesEach(each) => each,
                _ => u64::MAX,
            },
            pauses_after_failure: matches!(spec.stop, Stop::DurationNs(_)),
            stages: Stages::new(spec.warmup, spec.stop, of_shards, clients, now_ns),
            announced: ShardStage::Warmup,
            shard,
            recorder: Recorder::new(),
            record: ShardConnections::new(Kept::new(kept::ROOM, slow_first_byte_ns)),
            progress: ProgressReading::default(),
            received_bytes: 0,
            last_reply_at_ns: now_ns,
            window: Window::default(),
            woken_at_ns: 0,
            next_overdue_look_ns: now_ns + OVERDUE_LOOK_NS,
        }
    }

    fn run_to_end(&mut self) -> Result<(), LoadError> {
        loop {
            let now_ns = monotonic_ns();
            self.stages.advance(now_ns, true);
            self.announce_measuring();
            self.resume_paused(now_ns);
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
        let nobody_begins = self.stages.now() == ShardStage::Draining
            || self.ready.is_empty() && self.paused.is_empty();
        self.shard.assignment.interrupt.is_raised() || self.under_way == 0 && nobody_begins
    }

    /// That of the end is told by the answer: requests are measured to the last one's end.
    fn announce_measuring(&mut self) {
        if self.announced == ShardStage::Warmup {
            self.announced = ShardStage::Measuring;
            self.shard.answer(Answer::Reached(ShardStage::Measuring));
        }
    }

    fn resume_paused(&mut self, now_ns: u64) {
        while let Some(&(until_ns, slot)) = self.paused.front()
            && until_ns <= now_ns
        {
            self.paused.pop_front();
            self.ready.push_back(slot);
        }
    }

    /// Those that become ready meanwhile are left for the next time: where every connect is refused that never ends.
    fn begin_ready(&mut self) {
        for _ in 0..self.ready.len().min(BEGIN_AT_ONCE) {
            if let Some(slot) = self.ready.pop_front() {
                self.begin(slot);
            }
        }
    }

    fn begin(&mut self, slot: u32) {
        let now_ns = monotonic_ns();
        let client = &mut self.clients[slot as usize];
        if u64::from(client.begun) >= self.each || self.stages.take(now_ns).is_none() {
            return;
        }
        client.begin(now_ns);
        self.record.began(now_ns);
        self.under_way += 1;
        let assignment = &self.shard.assignment;
        let source = assignment.sources.of_connection(assignment.first + slot);
        let began =
            self.shard
                .backend
                .connect(slot, &assignment.address, source, assignment.spec.nodelay);
        let now_ns = monotonic_ns();
        let socket = self.shard.backend.socket(slot);
        self.clients[slot as usize].local = socket.and_then(|own| socket::local_address(own).ok());
        match began {
            Ok(Began::Connected) => self.connected(slot, now_ns),
            Ok(Began::UnderWay) => {}
            Ok(Began::QueueFull) => self.fail_connect(slot, &io::ErrorKind::WouldBlock.into()),
            Err(error) => self.fail_connect(slot, &error),
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
            (State::Idle, _) => {}
            (State::Connecting, What::Connected) => self.connected(slot, now_ns),
            (State::Connecting, What::Failed(error)) => self.fail_connect(slot, &error),
            (_, What::Received(length)) => self.received(slot, length, now_ns),
            (_, What::EndOfInput) => self.end_of_input(slot, now_ns),
            (_, What::Failed(error)) => self.fail_open(slot, &error),
            (State::Waiting, What::Connected) => {}
        }
    }

    /// Reads the kernel's account of the handshake, and sends the request.
    fn connected(&mut self, slot: u32, now_ns: u64) {
        let info = self.tcp_info(slot);
        let client = &mut self.clients[slot as usize];
        let connect_ns = client.connected(now_ns, info.as_ref());
        let n = client.number();
        self.record.connect_latency.saturating_record(connect_ns);
        self.record.connected += 1;
        self.progress.sent += 1;
        let assignment = &self.shard.assignment;
        let message = assignment.messages.range(assignment.first + slot, n);
        if let Err(error) = self.shard.backend.send(slot, message) {
            self.fail_open(slot, &error);
        }
    }

    fn received(&mut self, slot: u32, length: usize, now_ns: u64) {
        let index = self.shard.index(slot);
        let client = &mut self.clients[slot as usize];
        self.received_bytes += length as u64;
        if let Some(first_byte_ns) = client.received(length, now_ns) {
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

    fn finish(self, started_at_ns: u64) -> ShardRequests {
        let now_ns = monotonic_ns();
        let mut stages = self.stages;
        stages.drain(now_ns);
        let size = self.shard.assignment.messages.size() as u64;
        let served = self.clients.iter().filter(|client| client.is_served);
        let mut record = self.record;
        record.request_latency = self.recorder.latency.clone();
        ShardRequests {
            exchange: ShardExchange {
                sent: self.progress.sent,
                replies: self.window.replies,
                warmup_replies: 0,
                sent_bytes: self.progress.sent * size,
                received_bytes: self.received_bytes,
                connections_served: served.count() as u32,
                started_at_ns,
                measuring_since_ns: started_at_ns,
                draining_since_ns: stages.draining_since_ns,
                last_reply_at_ns: self.last_reply_at_ns,
                latency_sum_ns: self.window.latency_sum_ns,
                window: self.window,
                backlog: Backlog::default(),
                recorder: self.recorder,
            },
            connections: record,
        }
    }
}
