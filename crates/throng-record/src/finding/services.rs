//! Evidence of findings about several services and their clients.

use serde::{Deserialize, Serialize};

/// Connects waited for room in the accept queue of a Unix socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct FullUnixQueue {
    /// Connects that found it full.
    pub connects: u64,
    /// Of how many.
    pub of: u64,
    /// Σ of their waits.
    pub waited_ns: u64,
    /// Their part of the time of all requests, 0 to 1.
    pub share: f64,
    /// The backlog that was asked of the server; absent where it takes none.
    pub backlog: Option<u32>,
}

/// Making a connection for each request took much of its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct ConnectingCosts {
    /// Requests that were answered.
    pub requests: u64,
    /// Mean time of a connect.
    pub connect_ns_mean: f64,
    /// Mean time of a request, its connect included.
    pub request_ns_mean: f64,
    /// The one ÷ the other.
    pub share: f64,
}

/// Services used CPU time while nobody asked them anything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct ScanWithoutRest {
    /// Cores that they used meanwhile.
    pub cores: f64,
    /// CPUs that they may use.
    pub cpus: u32,
    /// How long nobody asked.
    pub window_ns: u64,
    /// Services.
    pub services: u32,
    /// Connections that were kept to each of them.
    pub connections_of_service: u32,
}

/// What one of several is uneven among.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum UnevenAmong {
    /// Services, each a process of its own.
    Services,
    /// The listeners of each service; that is all of one number together.
    Listeners,
}

/// One of several services, or of their listeners, took far longer for a request than the others, or far less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct UnevenServices {
    /// Among what.
    pub among: UnevenAmong,
    /// The one that is unlike the others, by number from 1.
    pub number: u32,
    /// Of how many.
    pub of: u32,
    /// Its mean time of a request.
    pub request_ns_mean: f64,
    /// The median of these means over all.
    pub request_ns_median: f64,
    /// Its CPU time in the window; absent of a listener, and where it could not be read.
    pub cpu_ns: Option<u64>,
    /// The median of the CPU times of all services.
    pub cpu_ns_median: Option<u64>,
}
