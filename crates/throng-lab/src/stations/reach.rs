//! Where a launched server listens so that all stations reach it.

use std::net::{IpAddr, Ipv4Addr};

use super::StationsError;
use crate::plan::{GeneratorHost, Interface};

/// Of the lab's own addresses the first that is in one network with each host, IPv4 before IPv6; the only one, where it has one alone and routers
/// may lie between; loopback where all are processes of one host.
pub(super) fn listening(
    own: &[Interface],
    hosts: &[GeneratorHost],
) -> Result<IpAddr, StationsError> {
    if hosts.iter().all(|host| host.interfaces == own) {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    // One that two hosts have (of a bridge for containers) leads each of them to itself.
    let is_reached_by = |address: IpAddr, host: &GeneratorHost| {
        let mut theirs = host.interfaces.iter();
        host.interfaces == own
            || theirs.clone().all(|one| one.ip != address) && theirs.any(|one| one.reaches(address))
    };
    let (four, six): (Vec<IpAddr>, Vec<IpAddr>) = own
        .iter()
        .map(|one| one.ip)
        .partition(|address| address.is_ipv4());
    let common = four.iter().chain(&six).find(|address| {
        let mut hosts = hosts.iter();
        hosts.all(|host| is_reached_by(**address, host))
    });
    match (common, &four[..]) {
        (Some(address), _) | (None, [address]) => Ok(*address),
        _ => Err(StationsError::NoCommonNetwork {
            own: own
                .iter()
                .map(|one| one.ip.to_string())
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interfaces(texts: &[&str]) -> Vec<Interface> {
        let one = |text: &&str| {
            let (ip, bits) = text.split_once('/').expect("an address and its prefix");
            Interface {
                ip: ip.parse().expect("an address"),
                prefix_bits: bits.parse().expect("a number"),
            }
        };
        texts.iter().map(one).collect()
    }

    fn chosen(own: &[&str], hosts: &[&[&str]]) -> Option<String> {
        let hosts = hosts.iter().map(|texts| GeneratorHost {
            interfaces: interfaces(texts),
            ..GeneratorHost::default()
        });
        let hosts: Vec<_> = hosts.collect();
        let address = listening(&interfaces(own), &hosts).ok()?;
        Some(address.to_string())
    }

    #[test]
    fn the_server_listens_in_the_network_that_all_share() {
        let lab = ["198.51.100.1/24", "192.0.2.1/24", "2001:db8::1/64"];
        let [one, other] = [["192.0.2.2/24"], ["192.0.2.3/24"]];
        let both = [&one[..], &other[..]];
        assert_eq!(chosen(&lab, &both).as_deref(), Some("192.0.2.1"));
        let six = [&["2001:db8::2/64"][..]];
        assert_eq!(chosen(&lab, &six).as_deref(), Some("2001:db8::1"));
    }

    #[test]
    fn an_address_that_each_host_has_is_nobodys() {
        let lab = ["172.17.0.1/16", "192.0.2.1/24"];
        let host = [&["172.17.0.1/16", "192.0.2.2/24"][..]];
        assert_eq!(chosen(&lab, &host).as_deref(), Some("192.0.2.1"));
        let beside = [&lab[..], host[0]];
        assert_eq!(chosen(&lab, &beside).as_deref(), Some("192.0.2.1"));
    }

    #[test]
    fn behind_a_router_the_only_address_is_the_one() {
        let far = [&["203.0.113.7/24"][..]];
        assert_eq!(
            chosen(&["192.0.2.1/24"], &far).as_deref(),
            Some("192.0.2.1")
        );
        assert_eq!(chosen(&["192.0.2.1/24", "198.51.100.1/24"], &far), None);
        assert_eq!(chosen(&[], &far), None);
    }

    #[test]
    fn processes_of_one_host_meet_on_loopback() {
        let host = ["192.0.2.1/24"];
        let same = [&host[..], &host[..]];
        assert_eq!(chosen(&host, &same).as_deref(), Some("127.0.0.1"));
        assert_eq!(chosen(&[], &[&[]]).as_deref(), Some("127.0.0.1"));
    }
}
