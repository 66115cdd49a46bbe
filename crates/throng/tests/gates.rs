//! `--fail-if`: a run fails a build by what a server of known delay does.

mod support;

use support::{Bench, Outcome, peer};

const COMMON: [&str; 8] = [
    "--connections",
    "4",
    "--duration",
    "120ms",
    "--warmup",
    "20ms",
    "--size",
    "64",
];

fn echo(bench: &Bench, targets: &[&str], flags: &[&str]) -> Outcome {
    bench.throng(&[&["echo"], targets, &COMMON, flags].concat())
}

/// The lines on standard error that tell of a condition.
fn told<'a>(outcome: &'a Outcome, condition: &str) -> Vec<&'a str> {
    let lines = outcome.stderr.lines();
    lines.filter(|line| line.contains(condition)).collect()
}

#[test]
fn what_a_slow_server_exceeds_fails_and_what_it_keeps_does_not() {
    let bench = Bench::new();
    let slow = peer::start(peer::slow);
    let below = format!("p50 > {}us", peer::DELAY.as_micros() / 2);
    let flags = [
        "--repeats",
        "6",
        "--fail-if",
        &below,
        "--fail-if",
        "p50 > 1s",
    ];
    let outcome = echo(&bench, &[&slow], &flags);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let [failed] = told(&outcome, &below)[..] else {
        panic!("one line: {}", outcome.stderr);
    };
    assert!(
        failed.starts_with("error: ") && failed.contains(&slow),
        "{failed}"
    );
    assert!(failed.contains('['), "with its interval: {failed}");
    let [kept] = told(&outcome, "p50 > 1s")[..] else {
        panic!("one line: {}", outcome.stderr);
    };
    assert!(kept.contains("met by none of 1 row"), "{kept}");
    // The report of the stored run judges alike.
    let again = bench.throng(&["report", "--fail-if", &below]);
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    assert!(again.stdout.contains(&slow), "the report is there as well");
    let errors = bench.throng(&["report", "--fail-if", "errors > 0"]);
    assert_eq!(errors.code, Some(0), "{}", errors.stderr);
}

#[test]
fn against_the_baseline_each_repeat_is_compared_with_its_own() {
    let bench = Bench::new();
    let (fast, slow) = (peer::start(peer::faultless), peer::start(peer::slow));
    let flags = ["--repeats", "2", "--fail-if", "throughput < 50% * baseline"];
    let outcome = echo(&bench, &[&fast, &slow], &flags);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let lines = told(&outcome, "baseline");
    assert!(lines.len() == 1 && lines[0].contains(&slow), "{lines:?}");
    let flags = ["--baseline", &slow, "--fail-if", "throughput < baseline"];
    let flags = [&["--repeats", "2"], &flags[..]].concat();
    let outcome = echo(&bench, &[&fast, &slow], &flags);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

#[test]
fn of_a_single_trial_nobody_can_tell_and_that_is_a_verdict_of_its_own() {
    let bench = Bench::new();
    let slow = peer::start(peer::slow);
    let once = ["--repeats", "1", "--fail-if", "p50 > 1us"];
    let outcome = echo(&bench, &[&slow], &once);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(told(&outcome, "cannot tell")[0].starts_with("note: "));
    let strictly = ["report", "--fail-if", "p50 > 1us", "--undecided", "fail"];
    let outcome = bench.throng(&strictly);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(told(&outcome, "cannot tell")[0].starts_with("error: "));
    // What is counted is decided.
    let counted = ["report", "--fail-if", "errors >= 0"];
    assert_eq!(bench.throng(&counted).code, Some(1));
}

#[test]
fn what_is_no_condition_on_this_run_is_refused_before_it() {
    for (condition, parts) in [
        ("p9 > 5ms", &["no figure `p9`", "did you mean `p9"][..]),
        ("lateny_ns_p99 > 5ms", &["did you mean `latency_ns_p99`"]),
        ("pings > 1", &["no figure `pings`"]),
        ("p99", &["no condition", "p99 > 5ms"]),
        ("p99 > < 5ms", &["no condition"]),
        ("p99 == 5ms", &["no condition"]),
        ("p99 > 5", &["`5` is no value", "5ms"]),
        ("throughput < 5ms", &["`5ms` is no value", "100k"]),
        ("throughput < 0.9 + baseline", &["no condition"]),
        ("throughput < baseline", &["only target"]),
    ] {
        let bench = Bench::new();
        let outcome = echo(&bench, &["poll"], &["--fail-if", condition]);
        assert_eq!(outcome.code, Some(2), "{condition}: {}", outcome.stderr);
        for part in parts {
            assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
        }
        assert!(!bench.path().join("throng-runs").exists(), "{condition}");
    }
    let outcome = Bench::new().throng(&["echo", "poll", "--undecided", "maybe"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
}
