//! The open loop as a user runs it: a low rate, a server that never answers, and a rate that nobody keeps.

mod support;

use support::{Bench, Outcome, check, peer};
use throng_record::{CheckKind, CheckResult, Trial, Verdict};

fn echo(bench: &Bench, arguments: &[&str]) -> (Outcome, Vec<Trial>) {
    let all = [
        &["echo", "--repeats", "1", "--duration", "500ms"],
        arguments,
    ];
    let outcome = bench.throng(&all.concat());
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    let mut trials = bench.record().trials;
    trials.sort_by_key(|trial| trial.setting);
    (outcome, trials)
}

#[test]
fn an_open_loop_at_a_low_rate_is_not_called_invalid() {
    for backend in ["epoll", "io-uring"] {
        let bench = Bench::new();
        let flags = ["epoll-edge", "--connections", "100", "--rate", "1000,5000"];
        let (_, trials) = echo(&bench, &[&flags[..], &["--backend", backend]].concat());
        assert_eq!(trials.len(), 2);
        for trial in &trials {
            let check = check(trial, CheckKind::Outstanding);
            assert_eq!(check.result, CheckResult::Passed, "{}", check.detail);
        }
    }
}

#[test]
fn nobody_blames_the_generator_for_a_server_that_never_answers() {
    let bench = Bench::new();
    let address = peer::start(peer::silent);
    let size = peer::SIZE.to_string();
    let (outcome, trials) = echo(
        &bench,
        &[
            &address,
            "--size",
            &size,
            "--connections",
            "10",
            "--rate",
            "1000",
            "--timeout",
            "1s",
        ],
    );
    assert_eq!(outcome.code, Some(1));
    let trial = &trials[0];
    let outstanding = check(trial, CheckKind::Outstanding);
    assert_eq!(outstanding.result, CheckResult::NotApplicable);
    assert!(
        outstanding
            .detail
            .contains("no message of the measured window was answered"),
        "{}",
        outstanding.detail
    );
    let unserved = check(trial, CheckKind::UnservedConnections);
    assert_eq!(unserved.result, CheckResult::Failed);
    let rate = check(trial, CheckKind::RateKept);
    assert!(
        rate.detail.starts_with("rate not kept: 0/s of 1000/s, "),
        "{}",
        rate.detail
    );
    for wrong in ["generator", "lower --rate"] {
        assert!(!outcome.stderr.contains(wrong), "{}", outcome.stderr);
    }
}

#[test]
fn a_rate_that_is_not_kept_is_told_everywhere_and_costs_the_exit_code() {
    let bench = Bench::new();
    let flags = ["poll", "--connections", "10", "--rate", "500,3000000"];
    let (outcome, trials) = echo(&bench, &flags);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    for part in [
        "error: poll: rate not kept: ",
        "/s of 3000000/s, ",
        "hint: try --rate ",
    ] {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
    let kept = check(&trials[0], CheckKind::RateKept);
    assert_eq!(kept.result, CheckResult::Passed, "{}", kept.detail);
    let missed = check(&trials[1], CheckKind::RateKept);
    assert_eq!(missed.result, CheckResult::Qualified, "{}", missed.detail);
    let exchange = trials[1].phases.exchange().expect("measured");
    assert!(exchange.due_unsent > 100_000, "{}", exchange.due_unsent);
    let told = |format| {
        bench
            .throng(&["report", "latest", "--format", format])
            .stdout
    };
    let [markdown, csv, json] = ["markdown", "csv", "json"].map(told);
    for text in [&outcome.stdout, &markdown] {
        for part in ["rate not kept: ", "hare of the rate kept, and p99, by rate"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("passed every check"), "{text}");
    }
    for part in ["rate_kept_share", "messages_due_unsent", "rate not kept"] {
        assert!(csv.contains(part), "{part}: {csv}");
    }
    // Noise (drift, steal) may make the trial invalid as well, and its row then has no figures.
    if trials[1].verdict == Verdict::Qualified {
        for text in [&outcome.stdout, &markdown] {
            for part in ["of 3.00 M/s", "due and never sent", "≥ "] {
                assert!(text.contains(part), "{part}: {text}");
            }
        }
        assert!(json.contains("\"is_kept\": false"), "{json}");
    }
}
