//! SYN retransmission steps: connects took whole seconds, since their SYNs got no answer and were sent again, and it was not the listener's doing.
//!
//! Where its accept queue overflowed so often that this explains them, they are evidence of that finding and none of their own. Of kept connections, whose `TCP_INFO` tells how often; where each message has a connection of its own, every slow connect is attributed by
//! itself.

use throng_record::finding::SynRetransmissionSteps;
use throng_record::format::{plural, times};

use super::accept_queue_overflow::explains_retransmissions;
use super::clause::{maybe, time};
use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "syn-retransmission-steps",
    title: "SYN retransmission steps",
    page: include_str!("../../../../docs/findings/syn-retransmission-steps.md"),
};

pub(super) fn find(evidence: &Evidence<'_>) -> Option<SynRetransmissionSteps> {
    let connect = evidence.phases().connect()?;
    if connect.retransmitted == 0
        || evidence.has_own_connections()
        || explains_retransmissions(evidence)
    {
        return None;
    }
    let overflows = evidence.counter("TcpExt.ListenOverflows");
    Some(SynRetransmissionSteps {
        connections: connect.retransmitted,
        retransmissions: connect.syn_retransmissions,
        connect_ns_max: connect.latency.max_ns,
        overflows: evidence.is_in_sight().then_some(overflows),
        backlog: evidence.backlog(),
    })
}

impl Words for SynRetransmissionSteps {
    fn happened(&self) -> String {
        format!(
            "{} waited for a SYN to be sent again ({} in all), {}{}{}.",
            plural(self.connections.into(), "connect"),
            times(self.retransmissions),
            match self.connect_ns_max {
                0 => "and none was answered".to_owned(),
                slowest => format!("the slowest for {}", time(slowest)),
            },
            maybe(self.overflows, |overflows| format!(
                "; {} (ListenOverflows)",
                plural(overflows, "overflow")
            )),
            maybe(self.backlog, |backlog| format!(
                "; the backlog in force is {backlog}"
            ))
        )
    }

    fn cause(&self) -> &'static str {
        match self.overflows {
            Some(_) => {
                "SYNs, or their answers, were lost on the way or filtered, and not dropped at a full accept queue; the client sends a SYN again after 1 s, and then again and again."
            }
            None => {
                "SYNs were lost on the way, or dropped by a server whose accept queue was full, which cannot be seen from here; the client sends a SYN again after 1 s, and then again and again."
            }
        }
    }

    fn remedy(&self) -> String {
        match self.overflows {
            Some(_) => {
                "look for loss between the two: nstat -az, ethtool -S, a firewall that limits the rate of SYNs."
            }
            None => {
                "nstat -az TcpExtListenOverflows on the server's host tells which; then a longer backlog (with net.core.somaxconn no less), or a look for loss between the two."
            }
        }
        .to_owned()
    }

    fn gravity(&self) -> f64 {
        self.connect_ns_max as f64
    }
}

#[cfg(test)]
mod tests {
    use throng_record::TargetKind;

    use super::*;
    use crate::hand_made::{Case, histogram};

    #[test]
    fn connects_that_waited_for_their_syn_are_told_where_no_overflow_explains_them() {
        let mut case = Case::echo();
        case.connect().latency = histogram(&[(90_000, 97), (3_010_000_000, 3)]);
        assert_eq!(find(&case.evidence()), None, "slow for another reason");
        case.connect().retransmitted = 3;
        case.connect().syn_retransmissions = 8;
        case.trial.backlog_in_force = Some(5);
        let told = |case: &Case| match find(&case.evidence()) {
            Some(SynRetransmissionSteps {
                connections: 3,
                retransmissions: 8,
                connect_ns_max,
                overflows,
                backlog: Some(5),
            }) => {
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
        case.trial.kernel_counters.clear();
        case.target.kind = TargetKind::Running;
        case.seen.was_listening = Some(false);
        assert_eq!(told(&case), None);
    }
}
