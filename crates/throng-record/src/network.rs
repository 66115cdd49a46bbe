//! The network in which launched servers and the generator were.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Whose network it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// A network namespace of the trial's own: its counters, its ports, its settings.
    Private,
    /// That of the host, shared with everything else that runs there.
    #[default]
    Host,
}

impl Network {
    /// As it is written in plans and flags.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Host => "host",
        }
    }
}

/// The network of a run's launched targets, and how it came out. Targets that already run are always in the host's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NetworkRecord {
    /// What was used.
    pub used: Network,
    /// Why the host's was used although the plan asks for a private one; absent otherwise.
    pub fallback: Option<String>,
    /// Whether the private network took a user namespace: the way without root.
    pub user_namespace: bool,
    /// Settings of the host that a new namespace does not have by itself, and that were copied into it, by dotted name.
    pub copied: BTreeMap<String, String>,
    /// Settings that could not be copied, by dotted name, with the reason: there the private network differs from the host's.
    pub not_copied: BTreeMap<String, String>,
}
