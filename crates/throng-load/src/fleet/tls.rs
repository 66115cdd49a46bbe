//! TLS handshakes: what every shard does, and the record of them all.

use throng_record::{Handshakes, Histogram, TlsPhase};

use super::merge::merged;
use super::{Fleet, Observer};
use crate::error::LoadError;
use crate::shard::{Answer, Phase, ShardHandshakes};

impl Fleet {
    /// Makes the handshake of every open connection, telling how many are done. Shards take turns as when they connect.
    pub(super) fn secure(&mut self, observer: Observer<'_>) -> Result<TlsPhase, LoadError> {
        let answers = self.in_turns(self.connecting(), || Phase::Tls, observer)?;
        let shards: Vec<_> = answers
            .into_iter()
            .filter_map(|answer| match answer {
                Answer::Secured(secured) => Some(*secured),
                _ => None,
            })
            .collect();
        let spans = || shards.iter().filter_map(|shard| shard.span_ns);
        let first_ns = spans().map(|span| span.0).min().unwrap_or(0);
        let last_ns = spans().map(|span| span.1).max().unwrap_or(0);
        let mut phase = TlsPhase {
            handshakes: handshakes(shards.iter().map(|shard| &shard.handshakes)),
            duration_ns: last_ns - first_ns,
            ..TlsPhase::default()
        };
        for shard in &shards {
            phase.errors.merge(&shard.errors);
        }
        Ok(phase)
    }
}

pub(super) fn handshakes<'a>(
    shards: impl Iterator<Item = &'a ShardHandshakes> + Clone,
) -> Handshakes {
    let mut all = Handshakes {
        completed: shards.clone().map(|shard| shard.completed).sum(),
        resumed: shards.clone().map(|shard| shard.resumed).sum(),
        latency: Histogram::from(&merged(shards.clone().map(|shard| &shard.latency))),
        ..Handshakes::default()
    };
    for &(version, suite, number) in shards.flat_map(|shard| &shard.agreed) {
        let agreed = format!("{} {}", version_in_words(version), suite_in_words(suite));
        *all.agreed.entry(agreed).or_default() += number;
    }
    all
}

/// `TLS 1.3`.
fn version_in_words(version: impl std::fmt::Debug) -> String {
    format!("{version:?}").replacen("TLSv1_", "TLS 1.", 1)
}

/// As the register of IANA has it: `TLS_AES_128_GCM_SHA256`.
fn suite_in_words(suite: impl std::fmt::Debug) -> String {
    format!("{suite:?}").replacen("TLS13_", "TLS_", 1)
}
