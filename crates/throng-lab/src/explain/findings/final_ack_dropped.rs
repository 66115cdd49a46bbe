//! Final ACKs dropped: clients were connected while the server did not know them, and learned of nothing.

use throng_record::Finding;

use super::Evidence;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    let (phase, account) = evidence.connections?;
    (account.final_acks_dropped > 0).then(|| Finding::FinalAckDropped {
        connections: account.final_acks_dropped,
        data_retransmissions: phase.data_retransmissions,
        syn_ack_retransmissions: evidence
            .handshakes
            .map(|handshakes| handshakes.syn_ack_retransmissions),
        waited_ns_max: account.final_ack_waited_ns_max,
    })
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
            Some(Finding::FinalAckDropped {
                connections: 5,
                data_retransmissions: 17,
                syn_ack_retransmissions: Some(11),
                waited_ns_max: 3_200_000_000,
            })
        );
        assert_eq!(find(&Case::echo().evidence()), None);
    }
}
