//! A run: one plan, carried out once on one machine. `run.json` is this.

use serde::{Deserialize, Serialize};

use crate::{Host, Machine, NetworkRecord, Plan, SearchRecord, Trial};

/// The whole of `run.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunRecord {
    /// [`crate::SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// Version of the program that wrote it.
    pub throng_version: String,
    /// Start, RFC 3339 in UTC.
    pub started_at: String,
    /// Length so far.
    pub duration_ns: u64,
    /// The resolved plan.
    pub plan: Plan,
    /// The machine.
    pub machine: Machine,
    /// The hosts that generated the load; empty where it was made on the machine itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Host>,
    /// The network of launched targets. Runs made before there was a choice were in the host's.
    pub network: NetworkRecord,
    /// Trials planned; fewer were made where the run was cut short.
    pub trials_planned: u32,
    /// The trials, in the order in which they were made. Disturbed ones were made again at the end, as long as there was patience for it.
    pub trials: Vec<Trial>,
    /// Where rates were searched for: the search at each target and setting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<SearchRecord>,
    /// Ended early by the user, or by something that left no time to say so, or not ended yet.
    pub interrupted: bool,
}

impl RunRecord {
    /// The trials that count: of those that were made again one for each repeat.
    pub fn counted(&self) -> impl Iterator<Item = &Trial> + Clone {
        self.trials.iter().filter(|trial| !trial.is_superseded)
    }
}
