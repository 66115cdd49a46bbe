//! The published echo servers (`reference/languages.toml`), and which of them stand beside a measured one.
//!
//! A server is matched by the name of its target, where it was asked what the published client asked: messages of 6 bytes on 100 connections,
//! in groups of two that wait for each other. One server of the catalogue may stand for several published versions; the latest is the one in the table.
//! The first published run, of a cold server, stands beside a measurement without a warm-up, and the median of the later ones beside one with.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use throng_record::{Pacing, Protocol, Setting};

use crate::median;
use crate::reference::{Origin, built_in};

const CONNECTIONS: u32 = 100;
const SIZE_BYTES: u32 = 6;
const GROUP: u32 = 2;

/// All that is published of this experiment.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Where it comes from.
    pub origin: Origin,
    /// The servers, in the order of the source.
    #[serde(rename = "result")]
    pub results: Vec<Published>,
}

/// One published server.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The target that stands for it.
    pub server: String,
    /// What it is called here, with its versions.
    pub name: String,
    /// One figure for each run, one after the other with the same process: the first is that of a cold server.
    pub messages_per_second: Vec<f64>,
}

/// The published figure beside a measured one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PublishedRate {
    /// Which server.
    #[serde(flatten)]
    pub published: &'static Published,
    /// The figure: of the cold server, or the median of the warm one's.
    pub published_messages_per_second: f64,
}

/// What is published of this target, asked the same.
#[must_use]
pub fn beside(target: &str, setting: &Setting) -> Option<PublishedRate> {
    if !is_as_published(setting) {
        return None;
    }
    let mut of_target = reference().results.iter().rev();
    let published = of_target.find(|one| one.server == target)?;
    let runs = &published.messages_per_second;
    let figure = match setting.phases.exchange()?.warmup.is_nothing() {
        true => runs.first().copied(),
        false => median::estimate(runs.get(1..)?).map(|found| found.median),
    };
    Some(PublishedRate {
        published,
        published_messages_per_second: figure?,
    })
}

fn is_as_published(setting: &Setting) -> bool {
    let size_bytes = SIZE_BYTES;
    setting.connections == CONNECTIONS
        && setting.phases.exchange().is_some_and(|asked| {
            asked.protocol == Protocol::Echo { size_bytes }
                && asked.pacing == Pacing::Lockstep { group: GROUP }
        })
}

/// The reference, parsed once.
#[must_use]
pub fn reference() -> &'static Reference {
    static REFERENCE: LazyLock<Reference> =
        LazyLock::new(|| built_in(include_str!("../../../../../reference/languages.toml")));
    &REFERENCE
}
