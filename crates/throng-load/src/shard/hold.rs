//! Holding: nothing is sent, and whatever happens to the connections all the same is counted.

use throng_record::{ErrorCounts, ErrorKind};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::{Shard, errors};
use crate::backend::{Backend, Event, What};
use crate::connection::{Connection, ConnectionState};
use crate::control::ProgressReading;
use crate::error::LoadError;

/// How often a shard looks whether it is interrupted. Rarely: an idle generator is part of what is measured.
const LOOK_NS: u64 = 100 * MILLISECOND_NS;

/// What one shard saw while it held.
pub(crate) struct ShardHold {
    /// Connections that are still open.
    open: u32,
    pub(crate) lost_errors: ErrorCounts,
}

/// Holds until this monotonic time, or the interrupt, and hears out what had come before.
pub(super) fn run<B: Backend>(shard: &mut Shard<B>, until_ns: u64) -> Result<ShardHold, LoadError> {
    let mut held = ShardHold {
        open: shard.open(),
        lost_errors: ErrorCounts::default(),
    };
    loop {
        let now_ns = monotonic_ns();
        let look_ns = until_ns.min(now_ns + LOOK_NS);
        shard
            .backend
            .wait(now_ns, look_ns)
            .map_err(|error| shard.fault("hold its connections", error))?;
        let mut is_silent = true;
        while let Some(event) = shard.backend.next_event() {
            is_silent = false;
            let losses = shard.lose(event, &mut held.lost_errors);
            held.open -= losses;
        }
        shard.assignment.progress.publish(ProgressReading {
            replies: held.open.into(),
            ..ProgressReading::default()
        });
        let is_over = shard.assignment.interrupt.is_raised() || monotonic_ns() >= until_ns;
        if is_over && is_silent {
            return Ok(held);
        }
    }
}

impl<B: Backend> Shard<B> {
    /// Connections that are open.
    pub(super) fn open(&self) -> u32 {
        let is_open = |connection: &&Connection| connection.state == ConnectionState::Open;
        self.connections.iter().filter(is_open).count() as u32
    }

    /// Those, and connections that the next message on them opens again.
    pub(super) fn usable(&self) -> u32 {
        let usable = self.connections.iter().filter(|one| one.is_usable());
        usable.count() as u32
    }

    /// Whatever happens to a connection on which nothing is under way ends it: how many this ended.
    pub(super) fn lose(&mut self, event: Event, errors: &mut ErrorCounts) -> u32 {
        if self.connections[event.slot as usize].state != ConnectionState::Open {
            return 0;
        }
        let (kind, detail) = match event.what {
            What::Connected | What::Handshake(_) => return 0,
            What::Received(_) => (
                ErrorKind::ExcessBytes,
                "bytes came although nothing was sent".to_owned(),
            ),
            What::EndOfInput => (
                ErrorKind::ClosedEarly,
                "closed while nothing was sent".to_owned(),
            ),
            What::Failed(error) => (errors::of_connection(&error), error.to_string()),
        };
        errors.count_at(self.index(event.slot), kind, || detail);
        self.connections[event.slot as usize].state = ConnectionState::Closed;
        self.backend.close(event.slot);
        1
    }
}
