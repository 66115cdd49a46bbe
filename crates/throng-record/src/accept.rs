//! The C10K measurement: one process is client and server, and times its multiplexer while connections that do nothing pile up.

use serde::{Deserialize, Serialize};

/// A multiplexer under a growing number of idle connections (the C10K measurement).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AcceptSpec {
    /// What waits.
    pub multiplexer: Multiplexer,
    /// For `poll`: as published, every call is given room for all connections there will ever be, the unused entries naming
    /// descriptor 0.
    pub published: bool,
    /// Connections in the end.
    pub connections: u32,
}

/// A way to wait for any of many descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Multiplexer {
    /// `select(2)`.
    Select,
    /// `poll(2)`.
    Poll,
    /// `epoll(7)`, level-triggered.
    EpollLevel,
    /// `epoll(7)`, edge-triggered.
    EpollEdge,
    /// `io_uring(7)`: accepts and receives as completions.
    IoUring,
}

impl Multiplexer {
    /// Every multiplexer.
    pub const ALL: [Self; 5] = [
        Self::Select,
        Self::Poll,
        Self::EpollLevel,
        Self::EpollEdge,
        Self::IoUring,
    ];

    /// The word for it, that of the built-in model which waits so.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Poll => "poll",
            Self::EpollLevel => "epoll-level",
            Self::EpollEdge => "epoll-edge",
            Self::IoUring => "io-uring",
        }
    }
}

/// What a multiplexer's wait costs while idle connections pile up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AcceptPhase {
    /// Connections that were accepted in the end.
    pub accepted: u32,
    /// Why there are no more, where fewer were accepted than asked for.
    pub stopped_by: Option<String>,
    /// From the wait's call to the accepted descriptor, one connection being ready and the others idle.
    pub accept: IdleCost,
    /// From the wait's call to the end of the read, one connection having a byte and the others being idle.
    pub data: IdleCost,
}

/// Cost over the number of idle connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IdleCost {
    /// Neighbouring measurements together, at most 250 slices.
    pub slices: Vec<IdleSlice>,
    /// The line through the slices' medians; absent with fewer than ten slices.
    pub slope: Option<Slope>,
}

/// Measurements at nearly the same number of idle connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IdleSlice {
    /// Idle connections at the middle of the slice.
    pub idle: u32,
    /// Measurements.
    pub samples: u32,
    /// The smallest.
    pub cost_ns_min: u64,
    /// The median.
    pub cost_ns_median: u64,
    /// The greatest.
    pub cost_ns_max: u64,
}

/// A line fitted by the median of the slopes through all pairs of points (Theil 1950), its 95 % interval by Sen (1968), "Estimates of the
/// regression coefficient based on Kendall's tau".
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Slope {
    /// Nanoseconds that each idle connection adds.
    pub ns_per_connection: f64,
    /// Lower end of the interval.
    pub ns_per_connection_low: f64,
    /// Upper end.
    pub ns_per_connection_high: f64,
    /// At no idle connection.
    pub intercept_ns: f64,
}
