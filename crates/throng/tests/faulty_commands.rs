//! Commands that do not become servers, or do not stay: told with what they said last, in bounded time, without orphans.

mod support;

use std::net::TcpListener;
use std::time::Duration;

use support::{Bench, Outcome, THRONG};
use throng_record::{Outcome as TrialOutcome, RunRecord, Verdict};

/// Measures a command, and a built-in server beside it, twice each.
fn measure(bench: &Bench, command: &str) -> (Outcome, RunRecord) {
    measure_in(bench, "private", command)
}

fn measure_in(bench: &Bench, net: &str, command: &str) -> (Outcome, RunRecord) {
    let outcome = bench.throng(&[
        "echo",
        "poll",
        "--command",
        command,
        "--connections",
        "3",
        "--repeats",
        "2",
        "--duration",
        "300ms",
        "--warmup",
        "50ms",
        "--ready-timeout",
        "1s",
        "--timeout",
        "1s",
        "--net",
        net,
    ]);
    assert!(outcome.took < Duration::from_secs(30), "{:?}", outcome.took);
    (outcome, bench.record())
}

/// It could not be launched: said once, with these words, and the other target was measured all the same.
fn assert_not_launched(command: &str, words: &[&str]) {
    assert_not_launched_in("private", command, words);
}

fn assert_not_launched_in(net: &str, command: &str, words: &[&str]) {
    let bench = Bench::new();
    let (outcome, record) = measure_in(&bench, net, command);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    // Of the other target there may be an error too: on a machine whose time is stolen, none of its trials is fit to be ranked.
    let error = format!("error: {command} ");
    let errors = outcome
        .stderr
        .lines()
        .filter(|line| line.starts_with(&error));
    assert_eq!(errors.count(), 1, "{}", outcome.stderr);
    for word in words {
        assert!(
            outcome.stderr.contains(word),
            "{word} in {}",
            outcome.stderr
        );
    }
    assert!(outcome.stderr.contains("\nhint: "), "{}", outcome.stderr);
    assert_eq!(record.trials.len(), 4);
    for trial in &record.trials {
        let failed = matches!(trial.outcome, TrialOutcome::Failed { .. });
        assert_eq!(failed, trial.target == 1, "{:?}", trial.outcome);
    }
    assert!(outcome.stdout.contains("failed"), "{}", outcome.stdout);
}

#[test]
fn a_command_that_does_listen_is_measured() {
    let bench = Bench::new();
    let (outcome, record) = measure(
        &bench,
        &format!("{THRONG} serve epoll-edge --listen 127.0.0.1:{{port}}"),
    );
    for trial in &record.trials {
        assert_eq!(trial.outcome, TrialOutcome::Completed, "{}", outcome.stderr);
        assert_eq!(support::failed_checks(trial), Vec::<String>::new());
        assert!(trial.server.as_ref().expect("observed").cpu_ns > 0);
    }
}

#[test]
fn never_ready() {
    assert_not_launched(
        "sh -c 'echo thinking; sleep 1000' {port}",
        &["did not listen", "1 s", "thinking", "--ready-timeout"],
    );
}

#[test]
fn ends_at_once() {
    assert_not_launched(
        "sh -c 'echo no such option >&2; exit 3' {port}",
        &["ended at once", "3", "no such option"],
    );
}

#[test]
fn goes_into_the_background() {
    // It may not be throng yet that is found, but what is about to become it.
    let in_background = ["went into the background", "daemon off;"];
    let serve = format!("{THRONG} serve poll --listen 127.0.0.1:$0");
    assert_not_launched(
        &format!("sh -c 'setsid {serve} &' {{port}}"),
        &in_background,
    );
    assert_not_launched(&format!("sh -c '{serve} &' {{port}}"), &in_background);
}

/// As `daemon(7)` says, and after it listens, as nginx does; with a worker of its own.
#[test]
fn goes_into_the_background_when_it_listens() {
    let bench = Bench::new();
    let script = r#"
import os, socket, sys, time
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.fork()
while True:
    time.sleep(0.1)
"#;
    let script = bench.write("daemon.py", script);
    let command = format!("python3 {} {{port}}", script.display());
    assert_not_launched(&command, &["went into the background", "left python3"]);
}

#[test]
fn no_such_program() {
    assert_not_launched("./nowhere {port}", &["./nowhere"]);
}

#[test]
fn not_executable() {
    let bench = Bench::new();
    let path = bench.write("server", "no program\n");
    assert_not_launched(
        &format!("{} {{port}}", path.display()),
        &["may not be executed"],
    );
}

#[test]
fn a_port_that_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("bound");
    assert_not_launched_in(
        "host",
        &format!("sh -c 'exec {THRONG} serve poll --listen {address}' {{port}}"),
        &["ended at once", "already in use"],
    );
}

#[test]
fn says_a_lot_and_never_listens() {
    assert_not_launched(
        "sh -c 'while :; do echo noise; done' {port}",
        &["did not listen", "noise"],
    );
}

#[test]
fn dies_in_the_middle() {
    let bench = Bench::new();
    // $0 is the port.
    let command = format!(
        "sh -c '{THRONG} serve poll --listen 127.0.0.1:$0 & sleep 0.4; kill -9 $!' {{port}}"
    );
    let outcome = bench.throng(&[
        "echo",
        "--command",
        &command,
        "--connections",
        "3",
        "--repeats",
        "1",
        "--duration",
        "3s",
        "--timeout",
        "2s",
    ]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("error: "), "{}", outcome.stderr);
    let record = bench.record();
    assert_ne!(record.trials[0].outcome, TrialOutcome::Interrupted);
    assert_ne!(record.trials[0].verdict, Verdict::Valid);
}

#[test]
fn does_not_leave_when_told_to() {
    let bench = Bench::new();
    // An ignored signal stays ignored over exec.
    let command =
        format!("sh -c 'trap \"\" TERM; exec {THRONG} serve poll --listen 127.0.0.1:$0' {{port}}");
    let outcome = bench.throng(&[
        "echo",
        "--command",
        &command,
        "--connections",
        "3",
        "--repeats",
        "1",
        "--duration",
        "300ms",
    ]);
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    assert!(outcome.took < Duration::from_secs(30), "{:?}", outcome.took);
    let trial = bench.record().trials.remove(0);
    assert!(trial.phases.exchange().expect("measured").replies > 0);
}
