//! The churn experiment as a user runs it: a connection for every request, counted on both sides.

mod support;

use support::{Bench, Outcome, check};
use throng_record::{CheckKind, CheckResult, Closing, Outcome as TrialOutcome, Trial};

fn run(arguments: &[&str]) -> (Outcome, Vec<Trial>) {
    let bench = Bench::new();
    let all = [
        &["churn", "--repeats", "1", "--warmup", "100 messages"],
        arguments,
    ];
    let outcome = bench.throng(&all.concat());
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    let mut trials = bench.record().trials;
    trials.sort_by_key(|trial| (trial.target, trial.setting));
    (outcome, trials)
}

#[test]
fn every_cycle_is_a_connection_of_the_server_however_it_is_closed() {
    let (outcome, trials) = run(&[
        "epoll-edge",
        "thread-per-connection",
        "--clients",
        "7",
        "--messages",
        "1009",
        "--closing",
        "fin,reset",
    ]);
    assert_eq!(trials.len(), 4, "{}", outcome.stderr);
    let closings: Vec<Closing> = trials.iter().map(|one| one.job.fleet.closing).collect();
    let both = [Closing::Fin, Closing::Reset];
    assert_eq!(closings, [both, both].concat());
    for trial in &trials {
        assert_eq!(trial.outcome, TrialOutcome::Completed);
        let connections = trial.phases.connections().expect("each request has one");
        assert_eq!(
            (connections.connected, connections.answered),
            (1009, 1009),
            "{:?}",
            trial.phases.errors()
        );
        assert_eq!(connections.warmup_connected, 100);
        assert_eq!(
            check(trial, CheckKind::ServerCount).result,
            CheckResult::Passed
        );
    }
    assert!(outcome.stdout.contains("cycles/s"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("closing"), "{}", outcome.stdout);
}

#[test]
fn a_schedule_begins_what_is_due_and_no_more() {
    let (_, trials) = run(&[
        "epoll-edge",
        "--rate",
        "500",
        "--duration",
        "1s",
        "--no-spin",
    ]);
    let trial = trials.first().expect("one");
    let exchange = trial.phases.exchange().expect("exchanged");
    let connections = trial.phases.connections().expect("a connection a request");
    let scheduling_error = exchange.scheduling_error.as_ref().expect("a schedule");
    // What a busy machine kept from being begun is counted; what it kept from the warm-up, or from the window before its end, is in it.
    let due = 500.0 * exchange.duration_ns as f64 / 1e9;
    let late = 500.0 * scheduling_error.max_ns as f64 / 1e9;
    let told = (connections.begun + exchange.due_unsent) as f64;
    assert!(
        (due - 1.5..=due + 1.5 + late).contains(&told),
        "{told} of {due}"
    );
    let (replies, rate) = (exchange.replies, exchange.replies_per_second);
    assert_eq!(replies, connections.begun);
    assert!(replies >= 450, "{replies}");
    assert!((450.0..=550.0).contains(&rate), "{rate}");
}

#[test]
fn the_other_workloads_are_answered_too() {
    for workload in ["oneshot", "http", "framed"] {
        let arguments = ["epoll-edge", "--messages", "211", "--workload", workload];
        let (_, trials) = run(&arguments);
        let trial = trials.first().expect("one");
        let connections = trial.phases.connections().expect("each request has one");
        assert_eq!(connections.answered, 211, "{workload}");
        assert_eq!(
            check(trial, CheckKind::ServerCount).result,
            CheckResult::Passed
        );
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let bench = Bench::new();
    for (arguments, said) in [
        (&["churn", "poll", "--closing", "slam"][..], "slam"),
        (&["churn", "poll", "--clients", "0"], "nobody would ask"),
        (
            &["churn", "poll", "--connections", "5"],
            "write --clients 32",
        ),
        (
            &["churn", "poll", "--service-time", "5ms"],
            "throng backlog",
        ),
        (&["echo", "poll", "--closing", "fin"], "throng churn"),
        (&["churn", "unix:/tmp/none"], "handshake"),
    ] {
        let outcome = bench.throng(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(said),
            "{arguments:?}: {}",
            outcome.stderr
        );
    }
}
