//! What each connection of a shard has heard of the script, over all phases.

use std::ops::Range;
use std::sync::Arc;

use super::super::connect::{Hearing, Unheard};
use crate::script::{Fault, Script};

/// No latency: the line has not come.
pub(crate) const NEVER: u64 = u64::MAX;
/// The position of a connection to which something else came than was due: it hears no more.
const DEAF: u32 = u32::MAX;

/// By slot.
pub(crate) struct ScriptProgress {
    pub(super) script: Arc<Script>,
    /// How far in the script each has come.
    at: Vec<u32>,
    /// When each was connected.
    connected_at_ns: Vec<u64>,
    /// Of the single line that is awaited.
    pub(super) latency_ns: Vec<u64>,
    /// When a line came last.
    pub(super) last_at_ns: u64,
    /// Found while others were still connecting: the next phase counts them.
    faults: Vec<(u32, Fault)>,
}

impl ScriptProgress {
    pub(crate) fn new(script: Arc<Script>, connections: u32) -> Self {
        let connections = connections as usize;
        Self {
            script,
            at: vec![0; connections],
            connected_at_ns: vec![0; connections],
            latency_ns: vec![NEVER; connections],
            last_at_ns: 0,
            faults: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn at(&self, slot: u32) -> u32 {
        self.at[slot as usize]
    }

    /// Follows what came: what of it was the script's, and what, if anything, was not.
    #[inline]
    pub(super) fn hear(
        &mut self,
        slot: u32,
        bytes: &[u8],
        limit: u32,
    ) -> (Range<u32>, Option<Fault>) {
        let at = &mut self.at[slot as usize];
        let from = *at;
        match self.script.follow(from, bytes, limit) {
            Ok(to) => {
                *at = to;
                (from..to, None)
            }
            Err((to, fault)) => {
                *at = to;
                (from..to, Some(fault))
            }
        }
    }

    /// The single line that is awaited has come, and counts from then.
    #[inline]
    pub(super) fn came(&mut self, slot: u32, since_ns: u64, at_ns: u64) {
        self.latency_ns[slot as usize] = at_ns.saturating_sub(since_ns);
        self.last_at_ns = self.last_at_ns.max(at_ns);
    }

    /// The greeting has come, if it ends there.
    #[inline]
    pub(super) fn greeted(&mut self, slot: u32, heard: &Range<u32>, at_ns: u64) -> bool {
        let end = self.script.greeting_end();
        let is_whole = heard.start < end && heard.end >= end;
        if is_whole {
            self.came(slot, self.connected_at_ns[slot as usize], at_ns);
        }
        is_whole
    }

    /// Other bytes than the awaited line came, or more: it has not come as it should.
    pub(super) fn spoil(&mut self, slot: u32) {
        self.latency_ns[slot as usize] = NEVER;
    }

    /// The latencies of the phase that is over; the next one begins with none.
    pub(super) fn take_latencies(&mut self) -> Vec<u64> {
        let none = vec![NEVER; self.latency_ns.len()];
        self.last_at_ns = 0;
        std::mem::replace(&mut self.latency_ns, none)
    }

    pub(super) fn take_faults(&mut self) -> Vec<(u32, Fault)> {
        std::mem::take(&mut self.faults)
    }
}

/// Whatever is wrong with a greeting is told of in the phase that awaits it, and not as a failed connect.
impl Hearing for ScriptProgress {
    const LISTENS_ON: bool = true;

    fn connected(&mut self, slot: u32, at_ns: u64) {
        self.connected_at_ns[slot as usize] = at_ns;
    }

    fn received(&mut self, slot: u32, bytes: &[u8], at_ns: u64) -> Result<(), Unheard> {
        if self.at(slot) == DEAF {
            return Ok(());
        }
        let (heard, fault) = self.hear(slot, bytes, self.script.greeting_end());
        self.greeted(slot, &heard, at_ns);
        if let Some(fault) = fault {
            self.spoil(slot);
            self.at[slot as usize] = DEAF;
            self.faults.push((slot, fault));
        }
        Ok(())
    }
}
