//! The addresses of a host, and which of them are in one network with others.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// An address of a host, loopback left out, and the network that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// The address.
    pub ip: IpAddr,
    /// Leading bits that all addresses of its network share.
    pub prefix_bits: u8,
}

impl Interface {
    /// Those of this host; none where they cannot be listed.
    #[must_use]
    pub fn own() -> Vec<Self> {
        let found = if_addrs::get_if_addrs().unwrap_or_default();
        let elsewhere = found.into_iter().filter(|one| !one.is_loopback());
        // A link-local address of IPv6 needs the name of an interface to be reached.
        let reachable = elsewhere.filter(|one| !one.is_link_local());
        reachable
            .map(|one| Self {
                ip: one.ip(),
                prefix_bits: match one.addr {
                    if_addrs::IfAddr::V4(v4) => v4.prefixlen,
                    if_addrs::IfAddr::V6(v6) => v6.prefixlen,
                },
            })
            .collect()
    }

    /// Whether an address is in its network.
    #[must_use]
    pub fn reaches(&self, other: IpAddr) -> bool {
        let differs = match (self.ip, other) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                u128::from(own.to_bits() ^ other.to_bits()) << 96
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => own.to_bits() ^ other.to_bits(),
            _ => return false,
        };
        differs.leading_zeros() >= u32::from(self.prefix_bits)
    }
}

/// A host's addresses that are in one network with a server; none where routers lie between.
pub(crate) fn near(interfaces: &[Interface], server: IpAddr) -> Vec<IpAddr> {
    let near = interfaces.iter().filter(|one| one.reaches(server));
    near.map(|one| one.ip).collect()
}

/// Those of the named addresses that a host has; every host has those of loopback.
pub(crate) fn own_of(named: &[IpAddr], interfaces: &[Interface]) -> Vec<IpAddr> {
    let is_own =
        |address: &IpAddr| address.is_loopback() || interfaces.iter().any(|one| one.ip == *address);
    named.iter().copied().filter(is_own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_what_shares_its_leading_bits() {
        let reaches = |own: &str, prefix_bits, other: &str| {
            let ip = own.parse().expect("an address");
            Interface { ip, prefix_bits }.reaches(other.parse().expect("an address"))
        };
        assert!(reaches("192.0.2.1", 24, "192.0.2.200"));
        assert!(!reaches("192.0.2.1", 24, "192.0.3.1"));
        assert!(!reaches("192.0.2.1", 32, "192.0.2.2"));
        assert!(reaches("192.0.2.1", 32, "192.0.2.1"));
        assert!(reaches("192.0.2.1", 0, "203.0.113.9"));
        assert!(reaches("2001:db8::1", 64, "2001:db8::2"));
        assert!(!reaches("2001:db8::1", 64, "2001:db8:1::2"));
        assert!(!reaches("192.0.2.1", 0, "2001:db8::2"));
    }
}
