//! Final ACKs dropped: clients were connected while the server did not have their connections, and learned of nothing.
//!
//! Of kept connections, those of which the server's kernel acknowledged nothing until the reply timed out, where its accept queue overflowed. One that
//! a retransmission completed in time is not known.

use throng_record::ErrorKind;
use throng_record::finding::FinalAckDropped;
use throng_record::format::{plural, times};

use super::clause::{maybe, time};
use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "final-ack-dropped",
    title: "Final ACK dropped",
    page: include_str!("../../../../docs/findings/final-ack-dropped.md"),
};

pub(super) fn find(evidence: &Evidence<'_>) -> Option<FinalAckDropped> {
    let Some((phase, account)) = evidence.requests() else {
        return of_kept(evidence);
    };
    (account.final_acks_dropped > 0).then(|| FinalAckDropped {
        connections: account.final_acks_dropped,
        data_retransmissions: Some(phase.data_retransmissions),
        syn_ack_retransmissions: evidence
            .trial
            .handshakes
            .map(|handshakes| handshakes.syn_ack_retransmissions),
        waited_ns_max: account.final_ack_waited_ns_max,
    })
}

fn of_kept(evidence: &Evidence<'_>) -> Option<FinalAckDropped> {
    let connections = evidence.errors().of(ErrorKind::NotAcknowledged);
    let overflows = evidence.counter_of_overflow("TcpExt.ListenOverflows");
    (connections > 0 && overflows > 0).then_some(FinalAckDropped {
        connections,
        data_retransmissions: None,
        syn_ack_retransmissions: None,
        waited_ns_max: evidence.setting.reply_timeout_ns,
    })
}

impl Words for FinalAckDropped {
    fn happened(&self) -> String {
        format!(
            "{} that clients took for established and the server did not have, for up to {}{}{}.",
            plural(self.connections, "connection"),
            time(self.waited_ns_max),
            maybe(self.data_retransmissions, |again| format!(
                "; data sent again {}",
                times(again)
            )),
            maybe(self.syn_ack_retransmissions, |again| format!(
                ", SYN-ACKs {}",
                times(again)
            ))
        )
    }

    fn cause(&self) -> &'static str {
        "the last ACK of the handshake found the accept queue full and was dropped; such a connection is completed only when the client sends its data again, after 200 ms and then after doubling waits, or the server its SYN-ACK, which it cannot for a cookie. The time is in the reply, not in the connect."
    }

    fn remedy(&self) -> String {
        "whatever ends the overflow: a longer backlog, or accepting sooner.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.waited_ns_max as f64
    }
}

#[cfg(test)]
mod tests {
    use throng_record::HandshakesRecord;

    use super::*;
    use crate::hand_made::Case;

    #[test]
    fn it_takes_one_request_that_was_attributed_so() {
        let mut case = Case::backlog();
        case.requests().data_retransmissions = 17;
        assert_eq!(find(&case.evidence()), None);
        case.account().final_acks_dropped = 5;
        case.account().final_ack_waited_ns_max = 3_200_000_000;
        case.trial.handshakes = Some(HandshakesRecord {
            syn_ack_retransmissions: 11,
            ..HandshakesRecord::default()
        });
        assert_eq!(
            find(&case.evidence()),
            Some(FinalAckDropped {
                connections: 5,
                data_retransmissions: Some(17),
                syn_ack_retransmissions: Some(11),
                waited_ns_max: 3_200_000_000,
            })
        );
    }

    #[test]
    fn of_kept_connections_it_takes_one_without_an_acknowledged_byte_and_an_overflow() {
        use throng_record::Network;
        let mut case = Case::echo();
        case.trial.network = Network::Host;
        for _ in 0..3 {
            case.fail(ErrorKind::NotAcknowledged);
        }
        assert_eq!(find(&case.evidence()), None, "lost on the way");
        case.counter("TcpExt.ListenOverflows", 7);
        let expected = FinalAckDropped {
            connections: 3,
            data_retransmissions: None,
            syn_ack_retransmissions: None,
            waited_ns_max: 10_000_000_000,
        };
        assert_eq!(find(&case.evidence()), Some(expected));
        case.exchange().errors.counts.clear();
        case.fail(ErrorKind::ReplyTimedOut);
        assert_eq!(find(&case.evidence()), None, "the server has it");
    }
}
