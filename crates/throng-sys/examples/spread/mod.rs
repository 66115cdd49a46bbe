//! Source addresses of the floors that open many connections: as the generator spreads them, far below half of an address's ports.

use std::net::{IpAddr, Ipv4Addr};

/// Connections from one address: as many as the generator takes (`CONNECTIONS_PER_SOURCE` of throng-record).
const EACH: u64 = 8_000;

/// The address of the n-th connection.
pub(crate) fn source(n: u64) -> Option<IpAddr> {
    let address = n / EACH;
    let (block, host) = ((address / 254) as u8, (address % 254 + 1) as u8);
    Some(Ipv4Addr::new(127, 1, block, host).into())
}
