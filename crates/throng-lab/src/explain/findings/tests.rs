use throng_findings::findings::kind;

use super::hand_made::{Case, listener};
use super::*;

#[test]
fn an_uneventful_trial_has_no_findings() {
    assert_eq!(findings(&Case::backlog().evidence()), []);
    assert_eq!(findings(&Case::echo().evidence()), []);
}

#[test]
fn what_lost_most_stands_first() {
    let mut case = Case::backlog();
    case.counter("TcpExt.ListenOverflows", 31);
    case.counter("TcpExt.SyncookiesSent", 9);
    case.account.final_acks_dropped = 4;
    case.account.delayed = 100;
    case.account.delayed_by_accept_queue = 100;
    case.backlog_asked = Some(256);
    case.somaxconn = Some(128);
    case.queue.listeners = vec![listener(128, 129, 50.0)];
    case.errors
        .count(throng_record::ErrorKind::ConnectRefused, String::new);
    let findings = findings(&case.evidence());
    let names: Vec<&str> = findings.iter().map(|finding| kind(finding).name).collect();
    assert_eq!(
        names,
        [
            "connections-refused",
            "accept-queue-overflow",
            "backlog-clamped",
            "final-ack-dropped",
            "syn-cookies",
            "too-few-acceptors",
        ]
    );
}

#[test]
fn a_counter_that_shrank_or_is_absent_counts_as_nothing() {
    let mut case = Case::backlog();
    case.counter("TcpExt.ListenOverflows", -3);
    let evidence = case.evidence();
    assert_eq!(evidence.counter("TcpExt.ListenOverflows"), 0);
    assert_eq!(evidence.counter("TcpExt.ListenDrops"), 0);
}
