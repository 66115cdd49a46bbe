//! Ending early: what was measured is kept, the exit code says so, no process stays.

mod support;

use std::io::Read as _;
use std::process::Child;
use std::time::Duration;

use rustix::process::Signal;
use support::{Bench, THRONG, exit_code, signal, wait_for};
use throng_record::{Outcome, RunRecord, schema};

const RUN: [&str; 9] = [
    "echo",
    "poll",
    "epoll-edge",
    "--connections",
    "5",
    "--duration",
    "500ms",
    "--repeats",
    "50",
];

/// Starts a long run, and waits until so many of its trials are stored.
fn started(bench: &Bench, trials: usize) -> Child {
    started_by(bench, &[], trials)
}

fn started_by(bench: &Bench, starter: &[&str], trials: usize) -> Child {
    let child = bench.start_by(starter, &RUN);
    let stored = || {
        let path = bench.runs().pop()?;
        let record: RunRecord = schema::read(&std::fs::read_to_string(path).ok()?).ok()?;
        Some(record.trials.len())
    };
    assert!(wait_for(Duration::from_secs(30), || stored() >= Some(trials)));
    child
}

fn output(child: &mut Child) -> (String, String) {
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child
        .stdout
        .take()
        .expect("piped")
        .read_to_string(&mut stdout)
        .expect("text");
    child
        .stderr
        .take()
        .expect("piped")
        .read_to_string(&mut stderr)
        .expect("text");
    (stdout, stderr)
}

#[test]
fn a_run_that_is_ended_early_keeps_and_shows_what_it_measured() {
    for end in [Signal::INT, Signal::TERM] {
        let bench = Bench::new();
        let mut child = started(&bench, 1);
        signal(&child, end);
        assert_eq!(exit_code(&mut child), Some(130));
        let (stdout, stderr) = output(&mut child);
        assert!(stdout.contains("This run was interrupted "), "{stdout}");
        assert!(
            !stderr.contains("panicked") && stderr.contains("run.json"),
            "{stderr}"
        );
        let record = bench.record();
        assert!(record.interrupted);
        assert!(record.trials.len() < 100);
        assert_eq!(record.trials[0].outcome, Outcome::Completed);
        bench.assert_no_process_left();
    }
}

#[test]
fn the_second_ctrl_c_ends_it_at_once() {
    let bench = Bench::new();
    let mut child = started(&bench, 0);
    signal(&child, Signal::INT);
    signal(&child, Signal::INT);
    assert_eq!(exit_code(&mut child), Some(130));
    bench.assert_no_process_left();
    assert!(
        bench.record().trials.len() < 100,
        "what was stored is a whole record"
    );
}

#[test]
fn a_throng_that_is_killed_leaves_no_orphan() {
    let bench = Bench::new();
    let mut child = started(&bench, 1);
    assert!(
        wait_for(Duration::from_secs(10), || bench.processes().len() > 1),
        "its children are seen"
    );
    child.kill().expect("killed");
    child.wait().expect("reaped");
    bench.assert_no_process_left();
    assert!(!bench.record().trials.is_empty());
}

/// The kernel ends the script with the lab, but not what the script started.
#[test]
fn a_throng_that_is_killed_leaves_no_server_behind_a_script() {
    let bench = Bench::new();
    let script = format!("{THRONG} serve poll --listen 127.0.0.1:$1\n:\n");
    let script = bench.write("server.sh", &script);
    let command = format!("sh {} {{port}}", script.display());
    let mut child = bench.start(&["echo", "--command", &command, "--duration", "20s"]);
    let serves = |pid: &u32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains("\0serve\0poll")
    };
    let is_there = || bench.processes().iter().any(serves);
    assert!(wait_for(Duration::from_secs(30), is_there));
    child.kill().expect("killed");
    child.wait().expect("reaped");
    bench.assert_no_process_left();
    assert!(bench.record().interrupted, "nobody could say so any more");
}

#[test]
fn a_terminal_that_is_closed_ends_a_run_in_order() {
    let bench = Bench::new();
    // These tests may themselves have been started so that they ignore it.
    let mut child = started_by(&bench, &["env", "--default-signal=HUP"], 1);
    signal(&child, Signal::HUP);
    assert_eq!(exit_code(&mut child), Some(130));
    assert!(bench.record().interrupted);
    bench.assert_no_process_left();
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let bench = Bench::new();
    let mut child = started_by(&bench, &["nohup"], 1);
    signal(&child, Signal::HUP);
    let before = bench.record().trials.len();
    let goes_on = || bench.record().trials.len() > before;
    assert!(wait_for(Duration::from_secs(30), goes_on));
    signal(&child, Signal::TERM);
    assert_eq!(exit_code(&mut child), Some(130));
    bench.assert_no_process_left();
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let bench = Bench::new();
    for arguments in [
        &[
            "echo",
            "poll",
            "--quick",
            "--connections",
            "2",
            "--messages",
            "100",
        ][..],
        &["report", "--schema"],
        &["completions", "bash"],
    ] {
        let mut child = bench.start(arguments);
        drop(child.stdout.take());
        let code = exit_code(&mut child);
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .expect("piped")
            .read_to_string(&mut stderr)
            .expect("text");
        assert!(
            !stderr.contains("panicked") && !stderr.contains("Broken pipe"),
            "{stderr}"
        );
        // A noisy machine may have left nothing to rank.
        let is_measured = arguments[0] == "echo";
        assert!(
            code == Some(0) || is_measured && code == Some(1),
            "{code:?} {stderr}"
        );
    }
}
