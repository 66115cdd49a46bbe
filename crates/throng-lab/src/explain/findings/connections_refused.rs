//! Connections refused: a connect was answered by RST. Nobody listened there, or something in between refused; Linux does not answer a full
//! accept queue so, `tcp_abort_on_overflow` or not.

use throng_record::{ErrorKind, Finding};

use super::Evidence;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    let refused = evidence.errors.of(ErrorKind::ConnectRefused);
    let begun = match evidence.connections {
        Some((phase, _)) => phase.begun,
        None => u64::from(evidence.connect.connected) + evidence.connect.errors.total(),
    };
    (refused > 0).then_some(Finding::ConnectionsRefused {
        refused,
        begun: begun.max(refused),
        was_listening: evidence.was_listening,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::findings::hand_made::Case;

    #[test]
    fn one_refused_connect_is_told() {
        let mut case = Case::backlog();
        assert_eq!(find(&case.evidence()), None);
        case.errors.count(ErrorKind::Reset, String::new);
        assert_eq!(find(&case.evidence()), None);
        case.errors.count(ErrorKind::ConnectRefused, String::new);
        case.was_listening = Some(false);
        assert_eq!(
            find(&case.evidence()),
            Some(Finding::ConnectionsRefused {
                refused: 1,
                begun: 160,
                was_listening: Some(false)
            })
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
            Some(Finding::ConnectionsRefused {
                refused: 7,
                begun: 100,
                ..
            })
        ));
    }
}
