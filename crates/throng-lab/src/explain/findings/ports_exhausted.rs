//! Ports exhausted: no local port was left for a further connection to the same destination, and `connect(2)` said `EADDRNOTAVAIL`.

use throng_record::{ErrorKind, Finding, finding};

use super::Evidence;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    const KIND: ErrorKind = ErrorKind::PortsExhausted;
    if evidence.errors.of(KIND) == 0 {
        return None;
    }
    if let Some((phase, _)) = evidence.connections {
        let connected = u32::try_from(phase.connected_in_all()).unwrap_or(u32::MAX);
        return Some(Finding::PortsExhausted(finding::PortsExhausted {
            ports: evidence.ports()?,
            source_addresses: evidence.sources_of(connected)?.addresses,
            open: 0,
            failed: evidence.errors.of(KIND),
        }));
    }
    // Not those at the first failure: others were in flight then, and had their ports.
    let open = evidence.connected();
    Some(Finding::PortsExhausted(finding::PortsExhausted {
        ports: evidence.ports()?,
        source_addresses: evidence.sources(open)?.addresses,
        open,
        failed: evidence.failed_by(KIND),
    }))
}

#[cfg(test)]
mod tests {
    use throng_record::{ConnectStop, SourceAddresses};

    use super::*;
    use crate::explain::findings::hand_made::Case;

    #[test]
    fn all_that_opened_had_a_port() {
        let mut case = Case::echo();
        case.setting.source = SourceAddresses::Kernel;
        case.limits.machine.ip_local_port_range = Some((32_768, 60_999));
        case.connect.connected = 28_232;
        assert_eq!(find(&case.evidence()), None);
        for _ in 0..16 {
            case.errors.count(ErrorKind::PortsExhausted, String::new);
        }
        case.connect.errors = case.errors.clone();
        case.connect.stop = Some(ConnectStop {
            connection: 28_232,
            open: 28_230,
            at_ns: 1,
            kind: ErrorKind::PortsExhausted,
            message: String::new(),
        });
        case.connect.not_begun = 1_752;
        let expected = Finding::PortsExhausted(finding::PortsExhausted {
            ports: 28_232,
            source_addresses: 1,
            open: 28_232,
            failed: 1_768,
        });
        assert_eq!(find(&case.evidence()), Some(expected));
    }

    #[test]
    fn short_connections_use_ports_up_by_ending() {
        let mut case = Case::backlog();
        case.setting.source = SourceAddresses::Kernel;
        case.limits.machine.ip_local_port_range = Some((1_024, 1_500));
        assert_eq!(find(&case.evidence()), None);
        case.errors.count(ErrorKind::PortsExhausted, String::new);
        let expected = Finding::PortsExhausted(finding::PortsExhausted {
            ports: 477,
            source_addresses: 1,
            open: 0,
            failed: 1,
        });
        assert_eq!(find(&case.evidence()), Some(expected));
    }
}
