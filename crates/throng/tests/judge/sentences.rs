//! Findings and sentences with their cause present, and with it absent.

use throng_record::{Finding, Trial, finding};

use super::server;
use super::support::{Bench, Outcome};
use super::{alone, finding, findings, in_one_line, testify};

fn run(arguments: &[&str]) -> (Outcome, Vec<Trial>) {
    let bench = Bench::new();
    let outcome = bench.throng(arguments);
    (outcome, bench.record().trials)
}

/// A reply in two writes waits for the generator's delayed ACK; three thousand connections on a busy server merely queue.
#[test]
fn a_delayed_ack_is_no_queue_and_a_queue_no_delayed_ack() {
    let _alone = alone();
    let bench = Bench::new();
    let command = server::command(bench.path(), "--two-writes");
    bench.throng(&[
        "echo",
        "--command",
        &command,
        "--size",
        "64",
        "--connections",
        "4",
        "--duration",
        "1s",
        "--warmup",
        "100ms",
        "--repeats",
        "1",
    ]);
    let provoked = bench.record().trials.remove(0);
    let latency = &provoked.phases.exchange().expect("measured").latency;
    testify(
        "replies in two writes, without TCP_NODELAY",
        &format!("{:?}", findings(&provoked)),
        &format!("median {:.1} ms", latency.p50_ns as f64 / 1e6),
        "the server writes twice; TCP_DELACK_MIN is 40 ms",
    );
    assert!(
        findings(&provoked).contains(&"delayed-ack"),
        "{:?}",
        provoked.findings
    );
    let (_, trials) = run(&[
        "echo",
        "poll",
        "epoll-edge",
        "--connections",
        "3000",
        "--duration",
        "1s",
        "--warmup",
        "200ms",
        "--repeats",
        "2",
    ]);
    for trial in &trials {
        testify(
            "poll and epoll-edge at 3,000 connections, one write each",
            &format!("{:?}", findings(trial)),
            "no delayed ACK",
            "by construction",
        );
        assert!(
            !findings(trial).contains(&"delayed-ack"),
            "{:?}",
            trial.findings
        );
    }
}

#[test]
fn descriptors_are_counted_for_each_connection() {
    let _alone = alone();
    let bench = Bench::new();
    let inner = server::command(bench.path(), "--descriptors 3");
    let command = format!("sh -c 'ulimit -n 250; exec {inner}'");
    let outcome = bench.throng(&[
        "echo",
        "--command",
        &command,
        "--size",
        "64",
        "--connections",
        "120",
        "--duration",
        "300ms",
        "--warmup",
        "0s",
        "--timeout",
        "1s",
        "--repeats",
        "1",
    ]);
    let trial = bench.record().trials.remove(0);
    let log = server::logs(bench.path()).pop().expect("it ended");
    let told = finding(&trial, "descriptors-exhausted");
    let told = told.unwrap_or_else(|| panic!("{:?} {}", trial.findings, outcome.stderr));
    testify(
        "a server with three descriptors for each connection and a limit of 250",
        &format!("{told:?}"),
        &format!(
            "{} open at most, of {} connections",
            log.descriptors_max, log.open_max
        ),
        "the server's log",
    );
    let Finding::DescriptorsExhausted(finding::DescriptorsExhausted {
        descriptors_per_connection,
        ..
    }) = told
    else {
        panic!("another finding has this name");
    };
    let each = descriptors_per_connection.expect("seen");
    assert!((2.9..3.3).contains(&each), "{each}");
}

/// Nobody asks a command for a backlog.
#[test]
fn a_command_was_asked_for_nothing() {
    let _alone = alone();
    let bench = Bench::new();
    let command = server::command(
        bench.path(),
        "--size 6 --backlog 2 --accept-pause-us 100000",
    );
    let outcome = bench.throng(&[
        "backlog",
        "--command",
        &command,
        "--clients",
        "12",
        "--requests",
        "1",
        "--send",
        "012345",
        "--expect",
        "6 bytes",
        "--repeats",
        "1",
    ]);
    let words = in_one_line(&outcome.stdout);
    let trial = bench.record().trials.remove(0);
    testify(
        "a command with a backlog of 2",
        &format!("{:?}", findings(&trial)),
        "backlog 2; nobody asked it for another",
        "the server's flag",
    );
    assert!(!words.contains("asked for a backlog"), "{words}");
    assert!(words.contains("a backlog of 2"), "{words}");
}

/// `poll` is given every descriptor with every call, `epoll` none.
#[test]
fn idle_connections_cost_poll_and_not_epoll() {
    let _alone = alone();
    let (_, trials) = run(&[
        "accept",
        "poll",
        "epoll-edge",
        "--connections",
        "3000",
        "--repeats",
        "1",
    ]);
    let [poll, epoll] = &trials[..] else {
        panic!("two multiplexers");
    };
    testify(
        "3,000 idle connections: poll, epoll",
        &format!("{:?}, {:?}", findings(poll), findings(epoll)),
        "poll(2) is passed 3,000 entries, epoll_wait(2) none",
        "the system calls' own arguments",
    );
    assert!(
        findings(poll).contains(&"cost-grows-with-idle"),
        "{:?}",
        poll.findings
    );
    assert_eq!(findings(epoll), Vec::<&str>::new());
}
