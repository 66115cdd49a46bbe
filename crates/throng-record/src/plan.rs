//! A plan with nothing left open: what a plan file and the flags together resolved to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Amount, Backend, Network, Pacing, Protocol, SourceAddresses, Stop, TargetRecord};

/// Which question a plan asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// How many messages a second, at what latency?
    Echo,
}

/// A resolved plan: targets × connections × repeats are its trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Short name, part of the run's folder.
    pub name: String,
    /// What the plan shows, in one sentence.
    pub title: String,
    /// The question.
    pub experiment: Experiment,
    /// The servers, in the order of the report.
    pub targets: Vec<TargetRecord>,
    /// Index of the target that the others are compared with.
    pub baseline: u32,
    /// Numbers of connections, ascending; each is measured on each target.
    pub connections: Vec<u32>,
    /// Repeats of each target and number of connections.
    pub repeats: u32,
    /// Whether this is the shortened form.
    pub quick: bool,
    /// Seed of the order of trials, of the payloads and of the arrivals.
    pub seed: u64,
    /// What is exchanged.
    pub protocol: Protocol,
    /// Whether returned bytes are compared.
    pub verify: bool,
    /// When messages are sent.
    pub pacing: Pacing,
    /// Before the measurement.
    pub warmup: Amount,
    /// End of the measurement.
    pub stop: Stop,
    /// Back end of the generator.
    pub backend: Backend,
    /// Threads of the generator.
    pub shards: u32,
    /// Local addresses.
    pub source: SourceAddresses,
    /// Whether `TCP_NODELAY` is set by the generator.
    pub nodelay: bool,
    /// How long one connect may take.
    pub connect_timeout_ns: u64,
    /// How long one reply may take.
    pub reply_timeout_ns: u64,
    /// How long a launched server may take to listen.
    pub ready_timeout_ns: u64,
    /// CPUs of launched servers; empty: any.
    pub server_cpus: Vec<u32>,
    /// CPUs of the generator; empty: any.
    pub generator_cpus: Vec<u32>,
    /// Where launched servers listen.
    pub listen: ListenFamily,
    /// Accept queue asked of launched servers.
    pub backlog: u32,
    /// The network asked for launched servers and the generator; `run.network` says what was used.
    #[serde(default)]
    pub net: Network,
    /// Settings of the private network, by dotted name.
    #[serde(default)]
    pub kernel: BTreeMap<String, String>,
    /// Worker threads asked of launched servers; absent: the model's own choice.
    pub workers: Option<u32>,
}

/// The address family that launched servers listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListenFamily {
    /// 127.0.0.1.
    Ipv4,
    /// `[::1]`.
    Ipv6,
    /// A Unix stream socket.
    Unix,
}
