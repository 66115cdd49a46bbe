//! Numbered lines at a rate: an open loop whose every line comes out of every connection.
//!
//! Lines are put at due times that were fixed beforehand and are known to every shard, so that a delivery's latency is one subtraction
//! wherever it comes. When the speaker fails, nothing more is put.

use std::ops::Range;
use std::sync::Arc;

use throng_record::ErrorKind;
use throng_sys::clock::monotonic_ns;

use super::{Failed, Listening, ScriptProgress, Stretch, slot_of};
use crate::backend::Backend;
use crate::control::{PutOver, Relay};
use crate::error::LoadError;
use crate::recorder::Recorder;
use crate::script::{Fault, Script};
use crate::shard::Shard;

/// What one shard measured of the numbered lines.
pub(crate) struct ShardSustained {
    pub(crate) due: u32,
    /// Lines put, by the shard of the speaker.
    pub(crate) sent: u32,
    pub(crate) last_at_ns: u64,
    /// A latency for each delivery, and a scheduling error for each line put.
    pub(crate) recorder: Recorder,
}

pub(super) fn run<B: Backend>(
    shard: &mut Shard<B>,
    script_progress: &mut ScriptProgress,
    relay: &Relay,
    (speaker, origin_ns): (u32, u64),
) -> Result<ShardSustained, LoadError> {
    let script = Arc::clone(&script_progress.script);
    let numbered = Numbered {
        limit: script.numbered_start(script.due_ns().len() as u32),
        speaker: slot_of(shard, speaker),
        origin_ns,
        put: 0,
        last_at_ns: 0,
        recorder: Recorder::new(),
        script,
    };
    let mut listening = Listening::new(shard, script_progress, relay, numbered);
    listening.run_to_end()?;
    let Listening { stretch, .. } = listening;
    let mut recorder = stretch.recorder;
    recorder.errors = listening.errors;
    Ok(ShardSustained {
        due: listening.due,
        sent: stretch.put,
        last_at_ns: stretch.last_at_ns,
        recorder,
    })
}

struct Numbered {
    script: Arc<Script>,
    limit: u32,
    /// Where it is of this shard, and until it falls silent.
    speaker: Option<u32>,
    origin_ns: u64,
    /// Lines put so far.
    put: u32,
    last_at_ns: u64,
    recorder: Recorder,
}

impl Numbered {
    fn due_at_ns(&self, number: u32) -> Option<u64> {
        let since_ns = self.script.due_ns().get(number as usize)?;
        Some(self.origin_ns + since_ns)
    }
}

impl Stretch for Numbered {
    fn limit(&self) -> u32 {
        self.limit
    }

    #[inline]
    fn heard(
        &mut self,
        _: &mut ScriptProgress,
        _slot: u32,
        heard: Range<u32>,
        now_ns: u64,
    ) -> Result<u32, Fault> {
        let numbers = self.script.numbers_ended(&heard);
        let first_due_ns = self.due_at_ns(0).unwrap_or(now_ns);
        let mut lines = 0;
        for &since_ns in &self.script.due_ns()[numbers.start as usize..numbers.end as usize] {
            let Some(latency_ns) = now_ns.checked_sub(self.origin_ns + since_ns) else {
                let early = "a line came before it was due";
                return Err((ErrorKind::ExcessBytes, early.into()));
            };
            self.recorder.measured(latency_ns, now_ns - first_due_ns);
            lines += 1;
        }
        if lines > 0 {
            self.last_at_ns = self.last_at_ns.max(now_ns);
        }
        Ok(lines)
    }

    /// Without a due time that is left there is still the end to be told.
    #[inline]
    fn next_put_ns(&self) -> u64 {
        match self.speaker {
            Some(_) => self.due_at_ns(self.put).unwrap_or(0),
            None => u64::MAX,
        }
    }

    fn put<B: Backend>(
        &mut self,
        shard: &mut Shard<B>,
        relay: &Relay,
        now_ns: u64,
    ) -> Result<(), Failed> {
        let Some(slot) = self.speaker else {
            return Ok(());
        };
        while let Some(due_ns) = self.due_at_ns(self.put)
            && due_ns <= now_ns
        {
            let late_ns = monotonic_ns().saturating_sub(due_ns);
            let sent = shard.backend.send(slot, self.script.numbered(self.put));
            sent.map_err(|error| (slot, error))?;
            self.recorder.scheduling_error.saturating_record(late_ns);
            self.put += 1;
        }
        if self.put as usize == self.script.due_ns().len() {
            self.silence(None, relay);
        }
        Ok(())
    }

    fn silence(&mut self, failed: Option<u32>, relay: &Relay) {
        if self.speaker.is_none() || failed.is_some_and(|slot| self.speaker != Some(slot)) {
            return;
        }
        self.speaker = None;
        relay.put_is_over(PutOver {
            at_ns: monotonic_ns(),
            target: self.script.numbered_start(self.put),
        });
    }
}
