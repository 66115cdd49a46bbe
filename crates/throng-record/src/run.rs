//! A run: one plan, carried out once on one machine. `run.json` is this.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Machine, NetworkRecord, Plan, Trial};

/// The whole of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// The network of launched targets. Runs made before there was a choice were in the host's.
    #[serde(default)]
    pub network: NetworkRecord,
    /// Trials planned; fewer were made where the run was cut short.
    pub trials_planned: u32,
    /// The trials, in the order in which they were made.
    pub trials: Vec<Trial>,
    /// Ended early by the user.
    pub interrupted: bool,
}
