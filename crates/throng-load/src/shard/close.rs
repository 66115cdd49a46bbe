//! The close phase: our half-close, then the end of the peer's output. What comes in between was asked for by nobody.
//!
//! Shards close in turns, and each in batches, so that a million ends flood neither side. Peers that do not end their output are waited
//! for a few times, over the whole fleet; then hardly any more, so that a server that hangs costs seconds and not the hour.

use std::ops::Range;

use throng_record::{ClosePhase, ErrorKind};
use throng_sys::clock::{MILLISECOND_NS, SECOND_NS, monotonic_ns};

use super::{Shard, errors};
use crate::backend::{Backend, What};
use crate::connection::ConnectionState;
use crate::control::ProgressReading;
use crate::error::LoadError;

/// How long the peers of a batch may all be silent.
const PATIENCE_NS: u64 = 2 * SECOND_NS;
/// The same, once so many batches were given up.
const PATIENCE_LOST_NS: u64 = 10 * MILLISECOND_NS;
const GIVEN_UP_MAX: u64 = 3;
/// How much longer a batch may take whose peers do end one after another.
const BATCH_PATIENCES: u64 = 5;
/// Ends awaited at once.
const AT_ONCE: usize = 1024;
/// How often progress is told while nothing comes.
const LOOK_NS: u64 = 100 * MILLISECOND_NS;

/// The length of the phase is the coordinator's to tell.
pub(super) fn run<B: Backend>(shard: &mut Shard<B>) -> Result<ClosePhase, LoadError> {
    let mut closing = Closing {
        shard,
        record: ClosePhase::default(),
        half_closed: 0,
        closed: 0,
    };
    let mut slots = 0..closing.shard.connections.len() as u32;
    while !slots.is_empty() {
        let batch = slots.start..slots.end.min(slots.start + AT_ONCE as u32);
        slots.start = batch.end;
        batch.clone().for_each(|slot| closing.end_output(slot));
        closing.await_ends()?;
        closing.give_up(batch);
    }
    Ok(closing.record)
}

struct Closing<'a, B> {
    shard: &'a mut Shard<B>,
    record: ClosePhase,
    half_closed: u32,
    /// Closed in this phase, in whichever way.
    closed: u64,
}

impl<B: Backend> Closing<'_, B> {
    fn end_output(&mut self, slot: u32) {
        let connection = &mut self.shard.connections[slot as usize];
        if connection.state != ConnectionState::Open {
            return;
        }
        connection.state = ConnectionState::HalfClosed;
        self.half_closed += 1;
        if let Err(error) = self.shard.backend.end_output(slot) {
            self.failed(slot, errors::of_connection(&error), &error.to_string());
        }
    }

    fn await_ends(&mut self) -> Result<(), LoadError> {
        let patience_ns = match self.shard.assignment.orders.closes_given_up() {
            ..GIVEN_UP_MAX => PATIENCE_NS,
            _ => PATIENCE_LOST_NS,
        };
        let mut now_ns = monotonic_ns();
        let mut heard_at_ns = now_ns;
        let batch_until_ns = now_ns + BATCH_PATIENCES * patience_ns;
        while self.half_closed > 0 {
            let until_ns = batch_until_ns.min(heard_at_ns + patience_ns);
            if now_ns >= until_ns {
                break;
            }
            self.shard
                .backend
                .wait(now_ns, until_ns.min(now_ns + LOOK_NS))
                .map_err(|error| self.shard.fault("wait for the peers' ends", error))?;
            now_ns = monotonic_ns();
            if self.hear() {
                heard_at_ns = now_ns;
            }
            self.publish();
        }
        Ok(())
    }

    /// Whether any connection closed.
    fn hear(&mut self) -> bool {
        let closed_before = self.closed;
        while let Some(event) = self.shard.backend.next_event() {
            let state = self.shard.connections[event.slot as usize].state;
            match event.what {
                What::EndOfInput if state == ConnectionState::HalfClosed => self.ended(event.slot),
                What::EndOfInput if state == ConnectionState::Open => self.failed(
                    event.slot,
                    ErrorKind::ClosedEarly,
                    "the peer closed before our end of output",
                ),
                What::Received(length) => self.excess(event.slot, length),
                What::Failed(error) => self.failed(
                    event.slot,
                    errors::of_connection(&error),
                    &error.to_string(),
                ),
                What::EndOfInput | What::Connected | What::Handshake(_) => {}
            }
        }
        self.closed > closed_before
    }

    fn publish(&self) {
        self.shard.assignment.progress.publish(ProgressReading {
            replies: self.closed,
            ..ProgressReading::default()
        });
    }

    fn ended(&mut self, slot: u32) {
        self.record.closed_in_order += 1;
        self.close(slot);
    }

    /// An interrupted exchange leaves replies under way; only what exceeds them is excess.
    fn excess(&mut self, slot: u32, length: usize) {
        if self.shard.connections[slot as usize].outstanding() == 0 {
            self.failed(
                slot,
                ErrorKind::ExcessBytes,
                &format!("{length} bytes came that no message had asked for"),
            );
        }
    }

    fn give_up(&mut self, batch: Range<u32>) {
        if self.half_closed == 0 {
            return;
        }
        self.shard.assignment.orders.give_up_closes();
        // Who ends the work early does not hold it against the peer that it had no time to.
        let is_fault = !self.shard.assignment.interrupt.is_raised();
        for slot in batch {
            if self.shard.connections[slot as usize].state != ConnectionState::HalfClosed {
                continue;
            }
            if is_fault {
                self.failed(
                    slot,
                    ErrorKind::CloseTimedOut,
                    "the peer did not close after our end of output",
                );
            } else {
                self.close(slot);
            }
        }
        self.publish();
    }

    fn failed(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        if self.shard.connections[slot as usize].state == ConnectionState::Closed {
            return;
        }
        let index = self.shard.index(slot);
        self.record
            .errors
            .count_at(index, kind, || detail.to_owned());
        self.close(slot);
    }

    fn close(&mut self, slot: u32) {
        let connection = &mut self.shard.connections[slot as usize];
        if connection.state == ConnectionState::HalfClosed {
            self.half_closed -= 1;
        }
        connection.state = ConnectionState::Closed;
        self.closed += 1;
        self.shard.backend.close(slot);
    }
}
