//! Closed loop: each connection keeps k messages outstanding.
//!
//! ```text
//! connection   send ──► reply,send ──► reply,send ──► …      (k such chains)
//! ```
//!
//! The offered load follows the server: a slow server is asked less. That is what a fixed set of waiting users does, and
//! what an open loop does not.

use super::{Pacing, Send};

/// k outstanding on every connection.
pub(crate) struct Closed {
    outstanding: u32,
}

impl Closed {
    pub(crate) fn new(outstanding: u32) -> Self {
        Self { outstanding }
    }
}

impl Pacing for Closed {
    fn begin(&mut self, slots: &[u32], now_ns: u64, sends: &mut Vec<Send>) {
        for _ in 0..self.outstanding {
            sends.extend(slots.iter().map(|&slot| Send::at(slot, now_ns)));
        }
    }

    #[inline]
    fn replied(&mut self, slot: u32, now_ns: u64, sends: &mut Vec<Send>) {
        sends.push(Send::at(slot, now_ns));
    }

    fn lost(&mut self, _slot: u32, _outstanding: u32, _now_ns: u64, _sends: &mut Vec<Send>) {}
}
