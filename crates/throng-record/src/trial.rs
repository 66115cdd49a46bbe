//! One trial: one target, one setting, one repeat.

use serde::{Deserialize, Serialize};

use crate::side::CounterDeltas;
use crate::{
    AcceptQueueRecord, Check, CheckResult, Finding, HandshakesRecord, HostPart, KernelMemoryRecord,
    Limit, LoadJob, Network, Phases, Probe, SeriesSample, SideRecord, Verdict,
};

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Ran to its end; the verdict says what its figures are worth.
    Completed,
    /// Could not run: what failed, the likely cause and the next command.
    Failed {
        /// In words.
        message: String,
    },
    /// Not made, since a trial before has shown what would come of it.
    Spared {
        /// What it has shown.
        because: String,
    },
    /// Ended early by the user; what was measured until then is kept and never ranked.
    Interrupted,
}

/// Everything measured in one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Trial {
    /// Index into the plan's targets.
    pub target: u32,
    /// Index into the plan's settings.
    pub setting: u32,
    /// Which repeat of this target and setting, from 0.
    pub repeat: u32,
    /// Place in the order of execution, from 0.
    pub order: u32,
    /// Made again, because this one was disturbed, or because one that the same process served was: another trial of the same target, setting and
    /// repeat counts. So it is with the probes of a search but the one at the rate that was found.
    pub is_superseded: bool,
    /// What it was in a search; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Start, since the run's start.
    pub started_at_ns: u64,
    /// Length, launch and clean-up included.
    pub duration_ns: u64,
    /// Which of the servers that this run launched, from 0 in the order of their launch: trials that share it were served by one
    /// process. Absent where none was launched.
    pub server_ordinal: Option<u32>,
    /// How it ended.
    pub outcome: Outcome,
    /// Threads, loops or processes that serve, as the launched server announced; absent where it did not.
    pub workers: Option<u32>,
    /// Whose network the trial was in; so are the kernel counters.
    pub network: Network,
    /// The fleet and the exchange, fully resolved.
    pub job: LoadJob,
    /// The phases that it came to, in their order.
    pub phases: Phases,
    /// The kernel's memory around the connections, where they are what is asked about.
    pub kernel_memory: Option<KernelMemoryRecord>,
    /// Connections that were open and that the server left in its accept queue to the end (`sock_diag(7)`), where many are opened and kept; absent
    /// where that could not be seen.
    pub unaccepted: Option<u32>,
    /// The backlog in force when the trial began, of the listener that a connection to the server would reach (`sock_diag(7)`); absent where it
    /// could not be looked up.
    pub backlog_in_force: Option<u32>,
    /// The accept queue; absent where it was not observed.
    pub accept_queue: Option<AcceptQueueRecord>,
    /// The handshakes; absent where they were not observed.
    pub handshakes: Option<HandshakesRecord>,
    /// What should have been observed and could not, each with its reason and what would let it.
    pub unseen: Vec<String>,
    /// What explains the figures.
    pub findings: Vec<Finding>,
    /// The server; absent where its process is not visible from here.
    pub server: Option<SideRecord>,
    /// The generator; of several all together, whose CPUs are those of the busiest.
    pub generator: Option<SideRecord>,
    /// The part of each host, where the load was made by several; empty otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostPart>,
    /// Samples over time, about ten a second.
    pub series: Vec<SeriesSample>,
    /// Kernel counters of the network namespace that changed during the trial.
    pub kernel_counters: CounterDeltas,
    /// The checks.
    pub checks: Vec<Check>,
    /// What the checks together say.
    pub verdict: Verdict,
    /// Which side bounded the throughput.
    pub limit: Limit,
}

impl Trial {
    /// A trial of which nothing is known yet; ended early, unless told otherwise. Of this target, setting and repeat.
    #[must_use]
    pub fn new((target, setting, repeat): (u32, u32, u32), job: LoadJob) -> Self {
        Self {
            target,
            setting,
            repeat,
            order: 0,
            is_superseded: false,
            probe: None,
            started_at_ns: 0,
            duration_ns: 0,
            server_ordinal: None,
            outcome: Outcome::Interrupted,
            workers: None,
            network: Network::default(),
            job,
            phases: Phases::default(),
            kernel_memory: None,
            unaccepted: None,
            backlog_in_force: None,
            accept_queue: None,
            handshakes: None,
            unseen: vec![],
            findings: vec![],
            server: None,
            generator: None,
            hosts: vec![],
            series: vec![],
            kernel_counters: CounterDeltas::new(),
            checks: vec![],
            verdict: Verdict::Invalid,
            limit: Limit::Unknown,
        }
    }

    /// Whether its figures stand, be it with a reservation or for a part of the connections.
    #[must_use]
    pub fn stands(&self) -> bool {
        self.outcome == Outcome::Completed && self.verdict != Verdict::Invalid
    }

    /// Whether something outside both sides took CPU time that they could have used.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.disturbance() > 0.0
    }

    /// How many times the bound of a check the worst disturbance was; 0 where there was none.
    #[must_use]
    pub fn disturbance(&self) -> f64 {
        let disturbed = self
            .checks
            .iter()
            .filter(|check| check.result == CheckResult::Disturbed);
        let times = disturbed.map(|check| match (check.measured, check.bound) {
            (Some(measured), Some(bound)) if bound > 0.0 => (measured.abs() / bound).max(1.0),
            _ => 1.0,
        });
        times.fold(0.0, f64::max)
    }
}
