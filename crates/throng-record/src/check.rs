//! Checks: what a trial must satisfy before its number is ranked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was checked.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// Throughput × mean latency against connections × outstanding, within 5 %, in a closed loop while all are active.
    LittlesLaw,
    /// Open loop and lockstep: sampled number outstanding against throughput × mean time from send to reply.
    OutstandingSampled,
    /// Generator at ≥ 98 % of its cores while the server is below 90 % of its own.
    GeneratorBound,
    /// Open loop: the generator kept its schedule.
    SchedulingError,
    /// CPU time stolen by the hypervisor, at most 2 % of the window.
    Steal,
    /// Every connection got at least one reply, or as many as the server declares to serve at once.
    UnservedConnections,
    /// The two halves of the measured window agree.
    Drift,
    /// No connection failed.
    UnexpectedErrors,
    /// The kernel's counter of retransmitted SYNs and SYN-ACKs, the generator's `TCP_INFO` and the handshakes on the wire agree to the
    /// unit.
    HandshakeAccount,
    /// A built-in server's own count of bytes equals the generator's.
    ServerCount,
    /// The server lived to the end of the trial, and left in order when told to.
    ServerDied,
    /// A catalogued server broke no clause of the contract when it was last checked.
    Contract,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// Satisfied.
    Passed,
    /// The figure stands with a reservation, for example "at least".
    Qualified,
    /// The server serves fewer connections at once than there were, by its design: "serves k of N", nothing wrong and
    /// nothing to rank.
    Partial,
    /// The figure must not be ranked.
    Failed,
    /// Could not be made here, or has no meaning for this pacing; the detail says why.
    NotApplicable,
}

/// One check of one trial, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What was checked.
    pub kind: CheckKind,
    /// How it came out.
    pub result: CheckResult,
    /// The figure compared, in the unit that `detail` names.
    pub measured: Option<f64>,
    /// The bound it was compared with.
    pub bound: Option<f64>,
    /// The evidence in one sentence; for a failure also the cause and the remedy.
    pub detail: String,
}

/// What the checks together say of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Ranked.
    Valid,
    /// Shown as "at least X" and ranked apart.
    Qualified,
    /// Shown as "serves k of N", not ranked.
    Partial,
    /// Shown as invalid, never ranked.
    Invalid,
}

impl Verdict {
    /// The worst result decides.
    #[must_use]
    pub fn of(checks: &[Check]) -> Self {
        let has = |result| checks.iter().any(|check| check.result == result);
        if has(CheckResult::Failed) {
            Self::Invalid
        } else if has(CheckResult::Partial) {
            Self::Partial
        } else if has(CheckResult::Qualified) {
            Self::Qualified
        } else {
            Self::Valid
        }
    }
}

/// Which side bounded the throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The server was at ≥ 90 % of its cores and the generator was not.
    Server,
    /// The generator was at ≥ 98 % of its cores and the server was below 90 %.
    Generator,
    /// Both were at their cores' limit: well matched.
    Both,
    /// The open loop's rate.
    Rate,
    /// Neither side was busy: waiting (delays, wake-ups, the network) bounded it.
    Waiting,
    /// The server's CPU time is not visible from here.
    Unknown,
}
