//! The close phase: our half-close, then the end of the peer's output. What comes in between was asked for by nobody.

use throng_record::{ClosePhase, ErrorKind};
use throng_sys::clock::{SECOND_NS, monotonic_ns};

use super::{Shard, errors};
use crate::backend::{Backend, What};
use crate::connection::State;
use crate::error::LoadError;

/// How long the peers have, all together, to end their output.
const TIMEOUT_NS: u64 = 2 * SECOND_NS;
/// Peers that end their output are waited for in batches, so that their closing does not flood either side.
const AT_ONCE: usize = 1024;

pub(super) fn run<B: Backend>(shard: &mut Shard<B>) -> Result<ClosePhase, LoadError> {
    let started_at_ns = monotonic_ns();
    let mut closing = Closing {
        shard,
        record: ClosePhase::default(),
        half_closed: 0,
    };
    let mut slots = (0..closing.shard.connections.len() as u32).peekable();
    while slots.peek().is_some() {
        slots
            .by_ref()
            .take(AT_ONCE)
            .for_each(|slot| closing.end_output(slot));
        closing.await_ends()?;
    }
    closing.record.duration_ns = monotonic_ns() - started_at_ns;
    Ok(closing.record)
}

struct Closing<'a, B> {
    shard: &'a mut Shard<B>,
    record: ClosePhase,
    half_closed: u32,
}

impl<B: Backend> Closing<'_, B> {
    fn end_output(&mut self, slot: u32) {
        let connection = &mut self.shard.connections[slot as usize];
        if connection.state != State::Open {
            return;
        }
        connection.state = State::HalfClosed;
        self.half_closed += 1;
        if let Err(error) = self.shard.backend.end_output(slot) {
            self.failed(slot, errors::of_connection(&error), &error.to_string());
        }
    }

    fn await_ends(&mut self) -> Result<(), LoadError> {
        let deadline_ns = monotonic_ns() + TIMEOUT_NS;
        loop {
            let now_ns = monotonic_ns();
            if self.half_closed == 0 || now_ns >= deadline_ns {
                break;
            }
            self.shard
                .backend
                .wait(now_ns, deadline_ns)
                .map_err(|error| self.shard.fault("wait for the peers' ends", error))?;
            while let Some(event) = self.shard.backend.next_event() {
                let state = self.shard.connections[event.slot as usize].state;
                match event.what {
                    What::EndOfInput if state == State::HalfClosed => self.ended(event.slot),
                    What::Received(length) => self.excess(event.slot, length),
                    What::Failed(error) => self.failed(
                        event.slot,
                        errors::of_connection(&error),
                        &error.to_string(),
                    ),
                    What::EndOfInput | What::Connected => {}
                }
            }
        }
        self.give_up();
        Ok(())
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

    fn give_up(&mut self) {
        for slot in 0..self.shard.connections.len() as u32 {
            if self.shard.connections[slot as usize].state == State::HalfClosed {
                self.failed(
                    slot,
                    ErrorKind::CloseTimedOut,
                    "the peer did not close after our end of output",
                );
            }
        }
    }

    fn failed(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        if self.shard.connections[slot as usize].state == State::Closed {
            return;
        }
        let index = self.shard.index(slot);
        self.record
            .errors
            .count(kind, || format!("connection {index}: {detail}"));
        self.close(slot);
    }

    fn close(&mut self, slot: u32) {
        let connection = &mut self.shard.connections[slot as usize];
        if connection.state == State::HalfClosed {
            self.half_closed -= 1;
        }
        connection.state = State::Closed;
        self.shard.backend.close(slot);
    }
}
