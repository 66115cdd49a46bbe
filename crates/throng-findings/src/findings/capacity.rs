//! What bounds the number of connections: local ports, descriptors, threads. How far it was used up.

use throng_record::fleet::connections_per_source;
use throng_record::{ErrorKind, HostPart, SourceAddresses};

use crate::evidence::{Evidence, is_ipv4_loopback};

/// Where the connections of a fleet come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sources {
    pub(super) addresses: u32,
    /// Connections from the address that has most.
    pub(super) busiest: u32,
    /// Whether one address is used up to its share before the next is begun; otherwise they take turns.
    pub(super) is_in_sequence: bool,
}

impl Evidence<'_> {
    /// Ports that the kernel chooses from; absent where it is not known. Of several hosts the fewest.
    pub(super) fn ports(&self) -> Option<u32> {
        if !self.hosts().is_empty() {
            return self
                .hosts()
                .iter()
                .filter_map(|host| host.local_ports)
                .min();
        }
        let of_setting = self.setting.kernel.get("net.ipv4.ip_local_port_range");
        let (first, last) = match of_setting {
            Some(text) => {
                let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().ok());
                (numbers.next()??, numbers.next()??)
            }
            None => self.seen.limits.ip_local_port_range?,
        };
        Some(u32::from(last.saturating_sub(first)) + 1)
    }

    /// Of so many kept connections that are open; `None` where they need no ports.
    pub(super) fn sources(&self, open: u32) -> Option<Sources> {
        if self.has_own_connections() {
            return None;
        }
        self.sources_of(open)
    }

    /// Of so many connections, whether they are open or keep their ports for a minute more.
    pub(super) fn sources_of(&self, open: u32) -> Option<Sources> {
        let address = self.tcp_address()?;
        if !self.hosts().is_empty() {
            return Some(of_hosts(self.hosts()));
        }
        let (addresses, busiest, is_in_sequence) = match &self.setting.source {
            SourceAddresses::Spread if is_ipv4_loopback(address) => {
                let each = connections_per_source(self.ports());
                (open.div_ceil(each), open.min(each), true)
            }
            SourceAddresses::List(list) if !list.is_empty() => {
                let addresses = u32::try_from(list.len()).unwrap_or(u32::MAX);
                (addresses, open.div_ceil(addresses), false)
            }
            SourceAddresses::Spread | SourceAddresses::Kernel | SourceAddresses::List(_) => {
                (1, open, false)
            }
        };
        Some(Sources {
            addresses: addresses.max(1),
            busiest,
            is_in_sequence,
        })
    }

    /// Connections that were asked for and that the server did not serve at once, as far as that is known.
    pub(super) fn not_served(&self) -> u32 {
        let served = self.served().unwrap_or(self.phases().kept());
        self.setting.connections.saturating_sub(served)
    }

    /// Connects that failed in this way, and those that were therefore not begun: where connects failed in several ways, those are put down to
    /// the most frequent one. The first failure may be of another kind, and of another thread than the one that gave up.
    pub(super) fn failed_by(&self, kind: ErrorKind) -> u64 {
        const GIVEN_UP_FOR: [ErrorKind; 3] = [
            ErrorKind::PortsExhausted,
            ErrorKind::DescriptorsExhausted,
            ErrorKind::ConnectTimedOut,
        ];
        let not_begun = self.phases().connect().map_or(0, |connect| {
            let errors = &connect.errors;
            let most = GIVEN_UP_FOR.into_iter().max_by_key(|&one| errors.of(one));
            let is_why =
                errors.of(kind) > 0 && most.is_some_and(|most| errors.of(most) == errors.of(kind));
            if is_why { connect.not_begun } else { 0 }
        });
        self.errors().of(kind) + u64::from(not_begun)
    }
}

/// Each host has its own addresses, and all connect at the same time.
fn of_hosts(hosts: &[HostPart]) -> Sources {
    let addresses = hosts.iter().map(|host| host.source_addresses.max(1));
    Sources {
        addresses: addresses.sum(),
        busiest: hosts.iter().map(busiest).max().unwrap_or(0),
        is_in_sequence: false,
    }
}

/// Open connections from the address of a host that has most: they take turns.
pub(super) fn busiest(host: &HostPart) -> u32 {
    host.connected.div_ceil(host.source_addresses.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::Case;

    #[test]
    fn ports_are_those_of_the_trials_network() {
        let mut case = Case::echo();
        assert_eq!(case.evidence().ports(), None);
        case.seen.limits.ip_local_port_range = Some((32_768, 60_999));
        assert_eq!(case.evidence().ports(), Some(28_232));
        let range = ("net.ipv4.ip_local_port_range", "40000\t40099");
        case.setting
            .kernel
            .insert(range.0.to_owned(), range.1.to_owned());
        assert_eq!(case.evidence().ports(), Some(100));
    }

    #[test]
    fn connections_are_spread_as_the_generator_spreads_them() {
        let mut case = Case::echo();
        let mut of = |address: &str, source: SourceAddresses| {
            case.trial.job.fleet.addresses = vec![address.to_owned()];
            case.setting.source = source;
            let sources = case.evidence().sources(20_000);
            sources.map(|sources| (sources.addresses, sources.busiest, sources.is_in_sequence))
        };
        let two = ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse().expect("an address"));
        assert_eq!(
            of("tcp://127.0.0.1:80", SourceAddresses::Spread),
            Some((3, 8_000, true))
        );
        assert_eq!(
            of("tcp://127.0.0.1:80", SourceAddresses::Kernel),
            Some((1, 20_000, false))
        );
        assert_eq!(
            of("tcp://10.0.0.9:80", SourceAddresses::Spread),
            Some((1, 20_000, false))
        );
        assert_eq!(
            of("tcp://10.0.0.9:80", SourceAddresses::List(two.to_vec())),
            Some((2, 10_000, false))
        );
        assert_eq!(of("unix:/tmp/x", SourceAddresses::Spread), None);
        case.seen.limits.ip_local_port_range = Some((40_000, 40_299));
        case.trial.job.fleet.addresses = vec!["tcp://127.0.0.1:80".to_owned()];
        let sources = case.evidence().sources(1_000).expect("of TCP");
        assert_eq!(
            (sources.addresses, sources.busiest),
            (10, 100),
            "of 300 ports each"
        );
    }
}
