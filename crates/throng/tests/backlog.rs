//! The backlog experiment is exact: what was sent again agrees to the unit in three accounts, and every slow request is explained,
//! under each of the kernel's settings that decide what becomes of a connection that finds the queue full.

mod support;

use support::backlog::{
    assert_explained, assert_retransmissions_agree, assert_valid_but_for_noise, connections,
    counter, errors, run, run_one,
};
use support::{Bench, THRONG, check};
use throng_record::{
    Cause, CheckKind, CheckResult, Finding, Network, Outcome as TrialOutcome, Trial, finding,
};

const MS: u64 = 1_000_000;

/// Of so many clients 7 find room at first; the others come back in a wave.
const CLIENTS: u64 = 14;
/// The wave of these is longer than the request queue, even where it comes in two parts.
const MANY_CLIENTS: u64 = 20;

const OVERFLOWING: [&str; 10] = [
    "iterative",
    "--backlog",
    "5",
    "--clients",
    "14",
    "--requests",
    "2",
    "--service-time",
    "10ms",
    "--timeout",
];

/// Whatever the settings: the queue overflowed, each request came to its end, and its time is accounted for.
fn assert_exact(trial: &Trial, clients: u64) {
    assert_eq!(trial.outcome, TrialOutcome::Completed);
    assert_eq!(trial.network, Network::Private);
    assert_eq!(trial.unseen, Vec::<String>::new());
    let phase = connections(trial);
    assert_eq!(phase.begun, 2 * clients);
    assert_eq!(phase.begun, phase.answered + errors(trial).total());
    let exchange = trial.phases.exchange();
    assert_eq!(exchange.map(|all| all.replies), Some(phase.answered));
    let queue = trial.accept_queue.as_ref().expect("seen");
    assert_eq!(queue.listeners[0].backlog, 5);
    // Full is one more; a look a millisecond may miss that moment.
    assert!((1..=6).contains(&queue.listeners[0].depth_max));
    assert!(
        counter(trial, "TcpExt.ListenOverflows") >= 7,
        "{:?}",
        trial.kernel_counters
    );
    assert!(phase.attribution.connects_by_syn_retransmission >= 7);
    assert!(
        phase.duration_least_ns == Some(2 * clients * 10 * MS) && phase.duration_ns > 1_000 * MS
    );
    assert_retransmissions_agree(trial);
    assert_explained(trial, 10 * MS);
    if errors(trial).total() == 0 {
        assert_eq!(
            check(trial, CheckKind::ServerCount).result,
            CheckResult::Passed
        );
        assert_valid_but_for_noise(trial);
    }
}

#[test]
fn cookies_and_linear_timeouts_on_epoll() {
    let flags = [
        "20s",
        "--backend",
        "epoll",
        "--kernel",
        "tcp_syncookies=0,1",
        "--kernel",
        "tcp_syn_linear_timeouts=0,4",
    ];
    let clients = MANY_CLIENTS.to_string();
    let mut overflowing = OVERFLOWING;
    overflowing[4] = &clients;
    let (_, trials) = run(&[&overflowing[..], &flags].concat());
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        assert_exact(trial, MANY_CLIENTS);
        assert_eq!(errors(trial).total(), 0);
    }
    let cookies = |trial: &Trial| counter(trial, "TcpExt.SyncookiesSent");
    let with_cookies = trials.iter().filter(|trial| cookies(trial) > 0).count();
    assert_eq!(with_cookies, 2, "where they are on, and only there");
    let drops = |trial: &&Trial| counter(trial, "TcpExt.TCPReqQFullDrop") > 0;
    assert_eq!(trials.iter().filter(drops).count(), 2, "where they are off");
}

#[test]
fn aborts_on_io_uring() {
    let flags = [
        "20s",
        "--backend",
        "io-uring",
        "--kernel",
        "tcp_abort_on_overflow=0,1",
        "--capture",
        "handshakes.pcapng",
    ];
    let (outcome, trials) = run(&[&OVERFLOWING[..], &flags].concat());
    assert_eq!(trials.len(), 2, "{}", outcome.stderr);
    for trial in &trials {
        assert_exact(trial, CLIENTS);
    }
    assert_eq!(errors(&trials[0]).total(), 0);
    let seen = trials[1].handshakes.expect("seen");
    assert!(seen.resets_by_server >= errors(&trials[1]).total());
}

/// Each run has a network of its own, and in each of them the same command listens at the same address and port.
#[test]
fn two_runs_at_once_count_their_own_handshakes_alone() {
    let command = format!(
        "{THRONG} serve iterative --workload oneshot --delay 10ms --backlog 5 --listen 127.0.0.1:{{port}}"
    );
    let mut arguments = OVERFLOWING.to_vec();
    arguments.splice(..1, ["--command", &command]);
    arguments.push("20s");
    let trials = std::thread::scope(|scope| {
        let runs = [(); 2].map(|()| scope.spawn(|| run_one(&arguments).1));
        runs.map(|run| run.join().expect("it did not panic"))
    });
    for trial in trials {
        assert_eq!(trial.outcome, TrialOutcome::Completed);
        assert_eq!(trial.network, Network::Private);
        assert!(counter(&trial, "TcpExt.ListenOverflows") >= 7);
        assert_retransmissions_agree(&trial);
        let seen = trial.handshakes.expect("seen");
        assert_eq!(seen.syns, connections(&trial).begun, "{seen:?}");
        assert!(seen.syn_retransmissions >= 7, "{seen:?}");
    }
}

/// Two SYNs enter the request queue at once while the accept queue has one place: the second final ACK is dropped, and without cookies the
/// server sends its SYN-ACK again after a second, in which the service of 1.5 s has made no room.
#[test]
fn a_dropped_final_ack_without_cookies_makes_the_server_send_its_syn_ack_again() {
    let (_, trial) = run_one(&[
        "iterative",
        "--clients",
        "8",
        "--requests",
        "1",
        "--backlog",
        "2",
        "--service-time",
        "1500ms",
        "--timeout",
        "3500ms",
        "--connect-timeout",
        "4s",
        "--kernel",
        "tcp_syncookies=0",
        "--kernel",
        "tcp_syn_linear_timeouts=4",
    ]);
    let seen = trial.handshakes.expect("seen");
    assert!(seen.syn_ack_retransmissions > 0, "{seen:?}");
    assert_retransmissions_agree(&trial);
    assert_explained(&trial, 1_500 * MS);
    let found = trial.findings.iter().find_map(|finding| match finding {
        Finding::FinalAckDropped(finding::FinalAckDropped {
            connections,
            syn_ack_retransmissions,
            ..
        }) => Some((*connections, *syn_ack_retransmissions)),
        _ => None,
    });
    let (dropped, sent_again) = found.expect("it is told");
    assert!(dropped > 0);
    assert_eq!(sent_again, Some(seen.syn_ack_retransmissions));
    let of_requests = connections(&trial)
        .requests
        .iter()
        .flat_map(|request| &request.causes);
    let of_each = of_requests.filter_map(|cause| match cause {
        Cause::FinalAckDropped {
            syn_ack_retransmissions,
            ..
        } => *syn_ack_retransmissions,
        _ => None,
    });
    assert_eq!(
        u64::from(of_each.sum::<u32>()),
        seen.syn_ack_retransmissions
    );
}

/// The plan that is all about this runs in its short form, within half as much again as it said before.
#[test]
fn the_short_plan_of_kernel_settings_keeps_to_its_estimate_and_tells_all() {
    let bench = Bench::new();
    let outcome = bench.throng(&["run", "backlog-kernel", "--quick"]);
    let (_, after) = outcome
        .stderr
        .split_once("trials, about ")
        .expect("told first");
    let (seconds, _) = after.split_once(" s").expect("in seconds");
    let estimate: f64 = seconds.parse().expect("a number");
    assert!(
        outcome.took.as_secs_f64() < 1.5 * estimate,
        "{:?} of {estimate} s",
        outcome.took
    );
    // Lines may be broken at a hyphen.
    let told: String = outcome.stdout.split_whitespace().collect();
    for words in [
        "Findings",
        "Slowestrequests",
        "throngexplainaccept-queue-overflow",
    ] {
        assert!(told.contains(words), "{}", outcome.stdout);
    }
    let trials = bench.record().trials;
    assert_eq!(trials.len(), 8, "three settings of two values");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for trial in &trials {
        assert_valid_but_for_noise(trial);
        assert_retransmissions_agree(trial);
        assert_explained(trial, 40 * MS);
    }
}
