//! Holding: connections are opened, held and pinged; and the memory that they take in the kernel.

use serde::{Deserialize, Serialize};

use crate::{ErrorCounts, Histogram};

/// Holding the open connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HoldPhase {
    /// How long.
    pub duration_ns: u64,
    /// Connections that ended while nothing was sent.
    pub errors: ErrorCounts,
}

/// Pinging a sample of the open connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PingPhase {
    /// Connections that were pinged.
    pub pinged: u32,
    /// Of these, answered in full and rightly.
    pub answered: u32,
    /// Connections that were to be pinged and were not: as many pings as go on at once, four at least, had timed out one after another in a
    /// thread of the generator, with no answer between them.
    pub not_pinged: u32,
    /// From the first ping to the last answer.
    pub duration_ns: u64,
    /// From each ping to its answer's last byte.
    pub latency: Histogram,
    /// What went wrong with pings, by kind.
    pub errors: ErrorCounts,
    /// Connections that ended before they were pinged.
    pub lost_errors: ErrorCounts,
}

/// Memory of the kernel, machine-wide: what else happens on the machine is in it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KernelMemorySample {
    /// `Slab` of `/proc/meminfo`: sockets, descriptors' files, epoll entries.
    pub slab_bytes: u64,
    /// `KernelStack`: of threads.
    pub kernel_stack_bytes: u64,
    /// `PageTables`.
    pub page_tables_bytes: u64,
    /// `Percpu`.
    pub percpu_bytes: u64,
    /// Buffers of TCP sockets (`mem` of `/proc/net/sockstat`, in bytes), which network namespaces share.
    pub socket_buffers_bytes: u64,
    /// `MemAvailable`.
    pub available_bytes: u64,
}

/// The same around the connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KernelMemoryRecord {
    /// Before the first connect.
    pub before: KernelMemorySample,
    /// With every connection open and idle.
    pub connected: KernelMemorySample,
    /// After the close, both sides having ended.
    pub after: Option<KernelMemorySample>,
    /// Growth of slab, page tables, per-CPU memory and socket buffers from before to connected ÷ connections. Both ends' share where both are on
    /// this machine.
    pub bytes_per_connection: f64,
    /// The kinds of slab that grew most from before to connected, in bytes, greatest first; empty without root.
    pub slabs: Vec<SlabGrowth>,
}

/// Growth of one kind of kernel object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SlabGrowth {
    /// Its name in `/proc/slabinfo`.
    pub name: String,
    /// Bytes more.
    pub grown_bytes: u64,
}
