//! The sentences that come first: nothing is said in them that the figures do not hold.

use throng_record::{Outcome, RunRecord};
use throng_report::{Format, Options, Summary, render};

use super::fixture;

fn answer(record: &RunRecord) -> String {
    Summary::of(record).answer.join(" ")
}

/// The same rates for all targets, which differ between repeats.
fn with_equal_rates(mut record: RunRecord) -> RunRecord {
    record
        .trials
        .retain(|trial| trial.outcome == Outcome::Completed && trial.stands());
    for trial in &mut record.trials {
        if let Some(exchange) = trial.phases.exchange_mut() {
            exchange.replies_per_second = 100_000.0 + 1_000.0 * f64::from(trial.repeat);
        }
    }
    record
}

#[test]
fn whoever_may_be_faster_than_the_first_is_not_said_to_be_slower() {
    let said = answer(&fixture::closed());
    let bound = "100 connections: io-uring gave as much as the generator could ask for (171 k messages/s or more); of the others epoll-edge leads";
    assert!(said.contains(bound), "{said}");
    assert!(
        said.contains("10 connections: io-uring leads with 171 k messages/s"),
        "{said}"
    );
}

#[test]
fn what_has_no_rank_is_named_with_the_reason() {
    let said = answer(&fixture::closed());
    assert!(
        said.contains("Not ranked somewhere: thread-per-connection (failed a check); ./mine | cat (could not run)."),
        "{said}"
    );
}

#[test]
fn rates_that_overlap_are_not_put_in_an_order() {
    let said = answer(&with_equal_rates(fixture::disturbed()));
    assert!(said.contains("not told apart from any other"), "{said}");
    assert!(!said.contains("last"), "{said}");
}

#[test]
fn of_single_trials_it_is_said_that_differences_may_be_chance() {
    let mut record = fixture::disturbed();
    assert!(!answer(&record).contains("chance"));
    record.trials.retain(|trial| trial.repeat == 0);
    assert!(answer(&record).ends_with("small differences may be chance."));
}

#[test]
fn a_rate_that_nobody_kept_has_no_leader() {
    let said = answer(&fixture::rates());
    assert!(
        said.contains("rate 300000: nobody kept the rate;"),
        "{said}"
    );
    assert!(said.contains("rate 20000: "), "{said}");
}

#[test]
fn every_experiment_has_an_answer_and_an_empty_run_none() {
    for record in [
        fixture::churn(),
        fixture::capacity(),
        fixture::backlog(),
        fixture::accept(),
        fixture::fanout(),
        fixture::hold(),
        fixture::phases(),
    ] {
        assert!(!answer(&record).is_empty(), "{}", record.plan.name);
        let mut empty = record;
        empty.trials.clear();
        empty.searches.clear();
        assert_eq!(answer(&empty), "", "{}", empty.plan.name);
    }
}

#[test]
fn a_run_without_a_figure_has_no_table_on_its_screen() {
    let mut record = fixture::closed();
    let screen = |record: &RunRecord| render(record, Format::Terminal, &Options::default());
    assert!(screen(&record).contains("epoll-edge  "));
    record.trials.clear();
    record.interrupted = true;
    let text = screen(&record);
    assert!(text.contains("Nothing was measured until then."), "{text}");
    assert!(!text.contains("epoll-edge"), "{text}");
    assert!(text.contains("throng report --full"), "{text}");
}
