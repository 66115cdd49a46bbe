//! One line awaited on every connection: the greeting, or what the speaker puts.

use std::ops::Range;

use throng_record::{ErrorCounts, SlowConnection};
use throng_sys::clock::monotonic_ns;
use throng_sys::tcp_info::TcpInfo;

use super::{Listening, NEVER, ScriptProgress, Stretch, errors, slot_of};
use crate::backend::Backend;
use crate::connection::ConnectionState;
use crate::control::{PutOver, Relay};
use crate::error::LoadError;
use crate::script::Fault;
use crate::shard::Shard;
use crate::slowest::Slowest;

/// How long the speaker waits at a time for all shards to listen.
const LISTENING_LOOK_NS: u64 = 50_000;

/// What one shard measured of a line.
pub(crate) struct ShardLine {
    /// Index of its first connection: latencies of all shards in this order are those of the fleet.
    pub(crate) first: u32,
    pub(crate) due: u32,
    /// By slot; [`NEVER`] where it did not come as it should.
    pub(crate) latency_ns: Vec<u64>,
    /// When it came last; 0 where it came to nobody.
    pub(crate) last_at_ns: u64,
    pub(crate) slowest: Slowest,
    /// Where the speaker is of this shard.
    pub(crate) spoke: Option<Spoke>,
    pub(crate) errors: ErrorCounts,
}

/// The put.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spoke {
    /// Index of the connection that spoke.
    pub(crate) speaker: u32,
    /// Just before the call.
    pub(crate) at_ns: u64,
    /// Length of the call.
    pub(crate) took_ns: u64,
}

pub(super) fn greeting<B: Backend>(
    shard: &mut Shard<B>,
    script_progress: &mut ScriptProgress,
    relay: &Relay,
) -> Result<ShardLine, LoadError> {
    let end = script_progress.script.greeting_end();
    let mut listening = Listening::new(shard, script_progress, relay, Greeting { end });
    listening.run_to_end()?;
    Ok(listening.into_line(None))
}

/// What comes before the put was asked for by nobody, so all that is there is looked at first.
pub(super) fn put<B: Backend>(
    shard: &mut Shard<B>,
    script_progress: &mut ScriptProgress,
    relay: &Relay,
    speaker: u32,
) -> Result<ShardLine, LoadError> {
    let speaker = slot_of(shard, speaker);
    let line = Line {
        relay,
        before: script_progress.script.greeting_end(),
        end: script_progress.script.line_end(),
    };
    let mut listening = Listening::new(shard, script_progress, relay, line);
    while listening.wait(monotonic_ns(), 0)? {}
    relay.listens();
    let mut spoke = None;
    if let Some(speaker) = speaker {
        listening.await_listeners()?;
        spoke = listening.speak(speaker)?;
    }
    listening.run_to_end()?;
    Ok(listening.into_line(spoke))
}

/// Latency counts from each connection's connect.
struct Greeting {
    end: u32,
}

impl Stretch for Greeting {
    fn limit(&self) -> u32 {
        self.end
    }

    fn heard(
        &mut self,
        script_progress: &mut ScriptProgress,
        slot: u32,
        heard: Range<u32>,
        now_ns: u64,
    ) -> Result<u32, Fault> {
        Ok(script_progress.greeted(slot, &heard, now_ns).into())
    }
}

/// Latency counts from the put.
struct Line<'a> {
    relay: &'a Relay,
    before: u32,
    end: u32,
}

impl Stretch for Line<'_> {
    /// The relay is told just before the send, so whatever comes of it comes later.
    fn limit(&self) -> u32 {
        self.relay.put_over().map_or(self.before, |_| self.end)
    }

    fn heard(
        &mut self,
        script_progress: &mut ScriptProgress,
        slot: u32,
        heard: Range<u32>,
        now_ns: u64,
    ) -> Result<u32, Fault> {
        let is_whole = heard.start < self.end && heard.end == self.end;
        if let Some(put) = self.relay.put_over()
            && is_whole
        {
            script_progress.came(slot, put.at_ns, now_ns);
        }
        Ok(is_whole.into())
    }
}

impl<B: Backend> Listening<'_, B, Line<'_>> {
    /// A shard that does not come is lost, or held up for so long that nothing could be said about it anyway.
    fn await_listeners(&mut self) -> Result<(), LoadError> {
        let assignment = &self.shard.assignment;
        let (shards, timeout_ns) = (assignment.spec.shards, assignment.spec.reply_timeout_ns);
        let started_at_ns = monotonic_ns();
        while self.relay.listening() < shards {
            let now_ns = monotonic_ns();
            if now_ns - started_at_ns > timeout_ns || self.shard.assignment.interrupt.is_raised() {
                break;
            }
            self.wait(now_ns, now_ns + LISTENING_LOOK_NS)?;
        }
        Ok(())
    }

    /// Puts the line on this connection, or on the next of this shard that is still open.
    fn speak(&mut self, speaker: u32) -> Result<Option<Spoke>, LoadError> {
        let nearest = self.open_slots().find(|&slot| slot >= speaker);
        let mut over = PutOver {
            at_ns: monotonic_ns(),
            target: self.stretch.end,
        };
        let Some(slot) = nearest.or_else(|| self.open_slots().next()) else {
            over.target = self.stretch.before;
            self.relay.put_is_over(over);
            return Ok(None);
        };
        self.relay.put_is_over(over);
        let sent = self
            .shard
            .backend
            .send(slot, self.script_progress.script.line());
        let took_ns = monotonic_ns() - over.at_ns;
        if let Err(error) = sent {
            self.fail(slot, errors::of_connection(&error), &error.to_string());
            return Ok(None);
        }
        Ok(Some(Spoke {
            speaker: self.shard.index(slot),
            at_ns: over.at_ns,
            took_ns,
        }))
    }
}

impl<B: Backend, S: Stretch> Listening<'_, B, S> {
    fn into_line(self, spoke: Option<Spoke>) -> ShardLine {
        let last_at_ns = self.script_progress.last_at_ns;
        let latency_ns = self.script_progress.take_latencies();
        ShardLine {
            first: self.shard.assignment.first,
            due: self.due,
            slowest: slowest(self.shard, &latency_ns),
            latency_ns,
            last_at_ns,
            spoke,
            errors: self.errors,
        }
    }
}

/// Nothing was sent on them yet but the line, so that what was sent again is the SYN.
fn slowest<B: Backend>(shard: &Shard<B>, latency_ns: &[u64]) -> Slowest {
    let mut slowest = Slowest::default();
    let came = latency_ns.iter().zip(0..);
    for (&latency_ns, slot) in came.filter(|(latency_ns, _)| **latency_ns != NEVER) {
        slowest.note(SlowConnection {
            connection: shard.index(slot),
            latency_ns,
            syn_retransmissions: 0,
        });
    }
    for slow in slowest.iter_mut() {
        let slot = slow.connection - shard.assignment.first;
        slow.syn_retransmissions = syn_retransmissions(shard, slot);
    }
    slowest
}

fn syn_retransmissions<B: Backend>(shard: &Shard<B>, slot: u32) -> u32 {
    let is_open = shard.connections[slot as usize].state == ConnectionState::Open;
    let socket = is_open.then(|| shard.backend.socket(slot)).flatten();
    socket
        .and_then(|socket| TcpInfo::of(socket).ok())
        .map_or(0, |info| info.total_retrans)
}
