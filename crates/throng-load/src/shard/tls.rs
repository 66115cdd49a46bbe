//! The TLS handshakes of a shard's open connections, a bounded number at a time, in the order of their indices.
//!
//! A server that serves fewer connections at once than there are leaves the others as they are: their handshakes are awaited no longer than others take, and go on
//! whenever it comes to them. Where sessions are resumed, a handshake waits until there is one to resume: the first of a shard makes what the others take. A server that gives none is waited for
//! once.

use std::collections::VecDeque;

use rustls::{CipherSuite, ProtocolVersion};
use throng_record::{ErrorCounts, ErrorKind, histogram};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::{Answer, Shard, errors};
use crate::backend::tls::Secured;
use crate::backend::{Backend, Event, What};
use crate::connection::ConnectionState;
use crate::control::ProgressReading;
use crate::error::LoadError;

/// How often handshakes under way are looked over for those that take too long.
const LOOK_NS: u64 = 20 * MILLISECOND_NS;
/// How long nothing must have come before a server is known to give nothing that could be resumed.
const TICKET_PATIENCE_NS: u64 = 200 * MILLISECOND_NS;
/// After so long without a handshake that was done, a server that serves fewer connections at once will not come to the others.
const UNSERVED_GRACE_NS: u64 = 500 * MILLISECOND_NS;
/// So many time-outs in succession say nothing yet, however few handshakes go on at once.
const UNANSWERED_MIN: usize = 4;

/// What shards measured of handshakes.
#[derive(Debug)]
pub(crate) struct ShardHandshakes {
    pub(crate) completed: u64,
    pub(crate) resumed: u64,
    pub(crate) latency: hdrhistogram::Histogram<u64>,
    /// How many came to each version and cipher suite.
    pub(crate) agreed: Vec<(ProtocolVersion, CipherSuite, u64)>,
}

/// What one shard did.
pub(crate) struct ShardTls {
    pub(crate) handshakes: ShardHandshakes,
    /// The first hello and the last end.
    pub(crate) span_ns: Option<(u64, u64)>,
    pub(crate) errors: ErrorCounts,
}

impl ShardHandshakes {
    pub(crate) fn new() -> Self {
        Self {
            completed: 0,
            resumed: 0,
            latency: histogram::empty(),
            agreed: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, secured: Secured, latency_ns: u64) {
        self.completed += 1;
        self.resumed += u64::from(secured.is_resumed);
        self.latency.saturating_record(latency_ns);
        let Secured { version, suite, .. } = secured;
        let mut known = self.agreed.iter_mut();
        match known.find(|one| (one.0, one.1) == (version, suite)) {
            Some((.., number)) => *number += 1,
            None => self.agreed.push((version, suite, 1)),
        }
    }
}

/// Where a connection's handshake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    UnderWay,
    Done,
}

struct Securing<'a, B> {
    shard: &'a mut Shard<B>,
    resumes: bool,
    /// Slots whose handshake has not begun, the next one first.
    waiting: VecDeque<u32>,
    /// Slots whose handshake has, the longest ago first; those that are done behind one that is not are still in it.
    under_way: VecDeque<u32>,
    unfinished: usize,
    /// Time-outs since the last handshake that was done.
    timed_out: usize,
    ended_at_ns: u64,
    /// Of each slot.
    stages: Vec<Stage>,
    record: ShardTls,
}

pub(super) fn run<B: Backend>(shard: &mut Shard<B>) -> Result<ShardTls, LoadError> {
    let open = (0..).zip(&shard.connections);
    let open = open.filter(|(_, connection)| connection.state == ConnectionState::Open);
    let tls = shard.assignment.spec.tls.as_ref();
    let mut securing = Securing {
        resumes: tls.is_some_and(|tls| tls.resumption),
        waiting: open.map(|(slot, _)| slot).collect(),
        under_way: VecDeque::new(),
        unfinished: 0,
        timed_out: 0,
        ended_at_ns: monotonic_ns(),
        stages: vec![Stage::Waiting; shard.connections.len()],
        record: ShardTls {
            handshakes: ShardHandshakes::new(),
            span_ns: None,
            errors: ErrorCounts::default(),
        },
        shard,
    };
    securing.run_to_end()?;
    securing.shard.answer(Answer::TurnOver);
    Ok(securing.record)
}

impl<B: Backend> Securing<'_, B> {
    fn run_to_end(&mut self) -> Result<(), LoadError> {
        while !self.shard.assignment.interrupt.is_raised() {
            self.begin_more();
            if self.unfinished == 0 && self.waiting.is_empty() || self.leaves_the_others() {
                break;
            }
            let now_ns = monotonic_ns();
            self.shard
                .backend
                .wait(now_ns, now_ns + LOOK_NS)
                .map_err(|error| self.shard.fault("wait for handshakes", error))?;
            while let Some(event) = self.shard.backend.next_event() {
                self.on_event(event);
            }
            self.end_overdue();
            self.shard.assignment.progress.publish(ProgressReading {
                replies: self.record.handshakes.completed,
                ..ProgressReading::default()
            });
        }
        Ok(())
    }

    /// Those that are left have said hello, so that the server can come to them at any time.
    fn leaves_the_others(&mut self) -> bool {
        let spec = &self.shard.assignment.spec;
        let is_bounded = spec
            .serves_at_once
            .is_some_and(|at_once| at_once < spec.connections);
        let quiet_ns = monotonic_ns().saturating_sub(self.ended_at_ns);
        let are_left = is_bounded && quiet_ns > UNSERVED_GRACE_NS;
        if are_left {
            while let Some(slot) = self.waiting.pop_front() {
                self.begin(slot);
            }
        }
        are_left
    }

    fn begin_more(&mut self) {
        let at_once = self.shard.assignment.spec.connect_concurrency as usize;
        if self.timed_out >= at_once.max(UNANSWERED_MIN) {
            return self.give_up();
        }
        while self.unfinished < at_once
            && self.may_begin()
            && let Some(slot) = self.waiting.pop_front()
        {
            self.begin(slot);
        }
    }

    /// Whether there is something to resume, where that is asked for and the server gives it.
    fn may_begin(&mut self) -> bool {
        let is_first = self.record.span_ns.is_none();
        if !self.resumes || is_first || self.shard.backend.can_resume() {
            return true;
        }
        let has_waited = monotonic_ns().saturating_sub(self.ended_at_ns) > TICKET_PATIENCE_NS;
        if self.unfinished == 0 && has_waited {
            self.resumes = false;
        }
        !self.resumes
    }

    fn begin(&mut self, slot: u32) {
        let connection = &mut self.shard.connections[slot as usize];
        // Lost while it waited.
        if connection.state != ConnectionState::Open {
            return;
        }
        let now_ns = monotonic_ns();
        connection.waiting_since_ns = now_ns;
        self.record.span_ns.get_or_insert((now_ns, now_ns));
        self.stages[slot as usize] = Stage::UnderWay;
        self.under_way.push_back(slot);
        self.unfinished += 1;
        if let Err(error) = self.shard.backend.secure(slot) {
            self.fail(slot, errors::of_connection(&error), &error.to_string());
        }
    }

    fn is_under_way(&self, slot: u32) -> bool {
        let is_open = self.shard.connections[slot as usize].state == ConnectionState::Open;
        is_open && self.stages[slot as usize] == Stage::UnderWay
    }

    fn on_event(&mut self, event: Event) {
        let slot = event.slot;
        if !self.is_under_way(slot) {
            self.shard.lose(event, &mut self.record.errors);
            return;
        }
        match event.what {
            What::Handshake(Ok(secured)) => self.done(slot, secured),
            What::Handshake(Err(refusal)) => self.fail(slot, refusal.kind, &refusal.words),
            What::Failed(error) => {
                self.fail(slot, errors::of_connection(&error), &error.to_string());
            }
            What::EndOfInput => self.fail(
                slot,
                ErrorKind::ClosedEarly,
                "the server closed before the handshake",
            ),
            What::Received(_) | What::Connected => {}
        }
    }

    fn done(&mut self, slot: u32, secured: Secured) {
        let now_ns = monotonic_ns();
        let since_ns = self.shard.connections[slot as usize].waiting_since_ns;
        self.timed_out = 0;
        self.record.handshakes.add(secured, now_ns - since_ns);
        self.ended(slot, now_ns);
    }

    fn ended(&mut self, slot: u32, now_ns: u64) {
        self.stages[slot as usize] = Stage::Done;
        self.unfinished -= 1;
        self.ended_at_ns = now_ns;
        if let Some((_, last_ns)) = &mut self.record.span_ns {
            *last_ns = now_ns;
        }
    }

    #[cold]
    fn fail(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        self.ended(slot, monotonic_ns());
        self.close(slot, kind, detail);
    }

    fn close(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        let index = self.shard.index(slot);
        self.shard.connections[slot as usize].state = ConnectionState::Closed;
        self.shard.backend.close(slot);
        let errors = &mut self.record.errors;
        errors.count_at(index, kind, || detail.to_owned());
    }

    /// The time is that of a connect.
    fn end_overdue(&mut self) {
        let timeout_ns = self.shard.assignment.spec.connect_timeout_ns;
        let now_ns = monotonic_ns();
        while let Some(&slot) = self.under_way.front() {
            let is_over = self.stages[slot as usize] == Stage::Done;
            let since_ns = self.shard.connections[slot as usize].waiting_since_ns;
            if !is_over && now_ns - since_ns <= timeout_ns {
                return;
            }
            if !is_over {
                self.timed_out += 1;
                let detail = "no end of the TLS handshake within the connect timeout";
                self.fail(slot, ErrorKind::HandshakeTimedOut, detail);
            }
            self.under_way.pop_front();
        }
    }

    /// A server that answers nobody costs one round of time-outs, and not one for every few connections.
    fn give_up(&mut self) {
        for slot in std::mem::take(&mut self.waiting) {
            if self.shard.connections[slot as usize].state == ConnectionState::Open {
                let detail = "not begun, since those before it had timed out one after another";
                self.close(slot, ErrorKind::HandshakeTimedOut, detail);
            }
        }
    }
}
