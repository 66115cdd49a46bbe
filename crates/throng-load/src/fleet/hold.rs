//! Holding the open connections, and pinging some of them: what every shard does, and the record of them all.

use throng_record::{ExchangeSpec, Histogram, HoldPhases, HoldSpec};
use throng_sys::clock::monotonic_ns;

use super::merge::merged;
use super::watch::Teller;
use super::{Fleet, Observer};
use crate::error::LoadError;
use crate::shard::{Answer, Phase, Pings, Sample};

impl Fleet {
    /// Holds the open connections for so long, or until the interrupt, telling how many are still open. Gives how many each shard then has.
    ///
    /// # Errors
    /// [`LoadError`] where a shard's event loop fails; lost connections are counted in the record.
    pub fn hold(
        &mut self,
        hold_ns: u64,
        record: &mut HoldPhases,
        observer: Observer<'_>,
    ) -> Result<Vec<u32>, LoadError> {
        let started_at_ns = monotonic_ns();
        let until_ns = started_at_ns.saturating_add(hold_ns);
        self.tell(|| Phase::Hold { until_ns });
        let mut open = vec![0; self.shards.len()];
        for answer in self.gather_telling(observer)? {
            if let Answer::Held(held) = answer {
                open[held.shard as usize] = held.open;
                record.lost_errors.merge(&held.lost_errors);
            }
        }
        record.held_ns = monotonic_ns() - started_at_ns;
        Ok(open)
    }

    /// Sends one message on some of the connections, of which each shard has so many open, telling how many are answered.
    ///
    /// # Errors
    /// [`LoadError`] where a shard's event loop fails; what goes wrong with pings is counted in the record.
    pub fn ping(
        &mut self,
        spec: &HoldSpec,
        exchange: &ExchangeSpec,
        open: &[u32],
        record: &mut HoldPhases,
        observer: Observer<'_>,
    ) -> Result<(), LoadError> {
        self.shards.iter().for_each(|shard| shard.progress.reset());
        let all = open.iter().copied().map(u64::from).sum();
        let mut before = 0;
        for (shard, &open) in self.shards.iter().zip(open) {
            let sample = Sample {
                before,
                all,
                pings: all.min(spec.pings.into()),
            };
            before += u64::from(open);
            shard.tell(Phase::Ping(Box::new(Pings {
                protocol: exchange.protocol.clone(),
                verify: exchange.verify,
                sample,
                at_once: spec.pings_at_once,
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
        record.ping_duration_ns = last_ns - first_ns;
        record.pinged = shards.iter().map(|shard| shard.pinged).sum();
        record.not_pinged = shards.iter().map(|shard| shard.not_pinged).sum();
        record.answered = shards.iter().map(|shard| shard.answered).sum();
        record.ping_latency = Histogram::from(&merged(shards.iter().map(|shard| &shard.latency)));
        for shard in &shards {
            record.ping_errors.merge(&shard.ping_errors);
            record.lost_errors.merge(&shard.lost_errors);
        }
        Ok(())
    }

    /// One answer of each shard; while waiting, their progress is told.
    fn gather_telling(&self, observer: Observer<'_>) -> Result<Vec<Answer>, LoadError> {
        let mut teller = Teller::new();
        self.gather_watching(&mut |readings, _| teller.look(readings, observer))
    }
}
