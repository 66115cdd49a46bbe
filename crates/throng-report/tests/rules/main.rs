//! The rules by which a run becomes rows: what is ranked, what is a bound, what is left out, whatever the record holds.

mod accept;
mod answer;
mod backlog;
mod churn;
mod compare;
mod disturbed;
mod fanout;
#[path = "../fixture/mod.rs"]
mod fixture;
mod gates;
mod hdr_log;
mod hold;
mod hosts;
mod languages;
mod rates;
mod services;

use throng_record::{
    Check, CheckKind, CheckResult, Finding, Histogram, Outcome, PhaseName, RepliesPerConnection,
    RunRecord, SteadyWindow, Trial, Verdict, finding, histogram,
};
use throng_report::median::Spread;
use throng_report::ratio::{Bound, Compared};
use throng_report::row::{Part, PartKind, Row};
use throng_report::standing::Standing;
use throng_report::{Format, Options, Summary, render};

/// Everything there is to say, however wide.
const FULL: Options = Options {
    width: None,
    colour: false,
    is_full: true,
};

fn row(record: &RunRecord, connections: u32, target: &str) -> Row {
    let mut rows = Summary::of(record).rows.into_iter();
    rows.find(|row| row.connections == connections && row.target == target)
        .expect("the plan has this row")
}

/// The rows of each setting.
fn groups(record: &RunRecord) -> Vec<Vec<Row>> {
    let rows = Summary::of(record).rows;
    rows.chunk_by(|one, other| one.setting == other.setting)
        .map(<[Row]>::to_vec)
        .collect()
}

fn every_record() -> Vec<RunRecord> {
    let mut empty = fixture::closed();
    empty.trials.clear();
    vec![
        fixture::closed(),
        fixture::disturbed(),
        fixture::open(),
        fixture::rates(),
        fixture::interrupted(),
        fixture::nothing_valid(),
        fixture::swept(),
        fixture::backlog(),
        fixture::backlog_elsewhere(),
        fixture::fanout(),
        fixture::fanout_sustained(),
        fixture::hold(),
        fixture::hold_few(),
        fixture::phases(),
        empty,
    ]
}

fn terminal(record: &RunRecord, width: Option<u16>, colour: bool) -> String {
    render(
        record,
        Format::Terminal,
        &Options {
            width,
            colour,
            is_full: true,
        },
    )
}

#[test]
fn ranked_rows_come_first_and_alone_have_a_place() {
    let record = fixture::closed();
    for group in groups(&record) {
        assert!(group.is_sorted_by_key(|row| row.standing));
        for row in &group {
            assert_eq!(row.rank.is_some(), row.standing == Standing::Ranked);
        }
        let ranked: Vec<f64> = group
            .iter()
            .filter(|row| row.rank.is_some())
            .map(|row| row.value("messages_per_second").expect("ranked"))
            .collect();
        assert!(ranked.is_sorted_by(|one, other| one >= other), "{ranked:?}");
    }
}

#[test]
fn a_row_of_bounds_has_a_ratio_that_is_a_bound() {
    let record = fixture::closed();
    let ratio = row(&record, 100, "io-uring")
        .ratio_to_baseline
        .expect("pairs");
    assert_eq!(ratio.compared, Compared::MessagesPerSecond);
    assert_eq!(ratio.bound, Bound::AtLeast);
    assert_eq!(ratio.estimate.values, 6);
    let mut other = record.clone();
    other.plan.baseline = 1;
    let ratio = row(&other, 100, "epoll-edge")
        .ratio_to_baseline
        .expect("pairs");
    assert_eq!(ratio.bound, Bound::AtMost);
}

#[test]
fn a_few_qualified_trials_leave_a_row_ranked_on_its_valid_ones() {
    let mut record = fixture::closed();
    for trial in &mut record.trials {
        if trial.target == 1 && trial.repeat < 2 {
            trial.verdict = Verdict::Qualified;
        } else if trial.target == 1 {
            trial.verdict = Verdict::Valid;
        }
    }
    let found = row(&record, 100, "io-uring");
    assert_eq!(found.standing, Standing::Ranked);
    let rate = found.estimate("messages_per_second").expect("four");
    assert_eq!(rate.values, 4);
    assert!(matches!(rate.spread, Spread::Range { .. }));
}

#[test]
fn pairs_are_of_the_same_repeat_and_both_must_stand() {
    let found = row(&fixture::closed(), 100, "poll");
    assert_eq!(found.trials.invalid, 3);
    let ratio = found.ratio_to_baseline.expect("three pairs");
    assert_eq!(ratio.estimate.values, 3);
    // What slows a repeat slows both of a pair, and leaves their ratio alone.
    let Spread::Range { low, high } = ratio.estimate.spread else {
        panic!("three pairs are no interval");
    };
    assert!(high / low < 1.02, "{low} to {high}");
}

#[test]
fn without_a_valid_baseline_there_is_no_ratio_and_a_note_says_so() {
    let mut record = fixture::closed();
    record.plan.baseline = 2;
    assert_eq!(row(&record, 100, "poll").ratio_to_baseline, None);
    let text = terminal(&record, None, false);
    assert!(
        text.contains("No comparison with thread-per-connection: it has no valid trial"),
        "{text}"
    );
}

#[test]
fn latencies_are_those_of_all_messages_and_no_mean_of_percentiles() {
    let mut record = fixture::closed();
    let p50 = |record: &RunRecord, connections| {
        let row = row(record, connections, "poll");
        let found = *row.found("latency_ns_p50").expect("valid");
        (found.value, found.trials)
    };
    let (before_ns, trials) = p50(&record, 10);
    assert_eq!((trials, p50(&record, 100).1), (6, 3));
    // One trial of six with more messages than all others together, each of a second.
    let of_poll = |trial: &&mut Trial| trial.target == 3 && trial.job.fleet.connections == 10;
    let trial = record.trials.iter_mut().find(of_poll).expect("there");
    let mut slow = histogram::empty();
    slow.record_n(1_000_000_000, 100_000).expect("within range");
    trial.phases.exchange_mut().expect("exchanged").latency = Histogram::from(&slow);
    let (after_ns, _) = p50(&record, 10);
    assert!(before_ns < 1e6, "{before_ns}");
    assert!((after_ns / 1e9 - 1.0).abs() < 0.01, "{after_ns}");
}

#[test]
fn an_open_loop_is_ranked_by_its_tail() {
    let record = fixture::open();
    let summary = Summary::of(&record);
    let rows = &summary.rows;
    assert_eq!(rows[0].target, "io-uring");
    let ratio = rows[0].ratio_to_baseline.expect("two pairs");
    assert_eq!(ratio.compared, Compared::LatencyP99);
    assert!(ratio.estimate.median < 1.0);
}

#[test]
fn an_interrupted_trial_is_counted_and_its_figures_are_not() {
    let record = fixture::interrupted();
    assert_eq!(record.trials[9].outcome, Outcome::Interrupted);
    let found = row(&record, 10, "./mine | cat");
    assert_eq!((found.trials.valid, found.trials.interrupted), (1, 1));
    let rate = found.estimate("messages_per_second").expect("one");
    assert_eq!(rate.spread, Spread::Single);
    assert_eq!(Summary::of(&record).trials_made, 9);
}

fn assert_every_report(record: &RunRecord) {
    for format in Format::ALL {
        for options in [FULL, Options::default()] {
            assert!(!render(record, format, &options).is_empty());
        }
    }
}

#[test]
fn a_damaged_record_is_reported_as_far_as_it_goes() {
    let mut record = fixture::closed();
    let exchange = record.trials[0]
        .phases
        .exchange_mut()
        .expect("made with one");
    exchange.latency.hdr_v2_base64 = "not base64".to_owned();
    record.trials[1].target = 99;
    fixture::leave_out(&mut record.trials[2], PhaseName::Exchange);
    record.plan.baseline = 77;
    record.trials[3].setting = 99;
    assert_every_report(&record);
    let text = terminal(&record, None, false);
    assert!(
        text.contains("epoll-edge at 10 connections: not readable in the record: latency:"),
        "{text}"
    );
    assert_eq!(row(&record, 10, "epoll-edge").found("latency_ns_p50"), None);
}

#[test]
fn settings_that_are_missing_are_no_reason_to_fail() {
    for mut record in [fixture::closed(), fixture::swept()] {
        let second = &mut record.plan.settings[1];
        second.swept.clear();
        assert_every_report(&record);
        record.plan.settings.clear();
        assert_every_report(&record);
    }
}

#[test]
fn a_table_is_headed_by_what_is_swept() {
    let record = fixture::swept();
    let heading = |record: &RunRecord, setting: usize| groups(record)[setting][0].heading.clone();
    assert_eq!(
        heading(&record, 3),
        "1,000 connections · size 6 · outstanding 8"
    );
    let mut sizes = record.clone();
    for setting in &mut sizes.plan.settings {
        setting.swept.truncate(1);
    }
    assert_eq!(heading(&sizes, 7), "size 1024");
    assert_eq!(heading(&fixture::open(), 0), "100 connections");
}

#[test]
fn kernel_settings_are_told_by_whole_names_above_and_swept_ones_by_short_names_below() {
    let mut record = fixture::swept();
    record.plan.swept[0] = "somaxconn".to_owned();
    for setting in &mut record.plan.settings {
        setting.swept[0].key = "somaxconn".to_owned();
        let value = setting.swept[0].value.clone();
        let swept = ("net.core.somaxconn".to_owned(), value);
        let shared = ("net.ipv4.tcp_syncookies".to_owned(), "2".to_owned());
        setting.kernel.extend([swept, shared]);
    }
    let text = terminal(&record, None, false);
    for part in [
        "private network namespace with net.ipv4.tcp_syncookies = 2",
        "net.core.somaxconn 6 and 1024",
        "1,000 connections · somaxconn 1024 · outstanding 8",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("net.core.somaxconn ="), "{text}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for record in every_record() {
        for width in [80, 100, 160] {
            let text = terminal(&record, Some(width), false);
            for line in text.lines() {
                assert!(line.chars().count() <= width.into(), "at {width}: {line}");
            }
        }
        assert!(!terminal(&record, Some(1), false).is_empty());
    }
}

#[test]
fn colour_changes_nothing_but_the_colour() {
    for record in every_record() {
        let coloured = terminal(&record, Some(160), true);
        assert!(coloured.contains('\u{1b}'), "the title at least is bold");
        assert_eq!(
            without_styles(&coloured),
            terminal(&record, Some(160), false)
        );
    }
}

/// Drops each ESC … m, and the spaces that styled cells keep at the end of a line.
fn without_styles(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain += part.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

#[test]
fn what_a_server_says_cannot_steer_the_terminal() {
    let mut record = fixture::nothing_valid();
    record.plan.targets[0].name = "evil\u{1b}[2J".to_owned();
    record.trials[0].outcome = Outcome::Failed {
        message: "its last words: \u{1b}]0;title\u{7}".to_owned(),
    };
    let text = terminal(&record, Some(100), false);
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
}

#[test]
fn the_csv_has_a_line_for_each_trial_and_a_header_even_without_any() {
    for record in every_record() {
        let text = render(&record, Format::Csv, &FULL);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().expect("a header").clone();
        assert!(header.iter().any(|name| name.ends_with("latency_ns_p99")));
        let lines = reader
            .records()
            .map(|line| line.expect("as wide as the header"));
        assert_eq!(lines.count(), record.trials.len());
    }
}

#[test]
fn the_json_is_json_and_holds_every_row() {
    for record in every_record() {
        let text = render(&record, Format::Json, &FULL);
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let rows = value["rows"].as_array().expect("rows");
        let plan = &record.plan;
        assert_eq!(rows.len(), plan.settings.len() * plan.targets.len());
        let figures = value["figures"].as_array().expect("figures");
        let keys: Vec<&str> = figures
            .iter()
            .filter_map(|one| one["key"].as_str())
            .collect();
        for row in rows {
            let figures = row["figures"].as_object().expect("by key");
            assert!(figures.keys().all(|key| keys.contains(&key.as_str())));
        }
    }
}

#[test]
fn a_server_that_serves_fewer_at_once_says_so_and_is_neither_ranked_nor_invalid() {
    let mut record = fixture::closed();
    for trial in &mut record.trials {
        if trial.target == 3 && trial.job.fleet.connections == 10 {
            trial.verdict = Verdict::Partial;
            let exchange = trial.phases.exchange_mut().expect("exchanged");
            exchange.connections_served = 4;
        }
    }
    let found = row(&record, 10, "poll");
    assert_eq!(found.standing, Standing::Partial);
    let part = Part {
        done: PartKind::Served,
        number: 4,
        of: 10,
    };
    assert_eq!((found.rank, found.part), (None, Some(part)));
    assert!(found.value("messages_per_second").is_none());
    let text = terminal(&record, None, false);
    assert!(text.contains("serves 4 of 10"), "{text}");
    assert!(text.contains("serves k of N: "), "{text}");
}

#[test]
fn how_replies_fell_on_connections_is_in_csv_where_it_is_known() {
    let mut record = fixture::closed();
    record.trials[1]
        .phases
        .exchange_mut()
        .expect("exchanged")
        .steady = Some(SteadyWindow {
        replies_per_connection: Some(RepliesPerConnection {
            connections: 10,
            p10: 801,
            p90: 2_403,
            fairness_jain: 0.875,
            ..RepliesPerConnection::default()
        }),
        ..SteadyWindow::default()
    });
    let csv = render(&record, Format::Csv, &FULL);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let columns = [
        "fairness_jain",
        "replies_per_connection_p10",
        "replies_per_connection_p90",
    ];
    let places = columns.map(|name| header.iter().position(|column| *column == name));
    let mut values = || {
        let line = lines.next().expect("a line for each trial");
        places.map(|place| line[place.expect("it has a column")].to_owned())
    };
    assert_eq!(values(), ["", "", ""]);
    assert_eq!(values(), ["0.875", "801", "2403"]);
}

#[test]
fn starved_connections_are_told_of_where_they_are_more_than_one_in_a_hundred() {
    let with_starved = |number| {
        let mut record = fixture::closed();
        for trial in &mut record.trials {
            if trial.target == 0 && trial.job.fleet.connections == 100 {
                trial.phases.exchange_mut().expect("exchanged").steady = Some(SteadyWindow {
                    connections_starved: number,
                    ..SteadyWindow::default()
                });
            }
        }
        terminal(&record, None, false)
    };
    let note = "for longer than any reply took";
    for few in [1, 10, 100] {
        assert!(!with_starved(few).contains(note), "{few}");
    }
    let text = with_starved(64);
    assert!(
        text.contains(note) && text.contains("epoll-edge 64"),
        "{text}"
    );
}

#[test]
fn a_loop_for_each_cpu_that_got_one_cpu_says_so() {
    let mut record = fixture::closed();
    record.plan.targets[0].uses_every_cpu = true;
    record.machine.cpus_online = 2;
    for trial in &mut record.trials {
        trial.workers = Some(1);
    }
    let note = "Held to one CPU, and so to one loop: epoll-edge.";
    assert!(terminal(&record, None, false).contains(note));
    for setting in &mut record.plan.settings {
        setting.workers = Some(1);
    }
    let text = terminal(&record, None, false);
    assert!(!text.contains(note), "one worker was asked for: {text}");
}

#[test]
fn an_invalid_trial_is_quoted_only_where_none_of_its_row_stands() {
    let bound = |generator_busy| {
        Finding::GeneratorBound(finding::GeneratorBound {
            generator_busy,
            server_busy: 0.5,
        })
    };
    let mut record = fixture::closed();
    record
        .trials
        .iter_mut()
        .for_each(|trial| trial.findings.clear());
    let row = |trial: &Trial| (trial.target, trial.setting);
    let is_mixed = |trial: &Trial| {
        let all = fixture::closed().trials;
        let has = |verdict| {
            let same = |other: &&Trial| row(other) == row(trial);
            all.iter()
                .filter(same)
                .any(|other| other.verdict == verdict)
        };
        has(Verdict::Invalid) && has(Verdict::Valid)
    };
    let invalid = |trial: &&mut Trial| trial.verdict == Verdict::Invalid && is_mixed(trial);
    let found = record.trials.iter_mut().find(invalid).expect("of poll");
    found.findings = vec![bound(0.99)];
    let mixed = row(found);
    assert!(Summary::of(&record).findings.is_empty());
    for trial in record.trials.iter_mut().filter(|trial| row(trial) == mixed) {
        trial.verdict = Verdict::Invalid;
    }
    let summary = Summary::of(&record);
    assert_eq!(summary.findings.len(), 1);
    let sentences = summary.findings[0].sentences();
    assert!(sentences.contains("(of invalid trials): "), "{sentences}");
    // Where another row stands, its evidence is the one that is shown.
    let valid = |trial: &&mut Trial| trial.verdict == Verdict::Valid;
    let other = record.trials.iter_mut().find(valid).expect("of others");
    other.findings = vec![bound(0.98)];
    let summary = Summary::of(&record);
    assert_eq!(*summary.findings[0].worst, bound(0.98));
    assert!(!summary.findings[0].sentences().contains("of invalid"));
}

#[test]
fn a_row_names_the_cause_and_not_what_the_machine_did_besides() {
    let mut record = fixture::nothing_valid();
    let failed = |kind| Check {
        kind,
        result: CheckResult::Failed,
        measured: None,
        bound: None,
        detail: String::new(),
    };
    let steal_and_drift = [CheckKind::Steal, CheckKind::Drift, CheckKind::LittlesLaw];
    for trial in &mut record.trials {
        trial.verdict = Verdict::Invalid;
        trial.checks = steal_and_drift.map(failed).to_vec();
    }
    let first = &mut record.trials[0];
    first.checks.push(failed(CheckKind::UnexpectedErrors));
    let target = record.plan.targets[first.target as usize].name.clone();
    let setting = &record.plan.settings[first.setting as usize];
    let found = row(&record, setting.connections, &target);
    assert_eq!(
        found.failed_checks.first(),
        Some(&CheckKind::UnexpectedErrors)
    );
    let text = terminal(&record, Some(160), false);
    assert!(
        text.contains("✗ invalid: unexpected errors, 3 more"),
        "{text}"
    );
}

#[test]
fn a_connect_that_times_out_at_last_is_not_in_the_time_of_opening() {
    let mut record = fixture::hold_few();
    let opened = |record: &RunRecord| {
        let rows = Summary::of(record).rows;
        let of_row = |row: &Row| {
            (
                row.estimate("opened_ns"),
                row.estimate("connects_per_second"),
                row.detail.clone(),
            )
        };
        rows.iter().map(of_row).collect::<Vec<_>>()
    };
    assert!(opened(&record)[0].0.is_some());
    let before = opened(&record);
    for trial in &mut record.trials {
        let connect = trial.phases.connect_mut().expect("connected");
        connect.duration_ns += 10_000_000_000;
    }
    assert_eq!(opened(&record), before);
}
