//! The fan-out experiment as a user runs it: all are greeted, all hear, and each phase has its time and its cost on both sides.

mod support;

use support::{Bench, Outcome, failed_checks};
use throng_record::{Outcome as TrialOutcome, PhaseName, Trial};

const N: u32 = 300;

fn run(arguments: &[&str]) -> (Outcome, Vec<Trial>) {
    let bench = Bench::new();
    let outcome = bench.throng(&[&["fanout", "--repeats", "1"], arguments].concat());
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    let mut trials = bench.record().trials;
    trials.sort_by_key(|trial| (trial.target, trial.setting));
    (outcome, trials)
}

/// Every connection was greeted and heard the line, exactly once.
fn assert_delivered(trial: &Trial, connections: u32) {
    assert_eq!(trial.outcome, TrialOutcome::Completed);
    assert_eq!(failed_checks(trial), Vec::<String>::new());
    let connect = trial.phases.connect().expect("connected");
    assert_eq!(
        (connect.connected, connect.errors.total()),
        (connections, 0)
    );
    let put = trial.phases.put().expect("put");
    assert_eq!(put.speaker, Some(connections / 2));
    assert!(put.put_ns.is_some());
    let greeting = trial.phases.greeting().expect("awaited");
    for line in [greeting, &put.line] {
        assert_eq!((line.due, line.received), (connections, connections));
        assert_eq!(line.errors.total(), 0, "{:?}", line.errors);
        let in_slices: u32 = line.by_index.iter().map(|slice| slice.connections).sum();
        assert_eq!(in_slices, connections, "each has its latency");
    }
    let close = trial.phases.close().expect("closed");
    assert_eq!(close.closed_in_order, connections);
}

/// Threads of the server with every connection open.
fn threads(trial: &Trial) -> u32 {
    let get = trial.phases.cost(PhaseName::Get);
    get.expect("read").server.expect("visible").threads
}

#[test]
fn all_are_greeted_and_all_hear_in_every_kind_of_model() {
    let (_, trials) = run(&[
        "epoll-edge",
        "poll",
        "io-uring",
        "tokio",
        "thread-per-connection",
        "epoll-reuseport --workers 3",
        "--connections",
        &N.to_string(),
    ]);
    assert_eq!(trials.len(), 6);
    for trial in &trials {
        assert_delivered(trial, N);
        let phases = trial.phases.0.iter();
        let names: Vec<PhaseName> = phases.map(|phase| phase.measured.name()).collect();
        let expected = [
            PhaseName::Connect,
            PhaseName::Acknowledge,
            PhaseName::Get,
            PhaseName::Close,
        ];
        assert_eq!(names, expected);
        for phase in &trial.phases.0 {
            let cost = phase.cost.as_ref().expect("both sides were read");
            assert!(
                cost.generator.is_some() && cost.server.is_some(),
                "{cost:?}"
            );
        }
    }
    let threads: Vec<u32> = trials.iter().map(threads).collect();
    assert_eq!(threads[0], 1, "epoll-edge: {threads:?}");
    assert_eq!(threads[1], 1, "poll: {threads:?}");
    assert!(
        (N..N + 4).contains(&threads[4]),
        "a thread each: {threads:?}"
    );
    assert!((3..=4).contains(&threads[5]), "3 loops: {threads:?}");
}

#[test]
fn two_threads_each_deliver_by_every_hand_over() {
    let (_, trials) = run(&[
        "two-threads-per-connection --hand-over condvar",
        "two-threads-per-connection --hand-over queues",
        "two-threads-per-connection --hand-over broadcaster",
        "--connections",
        &N.to_string(),
    ]);
    assert_eq!(trials.len(), 3);
    for trial in &trials {
        assert_delivered(trial, N);
        let threads = threads(trial);
        assert!((2 * N..2 * N + 4).contains(&threads), "{threads}");
    }
}

#[test]
fn lines_at_a_rate_come_out_of_every_connection() {
    let (outcome, trials) = run(&[
        "epoll-edge",
        "--connections",
        "101",
        "--rate",
        "20",
        "--duration",
        "1s",
    ]);
    let trial = &trials[0];
    assert_delivered(trial, 101);
    let sustained = trial.phases.sustained().expect("asked for");
    assert!((19..=21).contains(&sustained.sent), "{}", sustained.sent);
    assert_eq!(sustained.deliveries, sustained.sent * 101);
    assert_eq!((sustained.missing, sustained.errors.total()), (0, 0));
    assert_eq!(sustained.latency.count, sustained.deliveries);
    assert_eq!(sustained.scheduling_error.count, sustained.sent);
    assert!(outcome.stdout.contains("deliveries"), "{}", outcome.stdout);
}

#[test]
fn connects_may_go_side_by_side_or_at_a_rate() {
    let (_, trials) = run(&[
        "epoll-edge",
        "--connections",
        "307",
        "--connect-concurrency",
        "1,16",
    ]);
    assert_eq!(trials.len(), 2);
    trials.iter().for_each(|trial| assert_delivered(trial, 307));
    let (_, trials) = run(&[
        "epoll-edge",
        "--connections",
        "101",
        "--connect-rate",
        "200",
    ]);
    assert_delivered(&trials[0], 101);
    // The last of 101 begins half a second after the first.
    let connect = trials[0].phases.connect().expect("connected");
    assert!(
        connect.duration_ns >= 495_000_000,
        "{}",
        connect.duration_ns
    );
}

#[test]
fn one_process_may_serve_a_whole_sweep_in_ascending_order() {
    let (_, mut trials) = run(&[
        "epoll-edge",
        "--connections",
        "50,100,200",
        "--server",
        "per-sweep",
    ]);
    trials.sort_by_key(|trial| trial.order);
    let sizes: Vec<u32> = trials
        .iter()
        .map(|trial| trial.job.fleet.connections)
        .collect();
    assert_eq!(sizes, [50, 100, 200]);
    for trial in &trials {
        assert_eq!(trial.server_ordinal, Some(0));
        assert_delivered(trial, trial.job.fleet.connections);
    }
}
