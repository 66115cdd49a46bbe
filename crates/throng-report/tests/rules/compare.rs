//! Runs beside each other.

use throng_record::RunRecord;
use throng_report::compare::{self, CompareError, Named, Verdict};

use crate::fixture::{churn, closed, swept};

fn named<'a>(name: &'a str, record: &'a RunRecord) -> Named<'a> {
    Named { name, record }
}

#[test]
fn a_run_does_not_differ_from_itself_and_bounds_decide_nothing() {
    let record = closed();
    let runs = compare::runs(named("a", &record), &[named("b", &record)], &[]).expect("alike");
    assert!(
        runs.cautions.is_empty() && runs.unmatched.is_empty(),
        "{runs:?}"
    );
    let of = |target: &str, setting: &str| {
        let lines = runs.lines.iter();
        let own = lines.filter(|line| line.target == target && line.setting == setting);
        own.map(|line| line.verdict).collect::<Vec<_>>()
    };
    assert!(
        of("epoll-edge", "10 connections")
            .iter()
            .all(|one| *one == Verdict::NoDifferenceSeen)
    );
    assert!(
        of("io-uring", "100 connections")
            .iter()
            .all(|one| *one == Verdict::OnlyABound)
    );
    assert_eq!(
        of("./mine | cat", "100 connections"),
        [],
        "none of its trials ran"
    );
}

#[test]
fn what_else_differs_is_said_before_any_ratio() {
    let record = closed();
    let mut other = closed();
    other.machine.kernel = "6.99.0".to_owned();
    other.plan.settings[0].reply_timeout_ns += 1;
    other.plan.settings[1].server_cpus = vec![7];
    other.plan.targets[3].name = "mio".to_owned();
    let runs = compare::runs(named("old", &record), &[named("new", &other)], &[]).expect("alike");
    assert_eq!(
        runs.cautions,
        [
            "kernel: 6.12.1 in old, 6.99.0 in new",
            "what was asked at 10 connections differs (throng report --format json shows both)"
        ]
    );
    let only = [
        "poll at 10 connections: only in old",
        "mio at 10 connections: only in new",
    ];
    for row in only {
        assert!(
            runs.unmatched.iter().any(|one| one == row),
            "{:?}",
            runs.unmatched
        );
    }
    let page = runs.markdown();
    assert!(
        page.contains("not the same: kernel") && page.contains("Not compared"),
        "{page}"
    );
    // A pull request shows what differs, and folds the rest.
    let (shown, folded) = page.split_once("<details>").expect("folded");
    assert!(!shown.contains("no difference seen |"), "{shown}");
    assert!(folded.contains("no difference seen |"), "{folded}");
}

#[test]
fn runs_of_other_experiments_and_unknown_names_are_refused() {
    let (echo, cycles, other) = (closed(), churn(), swept());
    let refused = |other: &RunRecord, keys: &[String]| {
        compare::runs(named("a", &echo), &[named("b", other)], keys).expect_err("refused")
    };
    assert!(matches!(
        refused(&cycles, &[]),
        CompareError::Experiments(_)
    ));
    assert!(matches!(
        refused(&other, &[]),
        CompareError::NothingInCommon(_)
    ));
    assert!(matches!(
        refused(&echo, &["p".to_owned()]),
        CompareError::Figure { .. }
    ));
    let targets = ["epoll-edge".to_owned(), "nobody".to_owned()];
    let error = compare::targets(named("a", &echo), &targets, &[]).expect_err("no such target");
    assert!(matches!(error, CompareError::Target { .. }));
}
