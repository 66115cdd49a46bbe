//! Checks: what a trial must satisfy before its number is ranked.

use serde::{Deserialize, Serialize};

/// What was checked, in the order in which one failed check explains another: what the server did, what the generator did, what the
/// machine did, and laws that any of these breaks. A report names the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// The server lived to the end of the trial, and left in order when told to.
    ServerDied,
    /// No connection failed. Where each message has a connection of its own: none that the kernel's account does not explain.
    UnexpectedErrors,
    /// Every connection got at least one reply, or as many as the server declares to serve at once. Where each message has a connection of its
    /// own: nearly every request was answered.
    UnservedConnections,
    /// A catalogued server broke no clause of the contract when it was last checked.
    Contract,
    /// A built-in server's own count of bytes equals the generator's.
    ServerCount,
    /// The kernel's counter of retransmitted SYNs and SYN-ACKs, the generator's `TCP_INFO` and the handshakes on the wire agree to the
    /// unit.
    HandshakeAccount,
    /// Open loop: replies came at 95 % of the rate asked for, or more.
    RateKept,
    /// Generator at ≥ 98 % of its cores while the server is below 90 % of its own.
    GeneratorBound,
    /// Open loop: the generator kept its schedule.
    SchedulingError,
    /// Generators on several hosts: all measured at the same time.
    StartSkew,
    /// CPU time stolen by the hypervisor, at most 2 % of the window.
    Steal,
    /// CPU time that other programs used of the CPUs of both sides, at most 2 % of the window.
    OtherPrograms,
    /// The two halves of the measured window agree.
    Drift,
    /// Throughput × mean latency against connections × outstanding, within 5 %, in a closed loop while all are active.
    LittlesLaw,
    /// Open loop and lockstep: the number outstanding by counts over time against what the recorded latencies say.
    Outstanding,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// Satisfied.
    Passed,
    /// The figure stands with a reservation, for example "at least".
    Qualified,
    /// Figures of a part: the server serves fewer connections at once than there were ("serves k of N"), or the kernel's account explains why
    /// requests failed ("answered k of N"). Nothing is wrong with the server, and nothing to rank.
    Partial,
    /// True figures of a worse machine: something outside both sides took CPU time that they could have used. Shown and ranked with a mark.
    Disturbed,
    /// The figure must not be ranked.
    Failed,
    /// Could not be made here, or has no meaning for this pacing; the detail says why.
    NotApplicable,
}

/// One check of one trial, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Ranked.
    Valid,
    /// Ranked, marked `~`: true figures of a worse machine.
    Disturbed,
    /// Shown as "at least X" and ranked apart.
    Qualified,
    /// Shown as "serves k of N" or "answered k of N", not ranked.
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
        } else if has(CheckResult::Disturbed) {
            Self::Disturbed
        } else {
            Self::Valid
        }
    }
}

/// Which side bounded the throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Neither side was busy by its own CPU time, but one or the other could have run for 90 % of the time, and one of them waited for a tenth of it or
    /// more for CPUs that other programs used.
    OtherPrograms,
    /// The CPU time of one side was read too late: it is not that of the measured window.
    ReadLate,
    /// The server's CPU time is not visible from here.
    Unknown,
}
