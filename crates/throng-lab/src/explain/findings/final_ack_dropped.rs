//! Final ACKs dropped: clients were connected while the server did not have their connections, and learned of nothing.
//!
//! Of kept connections, those of which the server's kernel acknowledged nothing until the reply timed out, where its accept queue overflowed. One that
//! a retransmission completed in time is not known.

use throng_record::{ErrorKind, Finding, finding};

use super::Evidence;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    let Some((phase, account)) = evidence.connections else {
        return of_kept(evidence);
    };
    (account.final_acks_dropped > 0).then(|| {
        Finding::FinalAckDropped(finding::FinalAckDropped {
            connections: account.final_acks_dropped,
            data_retransmissions: Some(phase.data_retransmissions),
            syn_ack_retransmissions: evidence
                .handshakes
                .map(|handshakes| handshakes.syn_ack_retransmissions),
            waited_ns_max: account.final_ack_waited_ns_max,
        })
    })
}

fn of_kept(evidence: &Evidence<'_>) -> Option<Finding> {
    let connections = evidence.errors.of(ErrorKind::NotAcknowledged);
    let overflows = evidence.counter_of_overflow("TcpExt.ListenOverflows");
    (connections > 0 && overflows > 0).then_some(Finding::FinalAckDropped(
        finding::FinalAckDropped {
            connections,
            data_retransmissions: None,
            syn_ack_retransmissions: None,
            waited_ns_max: evidence.setting.reply_timeout_ns,
        },
    ))
}

#[cfg(test)]
mod tests {
    use throng_record::HandshakesRecord;

    use super::*;
    use crate::explain::findings::hand_made::Case;

    #[test]
    fn it_takes_one_request_that_was_attributed_so() {
        let mut case = Case::backlog();
        case.phase.data_retransmissions = 17;
        assert_eq!(find(&case.evidence()), None);
        case.account.final_acks_dropped = 5;
        case.account.final_ack_waited_ns_max = 3_200_000_000;
        case.handshakes = Some(HandshakesRecord {
            syn_ack_retransmissions: 11,
            ..HandshakesRecord::default()
        });
        assert_eq!(
            find(&case.evidence()),
            Some(Finding::FinalAckDropped(finding::FinalAckDropped {
                connections: 5,
                data_retransmissions: Some(17),
                syn_ack_retransmissions: Some(11),
                waited_ns_max: 3_200_000_000,
            }))
        );
    }

    #[test]
    fn of_kept_connections_it_takes_one_without_an_acknowledged_byte_and_an_overflow() {
        use throng_record::Network;
        let mut case = Case::echo();
        case.network = Network::Host;
        for _ in 0..3 {
            case.errors.count(ErrorKind::NotAcknowledged, String::new);
        }
        assert_eq!(find(&case.evidence()), None, "lost on the way");
        case.counter("TcpExt.ListenOverflows", 7);
        let expected = Finding::FinalAckDropped(finding::FinalAckDropped {
            connections: 3,
            data_retransmissions: None,
            syn_ack_retransmissions: None,
            waited_ns_max: 10_000_000_000,
        });
        assert_eq!(find(&case.evidence()), Some(expected));
        case.errors.counts.clear();
        case.errors.count(ErrorKind::ReplyTimedOut, String::new);
        assert_eq!(find(&case.evidence()), None, "the server has it");
    }
}
