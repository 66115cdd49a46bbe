//! The hold experiment as a user runs it, with so few descriptors that several tables are needed.

mod support;

use support::{Bench, Outcome, failed_checks};
use throng_record::{ErrorKind, Finding, Outcome as TrialOutcome, Side, Trial, Verdict, finding};

/// Descriptors of one table.
const DESCRIPTORS: u64 = 600;
const N: u32 = 2_000;

/// Runs it by a shell that lowers its own limit first: the limit of this process is that of other tests too.
fn run(arguments: &[&str]) -> (Outcome, Trial) {
    let bench = Bench::new();
    let script = format!("ulimit -n {DESCRIPTORS} && exec \"$0\" \"$@\"");
    let shell = ["sh".to_owned(), "-c".to_owned(), script];
    let outcome = bench.throng_by(&shell, &[&["hold"], arguments].concat());
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    let mut trials = bench.record().trials;
    assert_eq!(trials.len(), 1, "{}", outcome.stderr);
    assert_eq!(
        trials[0].outcome,
        TrialOutcome::Completed,
        "{}",
        outcome.stderr
    );
    (outcome, trials.remove(0))
}

#[test]
fn more_are_held_than_one_table_has_room_for() {
    let (outcome, trial) = run(&["2000", "--hold", "200ms", "--pings", "503"]);
    assert_eq!(failed_checks(&trial), Vec::<String>::new());
    let connect = trial.phases.connect().expect("connected");
    assert_eq!((connect.connected, connect.errors.total()), (N, 0));
    let tables = |needed: u32| u64::from(needed) * DESCRIPTORS >= u64::from(N);
    assert!(trial.workers.is_some_and(tables), "{:?}", trial.workers);
    assert!(tables(trial.job.fleet.shards), "{}", trial.job.fleet.shards);
    let hold = trial.phases.hold().expect("held");
    assert!(hold.duration_ns >= 200_000_000);
    let ping = trial.phases.ping().expect("pinged");
    assert_eq!((ping.pinged, ping.answered), (503, 503));
    for errors in [&hold.errors, &ping.errors, &ping.lost_errors] {
        assert_eq!(errors.total(), 0, "{errors:?}");
    }
    assert_eq!(ping.latency.count, 503);
    let close = trial.phases.close().expect("closed");
    assert_eq!(close.closed_in_order, N);
    let server = trial.server.as_ref().expect("visible");
    assert!(server.memory_per_connection_bytes.is_some());
    let generator = trial.generator.as_ref().expect("it is ours");
    assert!(generator.memory_per_connection_bytes > Some(0.0));
    let kernel = trial.kernel_memory.as_ref().expect("read");
    assert!(kernel.after.is_some() && kernel.connected.slab_bytes > 0);
    assert!(
        outcome.stderr.contains("this machine has room for 2,000 "),
        "{}",
        outcome.stderr
    );
    assert_eq!(trial.findings, []);
}

/// The 2,000 are more than 600 descriptors and 64 places in the accept queue: what is beyond is told before, met, and named.
#[test]
fn a_single_table_is_filled_to_its_end_and_named() {
    let (outcome, trial) = run(&[
        "2000",
        "epoll-edge",
        "--backlog",
        "64",
        "--hold",
        "100ms",
        "--pings",
        "300",
        "--timeout",
        "1s",
        "--connect-timeout",
        "2s",
    ]);
    let told = "of 2,000 connections to epoll-edge this machine can hold about";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("RLIMIT_NOFILE"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(trial.verdict, Verdict::Partial);
    let connect = trial.phases.connect().expect("as far as it came");
    assert!(
        (500..=700).contains(&connect.connected),
        "{}",
        connect.connected
    );
    let stop = connect.stop.as_ref().expect("why it ended");
    assert_eq!(stop.kind, ErrorKind::ConnectTimedOut);
    let ping = trial.phases.ping().expect("pinged all the same");
    assert!(
        ping.answered > 200 && ping.answered <= ping.pinged,
        "{ping:?}"
    );
    let of_server = trial.findings.iter().find_map(|finding| match finding {
        Finding::DescriptorsExhausted(finding::DescriptorsExhausted {
            side: Side::Server,
            limit,
            open,
            failed,
            ..
        }) => Some((*limit, *open, *failed)),
        _ => None,
    });
    let (limit, open, failed) = of_server.expect("named");
    assert_eq!(limit, Some(DESCRIPTORS));
    // Those in the accept queue are open as the clients see it, and not served.
    assert!((500..=600).contains(&open), "{open}");
    assert_eq!(u64::from(open) + failed, u64::from(N));
}
