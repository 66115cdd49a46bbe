//! Connections refused: a connect was answered by RST. Nobody listened there, or something in between refused; Linux does not answer a full
//! accept queue so, `tcp_abort_on_overflow` or not.

use throng_record::{ErrorKind, Finding, finding};

use super::Evidence;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    let refused = evidence.errors.of(ErrorKind::ConnectRefused);
    let (begun, connected) = match evidence.connections {
        Some((phase, _)) => (phase.begun_in_all(), phase.connected_in_all()),
        None => {
            let connect = evidence.connect?;
            let connected = u64::from(connect.connected);
            (connected + connect.errors.total(), connected)
        }
    };
    (refused > 0).then_some(Finding::ConnectionsRefused(finding::ConnectionsRefused {
        refused,
        begun: begun.max(refused),
        connected,
        server_died: evidence
            .server
            .ending
            .is_some_and(|ending| ending.died_early),
        was_listening: evidence.was_listening,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::findings::hand_made::Case;
    use crate::launcher::Ending;

    #[test]
    fn one_refused_connect_is_told() {
        let mut case = Case::backlog();
        assert_eq!(find(&case.evidence()), None);
        case.errors.count(ErrorKind::Reset, String::new);
        assert_eq!(find(&case.evidence()), None);
        case.errors.count(ErrorKind::ConnectRefused, String::new);
        case.was_listening = Some(false);
        case.phase.warmup_begun = 1;
        assert_eq!(
            find(&case.evidence()),
            Some(Finding::ConnectionsRefused(finding::ConnectionsRefused {
                refused: 1,
                begun: 161,
                connected: 160,
                server_died: false,
                was_listening: Some(false)
            }))
        );
    }

    #[test]
    fn kept_connections_are_counted_by_those_that_opened_and_those_that_failed() {
        let mut case = Case::echo();
        case.connect.connected = 93;
        for _ in 0..7 {
            for errors in [&mut case.connect.errors, &mut case.errors] {
                errors.count(ErrorKind::ConnectRefused, String::new);
            }
        }
        assert!(matches!(
            find(&case.evidence()),
            Some(Finding::ConnectionsRefused(finding::ConnectionsRefused {
                refused: 7,
                begun: 100,
                ..
            }))
        ));
    }

    #[test]
    fn a_server_that_died_is_said_to_have_died() {
        let mut case = Case::backlog();
        case.errors.count(ErrorKind::ConnectRefused, String::new);
        let has_died = |case: &Case| match find(&case.evidence()) {
            Some(Finding::ConnectionsRefused(finding::ConnectionsRefused {
                server_died, ..
            })) => Some(server_died),
            _ => None,
        };
        assert_eq!(has_died(&case), Some(false));
        case.ending = Some(Ending {
            died_early: true,
            ..Ending::in_order_for_tests()
        });
        assert_eq!(has_died(&case), Some(true));
    }
}
