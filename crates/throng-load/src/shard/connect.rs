//! The connect phase: every connection of the shard is opened in the order of the indices, a bounded number at a time, and none before it
//! is due.
//!
//! Shards connect in turns: this is one shard's, and it tells when it is over. Whoever waits for bytes goes on listening until the
//! whole fleet has connected; otherwise the thread sleeps, and what comes meanwhile is found by the next phase.

mod record;

use throng_record::ErrorKind;
use throng_sys::clock::{MILLISECOND_NS, SECOND_NS, monotonic_ns};
use throng_sys::tcp_info::TcpInfo;

use super::queue_full::{self, Attempt, QueueFull};
use super::{Answer, Shard, errors};
use crate::backend::{Backend, Began, What};
use crate::connection::ConnectionState;
use crate::control::ProgressReading;
use crate::error::LoadError;

pub(super) use record::RETRANSMITTED_FROM_NS;
pub(crate) use record::ShardConnect;

/// How often connects under way are looked over for those that take too long.
const LOOK_NS: u64 = 50 * MILLISECOND_NS;
/// So many failures in succession for want of ports or descriptors are enough to know that there are none: each further try costs the
/// kernel a whole search.
const WANTS_MAX: u32 = 16;
/// As many of them as one connect that nobody answered is worth: one after another, each costs a whole connect timeout.
const UNANSWERED_WANTS: u32 = 4;

/// What becomes of bytes that come before anything was sent.
pub(super) trait Hearing {
    /// Whether bytes are waited for even when this shard's connects are over and others' are not.
    const LISTENS_ON: bool;

    /// A connection is established, at this monotonic time.
    fn connected(&mut self, _slot: u32, _at_ns: u64) {}

    /// Bytes came to an established one, at this monotonic time. An error ends it.
    fn received(&mut self, slot: u32, bytes: &[u8], at_ns: u64) -> Result<(), Unheard>;
}

/// Why bytes are none that were waited for, in words.
pub(super) type Unheard = (ErrorKind, String);

/// Nothing is waited for.
pub(super) struct Silence;

impl Hearing for Silence {
    const LISTENS_ON: bool = false;

    fn received(&mut self, _: u32, _: &[u8], _: u64) -> Result<(), Unheard> {
        let words = "bytes came before anything was sent".to_owned();
        Err((ErrorKind::ExcessBytes, words))
    }
}

struct Connects<'a, B, H> {
    shard: &'a mut Shard<B>,
    hearing: &'a mut H,
    record: ShardConnect,
    /// The next slot to begin.
    next: u32,
    under_way: u32,
    /// Slots begun since they were last looked over, and those that were then under way, in the order of their start.
    begun: Vec<u32>,
    queue: QueueFull,
    /// Failures in succession for want of ports, descriptors or an answer.
    wants: u32,
    /// Open connections as last told to the fleet.
    told_open: u32,
}

pub(super) fn run<B: Backend, H: Hearing>(
    shard: &mut Shard<B>,
    hearing: &mut H,
) -> Result<ShardConnect, LoadError> {
    let record = ShardConnect::new(shard.assignment.orders.connecting_since_ns());
    let addresses = shard.assignment.addresses.number();
    let mut connects = Connects {
        shard,
        hearing,
        record,
        next: 0,
        under_way: 0,
        begun: Vec::new(),
        queue: QueueFull::new(addresses),
        wants: 0,
        told_open: 0,
    };
    connects.run_to_end()?;
    connects.record.ended_at_ns = monotonic_ns();
    connects.record.queue_full = connects.queue.waits;
    connects.record.not_begun = connects.all() - connects.next;
    connects.shard.answer(Answer::TurnOver);
    if H::LISTENS_ON {
        connects.listen_on()?;
    }
    Ok(connects.record)
}

impl<B: Backend, H: Hearing> Connects<'_, B, H> {
    fn run_to_end(&mut self) -> Result<(), LoadError> {
        let mut look_at_ns = monotonic_ns() + LOOK_NS;
        while (self.has_more() || self.under_way > 0) && !self.is_interrupted() {
            self.begin_due();
            self.retry_full_queue();
            if self.has_more() || self.under_way > 0 {
                self.wait(self.wait_until_ns())?;
            }
            self.publish();
            if monotonic_ns() >= look_at_ns {
                self.give_up_overdue();
                look_at_ns = monotonic_ns() + LOOK_NS;
            }
        }
        self.publish();
        Ok(())
    }

    fn listen_on(&mut self) -> Result<(), LoadError> {
        while !self.shard.assignment.orders.are_turns_over() && !self.is_interrupted() {
            self.wait(monotonic_ns() + LOOK_NS)?;
            self.publish();
        }
        Ok(())
    }

    fn is_interrupted(&self) -> bool {
        self.shard.assignment.interrupt.is_raised()
    }

    fn all(&self) -> u32 {
        self.shard.connections.len() as u32
    }

    fn at_once(&self) -> u32 {
        self.shard.assignment.spec.connect_concurrency
    }

    /// Whether there are connects still to begin.
    fn has_more(&self) -> bool {
        self.next < self.all() && self.wants < WANTS_MAX
    }

    fn has_room(&self) -> bool {
        self.has_more() && self.under_way < self.at_once()
    }

    /// When the next connect is due: index ÷ rate after the fleet's start.
    fn due_ns(&self) -> u64 {
        let assignment = &self.shard.assignment;
        assignment.spec.connect_rate_per_second.map_or(0, |rate| {
            let before = assignment.first - assignment.spec.first_connection;
            let after_ns = f64::from(before + self.next) / rate * SECOND_NS as f64;
            assignment.orders.connecting_since_ns() + after_ns as u64
        })
    }

    /// As many as may be in flight, at most: those that fail at once are so many too, and then the interrupt is looked at.
    fn begin_due(&mut self) {
        for _ in 0..self.at_once() {
            if !self.has_room() || self.due_ns() > monotonic_ns() {
                return;
            }
            let slot = self.next;
            self.next += 1;
            self.begin(slot);
        }
    }

    fn begin(&mut self, slot: u32) {
        let connection = &mut self.shard.connections[slot as usize];
        connection.state = ConnectionState::Connecting;
        connection.waiting_since_ns = monotonic_ns();
        self.under_way += 1;
        self.begun.push(slot);
        let place = self.shard.address(slot);
        if self.queue.is_waited_for(place) || self.attempt(slot) == Attempt::QueueFull {
            self.queue.wait(place, slot, monotonic_ns());
        }
    }

    fn attempt(&mut self, slot: u32) -> Attempt {
        let assignment = &self.shard.assignment;
        let source = assignment.sources.of_connection(assignment.first + slot);
        let address = assignment.addresses.at(self.shard.address(slot));
        let nodelay = assignment.spec.nodelay;
        let began = self.shard.backend.connect(slot, address, source, nodelay);
        match began {
            Ok(Began::QueueFull) => return Attempt::QueueFull,
            Ok(Began::Connected) => self.connected(slot),
            Ok(Began::UnderWay) => {}
            Err(error) => self.failed(slot, errors::of_connect(&error), &error.to_string()),
        }
        Attempt::Done
    }

    fn retry_full_queue(&mut self) {
        for place in self.queue.places() {
            while let Some((slot, since_ns)) = self.queue.next(place) {
                if self.attempt(slot) == Attempt::QueueFull {
                    self.queue.wait_on(place, slot, since_ns);
                    break;
                }
                self.queue.ended(since_ns, monotonic_ns());
            }
        }
    }

    /// The next thing that only the clock brings.
    fn wait_until_ns(&self) -> u64 {
        let now_ns = monotonic_ns();
        if !self.queue.is_empty() {
            now_ns + queue_full::PAUSE_NS
        } else if self.has_room() {
            self.due_ns().min(now_ns + LOOK_NS)
        } else {
            now_ns + LOOK_NS
        }
    }

    fn wait(&mut self, until_ns: u64) -> Result<(), LoadError> {
        self.shard
            .backend
            .wait(monotonic_ns(), until_ns)
            .map_err(|error| self.shard.fault("wait for connects", error))?;
        while let Some(event) = self.shard.backend.next_event() {
            let connecting =
                self.shard.connections[event.slot as usize].state == ConnectionState::Connecting;
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
                What::Received(_) => self.heard(event.slot),
                What::Connected | What::Handshake(_) => {}
            }
        }
        Ok(())
    }

    fn connected(&mut self, slot: u32) {
        let index = self.shard.index(slot);
        let connection = &mut self.shard.connections[slot as usize];
        connection.state = ConnectionState::Open;
        let now_ns = monotonic_ns();
        let latency_ns = now_ns - connection.waiting_since_ns;
        self.under_way -= 1;
        self.wants = 0;
        let info = || tcp_info(&self.shard.backend, slot);
        self.record.connected(index, latency_ns, now_ns, info);
        self.hearing.connected(slot, now_ns);
    }

    fn heard(&mut self, slot: u32) {
        let bytes = self.shard.backend.received();
        if let Err((kind, detail)) = self.hearing.received(slot, bytes, monotonic_ns())
            && self.shard.connections[slot as usize].state == ConnectionState::Open
        {
            self.record.lost += 1;
            self.end(slot, kind, &detail);
        }
    }

    #[cold]
    fn failed(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        self.under_way -= 1;
        let info = tcp_info(&self.shard.backend, slot);
        self.record.note_retransmissions(info);
        self.note_stop(slot, kind, detail);
        self.end(slot, kind, detail);
        self.wants = match kind {
            ErrorKind::PortsExhausted | ErrorKind::DescriptorsExhausted => self.wants + 1,
            ErrorKind::ConnectTimedOut => self.wants + UNANSWERED_WANTS,
            _ => 0,
        };
    }

    /// An established connection that did not last to the end of the phase.
    #[cold]
    fn lost(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        if self.shard.connections[slot as usize].state == ConnectionState::Open {
            self.record.lost += 1;
            self.note_stop(slot, kind, detail);
            self.end(slot, kind, detail);
        }
    }

    fn note_stop(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        if self.record.stop.is_none() {
            let open = self.publish();
            self.record
                .stopped(self.shard.index(slot), open, kind, detail);
        }
    }

    fn end(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        let index = self.shard.index(slot);
        self.shard.connections[slot as usize].state = ConnectionState::Closed;
        self.shard.backend.close(slot);
        self.record
            .errors
            .count_at(index, kind, || detail.to_owned());
    }

    /// Tells how many connections are open here; knows then how many are in the fleet.
    fn publish(&mut self) -> u32 {
        let open = self.record.connected - self.record.lost;
        self.shard.assignment.progress.publish(ProgressReading {
            replies: open.into(),
            ..ProgressReading::default()
        });
        let difference = i64::from(open) - i64::from(self.told_open);
        self.told_open = open;
        self.shard.assignment.orders.add_open(difference) as u32
    }

    fn give_up_overdue(&mut self) {
        let timeout_ns = self.shard.assignment.spec.connect_timeout_ns;
        let now_ns = monotonic_ns();
        let connections = &self.shard.connections;
        self.begun
            .retain(|&slot| connections[slot as usize].state == ConnectionState::Connecting);
        let overdue: Vec<u32> = self
            .begun
            .iter()
            .copied()
            .take_while(|&slot| now_ns - connections[slot as usize].waiting_since_ns > timeout_ns)
            .collect();
        for slot in overdue {
            self.queue.give_up(self.shard.address(slot), slot, now_ns);
            self.failed(
                slot,
                ErrorKind::ConnectTimedOut,
                "not connected within the connect timeout",
            );
        }
    }
}

/// The kernel's account of a connection; none of a Unix socket, and none where there is no socket any more.
fn tcp_info<B: Backend>(backend: &B, slot: u32) -> Option<TcpInfo> {
    TcpInfo::of(backend.socket(slot)?).ok()
}
