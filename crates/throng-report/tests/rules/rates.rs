//! What rows say of a rate that was asked for.

use throng_record::{CheckKind, CheckResult};
use throng_report::ratio::Bound;
use throng_report::row::Row;
use throng_report::standing::Standing;
use throng_report::{Format, render};

use super::FULL;

use super::{fixture, groups, terminal};

fn row(record: &throng_record::RunRecord, setting: usize, target: &str) -> Row {
    let mut rows = groups(record)[setting].clone().into_iter();
    rows.find(|row| row.target == target)
        .expect("the plan has this row")
}

#[test]
fn a_row_that_missed_its_rate_shows_its_figures_as_bounds_and_has_no_place() {
    let record = fixture::rates();
    let kept = row(&record, 0, "epoll-edge");
    assert_eq!((kept.standing, kept.rank), (Standing::Ranked, Some(1)));
    assert!(kept.rate.is_some_and(|rate| rate.is_kept));
    let missed = row(&record, 1, "epoll-edge");
    assert_eq!((missed.standing, missed.rank), (Standing::Qualified, None));
    let rate = missed.rate.expect("an open loop");
    assert!(!rate.is_kept);
    assert_eq!(
        (rate.asked_per_second, rate.due_unsent),
        (300_000.0, 418_330)
    );
    assert!((rate.kept_share - 91.0 / 300.0).abs() < 1e-9);
    let text = terminal(&record, Some(160), false);
    for part in [
        "✗ rate not kept: 91.0 k/s of 300 k/s,",
        "418 k due and never sent",
        "≥ 450 ms",
        "did not do what was asked: epoll-edge at rate 300000 (3 of 3)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn one_trial_that_missed_it_is_enough() {
    let found = row(&fixture::rates(), 1, "io-uring");
    assert_eq!((found.trials.valid, found.trials.qualified), (2, 1));
    assert_eq!(found.standing, Standing::Qualified);
    assert_eq!(
        found
            .estimate("messages_per_second")
            .expect("all three")
            .values,
        3
    );
    assert!(found.rate.is_some_and(|rate| !rate.is_kept));
}

#[test]
fn its_p99_is_a_lower_bound_of_the_ratio_and_with_a_late_generator_none() {
    let mut record = fixture::rates();
    record.trials.retain(|trial| trial.setting == 1);
    // The baseline keeps its rate here.
    for trial in &mut record.trials {
        if trial.target == 0 {
            trial
                .checks
                .retain(|check| check.kind != CheckKind::RateKept);
            trial.verdict = throng_record::Verdict::Valid;
        }
    }
    let ratio = row(&record, 1, "io-uring").ratio_to_baseline;
    assert_eq!(ratio.expect("pairs").bound, Bound::AtLeast);
    for trial in &mut record.trials {
        if trial.target == 1 {
            let mut late = trial.checks[0].clone();
            (late.kind, late.result) = (CheckKind::SchedulingError, CheckResult::Qualified);
            trial.checks.push(late);
        }
    }
    assert_eq!(row(&record, 1, "io-uring").ratio_to_baseline, None);
}

#[test]
fn a_sweep_over_rates_is_summed_up_by_what_was_kept_and_at_what_latency() {
    let record = fixture::rates();
    for format in [Format::Terminal, Format::Markdown] {
        let text = render(&record, format, &FULL);
        assert!(!text.to_lowercase().contains("messages/s by"), "{text}");
        let (_, overview) = text
            .split_once("hare of the rate kept, and p99, by rate")
            .expect("an overview");
        let line = overview.lines().find(|line| line.contains("epoll-edge"));
        let line = line.expect("a line of each target");
        assert!(line.contains("100.0 % · 149 µs"), "{line}");
        assert!(line.contains("✗ 30.3 % · ≥ 1.6"), "{line}");
    }
}

#[test]
fn csv_and_json_tell_the_share_and_what_was_never_sent() {
    let record = fixture::rates();
    let csv = render(&record, Format::Csv, &FULL);
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let missed: Vec<&str> = lines.nth(1).expect("the second trial").split(',').collect();
    let of = |name| {
        let place = header.iter().position(|column| *column == name);
        missed[place.expect("a column")]
    };
    assert_eq!(of("rate_asked_per_second"), "300000");
    assert!(of("rate_kept_share").starts_with("0.3033"));
    assert_eq!(of("messages_due_unsent"), "418330");
    assert_eq!(of("qualified_checks"), "rate not kept");
    let json = render(&record, Format::Json, &FULL);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    // Of io-uring the trial that missed it speaks for all.
    let rows = json["rows"].as_array().expect("rows").iter();
    for row in rows.filter(|row| row["setting"] == 1) {
        assert_eq!(row["rate"]["is_kept"], false, "{row}");
        assert_eq!(row["rate"]["due_unsent"], 418_330, "{row}");
    }
}
