//! The published echo servers (`reference/languages.toml`), and which of them stand beside a measured one.
//!
//! A server is matched by the name of its target, where it was asked what the published client asked: messages of 6 bytes on 100 connections. One
//! server of the catalogue may stand for several published versions; the latest is the one in the table.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use throng_record::{Protocol, Setting};

use crate::median;
use crate::published::{Origin, built_in};

const CONNECTIONS: u32 = 100;
const SIZE_BYTES: u32 = 6;

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
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The target that stands for it.
    pub server: String,
    /// What it is called here, with its versions.
    pub name: String,
    /// One figure for each run, one after the other with the same process: the first is that of a cold server.
    pub messages_per_second: Vec<f64>,
}

impl Published {
    /// The median over its runs.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        median::estimate(&self.messages_per_second).map(|found| found.median)
    }
}

/// The reference, parsed once.
#[must_use]
pub fn reference() -> &'static Reference {
    static REFERENCE: LazyLock<Reference> =
        LazyLock::new(|| built_in(include_str!("../../../reference/languages.toml")));
    &REFERENCE
}
