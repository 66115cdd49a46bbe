//! Trials that somebody else disturbed: shown and ranked, marked, and told once.

use throng_record::{CheckKind, CheckResult, RunRecord, Trial, Verdict};
use throng_report::standing::Standing;
use throng_report::{Format, Options, Summary, render};

use super::fixture;

fn text(record: &RunRecord) -> String {
    let options = Options {
        width: Some(160),
        colour: false,
        is_full: true,
    };
    render(record, Format::Terminal, &options)
}

#[test]
fn they_are_ranked_and_counted_and_the_attempt_before_is_not() {
    let record = fixture::disturbed();
    assert_eq!(record.trials.len(), 13);
    let summary = Summary::of(&record);
    let rows = &summary.rows;
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(row.standing, Standing::Ranked);
        assert_eq!(row.trials.valid, 6);
        assert_eq!(
            row.estimate("messages_per_second").expect("ranked").values,
            6
        );
    }
    let mut disturbed: Vec<u32> = rows.iter().map(|row| row.trials.disturbed).collect();
    disturbed.sort_unstable();
    assert_eq!(disturbed, [1, 6]);
    let told = summary.disturbed.expect("some were");
    assert_eq!((told.trials, told.trials_superseded), (7, 1));
    assert_eq!((told.by[0].check, told.by[0].trials), (CheckKind::Steal, 7));
    // What was superseded is not told as the worst.
    assert!((told.by[0].share_max - 0.15).abs() < 1e-9, "{:?}", told.by);
    assert_eq!(told.rows_without_another.len(), 1);
}

#[test]
fn there_is_one_line_for_all_of_them_and_a_mark_for_each_row() {
    let record = fixture::disturbed();
    let text = text(&record);
    let lines = |part: &str| text.lines().filter(|line| line.contains(part)).count();
    assert_eq!(lines("7 of 12 trials were disturbed"), 1, "{text}");
    assert_eq!(lines("hypervisor"), 1, "{text}");
    assert_eq!(lines("~: some trials"), 1, "{text}");
    assert_eq!(lines("  ~ "), 2, "{text}");
    assert!(!text.contains("passed every check"), "{text}");
}

#[test]
fn a_run_without_any_has_neither() {
    let mut record = fixture::disturbed();
    for trial in &mut record.trials {
        trial.checks.clear();
        trial.verdict = Verdict::Valid;
    }
    let text = text(&record);
    assert!(!text.contains('~'), "{text}");
    assert!(text.contains("All 12 trials passed every check."), "{text}");
}

/// A disturbed trial whose generator was the limit besides.
#[test]
fn a_bound_may_be_disturbed_too() {
    let mut record = fixture::disturbed();
    let is_first = |trial: &&mut Trial| trial.target == 1;
    for trial in record.trials.iter_mut().filter(is_first) {
        let mut bound = trial.checks[0].clone();
        (bound.kind, bound.result) = (CheckKind::GeneratorBound, CheckResult::Qualified);
        trial.checks.push(bound);
        trial.verdict = Verdict::of(&trial.checks);
        assert_eq!(trial.verdict, Verdict::Qualified);
    }
    let text = text(&record);
    assert!(text.contains("~ ≥ "), "{text}");
}
