//! Which of a host's addresses its connections come from.

use throng_record::fleet::CONNECTIONS_PER_SOURCE;
use throng_record::{FleetSpec, SourceAddresses};
use throng_sys::address::Address;

use crate::plan::{Interface, near, own_of};

/// Fits a fleet's sources to this host. Of those that are named it has its own. Where they are to be spread, connections that are too many for the ports of
/// one address come from all that it has in the server's network, which somebody must have put there.
///
/// # Errors
/// Says so where none of those that are named is this host's.
pub(super) fn fit(fleet: &mut FleetSpec, interfaces: &[Interface]) -> Result<(), String> {
    let server = fleet.addresses.first().and_then(|text| text.parse().ok());
    let Some(Address::Tcp(server)) = server else {
        return Ok(());
    };
    match &fleet.source {
        SourceAddresses::List(named) => {
            let own = own_of(named, interfaces);
            if own.is_empty() {
                return Err(format!(
                    "it has none of the source addresses that are named; add one to its interface (ip address add ADDRESS/{} dev …), or name one that it has",
                    interfaces.first().map_or(24, |one| one.prefix_bits)
                ));
            }
            fleet.source = SourceAddresses::List(own);
        }
        SourceAddresses::Spread if fleet.connections > CONNECTIONS_PER_SOURCE => {
            let near = near(interfaces, server.ip());
            if near.len() > 1 {
                fleet.source = SourceAddresses::List(near);
            }
        }
        SourceAddresses::Spread | SourceAddresses::Kernel => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        let parse = |text: &&str| text.parse().expect("an address");
        texts.iter().map(parse).collect()
    }

    fn fitted(source: SourceAddresses, connections: u32) -> Result<SourceAddresses, String> {
        let mut fleet = FleetSpec {
            addresses: vec!["tcp://192.0.2.1:80".to_owned()],
            connections,
            source,
            ..FleetSpec::default()
        };
        let own = ["192.0.2.7", "198.51.100.7", "192.0.2.8"];
        let interfaces = addresses(&own).into_iter().map(|ip| Interface {
            ip,
            prefix_bits: 24,
        });
        let interfaces: Vec<Interface> = interfaces.collect();
        fit(&mut fleet, &interfaces).map(|()| fleet.source)
    }

    #[test]
    fn a_host_takes_its_own_of_those_that_are_named() {
        let named = |texts: &[&str]| SourceAddresses::List(addresses(texts));
        let all = ["192.0.2.7", "192.0.2.8", "192.0.2.9"];
        assert_eq!(
            fitted(named(&all), 1),
            Ok(named(&["192.0.2.7", "192.0.2.8"]))
        );
        let message = fitted(named(&["192.0.2.9"]), 1).expect_err("none is its own");
        assert!(message.contains("ip address add"), "{message}");
    }

    #[test]
    fn many_connections_are_spread_over_the_addresses_in_the_servers_network_and_few_are_not() {
        let spread = SourceAddresses::Spread;
        assert_eq!(fitted(spread.clone(), 8_000), Ok(spread.clone()));
        let near = SourceAddresses::List(addresses(&["192.0.2.7", "192.0.2.8"]));
        assert_eq!(fitted(spread, 8_001), Ok(near));
        let kernel = SourceAddresses::Kernel;
        assert_eq!(fitted(kernel.clone(), 100_000), Ok(kernel));
    }
}
