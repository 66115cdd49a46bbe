//! What a generator process is asked to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AcceptSpec;

/// The kinds of work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "work", rename_all = "kebab-case")]
pub enum Work {
    /// Messages are exchanged with a server, as the job's fleet and exchange say.
    #[default]
    Exchange,
    /// No server and no fleet: a multiplexer is timed in the generator's own process.
    Accept(AcceptSpec),
}
