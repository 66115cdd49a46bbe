//! The connect phase: every connection of the shard is opened, a bounded number at a time.

use throng_record::{ErrorCounts, ErrorKind, histogram};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::{Shard, errors};
use crate::backend::{Backend, Began, What};
use crate::connection::State;
use crate::error::LoadError;

/// How long a full Unix listener is left alone before the next try: a blocking connect would sleep until there is room.
const QUEUE_FULL_PAUSE_NS: u64 = MILLISECOND_NS / 5;
/// How often connects under way are looked over for those that take too long.
const LOOK_NS: u64 = 50 * MILLISECOND_NS;

/// What one shard measured of its connects.
pub(crate) struct ShardConnect {
    pub(crate) connected: u32,
    pub(crate) started_at_ns: u64,
    pub(crate) ended_at_ns: u64,
    pub(crate) latency: hdrhistogram::Histogram<u64>,
    pub(crate) errors: ErrorCounts,
}

struct Connects<'a, B> {
    shard: &'a mut Shard<B>,
    record: ShardConnect,
    under_way: u32,
    /// Unix connects to be tried again, oldest last.
    waiting_for_queue: Vec<u32>,
}

pub(super) fn run<B: Backend>(shard: &mut Shard<B>) -> Result<ShardConnect, LoadError> {
    let now_ns = monotonic_ns();
    let record = ShardConnect {
        connected: 0,
        started_at_ns: now_ns,
        ended_at_ns: now_ns,
        latency: histogram::empty(),
        errors: ErrorCounts::default(),
    };
    let mut connects = Connects {
        shard,
        record,
        under_way: 0,
        waiting_for_queue: Vec::new(),
    };
    connects.run_to_end()?;
    connects.record.ended_at_ns = monotonic_ns();
    Ok(connects.record)
}

impl<B: Backend> Connects<'_, B> {
    fn run_to_end(&mut self) -> Result<(), LoadError> {
        let all = self.shard.connections.len() as u32;
        let at_once = self.shard.assignment.spec.connect_concurrency.max(1);
        let mut next = 0;
        let mut look_at_ns = monotonic_ns() + LOOK_NS;
        while (next < all || self.under_way > 0) && !self.shard.assignment.interrupt.is_raised() {
            while next < all && self.under_way < at_once && self.waiting_for_queue.is_empty() {
                self.begin(next);
                next += 1;
            }
            self.retry_full_queue();
            self.wait()?;
            if monotonic_ns() >= look_at_ns {
                self.give_up_overdue();
                look_at_ns = monotonic_ns() + LOOK_NS;
            }
        }
        Ok(())
    }

    fn begin(&mut self, slot: u32) {
        let connection = &mut self.shard.connections[slot as usize];
        connection.state = State::Connecting;
        connection.waiting_since_ns = monotonic_ns();
        self.under_way += 1;
        self.attempt(slot);
    }

    fn attempt(&mut self, slot: u32) {
        let assignment = &self.shard.assignment;
        let source = assignment.sources.of_connection(assignment.first + slot);
        match self
            .shard
            .backend
            .connect(slot, &assignment.address, source, assignment.spec.nodelay)
        {
            Ok(Began::Connected) => self.connected(slot),
            Ok(Began::UnderWay) => {}
            Ok(Began::QueueFull) => self.waiting_for_queue.push(slot),
            Err(error) => self.failed(slot, errors::of_connect(&error), &error.to_string()),
        }
    }

    fn retry_full_queue(&mut self) {
        for slot in std::mem::take(&mut self.waiting_for_queue) {
            self.attempt(slot);
        }
    }

    fn wait(&mut self) -> Result<(), LoadError> {
        if self.under_way == 0 {
            return Ok(());
        }
        let now_ns = monotonic_ns();
        let pause_ns = if self.waiting_for_queue.is_empty() {
            LOOK_NS
        } else {
            QUEUE_FULL_PAUSE_NS
        };
        self.shard
            .backend
            .wait(now_ns, now_ns + pause_ns)
            .map_err(|error| self.shard.fault("wait for connects", error))?;
        while let Some(event) = self.shard.backend.next_event() {
            let connecting = self.shard.connections[event.slot as usize].state == State::Connecting;
            match event.what {
                What::Connected if connecting => self.connected(event.slot),
                What::Failed(error) if connecting => {
                    self.failed(event.slot, errors::of_connect(&error), &error.to_string());
                }
                What::Failed(error) => self.lost(
                    event.slot,
                    errors::of_connection(&error),
                    &error.to_string(),
                ),
                What::EndOfInput => self.lost(
                    event.slot,
                    ErrorKind::ClosedEarly,
                    "closed before anything was sent",
                ),
                What::Received(_) => self.lost(
                    event.slot,
                    ErrorKind::ExcessBytes,
                    "bytes came before anything was sent",
                ),
                What::Connected => {}
            }
        }
        Ok(())
    }

    fn connected(&mut self, slot: u32) {
        let connection = &mut self.shard.connections[slot as usize];
        connection.state = State::Open;
        self.record
            .latency
            .saturating_record(monotonic_ns() - connection.waiting_since_ns);
        self.record.connected += 1;
        self.under_way -= 1;
    }

    fn failed(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        self.under_way -= 1;
        self.end(slot, kind, detail);
    }

    /// An established connection that did not last to the end of the phase.
    fn lost(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        if self.shard.connections[slot as usize].state == State::Open {
            self.end(slot, kind, detail);
        }
    }

    fn end(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        let index = self.shard.index(slot);
        self.shard.connections[slot as usize].state = State::Closed;
        self.shard.backend.close(slot);
        self.record
            .errors
            .count(kind, || format!("connection {index}: {detail}"));
    }

    fn give_up_overdue(&mut self) {
        let timeout_ns = self.shard.assignment.spec.connect_timeout_ns;
        let now_ns = monotonic_ns();
        for slot in 0..self.shard.connections.len() as u32 {
            let connection = self.shard.connections[slot as usize];
            if connection.state == State::Connecting
                && now_ns - connection.waiting_since_ns > timeout_ns
            {
                self.waiting_for_queue.retain(|&waiting| waiting != slot);
                self.failed(
                    slot,
                    ErrorKind::ConnectTimedOut,
                    "not connected within the connect timeout",
                );
            }
        }
    }
}
