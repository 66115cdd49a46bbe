//! Which local address each connection comes from.
//!
//! The kernel's own choice of source port turns slow once half of a destination's ports are taken: `connect()` first looks
//! at ports of one parity only (`net/ipv4/inet_hashtables.c`, `__inet_hash_connect`). So each source address is given far
//! fewer connections than that, by the range of ports of the network that the generator is in.

use std::net::{IpAddr, Ipv4Addr};

use throng_record::SourceAddresses;
use throng_record::fleet::{CONNECTIONS_PER_SOURCE, connections_per_source};
use throng_sys::address::Address;
use throng_sys::sysctl;

/// Requests with connections of their own come from so many different pairs of address and port before an address has its turn again:
/// `TIME_WAIT` of a minute has then passed, up to 508 × 8,000 ÷ 60 s ≈ 67,000 requests a second.
const REQUESTS_OF_A_ROUND: u64 = 508 * CONNECTIONS_PER_SOURCE as u64;

/// The source address of each connection of a fleet, by its index.
#[derive(Clone, Debug)]
pub(crate) enum Sources {
    /// The kernel's choice.
    Kernel,
    /// 127.0.0.1 first, then consecutive addresses from 127.1.0.1 on, one for every so many connections. A small fleet thus
    /// comes from the address that servers with an access list (Redis, for one) know as local.
    Loopback { each: u32 },
    /// These, in turn.
    List(Vec<IpAddr>),
}

impl Sources {
    /// For the network that the calling thread is in.
    pub(crate) fn here(sources: &SourceAddresses, target: &Address) -> Self {
        let range = sysctl::read_values::<u32>("net.ipv4.ip_local_port_range");
        let ports = range.ok().and_then(|range| match range[..] {
            [first, last] => Some(last.saturating_sub(first) + 1),
            _ => None,
        });
        Self::of(sources, target, ports)
    }

    /// Where each address has so many ports.
    fn of(sources: &SourceAddresses, target: &Address, ports: Option<u32>) -> Self {
        match sources {
            SourceAddresses::Spread if target.is_ipv4_loopback() => Self::Loopback {
                each: connections_per_source(ports),
            },
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
            Self::Loopback { each } => Some(loopback(index / each).into()),
            Self::List(addresses) => Some(addresses[index as usize % addresses.len()]),
        }
    }

    /// The source address of the n-th request of a run, where each has a connection of its own: the ports of an address are used
    /// up by connections that have ended too. The first ones come from 127.0.0.1.
    pub(crate) fn of_request(&self, number: u64) -> Option<IpAddr> {
        match self {
            Self::Kernel => None,
            &Self::Loopback { each } => {
                let before = number / u64::from(each);
                let in_turn = REQUESTS_OF_A_ROUND / u64::from(each);
                let n = before.min(1 + before.saturating_sub(1) % in_turn);
                Some(loopback(n as u32).into())
            }
            Self::List(addresses) => Some(addresses[(number % addresses.len() as u64) as usize]),
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
        let sources = Sources::of(&SourceAddresses::Spread, &target, Some(28_232));
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
    fn in_no_minute_of_churn_does_an_address_use_half_of_its_ports() {
        let target: Address = "127.0.0.1:80".parse().expect("an address");
        let sources = Sources::of(&SourceAddresses::Spread, &target, Some(28_232));
        let of = |number| sources.of_request(number).expect("an address");
        assert_eq!(of(7_999), Ipv4Addr::LOCALHOST);
        assert_eq!(of(8_000), Ipv4Addr::new(127, 1, 0, 1));
        // A minute at 25,000 a second, late in a long run.
        let mut per_address = std::collections::HashMap::new();
        for number in 50_000_003..51_500_003 {
            *per_address.entry(of(number)).or_insert(0) += 1;
        }
        assert!(per_address.values().all(|&count| count <= 14_116));
        assert!(!per_address.contains_key(&IpAddr::from(Ipv4Addr::LOCALHOST)));
        let listed = SourceAddresses::List(vec![[127, 0, 0, 2].into(), [127, 0, 0, 3].into()]);
        let listed = Sources::of(&listed, &target, None);
        assert_eq!(listed.of_request(7), Some([127, 0, 0, 3].into()));
    }

    #[test]
    fn fewer_ports_are_spread_over_more_addresses() {
        let target: Address = "127.0.0.1:80".parse().expect("an address");
        let sources = Sources::of(&SourceAddresses::Spread, &target, Some(300));
        let of = |index| sources.of_connection(index).expect("an address");
        assert_eq!(of(99), Ipv4Addr::LOCALHOST);
        assert_eq!(of(100), Ipv4Addr::new(127, 1, 0, 1));
        assert_eq!(of(25_500), Ipv4Addr::new(127, 1, 1, 1));
        let later = |number| sources.of_request(number).expect("an address");
        assert_eq!(later(4_064_099), loopback(40_640), "the last of a round");
        assert_eq!(later(4_064_100), Ipv4Addr::new(127, 1, 0, 1));
    }

    #[test]
    fn elsewhere_the_kernel_chooses() {
        for text in ["[::1]:80", "unix:/tmp/x"] {
            let target: Address = text.parse().expect("an address");
            assert_eq!(
                Sources::of(&SourceAddresses::Spread, &target, Some(28_232)).of_connection(5),
                None
            );
        }
    }
}
