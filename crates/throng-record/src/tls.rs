//! TLS: what a fleet asks of it, and what its handshakes were.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ErrorCounts, Histogram};

/// TLS on every connection of a fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TlsSpec {
    /// Whom the certificate is to name: a host, which is also sent (SNI), or an IP address, which is not (RFC 6066, 3).
    pub server_name: String,
    /// What makes a certificate good.
    pub trust: Trust,
    /// Whether connections resume what the server gave to earlier ones of the same thread.
    pub resumption: bool,
}

/// Which certificates are good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Those of the authorities that the generator's system trusts.
    System,
    /// Those that these authorities have signed, and these themselves.
    Authorities {
        /// Certificates in PEM.
        pem: String,
    },
    /// Each, whoever has signed it and whatever it says.
    Anything,
}

/// How a server that already runs is reached by TLS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TlsTarget {
    /// As [`TlsSpec::server_name`].
    pub server_name: String,
    /// As [`TlsSpec::trust`].
    pub trust: Trust,
}

/// TLS handshakes on the open connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TlsPhase {
    /// Handshakes.
    pub handshakes: Handshakes,
    /// From the first hello to the end of the last handshake, whether that completed or failed.
    pub duration_ns: u64,
    /// Handshakes that failed, and connections that did not stay open to the end of the phase.
    pub errors: ErrorCounts,
}

/// TLS handshakes that completed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Handshakes {
    /// How many.
    pub completed: u64,
    /// Of these, those that resumed an earlier session: without a certificate and its signature.
    pub resumed: u64,
    /// From our hello to the moment from which messages could be sent.
    pub latency: Histogram,
    /// How many came to each protocol version and cipher suite, such as `TLSv1.3 TLS13_AES_128_GCM_SHA256`.
    pub agreed: BTreeMap<String, u64>,
}
