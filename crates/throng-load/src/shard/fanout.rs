//! The fan-out: every connection hears the script, one of them speaks.
//!
//! One loop serves the greeting, the single line and the numbered lines: wait, follow what came, until every connection has heard all
//! that was put, then a little longer for what nobody put. What differs is when something is put, and from when its latency counts:
//! a `Stretch`. Shards tell each other through a `Relay` when nothing more is put, and when they have heard all.

mod line;
mod script_progress;
mod sustain;

use std::ops::Range;

use throng_record::{ErrorCounts, ErrorKind};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::{Answer, Shard, errors};
use crate::backend::{Backend, Event, What};
use crate::connection::ConnectionState;
use crate::control::{ProgressReading, PutOver, Relay};
use crate::error::LoadError;
use crate::pacing::spacing::SPIN_NS;
use crate::script::Fault;

pub(crate) use line::ShardLine;
pub(crate) use script_progress::{NEVER, ScriptProgress};
pub(crate) use sustain::ShardSustained;

/// How long the loop sleeps at most before it looks at what others tell.
const LOOK_NS: u64 = 20 * MILLISECOND_NS;
/// The same where nothing is left to be heard here.
const DONE_LOOK_NS: u64 = MILLISECOND_NS;
/// When all have heard all, a second copy is waited for so long.
const GRACE_NS: u64 = 20 * MILLISECOND_NS;
/// After an interrupt, what is under way is waited for so long.
const INTERRUPTED_GRACE_NS: u64 = 200 * MILLISECOND_NS;

/// A phase of a fan-out, as a shard is told it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// Tell which connection would speak: the first open one at or, failing that, after this index.
    Candidate(u32),
    /// Await the greeting.
    Greeting,
    /// This one, if it is of this shard, puts the line; all hear it.
    Put(u32),
    /// This one puts the numbered lines, which are due from then on.
    Sustain { speaker: u32, origin_ns: u64 },
}

/// Does a part; the progress is that of all parts.
pub(super) fn run<B: Backend>(
    shard: &mut Shard<B>,
    script_progress: &mut ScriptProgress,
    relay: &Relay,
    part: Part,
) -> Result<Answer, LoadError> {
    Ok(match part {
        Part::Candidate(speaker) => Answer::Candidate(candidate(shard, speaker)),
        Part::Greeting => Answer::Line(Box::new(line::greeting(shard, script_progress, relay)?)),
        Part::Put(speaker) => {
            Answer::Line(Box::new(line::put(shard, script_progress, relay, speaker)?))
        }
        Part::Sustain { speaker, origin_ns } => {
            let sustained = sustain::run(shard, script_progress, relay, (speaker, origin_ns))?;
            Answer::Sustained(Box::new(sustained))
        }
    })
}

/// The slot of a connection of the fleet, where it is of this shard.
fn slot_of<B>(shard: &Shard<B>, index: u32) -> Option<u32> {
    let slot = index.checked_sub(shard.assignment.first)?;
    (slot < shard.assignment.connections).then_some(slot)
}

/// The first open connection from this index on, else the first open one: over the shards, the nearest in turn is among these.
fn candidate<B: Backend>(shard: &Shard<B>, speaker: u32) -> Option<u32> {
    let first = speaker.saturating_sub(shard.assignment.first);
    let is_open = |slot: &u32| shard.connections[*slot as usize].state == ConnectionState::Open;
    let all = shard.connections.len() as u32;
    let slot = (first.min(all)..all)
        .chain(0..first.min(all))
        .find(is_open)?;
    Some(shard.index(slot))
}

/// What differs between the parts.
trait Stretch {
    /// Bytes beyond this position of the script are nobody's.
    fn limit(&self) -> u32;

    /// These bytes of the script came: how many awaited lines ended in them, or why they should not have come yet.
    fn heard(
        &mut self,
        script_progress: &mut ScriptProgress,
        slot: u32,
        heard: Range<u32>,
        now_ns: u64,
    ) -> Result<u32, Fault>;

    /// When this shard is to put something next; never where it is not.
    fn next_put_ns(&self) -> u64 {
        u64::MAX
    }

    /// Puts what is due: the slot that failed in it, and why.
    fn put<B: Backend>(&mut self, _: &mut Shard<B>, _: &Relay, _now_ns: u64) -> Result<(), Failed> {
        Ok(())
    }

    /// This connection has failed, or nothing more is to be put.
    fn silence(&mut self, _: Option<u32>, _: &Relay) {}
}

/// A slot, and how its send failed.
type Failed = (u32, std::io::Error);

struct Listening<'a, B, S> {
    shard: &'a mut Shard<B>,
    script_progress: &'a mut ScriptProgress,
    relay: &'a Relay,
    stretch: S,
    errors: ErrorCounts,
    /// Open when the part began, those that had failed unnoticed included.
    due: u32,
    /// Known from when nothing more is put on.
    over: Option<PutOver>,
    /// Open connections that have not heard all; known likewise.
    behind: u32,
    heard: u64,
    told_done: bool,
    /// When all had heard all, or the interrupt was noticed.
    ends_at_ns: u64,
    /// The end of the last wait, where the events of a wait have one time.
    woken_at_ns: u64,
}

impl<'a, B: Backend, S: Stretch> Listening<'a, B, S> {
    fn new(
        shard: &'a mut Shard<B>,
        script_progress: &'a mut ScriptProgress,
        relay: &'a Relay,
        stretch: S,
    ) -> Self {
        let open = shard
            .connections
            .iter()
            .filter(|connection| connection.state == ConnectionState::Open);
        let mut listening = Self {
            due: open.count() as u32,
            shard,
            script_progress,
            relay,
            stretch,
            errors: ErrorCounts::default(),
            over: None,
            behind: 0,
            heard: 0,
            told_done: false,
            ends_at_ns: u64::MAX,
            woken_at_ns: 0,
        };
        for (slot, (kind, detail)) in listening.script_progress.take_faults() {
            listening.fail(slot, kind, &detail);
        }
        listening
    }

    fn run_to_end(&mut self) -> Result<(), LoadError> {
        loop {
            let now_ns = monotonic_ns();
            self.put_due(now_ns);
            self.note(now_ns);
            if now_ns >= self.ends_at_ns {
                break;
            }
            self.wait(now_ns, self.wait_until_ns(now_ns))?;
        }
        self.leave_the_rest_to_the_close();
        Ok(())
    }

    /// What others tell, and what the clock brings.
    fn note(&mut self, now_ns: u64) {
        if self.over.is_none() {
            self.over = self.relay.put_over();
            self.behind = self.count_behind();
        }
        if let Some(over) = self.over {
            let timeout_ns = self.shard.assignment.spec.reply_timeout_ns;
            if self.behind > 0 && now_ns.saturating_sub(over.at_ns) > timeout_ns {
                self.give_up(over.target);
            }
            if self.behind == 0 && !self.told_done {
                self.told_done = true;
                self.relay.is_done();
            }
        }
        if self.shard.assignment.interrupt.is_raised() {
            self.stretch.silence(None, self.relay);
            self.ends_at_ns = self.ends_at_ns.min(now_ns + INTERRUPTED_GRACE_NS);
        }
        if self.relay.done() == self.shard.assignment.spec.shards {
            self.ends_at_ns = self.ends_at_ns.min(now_ns + GRACE_NS);
        }
    }

    fn count_behind(&self) -> u32 {
        let Some(over) = self.over else {
            return 0;
        };
        let behind = self
            .open_slots()
            .filter(|&slot| self.script_progress.at(slot) < over.target);
        behind.count() as u32
    }

    fn open_slots(&self) -> impl Iterator<Item = u32> {
        let connections = (0..).zip(&self.shard.connections);
        connections.filter_map(|(slot, connection)| {
            (connection.state == ConnectionState::Open).then_some(slot)
        })
    }

    #[cold]
    fn give_up(&mut self, target: u32) {
        for slot in 0..self.shard.connections.len() as u32 {
            let at = self.script_progress.at(slot);
            if at < target {
                let detail = if self.script_progress.script.is_mid_line(at) {
                    "a part of a line came, and the rest did not within the reply timeout"
                } else {
                    "a line that was due did not come within the reply timeout"
                };
                self.fail(slot, ErrorKind::NotDelivered, detail);
            }
        }
    }

    fn wait_until_ns(&self, now_ns: u64) -> u64 {
        let look_ns = if self.told_done {
            DONE_LOOK_NS
        } else {
            LOOK_NS
        };
        (now_ns + look_ns)
            .min(self.ends_at_ns)
            .min(self.stretch.next_put_ns().saturating_sub(SPIN_NS))
    }

    /// One wait, and all that it brought: whether it brought anything.
    #[inline]
    fn wait(&mut self, now_ns: u64, until_ns: u64) -> Result<bool, LoadError> {
        self.shard
            .backend
            .wait(now_ns, until_ns)
            .map_err(|error| self.shard.fault("wait for lines", error))?;
        if B::EVENTS_COME_TOGETHER {
            self.woken_at_ns = monotonic_ns();
        }
        let mut is_anything = false;
        while let Some(event) = self.shard.backend.next_event() {
            is_anything = true;
            self.on_event(event);
        }
        let progress = ProgressReading {
            replies: self.heard,
            ..ProgressReading::default()
        };
        self.shard.assignment.progress.publish(progress);
        Ok(is_anything)
    }

    #[inline]
    fn on_event(&mut self, event: Event) {
        match event.what {
            What::Received(_) => self.on_received(event.slot),
            What::EndOfInput
                if self
                    .script_progress
                    .script
                    .is_mid_line(self.script_progress.at(event.slot)) =>
            {
                self.fail(
                    event.slot,
                    ErrorKind::Truncated,
                    "the peer closed in the middle of a line",
                );
            }
            What::EndOfInput => self.fail(
                event.slot,
                ErrorKind::ClosedEarly,
                "the peer closed before the fan-out was over",
            ),
            What::Failed(error) => self.fail(
                event.slot,
                errors::of_connection(&error),
                &error.to_string(),
            ),
            What::Connected | What::Handshake(_) => {}
        }
    }

    #[inline]
    fn on_received(&mut self, slot: u32) {
        let now_ns = if B::EVENTS_COME_TOGETHER {
            self.woken_at_ns
        } else {
            monotonic_ns()
        };
        let bytes = self.shard.backend.received();
        let (heard, mut fault) = self.script_progress.hear(slot, bytes, self.stretch.limit());
        if let Some(over) = self.over
            && heard.start < over.target
            && heard.end >= over.target
        {
            self.behind -= 1;
        }
        match self
            .stretch
            .heard(self.script_progress, slot, heard, now_ns)
        {
            Ok(lines) => self.heard += u64::from(lines),
            Err(early) => fault = Some(early),
        }
        if let Some((kind, detail)) = fault {
            self.script_progress.spoil(slot);
            self.fail(slot, kind, &detail);
        }
        self.put_due(now_ns);
    }

    #[inline]
    fn put_due(&mut self, now_ns: u64) {
        if now_ns < self.stretch.next_put_ns() {
            return;
        }
        if let Err((slot, error)) = self.stretch.put(self.shard, self.relay, now_ns) {
            self.fail(slot, errors::of_connection(&error), &error.to_string());
        }
    }

    #[cold]
    fn fail(&mut self, slot: u32, kind: ErrorKind, detail: &str) {
        let connection = &mut self.shard.connections[slot as usize];
        if connection.state != ConnectionState::Open {
            return;
        }
        connection.state = ConnectionState::Closed;
        self.shard.backend.close(slot);
        let is_behind = |over: PutOver| self.script_progress.at(slot) < over.target;
        if self.over.is_some_and(is_behind) {
            self.behind -= 1;
        }
        let index = self.shard.index(slot);
        self.errors.count_at(index, kind, || detail.to_owned());
        self.stretch.silence(Some(slot), self.relay);
    }

    /// What was put and has not come, since the work was ended early, is no excess when it comes.
    fn leave_the_rest_to_the_close(&mut self) {
        if !self.shard.assignment.interrupt.is_raised() {
            return;
        }
        for connection in &mut self.shard.connections {
            connection.sent = connection.replies.wrapping_add(1);
        }
    }
}
