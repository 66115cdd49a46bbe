//! Connections refused: a connect was answered by RST. Nobody listened there, or something in between refused; Linux does not answer a full
//! accept queue so, `tcp_abort_on_overflow` or not.

use throng_record::ErrorKind;
use throng_record::finding::ConnectionsRefused;
use throng_record::format::{exact, plural};

use super::clause::maybe;
use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "connections-refused",
    title: "Connections refused",
    page: include_str!("../../../../docs/findings/connections-refused.md"),
};

pub(super) fn find(evidence: &Evidence<'_>) -> Option<ConnectionsRefused> {
    let refused = evidence.errors().of(ErrorKind::ConnectRefused);
    let (begun, connected) = match evidence.requests() {
        Some((phase, _)) => (phase.begun_in_all(), phase.connected_in_all()),
        None => {
            let connect = evidence.phases().connect()?;
            let connected = u64::from(connect.connected);
            (connected + connect.errors.total(), connected)
        }
    };
    (refused > 0).then_some(ConnectionsRefused {
        refused,
        begun: begun.max(refused),
        connected,
        server_died: evidence.ending().is_some_and(|ending| ending.died_early),
        was_listening: evidence.seen.was_listening,
    })
}

impl Words for ConnectionsRefused {
    fn happened(&self) -> String {
        format!(
            "{} of {} were answered by RST{}{}{}.",
            exact(self.refused),
            plural(self.begun, "connect"),
            match self.connected {
                0 => String::new(),
                some => format!(", {} connected", exact(some)),
            },
            if self.server_died {
                "; the server ended during the trial"
            } else {
                ""
            },
            maybe(self.was_listening, |was| format!(
                "; {} listened when the trial began",
                if was { "somebody" } else { "nobody" }
            ))
        )
    }

    fn cause(&self) -> &'static str {
        match (self.server_died, self.connected, self.was_listening) {
            (true, _, _) => "the server ended, and from then on nobody listened.",
            (false, 1.., _) | (false, 0, Some(true)) => {
                "the listener went away during the trial, a firewall rejects, or the server's system refuses where its queue is full (Windows does; Linux drops)."
            }
            (false, 0, Some(false)) => "nobody listens on that address and port.",
            (false, 0, None) => {
                "nobody listens on that address and port, a firewall rejects, or the server's system refuses where its queue is full (Windows does; Linux drops)."
            }
        }
    }

    fn remedy(&self) -> String {
        if self.server_died {
            "find out why it ended: its last words are with the checks; dmesg tells where the kernel killed it."
        } else {
            "ss -ltn on the server's host shows who listens where; then look into its log and its firewall."
        }
        .to_owned()
    }

    fn gravity(&self) -> f64 {
        self.refused as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::Case;
    use crate::server::Ending;

    #[test]
    fn one_refused_connect_is_told() {
        let mut case = Case::backlog();
        assert_eq!(find(&case.evidence()), None);
        case.fail(ErrorKind::Reset);
        assert_eq!(find(&case.evidence()), None);
        case.fail(ErrorKind::ConnectRefused);
        case.seen.was_listening = Some(false);
        case.requests().warmup_begun = 1;
        assert_eq!(
            find(&case.evidence()),
            Some(ConnectionsRefused {
                refused: 1,
                begun: 161,
                connected: 160,
                server_died: false,
                was_listening: Some(false)
            })
        );
    }

    #[test]
    fn kept_connections_are_counted_by_those_that_opened_and_those_that_failed() {
        let mut case = Case::echo();
        case.connect().connected = 93;
        for _ in 0..7 {
            let errors = &mut case.connect().errors;
            errors.count(ErrorKind::ConnectRefused, String::new);
        }
        assert!(matches!(
            find(&case.evidence()),
            Some(ConnectionsRefused {
                refused: 7,
                begun: 100,
                ..
            })
        ));
    }

    #[test]
    fn a_server_that_died_is_said_to_have_died() {
        let mut case = Case::backlog();
        case.fail(ErrorKind::ConnectRefused);
        let has_died = |case: &Case| match find(&case.evidence()) {
            Some(ConnectionsRefused { server_died, .. }) => Some(server_died),
            _ => None,
        };
        assert_eq!(has_died(&case), Some(false));
        case.end(Ending {
            died_early: true,
            ..Ending::in_order_for_tests()
        });
        assert_eq!(has_died(&case), Some(true));
    }
}
