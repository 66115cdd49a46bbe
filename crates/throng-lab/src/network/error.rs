//! Why a run cannot have the network that its plan asks for.

use serde::{Deserialize, Serialize};

/// A plan's `[kernel]` table that cannot be had here. Nothing has been measured or stored.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// One of its settings.
    #[error(transparent)]
    Kernel(#[from] Refusal),
    /// There is no private network, and the host's settings are never changed.
    #[error(
        "`[kernel]` needs a private network, since the host's settings are never changed, and there is none here: {0}; leave [kernel] out, or see what throng doctor says of network namespaces"
    )]
    Refused(String),
}

/// A setting that cannot be had in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// A namespace does not have it.
    #[error(
        "`[kernel]` {name}: it is the whole machine's, and a private network has none of its own; leave it out, or set it for the machine by sudo sysctl -w {name}='{value}'"
    )]
    Absent {
        /// The setting.
        name: String,
        /// What was asked for.
        value: String,
    },
    /// A namespace only shows it.
    #[error(
        "`[kernel]` {name}: it is the whole machine's or the kernel's own, and can only be read in a private network; leave it out"
    )]
    ReadOnly {
        /// The setting.
        name: String,
    },
    /// The kernel does not take the value.
    #[error(
        "`[kernel]` {name}: the kernel does not take `{value}` ({reason}); give a value such as the present one, `{current}`"
    )]
    Value {
        /// The setting.
        name: String,
        /// What was asked for.
        value: String,
        /// What the kernel answered, or made of it.
        reason: String,
        /// What it is without the plan.
        current: String,
    },
    /// The kernel let the write through to the machine.
    #[error(
        "`[kernel]` {name}: this kernel shares it between a private network and the host, whose value has been put back; leave it out"
    )]
    Shared {
        /// The setting.
        name: String,
    },
    /// And it could not be undone.
    #[error(
        "`[kernel]` {name}: this kernel shares it between a private network and the host, and the host's could not be put back ({problem}); run sudo sysctl -w {name}='{before}', and leave it out"
    )]
    NotPutBack {
        /// The setting.
        name: String,
        /// The host's value before.
        before: String,
        /// Why.
        problem: String,
    },
}
