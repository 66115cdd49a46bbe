//! Accept-queue overflow: connections came that the queue had no room for, and their SYNs or final ACKs were dropped.
//!
//! The backlog that would have sufficed is told from the most requests that waited at once (the queue holds backlog + 1), with two bounds: more
//! than was in force, since that did overflow, and, unless connections were left in the queue by clients that gave up, no more than the
//! clients of a closed loop need. It is of this run: see `waiting.rs`.
//!
//! Kept connections have no account of each request and nobody watches their queue: of those it is told how often SYNs were sent again, which
//! is the same thing seen by the clients, and the backlog in force, which is looked up once.

use throng_record::finding::AcceptQueueOverflow;
use throng_record::format::{exact, plural, times};

use super::clause::{maybe, time};
use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "accept-queue-overflow",
    title: "Accept-queue overflow",
    page: include_str!("../../../../docs/findings/accept-queue-overflow.md"),
};

const OVERFLOWS: &str = "TcpExt.ListenOverflows";

pub(super) fn find(evidence: &Evidence<'_>) -> Option<AcceptQueueOverflow> {
    let overflows = evidence.counter_of_overflow(OVERFLOWS);
    if overflows == 0 {
        return None;
    }
    let connect_latency = match evidence.requests() {
        Some((phase, _)) => &phase.connect_latency,
        None => &evidence.phases().connect()?.latency,
    };
    let depths = evidence.trial.accept_queue.as_ref().map(|queue| {
        let of_each = queue.listeners.iter().map(|listener| listener.depth_max);
        of_each.max().unwrap_or(0)
    });
    Some(AcceptQueueOverflow {
        overflows,
        drops: evidence.counter("TcpExt.ListenDrops"),
        connects_delayed: evidence.connects_delayed(),
        syn_retransmissions: evidence
            .phases()
            .connect()
            .map(|phase| phase.syn_retransmissions),
        connect_ns_max: connect_latency.max_ns,
        backlog: evidence.backlog(),
        depth_max: depths,
        backlog_sufficient: backlog_sufficient(evidence),
    })
}

/// Whether the overflows are why SYNs of kept connections were sent again. Each that was dropped so has been counted, and those that were lost
/// elsewhere have not; where they are most of them, they have a finding of their own.
pub(super) fn explains_retransmissions(evidence: &Evidence<'_>) -> bool {
    let overflows = evidence.counter_of_overflow(OVERFLOWS);
    let sent_again = evidence
        .phases()
        .connect()
        .map_or(0, |phase| phase.syn_retransmissions);
    overflows > 0 && overflows.saturating_mul(2) >= sent_again
}

fn backlog_sufficient(evidence: &Evidence<'_>) -> Option<u32> {
    let (_, account) = evidence.requests()?;
    let waited_at_once = account.waiting_at_once_max?;
    let clients = evidence.setting.connections;
    let by_waiting = waited_at_once.min(clients).saturating_sub(1);
    let by_overflow = evidence
        .backlog()
        .map_or(0, |backlog| backlog.saturating_add(1));
    Some(by_waiting.max(by_overflow))
}

impl Words for AcceptQueueOverflow {
    fn happened(&self) -> String {
        format!(
            "{}, {} (ListenOverflows, ListenDrops){}{}; {} by sending the SYN again{}, {}.",
            plural(self.overflows, "overflow"),
            plural(self.drops, "drop"),
            maybe(self.backlog, |backlog| format!(
                "; a backlog of {backlog} holds {}",
                u64::from(backlog) + 1
            )),
            maybe(self.depth_max, |depth| format!(
                "; {depth} were seen waiting"
            )),
            match self.connects_delayed {
                0 => "no measured connect was delayed".to_owned(),
                some => format!("{} delayed", plural(some, "connect")),
            },
            maybe(self.syn_retransmissions, |again| format!(
                " ({} in all)",
                times(again)
            )),
            match self.connect_ns_max {
                0 => "and no connect completed".to_owned(),
                slowest => format!("the slowest that completed took {}", time(slowest)),
            }
        )
    }

    fn cause(&self) -> &'static str {
        "connections came faster than they were accepted, and Linux drops a SYN that finds the accept queue full; the client sends it again after 1 s, and then again and again."
    }

    fn remedy(&self) -> String {
        match (self.backlog_sufficient, self.syn_retransmissions) {
            (Some(enough), _) => format!(
                "a backlog of {} would have held all that waited in this run (with net.core.somaxconn no less); or accept sooner.",
                exact(enough.into())
            ),
            (None, Some(_)) => {
                "a longer backlog (with net.core.somaxconn no less), accepting sooner, or fewer connects at once (--connect-concurrency, --connect-rate).".to_owned()
            }
            (None, None) => {
                "a longer backlog (with net.core.somaxconn no less); or accept sooner.".to_owned()
            }
        }
    }

    fn gravity(&self) -> f64 {
        self.overflows as f64
    }
}

#[cfg(test)]
mod tests {
    use throng_record::Network;

    use super::*;
    use crate::hand_made::{Case, histogram, listener};

    fn overflown() -> Case {
        let mut case = Case::backlog();
        case.counter("TcpExt.ListenOverflows", 31);
        case.counter("TcpExt.ListenDrops", 33);
        case.account().waiting_at_once_max = Some(20);
        case.requests().attribution.connects_by_syn_retransmission = 14;
        case.requests().connect_latency = histogram(&[(3_000_000_000, 1)]);
        case.queue().listeners = vec![listener(5, 6, 4.0)];
        case
    }

    fn sufficient(case: &Case) -> Option<u32> {
        match find(&case.evidence()) {
            Some(AcceptQueueOverflow {
                backlog_sufficient, ..
            }) => backlog_sufficient,
            other => panic!("no overflow: {other:?}"),
        }
    }

    #[test]
    fn overflows_are_told_with_the_delay_and_the_backlog_that_would_have_sufficed() {
        let Some(AcceptQueueOverflow {
            overflows: 31,
            drops: 33,
            connects_delayed: 14,
            syn_retransmissions: None,
            connect_ns_max,
            backlog: Some(5),
            depth_max: Some(6),
            backlog_sufficient: Some(19),
        }) = find(&overflown().evidence())
        else {
            panic!("{:?}", find(&overflown().evidence()));
        };
        assert!((2_990_000_000..=3_010_000_000).contains(&connect_ns_max));
        assert_eq!(find(&Case::backlog().evidence()), None);
    }

    #[test]
    fn a_sufficient_backlog_is_more_than_overflowed_and_no_more_than_clients_need() {
        let mut case = overflown();
        case.account().waiting_at_once_max = Some(4);
        assert_eq!(sufficient(&case), Some(6));
        case.account().waiting_at_once_max = Some(90);
        assert_eq!(sufficient(&case), Some(31), "32 clients");
        case.account().waiting_at_once_max = None;
        assert_eq!(sufficient(&case), None);
    }

    #[test]
    fn in_the_hosts_network_overflows_may_be_another_servers() {
        let mut case = overflown();
        case.trial.network = Network::Host;
        assert!(find(&case.evidence()).is_some(), "connects were delayed");
        case.requests().attribution.connects_by_syn_retransmission = 0;
        assert!(find(&case.evidence()).is_some(), "the queue was seen full");
        case.queue().listeners = vec![listener(5, 5, 4.0)];
        assert_eq!(find(&case.evidence()), None);
    }

    #[test]
    fn kept_connections_have_their_retransmissions_and_the_backlog_in_force() {
        let mut case = Case::echo();
        case.counter("TcpExt.ListenOverflows", 3);
        case.connect().latency = histogram(&[(90_000, 97), (1_010_000_000, 3)]);
        case.connect().retransmitted = 3;
        case.connect().syn_retransmissions = 4;
        case.trial.backlog_in_force = Some(3);
        assert!(matches!(
            find(&case.evidence()),
            Some(AcceptQueueOverflow {
                connects_delayed: 3,
                syn_retransmissions: Some(4),
                backlog: Some(3),
                depth_max: None,
                backlog_sufficient: None,
                ..
            })
        ));
    }
}
