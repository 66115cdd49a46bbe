//! Ports exhausted: no local port was left for a further connection to the same destination, and `connect(2)` said `EADDRNOTAVAIL`.

use throng_record::finding::PortsExhausted;
use throng_record::format::{exact, plural};
use throng_record::{ErrorKind, HostPart};

use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "ports-exhausted",
    title: "Ports exhausted",
    page: include_str!("../../../../docs/findings/ports-exhausted.md"),
};

const ERROR: ErrorKind = ErrorKind::PortsExhausted;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<PortsExhausted> {
    if evidence.errors().of(ERROR) == 0 {
        return None;
    }
    let without: Vec<&HostPart> = evidence.hosts().iter().filter(|host| is_of(host)).collect();
    if !without.is_empty() {
        return of_hosts(evidence, &without);
    }
    if let Some((phase, _)) = evidence.requests() {
        let connected = u32::try_from(phase.connected_in_all()).unwrap_or(u32::MAX);
        return Some(PortsExhausted {
            ports: evidence.ports()?,
            source_addresses: evidence.sources_of(connected)?.addresses,
            open: 0,
            failed: evidence.errors().of(ERROR),
        });
    }
    // Not those at the first failure: others were in flight then, and had their ports.
    let open = evidence.phases().kept();
    Some(PortsExhausted {
        ports: evidence.ports()?,
        source_addresses: evidence.sources(open)?.addresses,
        open,
        failed: evidence.failed_by(ERROR),
    })
}

/// Whether a host had no port left.
pub(super) fn is_of(host: &HostPart) -> bool {
    host.errors.of(ERROR) > 0
}

/// On the hosts that had none left. What the others had open took none of these ports.
fn of_hosts(evidence: &Evidence<'_>, hosts: &[&HostPart]) -> Option<PortsExhausted> {
    let hosts = || hosts.iter();
    Some(PortsExhausted {
        ports: hosts().filter_map(|host| host.local_ports).min()?,
        source_addresses: hosts().map(|host| host.source_addresses.max(1)).sum(),
        open: match evidence.has_own_connections() {
            true => 0,
            false => hosts().map(|host| host.connected).sum(),
        },
        failed: evidence.failed_by(ERROR),
    })
}

impl Words for PortsExhausted {
    fn happened(&self) -> String {
        let addresses = match self.source_addresses {
            1 => "one source address".to_owned(),
            more => format!("{} source addresses", exact(more.into())),
        };
        let ports = plural(self.ports.into(), "port");
        match self.open {
            0 => format!(
                "{} failed for want of a port: {addresses} with {ports} each, and connections that have ended keep theirs (TIME_WAIT).",
                plural(self.failed, "connect")
            ),
            open => format!(
                "{} open from {addresses} with {ports} each; {} failed or were not begun for want of a port.",
                plural(open.into(), "connection"),
                exact(self.failed)
            ),
        }
    }

    fn cause(&self) -> &'static str {
        "connections to one destination differ only in their local address and port, so that each source address has as many as there are ports in net.ipv4.ip_local_port_range."
    }

    fn remedy(&self) -> String {
        "more source addresses: leave --addresses kernel out, or name some with --source; or a wider net.ipv4.ip_local_port_range.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.failed as f64
    }
}

#[cfg(test)]
mod tests {
    use throng_record::{ConnectStop, Finding, SourceAddresses};

    use super::*;
    use crate::hand_made::{Case, host};

    #[test]
    fn ports_are_those_of_the_hosts_that_had_none_left() {
        let mut case = Case::echo();
        case.seen.limits.ip_local_port_range = Some((32_768, 60_999));
        case.connect().connected = 700;
        let ports_connected = [(1_000, 500), (200, 200)];
        case.trial.hosts = vec![host(1, "gen1"), host(2, "gen2")];
        for (host, (ports, connected)) in case.trial.hosts.iter_mut().zip(ports_connected) {
            (host.local_ports, host.connected) = (Some(ports), connected);
        }
        assert_eq!(find(&case.evidence()), None);
        case.connect().errors.count(ERROR, String::new);
        let of_gen2 = &mut case.trial.hosts[1].errors;
        of_gen2.count(ERROR, String::new);
        let expected = PortsExhausted {
            ports: 200,
            source_addresses: 1,
            open: 200,
            failed: 1,
        };
        let found = find(&case.evidence());
        assert_eq!(found.as_ref(), Some(&expected));
        let named = crate::findings::hosts(&Finding::PortsExhausted(expected), &case.trial);
        assert_eq!(named, ["gen2"]);
    }

    #[test]
    fn all_that_opened_had_a_port() {
        let mut case = Case::echo();
        case.setting.source = SourceAddresses::Kernel;
        case.seen.limits.ip_local_port_range = Some((32_768, 60_999));
        case.connect().connected = 28_232;
        assert_eq!(find(&case.evidence()), None);
        for _ in 0..16 {
            let errors = &mut case.connect().errors;
            errors.count(ErrorKind::PortsExhausted, String::new);
        }
        case.connect().stop = Some(ConnectStop {
            connection: 28_232,
            open: 28_230,
            at_ns: 1,
            kind: ErrorKind::PortsExhausted,
            message: String::new(),
        });
        case.connect().not_begun = 1_752;
        let expected = PortsExhausted {
            ports: 28_232,
            source_addresses: 1,
            open: 28_232,
            failed: 1_768,
        };
        assert_eq!(find(&case.evidence()), Some(expected));
    }

    #[test]
    fn short_connections_use_ports_up_by_ending() {
        let mut case = Case::backlog();
        case.setting.source = SourceAddresses::Kernel;
        case.seen.limits.ip_local_port_range = Some((1_024, 1_500));
        assert_eq!(find(&case.evidence()), None);
        case.fail(ErrorKind::PortsExhausted);
        let expected = PortsExhausted {
            ports: 477,
            source_addresses: 1,
            open: 0,
            failed: 1,
        };
        assert_eq!(find(&case.evidence()), Some(expected));
    }
}
