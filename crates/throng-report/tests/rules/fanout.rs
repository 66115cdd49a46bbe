//! The rules of the fan-out's report.

use throng_record::{Check, CheckKind, CheckResult, ErrorKind, Outcome, RunRecord, Verdict};
use throng_report::detail::Detail;
use throng_report::experiments::fanout::order::Order;
use throng_report::median::{Estimate, Spread};
use throng_report::phases::PhaseKind;
use throng_report::row::Row;
use throng_report::standing::Standing;
use throng_report::{Format, Options, render};

use super::{FULL, row};

use crate::fixture;

fn length(row: &Row, phase: &str) -> Option<Estimate> {
    row.estimate(&format!("{phase}_duration_ns"))
}

fn order(row: &Row) -> &[Order] {
    match &row.detail {
        Some(Detail::Fanout { order }) => order,
        other => panic!("of another experiment: {other:?}"),
    }
}

#[test]
fn a_phase_is_the_median_of_the_repeats_with_its_spread() {
    let record = fixture::fanout();
    let get = length(&row(&record, 7_000, "epoll-edge"), "get").expect("measured");
    let mut lengths: Vec<u64> = record
        .trials
        .iter()
        .filter(|trial| (trial.target, trial.setting) == (1, 1))
        .filter_map(|trial| Some(trial.phases.put()?.line.duration_ns))
        .collect();
    lengths.sort_unstable();
    assert_eq!((get.values, get.median), (3, lengths[1] as f64));
    assert!(matches!(get.spread, Spread::Range { .. }));
    let six = fixture::fanout_sustained();
    let six = length(&row(&six, 2_000, "epoll-edge"), "connect").expect("measured");
    assert!(matches!(six.spread, Spread::Interval95 { .. }));
}

#[test]
fn the_cost_of_the_put_is_told_with_the_get_alone() {
    let row = row(&fixture::fanout(), 1_000, "epoll-edge");
    let has = |phase: &str, part: &str| row.found(&format!("{phase}_{part}")).is_some();
    for phase in ["connect", "acknowledge", "put", "get"] {
        assert!(has(phase, "duration_ns"), "{phase}");
        let costs = ["generator_cpu_ns", "server_cpu_ns"].map(|part| has(phase, part));
        assert_eq!(costs, [phase != "put"; 2], "{phase}");
    }
    assert!(!has("sustain", "duration_ns"));
}

#[test]
fn a_row_that_ran_into_its_limit_shows_how_far_it_came_with_a_mark() {
    let record = fixture::fanout();
    let row = row(&record, 25_000, "two-threads-per-connection");
    assert_eq!(row.standing, Standing::Invalid);
    assert_eq!(row.value("connected"), Some(16_019.0));
    assert!(length(&row, "acknowledge").is_some());
    assert_eq!(length(&row, "get"), None);
    let refused = &row.errors[&ErrorKind::ConnectRefused];
    assert_eq!((refused.count, refused.connections[0]), (60, 16_019));
    for format in [Format::Terminal, Format::Markdown] {
        let text = render(&record, format, &FULL);
        // The terminal breaks its lines.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for told in [
            "✗ 1.61 s",
            "16,019 of 25,000",
            "connection 16,019 was the first to fail, after 512 ms",
        ] {
            assert!(text.contains(told), "{told}: {text}");
        }
    }
}

#[test]
fn greetings_that_did_not_come_to_all_have_no_length_of_0() {
    let mut record = fixture::fanout();
    for trial in &mut record.trials {
        if (trial.target, trial.setting) != (1, 1) {
            continue;
        }
        let phase = trial.phases.greeting_mut().expect("made with one");
        // All that came had come while others connected.
        (phase.received, phase.duration_ns) = (trial.repeat * 3_000, 0);
        trial.verdict = Verdict::Partial;
        trial.checks = vec![Check {
            kind: CheckKind::UnservedConnections,
            result: CheckResult::Partial,
            measured: Some(1_000.0),
            bound: Some(0.0),
            detail: "1,000 were not greeted.".to_owned(),
        }];
    }
    let row = row(&record, 7_000, "epoll-edge");
    assert_eq!(row.standing, Standing::Partial);
    assert_eq!(length(&row, "acknowledge"), None);
    let markdown = render(&record, Format::Markdown, &FULL);
    assert!(markdown.contains("|  | ack | † – |"), "{markdown}");
    assert!(!markdown.contains("† 0 ns"), "{markdown}");
}

#[test]
fn who_hears_late_is_told_by_the_order_of_the_connects() {
    let record = fixture::fanout();
    let row = row(&record, 25_000, "epoll-edge");
    let [greeted, heard] = order(&row) else {
        panic!("{:?}", order(&row));
    };
    assert_eq!(
        (greeted.phase, heard.phase),
        (PhaseKind::Acknowledge, PhaseKind::Get)
    );
    assert_eq!(heard.parts.len(), 10);
    assert_eq!(
        (heard.parts[7].first, heard.parts[7].last),
        (17_500, 19_999)
    );
    assert_eq!(heard.slowest[0].connection, 24_999);
    for format in [Format::Terminal, Format::Markdown] {
        let text = render(&record, format, &FULL);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for told in [
            "epoll-edge at 25,000 connections, get: first tenth",
            "latest connections 17,500 to 19,999",
            "slowest connection 24,999 (",
            ", its SYN sent again once)",
            "who hears late: mean latency",
        ] {
            assert!(text.contains(told), "{told}: {text}");
        }
        assert!(!text.contains("epoll-edge at 1,000 connections, get"));
    }
}

#[test]
fn wrong_bytes_are_shown_beside_those_that_were_due() {
    let text = render(&fixture::fanout(), Format::Markdown, &FULL);
    let told = r#"wrong bytes 6 (connections 17, 4711, …; on the first "hello\\n" where "connected\\n" was due)"#;
    assert!(text.contains(told), "{text}");
}

#[test]
fn a_trial_without_a_phase_lends_its_others() {
    let row = row(&fixture::fanout_sustained(), 2_000, "epoll-edge");
    let rate = row.estimate("sustain_deliveries_per_second");
    assert_eq!(rate.expect("five have it").values, 5);
    assert_eq!(row.value("sustain_missing"), Some(15.0));
    let get = length(&row, "get").expect("all have it");
    assert_eq!(get.values, 6);
    let mut keys = row.figures.keys();
    assert!(!keys.any(|key| key.contains("server_cpu") || key.contains("_rss_")));
    assert_eq!(row.value("server_pss_connected_bytes"), None);
}

#[test]
fn what_is_published_stands_at_the_same_number_of_connections_only() {
    let mut record = fixture::fanout();
    let text = |record: &RunRecord| render(record, Format::Markdown, &FULL);
    let markdown = text(&record);
    assert!(
        markdown.contains("| published: 1:1 threads | 6.95 s | 43.2 s | – |"),
        "{markdown}"
    );
    assert!(markdown.contains("| published: IO.select | – | – | 619 ms |"));
    assert!(markdown.contains("was Ruby (2.7, by its last error) and sequential"));
    for (setting, connections) in record.plan.settings.iter_mut().zip([1_001, 7_001, 30_000]) {
        setting.connections = connections;
    }
    let other = text(&record);
    assert!(!other.contains("ublished"), "{other}");
}

#[test]
fn invalid_failed_and_missing_trials_have_a_report() {
    let mut record = fixture::fanout();
    let failed = row(&record, 25_000, "./mine | cat");
    assert_eq!(failed.standing, Standing::Failed);
    assert!(failed.figures.is_empty());
    for trial in &mut record.trials {
        trial.outcome = Outcome::Interrupted;
    }
    let cut = row(&record, 1_000, "epoll-edge");
    assert_eq!(cut.standing, Standing::NotMeasured);
    assert_eq!(cut.value("connected"), Some(1_000.0));
    let text = render(&record, Format::Terminal, &FULL);
    assert!(text.contains("✗ interrupted"), "{text}");
    for trial in &mut record.trials {
        trial.phases.0.clear();
    }
    for format in Format::ALL {
        assert!(!render(&record, format, &FULL).is_empty());
    }
    record.plan.targets.clear();
    record.plan.settings.clear();
    for format in Format::ALL {
        assert!(!render(&record, format, &FULL).is_empty());
    }
}

#[test]
fn an_overview_too_wide_for_its_page_goes_on_below() {
    let mut record = fixture::fanout();
    record.trials.clear();
    let one = record.plan.settings[0].clone();
    record.plan.settings = (1..=28)
        .map(|thousand| {
            let mut setting = one.clone();
            setting.connections = thousand * 1_000;
            setting
        })
        .collect();
    record.trials = fixture::fanout().trials;
    for width in [80, 100] {
        let options = Options {
            width: Some(width),
            colour: false,
            is_full: true,
        };
        let text = render(&record, Format::Terminal, &options);
        let get = text.split("real time of get").nth(1).expect("it is there");
        let overview = get.split("\n1,000 connections").next().expect("one part");
        assert!(overview.contains("28,000"), "{overview}");
        let widest = overview.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width.into()), "{overview}");
        let labels = overview.matches("published: M:N threads").count();
        assert!(labels > 1, "{overview}");
    }
}
