//! `throng compare`: two builds of one server that differ by a known delay, and what cannot be compared.

mod support;

use serde_json::Value;
use support::{Bench, Outcome};

/// Echoes after so many milliseconds.
const SERVER: &str = r#"
import socket, sys, threading, time
def echo(connection):
    while data := connection.recv(4096):
        time.sleep(float(sys.argv[2]) / 1e3)
        connection.sendall(data)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    threading.Thread(target=echo, args=[listener.accept()[0]], daemon=True).start()
"#;

fn measure(bench: &Bench, commands: &[String], repeats: &str) {
    let asked = "--connections 4 --duration 150ms --warmup 30ms --repeats";
    let mut words: Vec<&str> = ["echo"].into_iter().chain(asked.split(' ')).collect();
    words.push(repeats);
    for command in commands {
        words.extend(["--command", command]);
    }
    let outcome = bench.throng(&words);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

fn command(bench: &Bench, name: &str, delay_ms: u32) -> String {
    let program = bench.write("server.py", SERVER);
    format!("{name}=python3 {} {{port}} {delay_ms}", program.display())
}

fn label(bench: &Bench, label: &str) {
    let outcome = bench.throng(&["runs", "label", "latest", label]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

/// The line of a figure.
fn line(outcome: &Outcome, figure: &str) -> Value {
    let all: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let lines = all["lines"].as_array().expect("a list").iter();
    let mut found = lines.filter(|line| line["figure"] == figure);
    found.next().expect(figure).clone()
}

/// 6 ms are half as much again as 4.
fn judged(bench: &Bench) {
    for (condition, code, said) in [
        (
            "p50 > 1.2 * baseline",
            1,
            "p50 > 1.2 * baseline: met by mine at 4 connections in new: 1.",
        ),
        ("p50 > 3 * baseline", 0, "met by none of 1 row"),
        ("p50 > 5ms", 1, "p50 > 5ms: met by mine"),
        ("errors > 0", 0, "met by none of 1 row"),
        ("p51 > 5ms", 2, "p50"),
    ] {
        let outcome = bench.throng(&["compare", "old", "new", "--fail-if", condition]);
        assert_eq!(outcome.code, Some(code), "{condition}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(said),
            "{condition}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn a_delay_that_a_build_has_more_is_seen_with_its_size() {
    let bench = Bench::new();
    for (name, delay_ms) in [("old", 4), ("new", 6)] {
        measure(&bench, &[command(&bench, "mine", delay_ms)], "6");
        label(&bench, name);
    }
    judged(&bench);
    let compared = bench.throng(&["compare", "old", "new", "--format", "json"]);
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
    for (figure, least, most) in [
        ("latency_ns_p50", 1.3, 1.55),
        ("messages_per_second", 0.64, 0.78),
    ] {
        let line = line(&compared, figure);
        assert_eq!(line["verdict"], "slower", "{line}");
        let median = line["ratio"]["median"].as_f64().expect("a ratio");
        assert!((least..most).contains(&median), "{line}");
    }
    let same = bench.throng(&["compare", "old", "old", "--format", "json"]);
    assert_eq!(
        line(&same, "latency_ns_p50")["verdict"],
        "no_difference_seen"
    );
    let shown = bench.throng(&["compare", "new", "old"]);
    shown.assert_plain();
    for part in ["Compared with new", "mine", "4 connections", "faster"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let page = bench.throng(&["compare", "new", "old", "--format", "markdown"]);
    assert!(
        page.stdout.contains("| target | setting |"),
        "{}",
        page.stdout
    );
}

#[test]
fn targets_of_a_run_are_compared_repeat_by_repeat_and_few_repeats_decide_nothing() {
    let bench = Bench::new();
    let commands = [command(&bench, "quick", 4), command(&bench, "late", 6)];
    measure(&bench, &commands, "2");
    let targets = ["--target", "quick", "--target", "late", "--format", "json"];
    let compared = bench.throng(&[&["compare", "latest"], &targets[..]].concat());
    let found = line(&compared, "latency_ns_p50");
    assert_eq!(
        (&found["target"], &found["verdict"]),
        (&"late".into(), &"too_few_repeats".into())
    );
    let median = found["ratio"]["median"].as_f64().expect("a ratio");
    assert!((1.3..1.55).contains(&median), "{found}");
    let own = [
        &["compare", "latest"],
        &targets[..],
        &["--figure", "latency_ns_p90"],
    ]
    .concat();
    let shown = bench.throng(&own);
    assert!(shown.stdout.contains("latency_ns_p90"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("latency_ns_p50"), "{}", shown.stdout);
}

/// A short run, under a label.
fn labelled_run(bench: &Bench, name: &str, asked: &str) {
    let common = "--repeats 1 --messages 100";
    let words: Vec<&str> = asked.split(' ').chain(common.split(' ')).collect();
    let outcome = bench.throng(&words);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    label(bench, name);
}

#[test]
fn what_cannot_be_compared_says_what_can() {
    let bench = Bench::new();
    labelled_run(&bench, "echoes", "echo poll --connections 5");
    labelled_run(&bench, "cycles", "churn poll --clients 5");
    labelled_run(&bench, "others", "echo mio --connections 5");
    let cut = bench.write("cut.json", "{\"schema_version\": 2, \"throng_ver");
    let cut = cut.to_str().expect("text");
    for (words, parts) in [
        (&["echoes"][..], &["one run", "--target"][..]),
        (
            &["echoes", "cycles"],
            &["a run of echo", "one of churn", "one experiment"],
        ),
        (
            &["echoes", "others"],
            &[
                "no target and setting in common",
                "poll at 5 connections",
                "mio at 5 connections",
            ],
        ),
        (
            &["echoes", "--target", "pol", "--target", "poll"],
            &["no target `pol`", "did you mean `poll`?"],
        ),
        (
            &["echoes", "echoes", "--target", "poll", "--target", "mio"],
            &["several runs"],
        ),
        (
            &["echoes", "echoes", "--figure", "latency_p99"],
            &["no figure `latency_p99`", "`latency_ns_p99`"],
        ),
        (
            &["echoes", "nothing-there"],
            &["cannot read the run nothing-there"],
        ),
        (
            &["echoes", cut],
            &["cannot read the run", "not a throng record"],
        ),
        (&[], &["RUN"]),
    ] {
        let outcome = bench.throng(&[&["compare"], words].concat());
        assert_eq!(outcome.code, Some(2), "{words:?}: {}", outcome.stderr);
        for part in parts {
            assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
        }
    }
}
