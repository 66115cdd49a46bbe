//! The published C10K measurement (`reference/c10k.toml`), and what of it stands beside a measured multiplexer.
//!
//! Its figures are curves in a picture, and what can be quoted are words; so words stand beside the measured costs. A multiplexer is matched
//! by the name of its target: `poll` as the program called it is `poll-published`, and nothing is published of the corrected one. What was published up to
//! 10,000 connections is beside no more of them.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use throng_record::{TargetKind, TargetRecord};

use crate::reference::{Origin, built_in};

/// All that is published of this experiment.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Where it comes from.
    pub origin: Origin,
    /// Connections in the end.
    pub connections: u32,
    /// What it says of each multiplexer.
    #[serde(rename = "result")]
    pub results: Vec<Published>,
}

/// What is published of one multiplexer, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The target that is it.
    pub target: String,
    /// Of the cost of accepting over the number of connections.
    pub accept: String,
}

/// The reference, parsed once.
#[must_use]
pub fn reference() -> &'static Reference {
    static REFERENCE: LazyLock<Reference> =
        LazyLock::new(|| built_in(include_str!("../../../../../reference/c10k.toml")));
    &REFERENCE
}

/// What is published of this target, with no more connections than were published.
#[must_use]
pub fn beside(target: &TargetRecord, connections: u32) -> Option<Published> {
    let reference = reference();
    if target.kind != TargetKind::Multiplexer || connections > reference.connections {
        return None;
    }
    let mut results = reference.results.iter();
    results.find(|result| result.target == target.name).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str) -> TargetRecord {
        TargetRecord::named(name, TargetKind::Multiplexer)
    }

    #[test]
    fn each_published_multiplexer_has_its_words_and_the_corrected_poll_has_none() {
        let words = |name: &str| beside(&target(name), 10_000).map(|found| found.accept);
        assert_eq!(
            words("poll-published").as_deref(),
            Some("rises gently with N")
        );
        for epoll in ["epoll-level", "epoll-edge"] {
            assert_eq!(words(epoll).as_deref(), Some("flat, near 0"));
        }
        assert_eq!(words("select").as_deref(), Some("left out"));
        assert_eq!(words("poll"), None);
        assert_eq!(words("io-uring"), None);
    }

    #[test]
    fn nothing_stands_beside_more_connections_or_a_server() {
        assert_eq!(beside(&target("epoll-level"), 10_001), None);
        let server = TargetRecord {
            kind: TargetKind::BuiltIn,
            ..target("epoll-level")
        };
        assert_eq!(beside(&server, 10_000), None);
    }
}
