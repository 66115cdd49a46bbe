//! Holding the open connections, and pinging some of them: what every shard does, and the record of them all.

use throng_record::{Histogram, HoldPhase, PingPhase, PingSpec};
use throng_sys::clock::monotonic_ns;

use super::merge::merged;
use super::watch::Teller;
use super::{Fleet, Observer};
use crate::error::LoadError;
use crate::shard::{Answer, Phase, Pings, Sample};

impl Fleet {
    /// Holds the open connections for so long, or until the interrupt, telling how many are still open.
    pub(super) fn hold(
        &mut self,
        hold_ns: u64,
        observer: Observer<'_>,
    ) -> Result<HoldPhase, LoadError> {
        let started_at_ns = monotonic_ns();
        let until_ns = started_at_ns.saturating_add(hold_ns);
        self.tell(|| Phase::Hold { until_ns });
        let mut phase = HoldPhase::default();
        for answer in self.gather_telling(observer)? {
            if let Answer::Held(held) = answer {
                phase.errors.merge(&held.lost_errors);
            }
        }
        phase.duration_ns = monotonic_ns() - started_at_ns;
        Ok(phase)
    }

    /// Sends one message on some of the open connections, telling how many are answered.
    pub(super) fn ping(
        &mut self,
        spec: &PingSpec,
        observer: Observer<'_>,
    ) -> Result<PingPhase, LoadError> {
        let open = self.count_open()?;
        self.shards.iter().for_each(|shard| shard.progress.reset());
        let all = open.iter().copied().map(u64::from).sum();
        let mut before = 0;
        for (shard, &open) in self.shards.iter().zip(&open) {
            let sample = Sample {
                before,
                all,
                pings: all.min(spec.pings.into()),
            };
            before += u64::from(open);
            shard.tell(Phase::Ping(Box::new(Pings {
                protocol: spec.protocol.clone(),
                verify: spec.verify,
                sample,
                at_once: spec.at_once.div_ceil(self.spec.shards),
            })));
        }
        let answers = self.gather_telling(observer)?;
        let shards: Vec<_> = answers
            .into_iter()
            .filter_map(|answer| match answer {
                Answer::Pinged(pings) => Some(*pings),
                _ => None,
            })
            .collect();
        let spans = || shards.iter().filter_map(|shard| shard.span_ns);
        let first_ns = spans().map(|span| span.0).min().unwrap_or(0);
        let last_ns = spans().map(|span| span.1).max().unwrap_or(0);
        let mut phase = PingPhase {
            pinged: shards.iter().map(|shard| shard.pinged).sum(),
            not_pinged: shards.iter().map(|shard| shard.not_pinged).sum(),
            answered: shards.iter().map(|shard| shard.answered).sum(),
            duration_ns: last_ns - first_ns,
            latency: Histogram::from(&merged(shards.iter().map(|shard| &shard.latency))),
            ..PingPhase::default()
        };
        for shard in &shards {
            phase.errors.merge(&shard.ping_errors);
            phase.lost_errors.merge(&shard.lost_errors);
        }
        Ok(phase)
    }

    /// How many connections of each shard are open.
    pub(super) fn count_open(&self) -> Result<Vec<u32>, LoadError> {
        self.tell(|| Phase::Count);
        let mut open = vec![0; self.shards.len()];
        for answer in self.gather()? {
            if let Answer::Open { shard, connections } = answer {
                open[shard as usize] = connections;
            }
        }
        Ok(open)
    }

    /// One answer of each shard; while waiting, their progress is told.
    pub(super) fn gather_telling(&self, observer: Observer<'_>) -> Result<Vec<Answer>, LoadError> {
        let mut teller = Teller::new();
        self.gather_watching(&mut |readings, _| teller.look(readings, observer))
    }
}
