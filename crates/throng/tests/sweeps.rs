//! Plans with several values for a key, and servers that live for a whole sweep.

mod support;

use std::collections::{HashMap, HashSet};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use support::{Bench, THRONG, check, column, exit_code, failed_checks, signal, wait_for};
use throng_record::{CheckKind, CheckResult, Outcome, Protocol, Trial, schema};

fn ordinals(trials: &[Trial]) -> Vec<u32> {
    let ordinals = trials.iter().map(|trial| trial.server_ordinal);
    ordinals.map(|ordinal| ordinal.expect("launched")).collect()
}

#[test]
fn a_sweep_over_two_keys_measures_every_combination_on_every_target() {
    let bench = Bench::new();
    let outcome = bench.throng(&[
        "echo",
        "poll",
        "epoll-edge",
        "--size",
        "64,6",
        "--connections",
        "5,2",
        "--messages",
        "101",
        "--warmup",
        "0 messages",
        "--repeats",
        "1",
    ]);
    let record = bench.record();
    assert_eq!(record.plan.swept, ["size", "connections"]);
    let mut measured = Vec::new();
    for trial in &record.trials {
        assert_eq!(failed_checks(trial), Vec::<String>::new());
        let exchange = trial.phases.exchange().expect("measured");
        let asked = trial.job.phases.exchange().expect("asked for");
        let Protocol::Echo { size_bytes } = asked.protocol else {
            panic!("an echo")
        };
        assert_eq!(exchange.received_bytes, 101 * u64::from(size_bytes));
        let setting = &record.plan.settings[trial.setting as usize];
        assert_eq!(setting.phases.protocol(), Some(&asked.protocol));
        assert_eq!(setting.connections, trial.job.fleet.connections);
        measured.push((trial.target, size_bytes, setting.connections));
    }
    measured.sort_unstable();
    let all = [0, 1].map(|target| [6, 64].map(|size| [2, 5].map(|count| (target, size, count))));
    assert_eq!(measured, all.as_flattened().as_flattened());
    let mut processes = ordinals(&record.trials);
    assert!(processes.is_sorted());
    processes.dedup();
    assert_eq!(processes.len(), 8, "each trial has a process of its own");
    for heading in [
        "2 connections · size 64",
        "5 connections · size 6",
        "messages/s by number of connections",
    ] {
        assert!(outcome.stdout.contains(heading), "{}", outcome.stdout);
    }
    let table = bench.throng(&["report", "--format", "csv"]).stdout;
    let sizes = column(&table, "swept_size");
    assert_eq!(sizes.iter().filter(|size| *size == "64").count(), 4);
}

#[test]
fn one_process_serves_a_whole_sweep_and_its_own_count_is_the_sum() {
    let bench = Bench::new();
    let outcome = bench.throng(&[
        "echo",
        "poll",
        "epoll-edge",
        "--server",
        "per-sweep",
        "--connections",
        "7,2,3",
        "--messages",
        "101",
        "--warmup",
        "0 messages",
        "--repeats",
        "2",
    ]);
    assert!(
        outcome.stdout.contains("one server process for each sweep"),
        "{}",
        outcome.stdout
    );
    let record = bench.record();
    assert_eq!(
        ordinals(&record.trials),
        [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    );
    for sweep in record.trials.chunks(3) {
        let connections = sweep.iter().map(|trial| trial.job.fleet.connections);
        assert_eq!(connections.collect::<Vec<_>>(), [2, 3, 7]);
        for trial in sweep {
            assert_eq!(trial.target, sweep[0].target);
            assert_eq!(failed_checks(trial), Vec::<String>::new());
        }
        for earlier in &sweep[..2] {
            let check = check(earlier, CheckKind::ServerCount);
            assert_eq!(check.result, CheckResult::NotApplicable);
            assert!(check.detail.contains("its last trial"), "{}", check.detail);
        }
        let check = check(&sweep[2], CheckKind::ServerCount);
        assert_eq!(check.result, CheckResult::Passed, "{}", check.detail);
        let sum = format!("sent {} bytes over 12 connections", 3 * 101 * 6);
        assert!(check.detail.contains(&sum), "{}", check.detail);
    }
}

#[test]
fn a_server_that_is_launched_otherwise_is_another_process() {
    let bench = Bench::new();
    bench.write(
        "mine.toml",
        "targets = ['poll']\nserver = 'per-sweep'\nfamily = ['ipv4', 'unix']\nconnections = [1, 2]\nmessages = 11\nwarmup = '0 messages'\nrepeats = 1\n",
    );
    bench.throng(&["run", "mine.toml"]);
    let record = bench.record();
    assert_eq!(ordinals(&record.trials), [0, 0, 1, 1]);
    for sweep in record.trials.chunks(2) {
        let address = |trial: &Trial| trial.job.fleet.addresses[0].clone();
        assert_eq!(address(&sweep[0]), address(&sweep[1]));
    }
    let is_unix = |trial: &&Trial| trial.job.fleet.addresses[0].starts_with("unix:");
    assert_eq!(record.trials.iter().filter(is_unix).count(), 2);
}

/// Serves one connection after another, and ends as soon as the second has sent something.
const DIES_ON_ITS_SECOND_CONNECTION: &str = r#"
import os, socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
for number in (1, 2):
    connection, _ = listener.accept()
    while data := connection.recv(65536):
        if number == 2:
            print("no more", file=sys.stderr, flush=True)
            os._exit(7)
        connection.sendall(data)
    connection.close()
"#;

#[test]
fn a_server_that_dies_in_the_middle_of_a_sweep_is_told_and_launched_anew() {
    let bench = Bench::new();
    bench.write("mine.py", DIES_ON_ITS_SECOND_CONNECTION);
    let outcome = bench.throng(&[
        "echo",
        "--command",
        "python3 mine.py {port}",
        "--server",
        "per-sweep",
        "--connections",
        "1",
        "--size",
        "6,7,8",
        "--messages",
        "11",
        "--warmup",
        "0 messages",
        "--repeats",
        "1",
    ]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    for word in ["ended before it was told to", "exit status: 7", "no more"] {
        assert!(
            outcome.stderr.contains(word),
            "{word} in {}",
            outcome.stderr
        );
    }
    let record = bench.record();
    assert_eq!(ordinals(&record.trials), [0, 0, 1]);
    let died = |trial: &Trial| check(trial, CheckKind::ServerDied).result;
    let died: Vec<CheckResult> = record.trials.iter().map(died).collect();
    assert_eq!(
        died,
        [
            CheckResult::Passed,
            CheckResult::Failed,
            CheckResult::Passed
        ]
    );
    let exchange = record.trials[2].phases.exchange();
    let replies = exchange.expect("measured").replies;
    assert_eq!(replies, 11, "the next one serves as the first did");
}

/// Echoes until a fourth connection is open, then closes all: it answers nobody of four.
const ANSWERS_THREE: &str = r#"
import select, socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
connections = set()
while True:
    for ready in select.select([listener, *connections], [], [])[0]:
        if ready is listener:
            connections.add(listener.accept()[0])
        elif ready in connections:
            data = ready.recv(65536)
            if data:
                ready.sendall(data)
            else:
                connections.discard(ready)
                ready.close()
        if len(connections) > 3:
            for connection in connections:
                connection.close()
            connections = set()
"#;

#[test]
fn a_server_whose_last_trials_are_spared_serves_no_other_target() {
    let bench = Bench::new();
    bench.write("mine.py", ANSWERS_THREE);
    bench.throng(&[
        "echo",
        "poll",
        "--command",
        "three=python3 mine.py {port}",
        "--server",
        "per-sweep",
        "--connections",
        "2,40,50",
        "--messages",
        "101",
        "--warmup",
        "0 messages",
        "--repeats",
        "4",
    ]);
    let record = bench.record();
    let is_spared = |trial: &&Trial| matches!(trial.outcome, Outcome::Spared { .. });
    assert!(record.trials.iter().filter(is_spared).count() >= 6);
    let mut targets: HashMap<u32, HashSet<u32>> = HashMap::new();
    for trial in &record.trials {
        if let Some(ordinal) = trial.server_ordinal {
            targets.entry(ordinal).or_default().insert(trial.target);
        }
    }
    assert_eq!(targets.len(), 8, "a process for each target and repeat");
    assert!(targets.values().all(|of| of.len() == 1), "{targets:?}");
    for trial in record.trials.iter().filter(|trial| trial.target == 0) {
        assert_eq!(failed_checks(trial), Vec::<String>::new());
    }
}

#[test]
fn ctrl_c_in_the_middle_of_a_sweep_ends_its_server_and_keeps_what_was_measured() {
    let bench = Bench::new();
    let mut child = bench.start(&[
        "echo",
        "poll",
        "--server",
        "per-sweep",
        "--connections",
        "1,2,3,4,5,6,7,8",
        "--duration",
        "500ms",
        "--repeats",
        "9",
    ]);
    let stored = || {
        let text = std::fs::read_to_string(bench.runs().pop()?).ok()?;
        Some(schema::read(&text).ok()?.trials.len())
    };
    assert!(wait_for(Duration::from_secs(30), || stored() >= Some(2)));
    signal(&child, Signal::INT);
    assert_eq!(exit_code(&mut child), Some(130));
    bench.assert_no_process_left();
    let record = bench.record();
    assert!(record.interrupted && record.trials.len() < 72);
    assert_eq!(record.trials[0].outcome, Outcome::Completed);
    assert!(record.trials[0].phases.exchange().is_some());
}

#[test]
fn all_stands_for_every_built_in_model() {
    let bench = Bench::new();
    bench.throng(&[
        "echo",
        "all",
        "--connections",
        "1",
        "--messages",
        "11",
        "--repeats",
        "1",
    ]);
    let targets = bench.record().plan.targets;
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, throng_servers::Model::ALL.map(|model| model.name()));
}

#[test]
fn the_estimate_is_told_first_on_a_terminal_too() {
    let bench = Bench::new();
    let spawn = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
    let output = Command::new("python3")
        .args(["-c", spawn, THRONG, "echo", "poll", "--size", "6,7"])
        .args(["--messages", "11", "--repeats", "1", "--connections", "1"])
        .current_dir(bench.path())
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("started");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.starts_with("2 trials, about 1 s"), "{shown:?}");
}
