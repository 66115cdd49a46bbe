//! One setting: everything that may differ between two trials of the same target, with nothing left open.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::plan::ListenFamily;
use crate::{
    Amount, Backend, Closing, ConnectionUse, Pacing, Protocol, SourceAddresses, Stop, Work,
};

/// A point of the sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Setting {
    /// What tells it from the plan's other settings: a value for each swept key, in the order of those. Empty where the
    /// plan has only this one.
    pub swept: Vec<SweptValue>,
    /// Connections.
    pub connections: u32,
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
    /// Whether messages share connections.
    #[serde(default)]
    pub connection: ConnectionUse,
    /// What the generator is asked to do.
    #[serde(default)]
    pub work: Work,
    /// Connects in flight at once: 1 is one after another, over the whole fleet; otherwise it is per shard.
    #[serde(default = "connect_concurrency")]
    pub connect_concurrency: u32,
    /// Connects that begin per second; absent: as fast as they go.
    #[serde(default)]
    pub connect_rate_per_second: Option<f64>,
    /// How the generator ends a connection, where every message has one of its own.
    #[serde(default)]
    pub closing: Closing,
    /// The wire behaviour asked of launched built-in servers: `echo`, `broadcast`, `oneshot` or `http`.
    #[serde(default = "echo")]
    pub workload: String,
    /// How long a server is asked to take for a request, or is said to take; absent where it is not known.
    #[serde(default)]
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
    /// Accept queue asked of launched servers.
    pub backlog: u32,
    /// Worker threads asked of launched servers; absent: the model's own choice.
    pub workers: Option<u32>,
    /// Threads that accept, asked of launched servers; absent: the model's own choice.
    #[serde(default)]
    pub accept_threads: Option<u32>,
    /// Whether launched servers are to wait inline: the delay of one request then blocks an event loop.
    #[serde(default)]
    pub delay_inline: bool,
    /// Whether the accept queue and the handshakes are observed, where every message has a connection of its own.
    #[serde(default = "yes")]
    pub observe: bool,
    /// Settings of the private network, by dotted name. They are in force wherever they stand here: where one is not, there is no trial.
    #[serde(default)]
    pub kernel: BTreeMap<String, String>,
}

/// The workload of runs made before there was a choice.
fn echo() -> String {
    "echo".to_owned()
}

/// Of every run made before there was a choice.
fn connect_concurrency() -> u32 {
    64
}

/// Before there was a choice, what could be observed was.
fn yes() -> bool {
    true
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
