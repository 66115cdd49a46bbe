//! Which local address each connection comes from.
//!
//! The kernel's own choice of source port turns slow once half of a destination's ports are taken: `connect()` first looks
//! at ports of one parity only (`net/ipv4/inet_hashtables.c`, `__inet_hash_connect`). So each source address is given far
//! fewer connections than that.

use std::net::{IpAddr, Ipv4Addr};

use throng_record::SourceAddresses;
use throng_sys::address::Address;

/// Connections per source address: below half of the default range's 28,232 ports, with room for those in TIME_WAIT.
const CONNECTIONS_PER_ADDRESS: u32 = 8_000;

/// The source address of each connection of a fleet, by its index.
#[derive(Clone, Debug)]
pub(crate) enum Sources {
    /// The kernel's choice.
    Kernel,
    /// 127.0.0.1 first, then consecutive addresses from 127.1.0.1 on, one for every so many connections. A small fleet thus
    /// comes from the address that servers with an access list (Redis, for one) know as local.
    Loopback,
    /// These, in turn.
    List(Vec<IpAddr>),
}

impl Sources {
    pub(crate) fn of(sources: &SourceAddresses, target: &Address) -> Self {
        match sources {
            SourceAddresses::Spread if target.is_ipv4_loopback() => Self::Loopback,
            SourceAddresses::List(addresses) if !addresses.is_empty() => {
                Self::List(addresses.clone())
            }
            SourceAddresses::Spread | SourceAddresses::Kernel | SourceAddresses::List(_) => {
                Self::Kernel
            }
        }
    }

    /// The source address of the connection with this index within the fleet.
    pub(crate) fn of_connection(&self, index: u32) -> Option<IpAddr> {
        match self {
            Self::Kernel => None,
            Self::Loopback => Some(loopback(index / CONNECTIONS_PER_ADDRESS).into()),
            Self::List(addresses) => Some(addresses[index as usize % addresses.len()]),
        }
    }
}

/// The n-th of them, leaving out the last bytes 0 and 255, which look like network and broadcast addresses.
fn loopback(n: u32) -> Ipv4Addr {
    let Some(n) = n.checked_sub(1) else {
        return Ipv4Addr::LOCALHOST;
    };
    let (block, host) = (n / 254, n % 254 + 1);
    Ipv4Addr::new(
        127,
        1 + (block / 256) as u8,
        (block % 256) as u8,
        host as u8,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_loopback_address_serves_half_of_the_ports() {
        let target: Address = "127.0.0.1:80".parse().expect("an address");
        let sources = Sources::of(&SourceAddresses::Spread, &target);
        let mut per_address = std::collections::HashMap::new();
        for index in 0..1_000_000 {
            *per_address
                .entry(sources.of_connection(index).expect("an address"))
                .or_insert(0) += 1;
        }
        assert_eq!(per_address.len(), 125);
        assert_eq!(sources.of_connection(0), Some(Ipv4Addr::LOCALHOST.into()));
        assert!(per_address.values().all(|&count| count <= 14_116));
        assert!(per_address.keys().all(IpAddr::is_loopback));
    }

    #[test]
    fn elsewhere_the_kernel_chooses() {
        for text in ["[::1]:80", "unix:/tmp/x"] {
            let target: Address = text.parse().expect("an address");
            assert_eq!(
                Sources::of(&SourceAddresses::Spread, &target).of_connection(5),
                None
            );
        }
    }
}
