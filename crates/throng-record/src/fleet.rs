//! The fleet: how many connections, to where, from which addresses, over which shards and back end.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{Setting, TlsSpec};

/// The kernel interface by which the generator moves bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// Edge-triggered epoll and non-blocking sockets: everywhere.
    #[default]
    Epoll,
    /// `io_uring` with multishot receive, provided buffers and skipped send completions: Linux 6.1 and later.
    IoUring,
}

impl Backend {
    /// The name used by flags, plans and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Epoll => "epoll",
            Self::IoUring => "io-uring",
        }
    }
}

/// The most connections that come from one address where they are spread: below half of the default range's 28,232 ports, with room for those
/// in TIME_WAIT.
pub const CONNECTIONS_PER_SOURCE: u32 = 8_000;

/// Connections that come from one address where they are spread and there are so many ports (`net.ipv4.ip_local_port_range`; `None`: not known, and
/// taken as the default): a third of them, 8,000 at most and 1 at least. Of more than half the kernel's search turns slow.
#[must_use]
pub fn connections_per_source(ports: Option<u32>) -> u32 {
    let third = ports.map_or(u32::MAX, |ports| ports / 3);
    third.clamp(1, CONNECTIONS_PER_SOURCE)
}

/// Which local addresses the connections of a fleet come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SourceAddresses {
    /// Spread over 127.0.0.0/8 where the target is on IPv4 loopback, the kernel's choice elsewhere. Keeps each address
    /// far below half of the ephemeral ports, where the kernel's search for a port turns slow.
    #[default]
    Spread,
    /// The kernel's own choice: one address, and its ports.
    Kernel,
    /// Spread over exactly these addresses.
    List(Vec<IpAddr>),
}

/// How the generator ends a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Closing {
    /// By a FIN. Whoever sends the first one keeps the port for a minute (`TIME_WAIT`): the generator, where the server does not close first.
    #[default]
    Fin,
    /// By a RST (`SO_LINGER` of no length), which leaves nothing behind.
    Reset,
}

impl Closing {
    /// The name used by flags, plans and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fin => "fin",
            Self::Reset => "reset",
        }
    }
}

/// N connections spread over shards; each shard is one thread with its own event loop and descriptor table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FleetSpec {
    /// Where to connect: `tcp://HOST:PORT` with a numeric host, or `unix:PATH`. At least one; where there are several, connection `i` goes to the
    /// one at `i` modulo their number.
    pub addresses: Vec<String>,
    /// Index of its first connection, where it is a part of a fleet over several generators: its connections are named, and go to addresses, as
    /// those of the whole do.
    #[serde(default, skip_serializing_if = "is_first")]
    pub first_connection: u32,
    /// Connections in all, at least 1.
    pub connections: u32,
    /// The most connections that the server serves at the same time; absent where its design sets no bound. Where there are more, those
    /// that never had a reply are not waited for at the end of an exchange.
    pub serves_at_once: Option<u32>,
    /// Threads of the generator, at least 1 and at most `connections`.
    pub shards: u32,
    /// How bytes are moved.
    pub backend: Backend,
    /// Local addresses of the connections.
    pub source: SourceAddresses,
    /// CPUs the generator is pinned to; empty: wherever the kernel puts it.
    pub cpus: Vec<u32>,
    /// Whether `TCP_NODELAY` is set on each connection.
    pub nodelay: bool,
    /// Connects in flight at once: over the whole fleet where it is 1 (each begins when the one before it has ended), per shard otherwise.
    pub connect_concurrency: u32,
    /// Connects that begin per second, over the whole fleet; absent: as fast as they go.
    pub connect_rate_per_second: Option<f64>,
    /// How the generator ends its connections, where every message has one of its own; kept ones end by a FIN, and a failed one
    /// always by a RST.
    pub closing: Closing,
    /// Seeds payloads and arrivals.
    pub seed: u64,
    /// How long one connect may take.
    pub connect_timeout_ns: u64,
    /// How long one reply may take.
    pub reply_timeout_ns: u64,
    /// Absent: what is sent and received is plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsSpec>,
}

/// One connection, to no address yet.
impl Default for FleetSpec {
    fn default() -> Self {
        Self::from(&Setting::default())
    }
}

/// As the setting asks for it, to no address yet.
impl From<&Setting> for FleetSpec {
    fn from(setting: &Setting) -> Self {
        Self {
            addresses: vec![],
            first_connection: 0,
            connections: setting.connections,
            serves_at_once: None,
            shards: setting.shards,
            backend: setting.backend,
            source: setting.source.clone(),
            cpus: setting.generator_cpus.clone(),
            nodelay: setting.nodelay,
            connect_concurrency: setting.connect_concurrency,
            connect_rate_per_second: setting.connect_rate_per_second,
            closing: setting.closing,
            seed: 0,
            connect_timeout_ns: setting.connect_timeout_ns,
            reply_timeout_ns: setting.reply_timeout_ns,
            tls: None,
        }
    }
}

/// Most fleets are whole.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's interface")]
fn is_first(connection: &u32) -> bool {
    *connection == 0
}

impl FleetSpec {
    /// The address, or the first of several with their number: for words.
    #[must_use]
    pub fn address_in_words(&self) -> String {
        match &self.addresses[..] {
            [] => "nowhere".to_owned(),
            [one] => one.clone(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_fewer_connections_than_half_of_its_ports() {
        for (ports, expected) in [
            (None, 8_000),
            (Some(28_232), 8_000),
            (Some(64_512), 8_000),
            (Some(3_000), 1_000),
            (Some(200), 66),
            (Some(1), 1),
        ] {
            assert_eq!(connections_per_source(ports), expected, "{ports:?}");
        }
    }
}
