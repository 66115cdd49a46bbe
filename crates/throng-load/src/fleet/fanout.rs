//! The phases of a fan-out over the shards: told, watched, and merged into one record.

use throng_record::{
    ErrorCounts, Histogram, IndexSlice, LinePhase, PutPhase, SustainedPhase, histogram,
};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::merge::{merged, per_second};
use super::{Fleet, Observer};
use crate::control::PutOver;
use crate::error::LoadError;
use crate::shard::fanout::{NEVER, Part, ShardLine, ShardSustained};
use crate::shard::{Answer, Phase};
use crate::slowest::Slowest;

/// From the order to put numbered lines to the begin of their schedule: the shards are to hear by then.
const LEAD_NS: u64 = 5 * MILLISECOND_NS;
/// The most slices by index.
const SLICES: usize = 128;

impl Fleet {
    /// Awaits the greeting on every open connection. Counted from the end of the last connect: the shards have listened since.
    pub(super) fn hear_greeting(&mut self, observer: Observer<'_>) -> Result<LinePhase, LoadError> {
        let started_at_ns = self.connected_at_ns;
        if let Some((script, relay)) = &self.fanout {
            relay.reset();
            relay.put_is_over(PutOver {
                at_ns: started_at_ns,
                target: script.greeting_end(),
            });
        }
        let shards = self.lines(Part::Greeting, observer)?;
        Ok(line(shards, started_at_ns))
    }

    /// Has the line put on this connection, or the next that is open, and heard on all.
    pub(super) fn put_and_hear(
        &mut self,
        speaker: u32,
        observer: Observer<'_>,
    ) -> Result<PutPhase, LoadError> {
        let Some(speaker) = self.speaker(speaker)? else {
            return Ok(PutPhase::default());
        };
        let shards = self.lines(Part::Put(speaker), observer)?;
        let spoke = shards.iter().find_map(|shard| shard.spoke);
        Ok(PutPhase {
            put_ns: spoke.map(|spoke| spoke.took_ns),
            speaker: spoke.map(|spoke| spoke.speaker),
            line: line(shards, spoke.map_or(u64::MAX, |spoke| spoke.at_ns)),
        })
    }

    /// Has the numbered lines put as their schedule says, on this connection or the next that is open, and heard on all.
    pub(super) fn put_at_rate(
        &mut self,
        speaker: u32,
        observer: Observer<'_>,
    ) -> Result<SustainedPhase, LoadError> {
        let Some(speaker) = self.speaker(speaker)? else {
            return Ok(SustainedPhase::default());
        };
        let origin_ns = monotonic_ns() + LEAD_NS;
        let part = Part::Sustain { speaker, origin_ns };
        let answers = self.fan_out(part, observer)?;
        let shards = answers.into_iter().filter_map(|answer| match answer {
            Answer::Sustained(sustained) => Some(*sustained),
            _ => None,
        });
        let first_ns = self
            .fanout
            .as_ref()
            .and_then(|(script, _)| script.due_ns().first().copied());
        Ok(sustained(
            shards.collect(),
            origin_ns + first_ns.unwrap_or(0),
        ))
    }

    /// This connection or the next that is open, in turn; none where none is.
    fn speaker(&mut self, asked: u32) -> Result<Option<u32>, LoadError> {
        if let Some((_, relay)) = &self.fanout {
            relay.reset();
        }
        let all = self.spec.connections;
        let answers = self.fan_out(Part::Candidate(asked), &mut |_| {})?;
        let candidates = answers.into_iter().filter_map(|answer| match answer {
            Answer::Candidate(candidate) => candidate,
            _ => None,
        });
        Ok(candidates.min_by_key(|&index| {
            if index < asked {
                index + (all - asked)
            } else {
                index - asked
            }
        }))
    }

    fn lines(&mut self, part: Part, observer: Observer<'_>) -> Result<Vec<ShardLine>, LoadError> {
        let answers = self.fan_out(part, observer)?;
        let shards = answers.into_iter().filter_map(|answer| match answer {
            Answer::Line(line) => Some(*line),
            _ => None,
        });
        Ok(shards.collect())
    }

    fn fan_out(&mut self, part: Part, observer: Observer<'_>) -> Result<Vec<Answer>, LoadError> {
        self.shards.iter().for_each(|shard| shard.progress.reset());
        self.tell(|| Phase::Fanout(part));
        self.gather_telling(observer)
    }
}

fn line(mut shards: Vec<ShardLine>, started_at_ns: u64) -> LinePhase {
    shards.sort_by_key(|shard| shard.first);
    let latency_ns: Vec<u64> = shards
        .iter()
        .flat_map(|shard| shard.latency_ns.iter().copied())
        .collect();
    let last_at_ns = shards.iter().map(|shard| shard.last_at_ns).max();
    let mut live = histogram::empty();
    for latency_ns in came(&latency_ns) {
        live.saturating_record(latency_ns);
    }
    let mut errors = ErrorCounts::default();
    shards.iter().for_each(|shard| errors.merge(&shard.errors));
    LinePhase {
        due: shards.iter().map(|shard| shard.due).sum(),
        received: live.len() as u32,
        duration_ns: last_at_ns.unwrap_or(0).saturating_sub(started_at_ns),
        latency: Histogram::from(&live),
        by_index: by_index(&latency_ns),
        slowest: Slowest::merge(shards.into_iter().map(|shard| shard.slowest)),
        errors,
    }
}

fn came(latency_ns: &[u64]) -> impl Iterator<Item = u64> {
    latency_ns
        .iter()
        .copied()
        .filter(|&latency_ns| latency_ns != NEVER)
}

fn by_index(latency_ns: &[u64]) -> Vec<IndexSlice> {
    let length = latency_ns.len().div_ceil(SLICES).max(1);
    let slice = |(number, slice): (usize, &[u64])| {
        let connections = came(slice).count() as u64;
        IndexSlice {
            first: (number * length) as u32,
            connections: connections as u32,
            latency_ns_min: came(slice).min().unwrap_or(0),
            latency_ns_mean: came(slice)
                .sum::<u64>()
                .checked_div(connections)
                .unwrap_or(0),
            latency_ns_max: came(slice).max().unwrap_or(0),
        }
    };
    latency_ns.chunks(length).enumerate().map(slice).collect()
}

fn sustained(shards: Vec<ShardSustained>, first_due_ns: u64) -> SustainedPhase {
    let latency = merged(shards.iter().map(|shard| &shard.recorder.latency));
    let scheduling_error = merged(shards.iter().map(|shard| &shard.recorder.scheduling_error));
    let sent = shards.iter().map(|shard| u64::from(shard.sent)).sum();
    let due: u64 = shards.iter().map(|shard| u64::from(shard.due)).sum();
    let last_at_ns = shards.iter().map(|shard| shard.last_at_ns).max();
    let duration_ns = last_at_ns.unwrap_or(0).saturating_sub(first_due_ns);
    let mut phase = SustainedPhase {
        sent,
        deliveries: latency.len(),
        missing: (sent * due).saturating_sub(latency.len()),
        duration_ns,
        deliveries_per_second: per_second(latency.len(), duration_ns),
        latency: Histogram::from(&latency),
        scheduling_error: Histogram::from(&scheduling_error),
        ..SustainedPhase::default()
    };
    for shard in &shards {
        phase.timeline.merge(shard.recorder.timeline());
        phase.errors.merge(&shard.recorder.errors);
    }
    phase
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_equal_and_leave_out_what_never_came() {
        let latency_ns: Vec<u64> = (0..1000)
            .map(|index| if index % 10 == 3 { NEVER } else { index })
            .collect();
        let slices = by_index(&latency_ns);
        assert_eq!(slices.len(), 125);
        assert_eq!(
            slices.iter().map(|slice| slice.connections).sum::<u32>(),
            900
        );
        assert_eq!(
            slices[1],
            IndexSlice {
                first: 8,
                connections: 7,
                latency_ns_min: 8,
                latency_ns_mean: (8 + 9 + 10 + 11 + 12 + 14 + 15) / 7,
                latency_ns_max: 15,
            }
        );
        assert_eq!(by_index(&[NEVER; 3]).len(), 3);
        assert!(by_index(&[]).is_empty());
    }
}
