//! One setting: everything that may differ between two trials of the same target, with nothing left open.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plan::ListenFamily;
use crate::{Backend, Closing, Sequence, SourceAddresses, Workload};

/// A point of the sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Setting {
    /// What tells it from the plan's other settings: a value for each swept key, in the order of those. Empty where the
    /// plan has only this one.
    pub swept: Vec<SweptValue>,
    /// Connections.
    pub connections: u32,
    /// What is done with them. Of a target that is a page or a multiplexer, that stands in the place of what is asked of the others.
    pub phases: Sequence,
    /// Connects in flight at once: 1 is one after another, over the whole fleet; otherwise it is per shard.
    pub connect_concurrency: u32,
    /// Connects that begin per second; absent: as fast as they go.
    pub connect_rate_per_second: Option<f64>,
    /// How the generator ends a connection, where every message has one of its own.
    pub closing: Closing,
    /// The wire behaviour asked of launched servers that keep the contract.
    pub workload: Workload,
    /// How long a server is asked to take for a request, or is said to take; absent where it is not known.
    pub service_time_ns: Option<u64>,
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
    /// Processes of a launched server that are one target together: launched, observed and ended together. 1 but where services are asked about.
    pub services: u32,
    /// Addresses that each of these processes listens on.
    pub listeners: u32,
    /// Accept queue asked of launched servers.
    pub backlog: u32,
    /// Worker threads asked of launched servers; absent: the model's own choice.
    pub workers: Option<u32>,
    /// Threads that accept, asked of launched servers; absent: the model's own choice.
    pub accept_threads: Option<u32>,
    /// Whether launched servers are to wait inline: the delay of one request then blocks an event loop.
    pub delay_inline: bool,
    /// Whether launched servers are to speak TLS.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tls: bool,
    /// Whether TLS connections resume what the server gave to earlier ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tls_resumption: bool,
    /// Whether the accept queue and the handshakes are observed, where every message has a connection of its own.
    pub observe: bool,
    /// Settings of the private network, by dotted name. They are in force wherever they stand here: where one is not, there is no trial.
    pub kernel: BTreeMap<String, String>,
}

const TIMEOUT_NS: u64 = 10_000_000_000;

/// One connection, with which nothing is done.
impl Default for Setting {
    fn default() -> Self {
        Self {
            swept: vec![],
            connections: 1,
            phases: Sequence::default(),
            connect_concurrency: 64,
            connect_rate_per_second: None,
            closing: Closing::default(),
            workload: Workload::default(),
            service_time_ns: None,
            backend: Backend::default(),
            shards: 1,
            source: SourceAddresses::default(),
            nodelay: true,
            connect_timeout_ns: TIMEOUT_NS,
            reply_timeout_ns: TIMEOUT_NS,
            ready_timeout_ns: TIMEOUT_NS,
            server_cpus: vec![],
            generator_cpus: vec![],
            listen: ListenFamily::default(),
            services: 1,
            listeners: 1,
            backlog: 4_096,
            workers: None,
            accept_threads: None,
            delay_inline: false,
            tls: false,
            tls_resumption: false,
            observe: true,
            kernel: BTreeMap::new(),
        }
    }
}

/// One value of a key that has several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SweptValue {
    /// The key, as in a plan file; a setting of `[kernel]` by its shortest name.
    pub key: String,
    /// Its value, as in a plan file.
    pub value: String,
}

/// `backlog 5`.
impl fmt::Display for SweptValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.key, self.value)
    }
}
