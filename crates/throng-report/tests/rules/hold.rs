//! The rules of the hold experiment's report.

use throng_record::{CheckKind, CheckResult, Outcome, PhaseName, RunRecord, Verdict};
use throng_report::detail::Detail;
use throng_report::experiments::hold::curve::Point;
use throng_report::experiments::hold::memory::KernelMemory;
use throng_report::median::Spread;
use throng_report::row::Row;
use throng_report::standing::Standing;
use throng_report::{Format, Summary, render};

use super::FULL;

use crate::fixture;

fn row(record: &RunRecord, target: &str) -> Row {
    let summary = Summary::of(record);
    let mut rows = summary.rows.into_iter().rev();
    rows.find(|row| row.target == target)
        .expect("the plan has it")
}

fn curve(row: &Row) -> &[Point] {
    match &row.detail {
        Some(Detail::Hold { curve, .. }) => curve,
        other => panic!("of another experiment: {other:?}"),
    }
}

fn kernel(row: &Row) -> &KernelMemory {
    match &row.detail {
        Some(Detail::Hold { kernel, .. }) => kernel.as_ref().expect("measured"),
        other => panic!("of another experiment: {other:?}"),
    }
}

#[test]
fn the_rate_of_the_first_stands_beside_that_of_the_last() {
    let row = row(&fixture::hold(), "epoll-shared");
    let first = row.value("connects_per_second_first").expect("measured");
    let last = row.value("connects_per_second_last").expect("measured");
    assert!((40_000.0..60_000.0).contains(&first), "{first}");
    assert!(last < first * 0.9, "{last} of {first}");
    assert!((30..=60).contains(&curve(&row).len()));
    let end = curve(&row).last().expect("some");
    assert_eq!(end.opened, 1_000_000);
}

#[test]
fn a_model_that_holds_fewer_keeps_its_figures_and_says_what_stopped_it() {
    let record = fixture::hold();
    let row = row(&record, "thread-per-connection");
    assert_eq!(row.standing, Standing::Partial);
    assert_eq!(row.value("connected"), Some(32_114.0));
    assert!(row.found("server_memory_per_connection_bytes").is_some());
    assert_eq!(kernel(&row).kernel_stack_bytes, 16_384.0);
    for format in [Format::Terminal, Format::Markdown] {
        let text = render(&record, format, &FULL);
        // The terminal breaks its lines.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for told in [
            "32,114 of 1,000,000",
            "connection 32,114 was the first to fail, after 1.90 s and with 32,114 open: connect timed out",
        ] {
            assert!(text.contains(told), "{told}: {text}");
        }
    }
}

#[test]
fn slabs_are_told_where_they_could_be_read() {
    let record = fixture::hold();
    let measured = row(&record, "epoll-shared");
    let grown = kernel(&measured);
    assert_eq!(grown.slabs[0].bytes, 5_120.0);
    assert_eq!(grown.grown_bytes, 8_220.0 * 1e6);
    assert_eq!(grown.left_bytes, Some(210.0 * 1e6));
    let text = render(&record, Format::Terminal, &FULL);
    assert!(text.contains("TCP 5,120 B"), "{text}");
    let few = fixture::hold_few();
    let measured = row(&few, "epoll-shared");
    let grown = kernel(&measured);
    assert!(grown.slabs.is_empty() && grown.left_bytes.is_none());
    let text = render(&few, Format::Terminal, &FULL);
    assert!(!text.contains("Slab that grew"), "{text}");
}

#[test]
fn invalid_and_interrupted_trials_stand_beside_no_valid_one() {
    let mut record = fixture::hold_few();
    let valid = row(&record, "epoll-shared");
    assert_eq!(valid.trials_behind, 1);
    assert_eq!(valid.value("answered"), Some(737.0));
    let rate = valid.estimate("connects_per_second").expect("measured");
    assert_eq!(rate.spread, Spread::Single);
    // Errors of every trial are told, whatever it is worth.
    assert_eq!(valid.value("lost"), Some(1.0));
    record.trials.remove(0);
    let invalid = row(&record, "epoll-shared");
    assert_eq!(invalid.standing, Standing::Invalid);
    let text = render(&record, Format::Terminal, &FULL);
    assert!(text.contains("✗ invalid: CPU time stolen"), "{text}");
    assert!(text.contains("✗: of trials that failed a check"), "{text}");
    record.trials.remove(0);
    assert_eq!(record.trials[0].outcome, Outcome::Interrupted);
    let cut = row(&record, "epoll-shared");
    assert_eq!(cut.standing, Standing::NotMeasured);
    assert_eq!(cut.value("connected"), Some(3_000.0));
    assert_eq!(cut.value("answered"), None);
}

#[test]
fn connections_that_were_not_pinged_have_a_column_where_there_are_any() {
    let markdown = |record: &RunRecord| render(record, Format::Markdown, &FULL);
    let few = fixture::hold_few();
    assert_eq!(row(&few, "epoll-shared").value("not_pinged"), Some(12.0));
    for format in [Format::Terminal, Format::Markdown] {
        let text = render(&few, format, &FULL);
        assert!(text.contains("not pinged: connections"), "{text}");
    }
    assert!(markdown(&few).contains("| pings answered | not pinged |"));
    let all = markdown(&fixture::hold());
    assert!(!all.contains("not pinged"), "{all}");
}

#[test]
fn each_phase_stands_with_what_it_cost_both_sides() {
    let record = fixture::hold();
    let row = row(&record, "epoll-shared");
    for phase in ["connect", "hold", "ping", "close"] {
        for part in ["duration_ns", "generator_cpu_ns", "server_cpu_ns"] {
            assert!(row.found(&format!("{phase}_{part}")).is_some(), "{phase}");
        }
    }
    assert_eq!(row.value("close_duration_ns"), Some(4.3e9));
    assert_eq!(row.value("close_generator_cpu_ns"), Some(3.9e9));
    assert_eq!(row.value("close_server_threads"), Some(54.0));
    let markdown = render(&record, Format::Markdown, &FULL);
    assert!(
        markdown.contains("| epoll-shared | 1,000,000 | connect | 2"),
        "{markdown}"
    );
    assert!(markdown.contains("|  |  | close | 4.30 s |"), "{markdown}");
}

#[test]
fn a_phases_cpu_time_stands_beside_the_time_in_which_it_was_used() {
    let mut record = fixture::hold_few();
    // Answers ended early; the last time-outs eleven seconds later.
    let trial = &mut record.trials[0];
    let mut phases = trial.phases.0.iter_mut();
    let ping = phases.find(|phase| phase.measured.name() == PhaseName::Ping);
    let cost = ping.and_then(|phase| phase.cost.as_mut());
    cost.expect("it cost something").window_ns = 12_300_000_000;
    let ping = trial.phases.ping_mut().expect("made with one");
    ping.duration_ns = 1_200_000_000;
    let row = row(&record, "epoll-shared");
    assert_eq!(row.value("ping_duration_ns"), Some(1.2e9));
    assert_eq!(row.value("ping_window_ns"), Some(12.3e9));
    let text = render(&record, Format::Markdown, &FULL);
    assert!(text.contains("| ping | 1.20 s | 12.3 s |"), "{text}");
    let csv = render(&record, Format::Csv, &FULL);
    assert!(csv.contains("ping_window_ns") && csv.contains("12300000000"));
}

#[test]
fn pings_none_of_which_was_answered_have_no_length() {
    let mut record = fixture::hold_few();
    let ping = record.trials[0].phases.ping_mut().expect("made with one");
    (ping.answered, ping.duration_ns) = (0, 0);
    let row = row(&record, "epoll-shared");
    assert_eq!(row.value("answered"), Some(0.0));
    assert_eq!(row.value("ping_duration_ns"), None);
    assert!(row.value("ping_generator_cpu_ns").is_some());
}

#[test]
fn a_run_that_was_interrupted_in_its_only_trial_says_so() {
    let mut record = fixture::hold_few();
    record.trials.drain(..2);
    record.trials_planned = 1;
    let text = render(&record, Format::Markdown, &FULL);
    assert!(
        text.contains("interrupted before its only trial was over. What was measured"),
        "{text}"
    );
    record.trials_planned = 3;
    let text = render(&record, Format::Markdown, &FULL);
    assert!(
        text.contains("before the first of its 3 trials was over"),
        "{text}"
    );
}

#[test]
fn the_memory_of_few_connections_is_not_told_in_parts_either() {
    let mut record = fixture::hold_few();
    let told = |record: &RunRecord| {
        let text = render(record, Format::Markdown, &FULL);
        (
            text.contains("## Kernel memory"),
            text.contains("fewer than 1,000 connections"),
        )
    };
    assert_eq!(told(&record), (true, false));
    for trial in &mut record.trials {
        trial.phases.connect_mut().expect("made with one").connected = 999;
    }
    assert_eq!(told(&record), (false, true));
}

#[test]
fn a_reservation_is_marked() {
    let mut record = fixture::hold();
    for trial in &mut record.trials {
        if let Some(check) = trial.checks.first_mut() {
            (check.kind, check.result) = (CheckKind::Steal, CheckResult::Qualified);
        }
        trial.verdict = Verdict::Qualified;
    }
    let text = render(&record, Format::Terminal, &FULL);
    assert!(text.contains("* 1,000,000"), "{text}");
    assert!(text.contains("*: stands with a reservation"), "{text}");
}

#[test]
fn a_record_without_measurements_has_a_report() {
    let mut record = fixture::hold();
    for trial in &mut record.trials {
        trial.phases.0.clear();
        trial.kernel_memory = None;
        trial.server = None;
        trial.generator = None;
    }
    for format in Format::ALL {
        assert!(!render(&record, format, &FULL).is_empty());
    }
    record.trials.clear();
    for format in Format::ALL {
        assert!(!render(&record, format, &FULL).is_empty());
    }
}
