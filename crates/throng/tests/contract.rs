//! `throng servers check`: the built-in models keep the contract of the catalogue, and who asks wrongly is told.

mod support;

use support::{Bench, Outcome};
use throng_record::{ClauseResult, ContractException, ContractReport};
use throng_servers::Model;

fn reports(outcome: &Outcome) -> Vec<ContractReport> {
    let mut checked: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    serde_json::from_value(checked["reports"].take()).expect("a list of reports")
}

/// Checks a server as a user does, and reads what a program would.
fn check(model: Model) -> (Outcome, ContractReport) {
    let outcome = Bench::new().throng(&["servers", "check", model.name(), "--format", "json"]);
    let mut reports = reports(&outcome);
    let report = reports.pop().expect("one report");
    assert!(reports.is_empty() && report.server == model.name());
    (outcome, report)
}

fn keeps(model: Model) {
    let (outcome, report) = check(model);
    let failures: Vec<_> = report.failures().collect();
    assert!(report.is_kept(), "{model}: {failures:#?}");
    assert_eq!(outcome.code, Some(0), "{model}: {}", outcome.stderr);
    assert!(report.clauses.len() >= 40, "{model}");
    // What cannot be tried is bounded too: a check that tries nothing finds nothing.
    let not_tried = report
        .clauses
        .iter()
        .filter(|clause| matches!(clause.result, ClauseResult::NotApplicable { .. }));
    let most = if model == Model::Iterative { 5 } else { 2 };
    let not_tried: Vec<_> = not_tried.collect();
    assert!(not_tried.len() <= most, "{model}: {not_tried:#?}");
}

/// A quarter of the models each, so that they are tried side by side and each within the patience of a test.
fn keeps_each(quarter: usize) {
    let models = Model::ALL.into_iter().skip(quarter).step_by(4);
    models.for_each(keeps);
}

#[test]
fn models_keep_the_contract_first_quarter() {
    keeps_each(0);
}

#[test]
fn models_keep_the_contract_second_quarter() {
    keeps_each(1);
}

#[test]
fn models_keep_the_contract_third_quarter() {
    keeps_each(2);
}

#[test]
fn models_keep_the_contract_last_quarter() {
    keeps_each(3);
}

#[test]
fn what_a_model_cannot_do_is_declared_and_indeed_fails() {
    let (_, report) = check(Model::EpollReuseport);
    let mut declared = report
        .clauses
        .iter()
        .filter(|clause| matches!(clause.result, ClauseResult::DeclaredAndFails { .. }));
    let clause = declared.next().expect("one clause");
    assert_eq!(clause.exception, Some(ContractException::Unix));
    assert!(declared.next().is_none());
}

#[test]
fn people_see_a_row_for_each_server_and_a_sum() {
    let outcome = Bench::new().throng(&["servers", "check", "poll"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    outcome.assert_plain();
    for part in [
        "server",
        "poll",
        "event-loop",
        "kept",
        "Of 1 server one keeps",
    ] {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
}

#[test]
fn servers_that_are_checked_side_by_side_stand_in_the_order_asked() {
    // The first has more clauses and slower ones than the others.
    let names = ["two-threads-per-connection", "iterative", "prefork"];
    let flags = ["--jobs", "3", "--format", "json"];
    let outcome = Bench::new().throng(&[&["servers", "check"], &names[..], &flags].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let reports = reports(&outcome);
    let found: Vec<&str> = reports.iter().map(|report| &*report.server).collect();
    assert_eq!(found, names);
    assert!(reports.iter().all(ContractReport::is_kept));
}

#[test]
fn a_server_that_there_is_not_is_answered_with_the_nearest() {
    let outcome = Bench::new().throng(&["servers", "check", "epol-edge"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
    assert!(
        outcome.stderr.contains("no server `epol-edge`"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("did you mean `epoll-edge`?"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn milliseconds_are_a_number_and_not_beside_a_time() {
    let serve = |flags: &[&str]| {
        let words = [
            "serve",
            "poll",
            "--workload",
            "http",
            "--listen",
            "127.0.0.1:0",
        ];
        Bench::new().throng(&[&words, flags].concat())
    };
    for flags in [
        &["--delay-ms", "x"][..],
        &["--delay-ms", "40ms"],
        &["--delay-ms", "40", "--delay", "40ms"],
    ] {
        let outcome = serve(flags);
        assert_eq!(outcome.code, Some(2), "{flags:?}");
        assert!(outcome.stderr.contains("--delay-ms"), "{}", outcome.stderr);
    }
}
