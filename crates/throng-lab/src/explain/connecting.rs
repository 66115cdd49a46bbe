//! Why a connect was slow: its SYN was sent again, and the time is that of the kernel's timeouts.
//!
//! Where the handshakes were seen, the moment of each SYN is known, and only what came after the last one must be short. Otherwise
//! `TCP_INFO` tells how many were sent, and the time must be one that this many timeouts make. A connect that failed while its client
//! waited for the first timeout is explained as well: by a SYN that was not answered, sent again 0 times.
//!
//! A SYN that was answered at once makes a connection at once: where that was seen, the rest of the time is the generator's own.

use throng_record::connections::SLOW_CONNECT_NS;
use throng_record::{Cause, RequestRecord};

use super::accounts::FlowSeen;
use super::schedule;

/// The cause of a connect that was slow; `flow` holds the handshakes of this request alone.
pub(super) fn cause(
    request: &RequestRecord,
    started_at_ns: u64,
    linear_timeouts: u32,
    flow: Option<&FlowSeen>,
) -> Cause {
    let waited_ns = request.connect_ns.unwrap_or(request.duration_ns);
    let has_failed = request.connect_ns.is_none();
    let counted = request.syn_retransmissions;
    // Fewer than the client counted: the observer has lost some, and its times are not all of them.
    let end_ns = started_at_ns.saturating_add(waited_ns);
    let seen = flow
        .map(|flow| flow.within(0, end_ns))
        .filter(|flow| flow.syns_ns.len() as u64 > u64::from(counted));
    let is_quick = |flow: &FlowSeen| was_quick(flow, waited_ns);
    if counted == 0 && seen.as_ref().is_some_and(is_quick) {
        return Cause::GeneratorLate { waited_ns };
    }
    let (retransmissions, fits) = match seen {
        Some(flow) => {
            let retransmissions = (flow.syns_ns.len() - 1) as u32;
            let fits = is_short_after_last(&flow, end_ns, has_failed, linear_timeouts);
            (retransmissions, fits)
        }
        None => (counted, schedule::fits(waited_ns, counted, linear_timeouts)),
    };
    if fits && (retransmissions > 0 || has_failed) {
        Cause::SynRetransmissions {
            retransmissions,
            waited_ns,
        }
    } else {
        Cause::NotExplained { waited_ns }
    }
}

/// Whether one SYN was sent, and its answer came within the first half of the connect's time at the latest.
fn was_quick(flow: &FlowSeen, waited_ns: u64) -> bool {
    let &[syn_ns] = flow.syns_ns.as_slice() else {
        return false;
    };
    let syn_ack_ns = flow.syn_acks_ns.first();
    syn_ack_ns.is_some_and(|syn_ack_ns| syn_ack_ns.saturating_sub(syn_ns) <= waited_ns / 2)
}

/// A connect that completed did so soon after a SYN, or after a SYN-ACK that the server sent again since the first was lost; one
/// that failed was given up before the next SYN was due.
fn is_short_after_last(flow: &FlowSeen, end_ns: u64, has_failed: bool, linear: u32) -> bool {
    let last_syn_ns = flow.syns_ns.last().copied().unwrap_or_default();
    if has_failed {
        let retransmissions = flow.syns_ns.len().saturating_sub(1) as u32;
        return schedule::is_before_next(
            end_ns.saturating_sub(last_syn_ns),
            retransmissions,
            linear,
        );
    }
    let last_ns = flow.syn_acks_ns.last().copied().unwrap_or_default();
    end_ns.saturating_sub(last_ns.max(last_syn_ns)) <= SLOW_CONNECT_NS
}

#[cfg(test)]
mod tests {
    use throng_record::ErrorKind;

    use super::*;

    const MS: u64 = 1_000_000;
    const STARTED_AT_NS: u64 = 77_000 * MS;

    fn connected(connect_ms: u64, syn_retransmissions: u32) -> RequestRecord {
        RequestRecord {
            connect_ns: Some(connect_ms * MS),
            duration_ns: (connect_ms + 40) * MS,
            syn_retransmissions,
            ..RequestRecord::default()
        }
    }

    fn timed_out(after_ms: u64, syn_retransmissions: u32) -> RequestRecord {
        RequestRecord {
            duration_ns: after_ms * MS,
            syn_retransmissions,
            error: Some(ErrorKind::ConnectTimedOut),
            ..RequestRecord::default()
        }
    }

    fn flow(syns_ms: &[u64], syn_acks_ms: &[u64]) -> FlowSeen {
        let times = |ms: &[u64]| ms.iter().map(|ms| STARTED_AT_NS + ms * MS).collect();
        FlowSeen {
            syns_ns: times(syns_ms),
            syn_acks_ns: times(syn_acks_ms),
        }
    }

    /// How often the SYN was sent again, if that is the cause.
    fn explained(request: &RequestRecord, linear: u32, flow: Option<&FlowSeen>) -> Option<u32> {
        match cause(request, STARTED_AT_NS, linear, flow) {
            Cause::SynRetransmissions {
                retransmissions,
                waited_ns,
            } => {
                let whole_ns = request.connect_ns.unwrap_or(request.duration_ns);
                assert_eq!(waited_ns, whole_ns);
                Some(retransmissions)
            }
            Cause::NotExplained { .. } => None,
            other => panic!("no cause of a connect: {other:?}"),
        }
    }

    #[test]
    fn retransmissions_explain_the_time_that_their_timeouts_take() {
        assert_eq!(explained(&connected(1_010, 1), 4, None), Some(1));
        assert_eq!(explained(&connected(3_020, 3), 4, None), Some(3));
        assert_eq!(explained(&connected(3_020, 2), 0, None), Some(2));
    }

    #[test]
    fn a_time_off_the_schedule_or_without_a_retransmission_is_not_explained() {
        assert_eq!(explained(&connected(700, 0), 4, None), None);
        assert_eq!(explained(&connected(9_000, 1), 4, None), None);
        assert_eq!(explained(&connected(600, 1), 4, None), None);
    }

    #[test]
    fn a_connect_that_timed_out_had_as_many_as_were_due() {
        assert_eq!(explained(&timed_out(10_000, 6), 4, None), Some(6));
        assert_eq!(explained(&timed_out(131_000, 10), 4, None), Some(10));
        assert_eq!(explained(&timed_out(800, 0), 4, None), Some(0));
        assert_eq!(explained(&timed_out(10_000, 0), 4, None), None);
    }

    #[test]
    fn the_moments_of_the_syns_decide_where_they_were_seen() {
        let late = flow(&[0, 1_001, 2_002], &[2_002]);
        assert_eq!(explained(&connected(2_010, 0), 4, Some(&late)), Some(2));
        assert_eq!(explained(&connected(2_700, 2), 4, Some(&late)), None);
        let answer_lost = flow(&[0, 1_001], &[1_001, 2_005]);
        assert_eq!(
            explained(&connected(2_010, 1), 0, Some(&answer_lost)),
            Some(1)
        );
        let unanswered = flow(&[0, 1_001, 2_002], &[]);
        assert_eq!(
            explained(&timed_out(2_500, 2), 4, Some(&unanswered)),
            Some(2)
        );
        assert_eq!(explained(&timed_out(9_000, 2), 4, Some(&unanswered)), None);
    }

    #[test]
    fn a_handshake_that_was_quick_leaves_the_generator() {
        let is_late = |request: &RequestRecord, flow: &FlowSeen| {
            let cause = cause(request, STARTED_AT_NS, 4, Some(flow));
            matches!(cause, Cause::GeneratorLate { .. })
        };
        assert!(is_late(&connected(900, 0), &flow(&[0], &[1])));
        assert!(is_late(&connected(900, 0), &flow(&[880], &[881])));
        assert!(is_late(&timed_out(900, 0), &flow(&[0], &[1])));
        assert!(!is_late(&connected(900, 0), &flow(&[0], &[600])));
        assert!(!is_late(&connected(900, 0), &flow(&[0], &[])));
        assert!(!is_late(&connected(1_010, 1), &flow(&[0, 1_001], &[1_001])));
    }

    #[test]
    fn what_was_seen_after_the_connect_is_not_of_it() {
        let again_later = flow(&[0, 1_001], &[1_001, 3_005]);
        assert_eq!(explained(&connected(2_700, 1), 4, Some(&again_later)), None);
    }

    #[test]
    fn a_count_above_what_was_seen_is_believed() {
        let incomplete = flow(&[0, 1_001], &[]);
        assert_eq!(
            explained(&connected(3_020, 3), 4, Some(&incomplete)),
            Some(3)
        );
    }
}
