//! The capacity experiment as a user runs it: what is searched for is found, told and kept, and what cannot be found is named.

mod support;

use support::{Bench, Outcome, peer};
use throng_record::{Decision, Pacing, Purpose, RunRecord, SearchEnd, Trial};

const SHORT: [&str; 12] = [
    "--duration",
    "100ms",
    "--max-duration",
    "200ms",
    "--warmup",
    "20ms",
    "--within",
    "50%",
    "--repeats",
    "2",
    "--curve",
    "3",
];

fn searched(arguments: &[&str]) -> (Outcome, RunRecord) {
    let bench = Bench::new();
    let outcome = bench.throng(&[&["capacity"], arguments, &SHORT].concat());
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    (outcome, bench.record())
}

fn offered(trial: &Trial) -> f64 {
    let probe = trial.probe.as_ref().expect("each trial is a probe");
    probe.offered_per_second.expect("a rate")
}

fn of_purpose(record: &RunRecord, purpose: Purpose) -> Vec<&Trial> {
    let of = |trial: &&Trial| {
        trial
            .probe
            .as_ref()
            .is_some_and(|probe| probe.purpose == purpose)
    };
    record.trials.iter().filter(of).collect()
}

#[test]
fn every_probe_is_kept_and_of_each_repeat_one_counts() {
    let (outcome, record) =
        searched(&["epoll-edge", "--bound", "p99 < 400ms", "--connections", "7"]);
    let [search] = &record.searches[..] else {
        panic!("{}", outcome.stderr);
    };
    assert_eq!(of_purpose(&record, Purpose::Saturate).len(), 1);
    assert_eq!(of_purpose(&record, Purpose::Curve).len(), 3);
    assert!(
        matches!(search.ended, SearchEnd::Width | SearchEnd::TimeLimit),
        "{search:?}"
    );
    let counted: Vec<&Trial> = record.counted().collect();
    assert_eq!(counted.len(), search.brackets.len());
    for (trial, bracket) in counted.iter().zip(&search.brackets) {
        assert_eq!(Some(offered(trial)), bracket.met_per_second);
        assert!(
            bracket.missed_per_second > bracket.met_per_second,
            "{bracket:?}"
        );
    }
    for trial in &record.trials {
        let probe = trial.probe.as_ref().expect("a probe");
        let exchange = trial.job.phases.exchange().expect("messages");
        match (&exchange.pacing, probe.offered_per_second) {
            (Pacing::Closed { .. }, None) => assert_eq!(probe.purpose, Purpose::Saturate),
            (
                Pacing::Open {
                    rate_per_second, ..
                },
                Some(rate),
            ) => assert_eq!(*rate_per_second, rate),
            other => panic!("{other:?}"),
        }
    }
    assert!(
        outcome.stdout.contains("epoll-edge takes "),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("p99 < 400ms"), "{}", outcome.stdout);
}

/// The latency that the probes of a search were judged by is that of their own histograms.
#[test]
fn what_is_met_has_a_latency_below_the_bound() {
    let (_, record) = searched(&[
        "thread-per-connection",
        "--bound",
        "p50 < 3ms",
        "--connections",
        "5",
    ]);
    let bound_ns = 3_000_000;
    for trial in record.counted() {
        let probe = trial.probe.as_ref().expect("a probe");
        let latency = &trial.phases.exchange().expect("measured").latency;
        assert_eq!(probe.decision, Decision::Met);
        assert!(latency.p50_ns < bound_ns, "{}", probe.because);
    }
}

#[test]
fn a_bound_that_no_rate_meets_is_told_with_its_latency() {
    // A peer of ours that takes 20 ms for each message.
    let address = peer::start(peer::slow);
    let size = peer::SIZE.to_string();
    let (outcome, record) = searched(&[
        &address,
        "--bound",
        "p50 < 1ms",
        "--connections",
        "2",
        "--size",
        &size,
    ]);
    let [search] = &record.searches[..] else {
        panic!("{}", outcome.stderr);
    };
    assert!(
        matches!(search.ended, SearchEnd::NoRateMeets { .. }),
        "{search:?}"
    );
    assert!(
        outcome.stdout.contains("meets the bounds at no rate"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("none"), "{}", outcome.stdout);
    let counted: Vec<&Trial> = record.counted().collect();
    let delay_ns = peer::DELAY.as_nanos() as u64;
    let latency = &counted[0].phases.exchange().expect("measured").latency;
    assert!(counted.len() == 1 && latency.p50_ns >= delay_ns * 999 / 1000);
}

#[test]
fn connections_and_their_use_are_swept() {
    let (outcome, record) = searched(&[
        "epoll-edge",
        "--bound",
        "p50 < 500ms",
        "--reuse",
        "true,false",
        "--connections",
        "2,3",
    ]);
    assert_eq!(record.searches.len(), 4, "{}", outcome.stderr);
    for search in &record.searches {
        let setting = &record.plan.settings[search.setting as usize];
        assert!(
            matches!(search.ended, SearchEnd::Width | SearchEnd::TimeLimit),
            "{search:?}"
        );
        assert!([2, 3].contains(&setting.connections));
    }
    let own = record
        .plan
        .settings
        .iter()
        .filter(|one| one.phases.is_of_requests());
    assert_eq!(own.count(), 2);
}

#[test]
fn a_server_that_is_not_there_is_named_and_the_run_fails() {
    let address = peer::nobody();
    let (outcome, record) = searched(&[&address, "--bound", "p99 < 5ms", "--connections", "2"]);
    assert_eq!(outcome.code, Some(1));
    assert!(
        matches!(record.searches[0].ended, SearchEnd::Failed { .. }),
        "{:?}",
        record.searches
    );
    assert!(
        outcome.stdout.contains("could not be searched"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn what_is_no_bound_is_refused_before_anything_is_measured() {
    let bench = Bench::new();
    for (arguments, expected) in [
        (&["epoll-edge"][..], "there is no bound"),
        (&["epoll-edge", "--bound", "p99"], "is no condition"),
        (
            &["epoll-edge", "--bound", "p98 < 5ms"],
            "did you mean `p99`?",
        ),
        (
            &["epoll-edge", "--bound", "p99 < 5"],
            "write for example 5ms",
        ),
        (
            &["epoll-edge", "--bound", "throughput < 0.9 * baseline"],
            "a bound is a value",
        ),
        (
            &["epoll-edge", "--bound", "p99 < 5ms", "--within", "70%"],
            "`within = 0.7`",
        ),
        (
            &["epoll-edge", "--bound", "p99 < 5ms", "--curve", "1"],
            "`curve = 1`",
        ),
        (
            &["epoll-edge", "--bound", "p99 < 5ms", "--rate", "100"],
            "the rate is what it looks for",
        ),
        (
            &["epoll-edge", "--bound", "p99 < 5ms", "--time-limit", "0s"],
            "`time-limit` is 0",
        ),
    ] {
        let outcome = bench.throng(&[&["capacity"], arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(expected),
            "{arguments:?}: {}",
            outcome.stderr
        );
    }
    assert!(bench.runs().is_empty());
}
