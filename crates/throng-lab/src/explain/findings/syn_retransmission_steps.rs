//! SYN retransmission steps: connects took whole seconds, since their SYNs got no answer and were sent again, and it was not the listener's doing.
//!
//! Where its accept queue overflowed so often that this explains them, they are evidence of that finding and none of their own. Of kept connections, whose `TCP_INFO` tells how often; where each message has a connection of its own, every slow connect is attributed by
//! itself.

use throng_record::{Finding, finding};

use super::Evidence;
use super::accept_queue_overflow::explains_retransmissions;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    let connect = evidence.connect?;
    if connect.retransmitted == 0
        || evidence.connections.is_some()
        || explains_retransmissions(evidence)
    {
        return None;
    }
    let overflows = evidence.counter("TcpExt.ListenOverflows");
    Some(Finding::SynRetransmissionSteps(
        finding::SynRetransmissionSteps {
            connections: connect.retransmitted,
            retransmissions: connect.syn_retransmissions,
            connect_ns_max: connect.latency.max_ns,
            overflows: evidence.server.is_in_sight.then_some(overflows),
            backlog: evidence.backlog(),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::findings::hand_made::{Case, histogram};

    #[test]
    fn connects_that_waited_for_their_syn_are_told_where_no_overflow_explains_them() {
        let mut case = Case::echo();
        case.connect.latency = histogram(&[(90_000, 97), (3_010_000_000, 3)]);
        assert_eq!(find(&case.evidence()), None, "slow for another reason");
        case.connect.retransmitted = 3;
        case.connect.syn_retransmissions = 8;
        case.backlog_in_force = Some(5);
        let told = |case: &Case| match find(&case.evidence()) {
            Some(Finding::SynRetransmissionSteps(finding::SynRetransmissionSteps {
                connections: 3,
                retransmissions: 8,
                connect_ns_max,
                overflows,
                backlog: Some(5),
            })) => {
                assert!((3_000_000_000..3_020_000_000).contains(&connect_ns_max));
                overflows
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(told(&case), Some(0));
        case.counter("TcpExt.ListenOverflows", 3);
        assert_eq!(told(&case), Some(3), "most were lost elsewhere");
        case.counter("TcpExt.ListenOverflows", 4);
        assert_eq!(find(&case.evidence()), None, "the queue overflowed");
        case.counters.clear();
        case.is_in_sight = false;
        assert_eq!(told(&case), None);
    }
}
