//! Three accounts of the same retransmissions: the kernel's counter, `TCP_INFO` of every connection, and what was seen to be sent again.
//!
//! `TCPSynRetrans` counts what clients *and* server sent again while shaking hands (net/ipv4/tcp_output.c:
//! `__tcp_retransmit_skb` and `tcp_rtx_synack`). It must be the sum of the two, to the unit, and the clients' part what their sockets say:
//! otherwise one of the observers has missed something, and what is built on them is not to be trusted. A SYN-ACK that answers a SYN
//! sent again is counted where the server had kept the request, and not where it is a SYN cookie made anew, which to a packet socket
//! is the same.

use throng_record::{Check, CheckKind, CheckResult, ConnectionsPhase, HandshakesRecord, Network};

use super::{Kind, made, not_applicable};

pub(super) const KIND: Kind = Kind {
    name: "handshake-account",
    title: "handshake account",
    heading: "Handshake account",
    is_the_servers_fault: false,
};

const COUNTER: &str = "TcpExt.TCPSynRetrans";

/// `change`: by how much a counter changed, in the networks of the sides that count it.
pub(super) fn check(
    connections: &ConnectionsPhase,
    handshakes: Option<&HandshakesRecord>,
    change: impl Fn(&str) -> i64,
    network: Network,
) -> Check {
    let kind = CheckKind::HandshakeAccount;
    if network != Network::Private {
        return not_applicable(kind, "the host's counters are everybody's");
    }
    let Some(seen) = handshakes else {
        return not_applicable(kind, "the handshakes were not observed");
    };
    if seen.segments_lost > 0 {
        return not_applicable(
            kind,
            format!(
                "the observer of the handshakes lost {} segments",
                seen.segments_lost
            ),
        );
    }
    if connections.warmup_connected > 0 {
        return not_applicable(
            kind,
            "the handshakes of the warm-up are in the counters too",
        );
    }
    if connections.without_tcp_info > 0 {
        return not_applicable(
            kind,
            format!(
                "TCP_INFO could not be read of {} connections",
                connections.without_tcp_info
            ),
        );
    }
    let counted = change(COUNTER);
    let clients = connections.syn_retransmissions;
    let seen_again = seen.syn_retransmissions + seen.syn_ack_retransmissions;
    let evidence = format!(
        "TCPSynRetrans grew by {counted}; {} SYNs and {} SYN-ACKs were seen to be sent again; TCP_INFO tells of {clients} SYNs",
        seen.syn_retransmissions, seen.syn_ack_retransmissions,
    );
    let difference = counted as f64 - seen_again as f64;
    let has_cookies = change("TcpExt.SyncookiesSent") != 0;
    let repeated = if has_cookies {
        0
    } else {
        seen.syn_acks_repeated
    };
    let possible = seen_again + repeated..=seen_again + seen.syn_acks_repeated;
    let is_counted = u64::try_from(counted).is_ok_and(|counted| possible.contains(&counted));
    if is_counted && clients == seen.syn_retransmissions {
        return made(kind, CheckResult::Passed, difference, 0.0, evidence);
    }
    let detail = format!(
        "{evidence}: they should agree to the unit, so something was missed, or somebody else connected to the server; if it happens again, report it with the stored run"
    );
    made(kind, CheckResult::Failed, difference, 0.0, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(counted: i64, by_tcp_info: u64, seen: HandshakesRecord) -> CheckResult {
        let connections = ConnectionsPhase {
            syn_retransmissions: by_tcp_info,
            ..ConnectionsPhase::default()
        };
        let change = |counter: &str| if counter == COUNTER { counted } else { 0 };
        check(&connections, Some(&seen), change, Network::Private).result
    }

    #[test]
    fn the_three_accounts_agree_to_the_unit() {
        let seen = HandshakesRecord {
            syn_retransmissions: 7,
            syn_ack_retransmissions: 4,
            ..HandshakesRecord::default()
        };
        assert_eq!(result(11, 7, seen), CheckResult::Passed);
        for (counted, by_tcp_info) in [(10, 7), (12, 7), (11, 6), (11, 8)] {
            assert_eq!(result(counted, by_tcp_info, seen), CheckResult::Failed);
        }
    }

    #[test]
    fn a_repeated_syn_ack_counts_unless_it_may_be_a_cookie() {
        let seen = HandshakesRecord {
            syn_retransmissions: 2,
            syn_acks_repeated: 2,
            ..HandshakesRecord::default()
        };
        assert_eq!(result(4, 2, seen), CheckResult::Passed);
        assert_eq!(result(3, 2, seen), CheckResult::Failed);
        let connections = ConnectionsPhase {
            syn_retransmissions: 2,
            ..ConnectionsPhase::default()
        };
        let change = |counter: &str| if counter == COUNTER { 3 } else { 1 };
        let check = check(&connections, Some(&seen), change, Network::Private);
        assert_eq!(check.result, CheckResult::Passed);
    }

    #[test]
    fn what_lost_segments_cannot_be_held_against_anybody() {
        let lost = HandshakesRecord {
            segments_lost: 1,
            ..HandshakesRecord::default()
        };
        assert_eq!(result(3, 3, lost), CheckResult::NotApplicable);
        let connections = ConnectionsPhase::default();
        for (seen, network) in [
            (None, Network::Private),
            (Some(HandshakesRecord::default()), Network::Host),
        ] {
            let check = check(&connections, seen.as_ref(), |_| 0, network);
            assert_eq!(check.result, CheckResult::NotApplicable);
        }
    }
}
