//! The backlog experiment as a user runs it, and what its record must satisfy whatever it measured.

use throng_record::side::CounterDeltas;
use throng_record::{
    Cause, Check, CheckKind, CheckResult, ConnectionsPhase, ErrorCounts, Trial, Verdict,
};

use super::{Bench, Outcome, check, failed_checks};

/// Runs it once for each setting: what the command said, and the trials by setting.
pub(crate) fn run(arguments: &[&str]) -> (Outcome, Vec<Trial>) {
    let bench = Bench::new();
    run_in(&bench, arguments)
}

pub(crate) fn run_in(bench: &Bench, arguments: &[&str]) -> (Outcome, Vec<Trial>) {
    let all = [&["backlog", "--repeats", "1"], arguments].concat();
    let outcome = bench.throng(&all);
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    let mut trials = bench.record().trials;
    trials.sort_by_key(|trial| (trial.target, trial.setting));
    (outcome, trials)
}

/// Runs a single setting of a single target.
pub(crate) fn run_one(arguments: &[&str]) -> (Outcome, Trial) {
    let (outcome, mut trials) = run(arguments);
    assert_eq!(trials.len(), 1, "{}", outcome.stderr);
    (outcome, trials.remove(0))
}

pub(crate) fn connections(trial: &Trial) -> &ConnectionsPhase {
    trial.phases.connections().expect("each request has one")
}

pub(crate) fn errors(trial: &Trial) -> &ErrorCounts {
    &trial.phases.exchange().expect("exchanged").errors
}

pub(crate) fn counter(trial: &Trial, name: &str) -> u64 {
    let counters: &CounterDeltas = &trial.kernel_counters;
    let change = counters.get(name).copied().unwrap_or(0);
    u64::try_from(change).expect("counters grow")
}

/// Three accounts of what was sent again agree, to the unit: the kernel's counter, the observer's, and that of the clients' sockets.
///
/// A SYN-ACK that answers a SYN sent again is in the counter unless it is a cookie, which to a packet socket is the same.
pub(crate) fn assert_retransmissions_agree(trial: &Trial) {
    let seen = trial.handshakes.expect("handshakes are seen");
    let connections = connections(trial);
    assert_eq!(seen.segments_lost, 0);
    assert_eq!(connections.without_tcp_info, 0);
    assert_eq!(connections.syn_retransmissions, seen.syn_retransmissions);
    let counted = counter(trial, "TcpExt.TCPSynRetrans");
    let unasked = seen.syn_retransmissions + seen.syn_ack_retransmissions;
    let with_repeated = unasked + seen.syn_acks_repeated;
    if counter(trial, "TcpExt.SyncookiesSent") == 0 {
        assert_eq!(counted, with_repeated, "{seen:?}");
    } else {
        assert!(
            (unasked..=with_repeated).contains(&counted),
            "{counted} {seen:?}"
        );
    }
    assert_eq!(
        check(trial, CheckKind::HandshakeAccount).result,
        CheckResult::Passed
    );
}

/// A neighbour of this machine, or other programs on it, may take its CPUs, and then the trial says that it was disturbed; nothing else may spoil it.
pub(crate) fn assert_valid_but_for_noise(trial: &Trial) {
    assert_eq!(failed_checks(trial), Vec::<String>::new());
    let is_ranked = matches!(trial.verdict, Verdict::Valid | Verdict::Disturbed);
    let has_failed = |check: &Check| check.result == CheckResult::Failed;
    assert_eq!(
        is_ranked,
        !trial.checks.iter().any(has_failed),
        "{:?}",
        trial.checks
    );
}

/// Every slow wait has its causes, whose times add up to it, and nothing is left unexplained.
pub(crate) fn assert_explained(trial: &Trial, service_time_ns: u64) {
    let phase = connections(trial);
    assert_eq!(phase.attribution.not_explained, 0, "{:?}", phase.requests);
    assert_eq!(phase.requests_left_out, 0);
    for request in &phase.requests {
        let connect_ns = request.connect_ns.unwrap_or(request.duration_ns);
        let answer_ns = request
            .first_byte_ns
            .unwrap_or(request.duration_ns - connect_ns);
        let mut slow_ns = 0;
        if request.is_slow_to_connect() {
            slow_ns += connect_ns;
        }
        if request.is_slow_to_answer(service_time_ns) {
            slow_ns += answer_ns;
        }
        let told_ns: u64 = request.causes.iter().map(waited_ns).sum();
        // A final ACK that was answered by RST is told though it took no time.
        let is_told_beside = slow_ns == 0 || request.error.is_some();
        let told_beside_ns = if is_told_beside { answer_ns } else { 0 };
        assert!(
            (slow_ns..=slow_ns + told_beside_ns).contains(&told_ns),
            "{request:?}"
        );
        assert!(told_ns <= request.duration_ns, "{request:?}");
    }
}

fn waited_ns(cause: &Cause) -> u64 {
    match cause {
        Cause::SynRetransmissions { waited_ns, .. }
        | Cause::FinalAckDropped { waited_ns, .. }
        | Cause::AcceptQueue { waited_ns, .. }
        | Cause::Service { waited_ns }
        | Cause::GeneratorLate { waited_ns }
        | Cause::NotExplained { waited_ns } => *waited_ns,
    }
}
