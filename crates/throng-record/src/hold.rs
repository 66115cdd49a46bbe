//! Holding: connections are opened, held and pinged; and the memory that they take in the kernel.

use serde::{Deserialize, Serialize};

use crate::{ErrorCounts, Histogram};

/// Connections that are opened and held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HoldSpec {
    /// How long all are held before any is pinged.
    pub hold_ns: u64,
    /// Connections that are pinged, spread evenly over all, one message each.
    pub pings: u32,
    /// Pings under way at once, per shard.
    pub pings_at_once: u32,
}

/// What holding measured, as far as it came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HoldPhases {
    /// How long all were held before the pings.
    pub held_ns: u64,
    /// Connections that ended while nothing was sent.
    pub lost_errors: ErrorCounts,
    /// Connections that were pinged.
    pub pinged: u32,
    /// Of these, answered in full and rightly.
    pub answered: u32,
    /// Connections that were to be pinged and were not: as many pings as go on at once, four at least, had timed out one after another in a
    /// thread of the generator, with no answer between them.
    #[serde(default)]
    pub not_pinged: u32,
    /// From the first ping to the last answer.
    pub ping_duration_ns: u64,
    /// From each ping to its answer's last byte.
    pub ping_latency: Histogram,
    /// What went wrong with pings, by kind.
    pub ping_errors: ErrorCounts,
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
