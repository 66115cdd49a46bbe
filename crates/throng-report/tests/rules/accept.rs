//! The rules of the accept experiment's report.

use throng_record::{Finding, Outcome, RunRecord, TargetKind, Verdict, finding};
use throng_report::detail::Detail;
use throng_report::experiments::accept::along::Along;
use throng_report::median::Spread;
use throng_report::published::Published;
use throng_report::row::Row;
use throng_report::standing::Standing;
use throng_report::{Format, Summary, render};

use super::{FULL, groups};

use crate::fixture;

fn row(record: &RunRecord, target: &str) -> Row {
    let last = groups(record).pop().expect("a table");
    let mut rows = last.into_iter();
    rows.find(|row| row.target == target)
        .expect("the plan has it")
}

fn accept(row: &Row) -> &Along {
    match &row.detail {
        Some(Detail::Multiplexer { accept, .. }) => accept,
        other => panic!("of another experiment: {other:?}"),
    }
}

#[test]
fn six_repeats_have_an_interval_and_two_a_range() {
    let six = row(&fixture::accept(), "poll");
    assert_eq!(six.value("accept_idle_last"), Some(9_980.0));
    let cost = |row: &Row| row.estimate("accept_cost_ns_last").expect("there");
    assert!(matches!(cost(&six).spread, Spread::Interval95 { .. }));
    let two = row(&fixture::accept_few(), "poll");
    assert!(matches!(cost(&two).spread, Spread::Range { .. }));
}

#[test]
fn a_multiplexer_that_holds_fewer_keeps_its_figures_and_its_standing() {
    let select = row(&fixture::accept(), "select");
    assert_eq!(select.standing, Standing::Partial);
    assert_eq!(select.value("accepted"), Some(1_013.0));
    assert_eq!(select.connections, 10_000);
    let along = accept(&select);
    assert!(along.slope.is_some());
    assert!(along.cost_ns[0].is_some());
    assert_eq!(along.cost_ns[1..], [None; 5]);
    for format in [Format::Terminal, Format::Markdown] {
        let text = render(&fixture::accept(), format, &FULL);
        assert!(text.contains("1,013 of 10,000"), "{text}");
        assert!(text.contains("FD"), "{text}");
        assert!(!text.contains("the server serves"), "there is none: {text}");
    }
}

#[test]
fn invalid_and_failed_trials_lend_no_figure() {
    let few = fixture::accept_few();
    let level = row(&few, "epoll-level");
    assert_eq!((level.trials_behind, level.trials.invalid), (1, 1));
    let first = level.estimate("accept_cost_ns_first").expect("there");
    assert_eq!(first.spread, Spread::Single);
    let uring = row(&few, "io-uring");
    assert_eq!(uring.standing, Standing::Failed);
    assert_eq!(uring.value("accepted"), None);
    let mut record = fixture::accept();
    for trial in &mut record.trials {
        if trial.target == 1 {
            trial.verdict = Verdict::Invalid;
        }
    }
    let poll = row(&record, "poll");
    assert_eq!((poll.value("accepted"), accept(&poll).slope), (None, None));
    for trial in &mut record.trials {
        trial.outcome = Outcome::Interrupted;
    }
    let poll = row(&record, "poll");
    assert_eq!(poll.standing, Standing::NotMeasured);
}

#[test]
fn what_is_published_is_of_no_more_connections_and_of_no_server() {
    let mut record = fixture::accept();
    let words = |record: &RunRecord, target| match row(record, target).published? {
        Published::Accept(published) => Some(published.accept),
        other => panic!("of another experiment: {other:?}"),
    };
    assert_eq!(
        words(&record, "epoll-edge").as_deref(),
        Some("flat, near 0")
    );
    assert_eq!(words(&record, "poll"), None);
    record.plan.settings[0].connections = 20_000;
    assert_eq!(words(&record, "epoll-edge"), None);
    let text = render(&record, Format::Markdown, &FULL);
    assert!(!text.contains("Published figures"), "{text}");
    let mut other = fixture::accept();
    for target in &mut other.plan.targets {
        target.kind = TargetKind::BuiltIn;
    }
    assert_eq!(words(&other, "epoll-edge"), None);
}

#[test]
fn a_trial_with_two_findings_of_a_kind_counts_once() {
    let record = fixture::accept();
    let summary = Summary::of(&record);
    let [found] = &summary.findings[..] else {
        panic!("one kind: {:?}", summary.findings);
    };
    assert_eq!((found.places.len(), found.trials), (2, 12));
    assert!(matches!(
        found.worst,
        Finding::CostGrowsWithIdle(finding::CostGrowsWithIdle { ns_per_connection, .. }) if *ns_per_connection > 6.0
    ));
    assert_eq!(found.places[0].target, "poll");
}

#[test]
fn a_record_without_measurements_has_a_report() {
    let mut record = fixture::accept();
    for trial in &mut record.trials {
        trial.phases.0.clear();
    }
    record.plan.settings[0].connections = 0;
    for format in Format::ALL {
        assert!(!render(&record, format, &FULL).is_empty());
    }
}

#[test]
fn the_worst_growth_is_where_it_costs_most_and_not_where_it_is_steepest() {
    let mut record = fixture::accept_few();
    for trial in record.trials.iter_mut().filter(|trial| trial.setting == 0) {
        for finding in &mut trial.findings {
            if let Finding::CostGrowsWithIdle(finding::CostGrowsWithIdle {
                ns_per_connection,
                ..
            }) = finding
            {
                *ns_per_connection *= 2.0;
            }
        }
    }
    let summary = Summary::of(&record);
    assert_eq!(summary.findings[0].places[0].heading, "10,000 connections");
}
