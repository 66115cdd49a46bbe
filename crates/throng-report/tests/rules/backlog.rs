//! The rules of the backlog experiment's report, and of findings in every report.

use throng_findings::findings::kind;
use throng_record::{
    Expect, Finding, OneCoreCause, Outcome, Protocol, RunRecord, SweptValue, Trial, Verdict,
    finding,
};
use throng_report::experiments::backlog::published;
use throng_report::published::Published;
use throng_report::row::Row;
use throng_report::standing::Standing;
use throng_report::{Format, Summary, render};

use super::FULL;

use crate::fixture;

fn cell(record: &RunRecord, target: usize, backlog: u32, clients: u32) -> Row {
    let summary = Summary::of(record);
    let name = &record.plan.targets[target].name;
    let settings = &record.plan.settings;
    let mut rows = summary.rows.into_iter().filter(|row| row.target == *name);
    rows.find(|row| row.connections == clients && settings[row.setting as usize].backlog == backlog)
        .expect("the plan has this row")
}

fn beside(row: &Row) -> Option<published::Published> {
    match row.published.clone()? {
        Published::Backlog(beside) => Some(beside),
        other => panic!("of another experiment: {other:?}"),
    }
}

/// What became of the requests that were not answered.
fn failures(row: &Row) -> [Option<f64>; 8] {
    [
        "errors",
        "refused",
        "reset",
        "closed",
        "timed_out",
        "ports_exhausted",
        "wrong_answers",
        "other_errors",
    ]
    .map(|key| row.value(key))
}

#[test]
fn a_cell_stands_beside_what_was_published_of_it_and_of_no_other() {
    let record = fixture::backlog();
    let one = cell(&record, 0, 5, 32);
    let time = one.estimate("duration_ns").expect("measured");
    assert_eq!((time.values, time.median), (2, 10_210_000_000.0));
    assert_eq!(
        one.value("amplification"),
        Some(10_210_000_000.0 / 6_400_000_000.0)
    );
    let published = beside(&one).expect("published");
    assert_eq!(published.table.title, "backlog 5, one at a time");
    assert_eq!(published.row.times_ms, [10_299]);
    assert_eq!(published.amplifications, [10_299.0 / 6_400.0]);
    // Nothing was published of four accept threads with a long queue, nor of 160 clients one at a time.
    assert_eq!(cell(&record, 1, 256, 32).published, None);
    assert_eq!(cell(&record, 0, 256, 160).published, None);
    let mut slower = record.clone();
    for setting in &mut slower.plan.settings {
        setting.service_time_ns = Some(80_000_000);
    }
    assert_eq!(cell(&slower, 0, 5, 32).published, None);
}

#[test]
fn what_was_not_seen_is_absent_and_what_did_not_happen_is_none() {
    let elsewhere = fixture::backlog_elsewhere();
    let there = cell(&elsewhere, 0, 5, 32);
    for key in [
        "listen_overflows",
        "listen_drops",
        "syn_cookies_sent",
        "syn_retransmissions",
        "syn_ack_retransmissions",
        "data_retransmissions",
        "accept_queue_max",
    ] {
        // Three connections without TCP_INFO leave no sums.
        assert_eq!(there.value(key), None, "{key}");
    }
    let here = cell(&fixture::backlog(), 0, 256, 32);
    assert_eq!(here.value("listen_overflows"), Some(0.0));
    assert_eq!(here.value("syn_cookies_sent"), Some(0.0));
    assert_eq!(here.value("accept_queue_max"), Some(31.0));
    let mut unread = fixture::backlog();
    for trial in &mut unread.trials {
        trial.kernel_counters.clear();
    }
    let unread = cell(&unread, 0, 256, 32);
    assert_eq!(unread.value("listen_overflows"), None);
}

#[test]
fn failures_are_told_apart_and_summed_over_repeats() {
    let here = cell(&fixture::backlog(), 0, 5, 32);
    let expected = [4.0, 0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0];
    assert_eq!(failures(&here), expected.map(Some));
    let elsewhere = cell(&fixture::backlog_elsewhere(), 0, 5, 32);
    let expected = [7.0, 4.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0];
    assert_eq!(failures(&elsewhere), expected.map(Some));
}

#[test]
fn a_finding_is_told_once_where_it_was_worst() {
    let record = fixture::backlog();
    let summary = Summary::of(&record);
    let names: Vec<&str> = summary
        .findings
        .iter()
        .map(|found| kind(found.worst).name)
        .collect();
    assert_eq!(
        names,
        [
            "accept-queue-overflow",
            "final-ack-dropped",
            "syn-cookies",
            "too-few-acceptors"
        ]
    );
    let overflow = &summary.findings[0];
    assert_eq!((overflow.places.len(), overflow.trials), (4, 8));
    assert!(
        matches!(overflow.worst, Finding::AcceptQueueOverflow(finding::AcceptQueueOverflow { overflows, .. }) if *overflows == 182)
    );
    let fewest = summary.findings.last().expect("four");
    assert!(fewest.places[0].heading.starts_with("160 × 1 requests"));
}

#[test]
fn findings_are_in_every_format_of_every_experiment() {
    let mut record = fixture::closed();
    record.trials[1].findings = vec![Finding::GeneratorBound(finding::GeneratorBound {
        generator_busy: 0.994,
        server_busy: 0.71,
    })];
    for format in [Format::Terminal, Format::Markdown] {
        let text = render(&record, format, &FULL);
        let told =
            "Generator-bound, io-uring at 10 connections: the generator used 99 % of its CPU";
        assert!(text.contains(told), "{text}");
        assert!(text.contains("throng explain generator-bound"), "{text}");
    }
    let json = render(&record, Format::Json, &FULL);
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["findings"][0]["finding"], "generator_bound");
    assert_eq!(value["findings"][0]["generator_busy"], 0.994);
    assert_eq!(value["findings"][0]["places"][0]["target"], "io-uring");
}

#[test]
fn ten_requests_at_most_are_told_of_the_slowest_first() {
    let mut record = fixture::backlog();
    let summary = Summary::of(&record);
    assert_eq!(summary.slowest.len(), 8, "those without a cause are not");
    for trial in &mut record.trials {
        if let Some(phase) = trial.phases.connections_mut() {
            let again = phase.requests.clone();
            phase.requests.extend(again);
        }
    }
    let summary = Summary::of(&record);
    assert_eq!(summary.slowest.len(), 10);
    let slowest = summary.slowest[0].request.duration_ns;
    let times = summary.slowest.iter().map(|slow| slow.request.duration_ns);
    assert!(times.rev().is_sorted());
    let is_slowest = |trial: &&mut Trial| {
        let mut phases = trial.phases.connections().into_iter();
        phases.any(|phase| phase.requests.iter().any(|one| one.duration_ns == slowest))
    };
    let mut sound = Vec::new();
    for trial in record.trials.iter_mut().filter(is_slowest) {
        let mut beside_it = trial.clone();
        beside_it.verdict = Verdict::Valid;
        beside_it.phases.0.clear();
        sound.push(beside_it);
        trial.verdict = Verdict::Invalid;
    }
    record.trials.append(&mut sound);
    let summary = Summary::of(&record);
    assert!(
        summary.slowest[0].request.duration_ns < slowest,
        "of a trial that stands"
    );
}

#[test]
fn what_could_not_be_seen_is_said_once() {
    let mut record = fixture::backlog_elsewhere();
    let again = record.trials[0].clone();
    record.trials.push(again);
    let text = render(&record, Format::Terminal, &FULL);
    let said = "handshakes: packet sockets need CAP_NET_RAW (2 trials)";
    assert_eq!(text.matches(said).count(), 1, "{text}");
}

/// One of each. A new variant does not compile here until it is in the list above the match.
#[expect(clippy::too_many_lines, reason = "a list with one of each kind")]
fn one_of_each() -> Vec<Finding> {
    let all = vec![
        Finding::AcceptQueueOverflow(finding::AcceptQueueOverflow {
            overflows: 1_410,
            drops: 1_500,
            connects_delayed: 1,
            syn_retransmissions: Some(2),
            connect_ns_max: 1_024_000_000,
            backlog: Some(128),
            depth_max: None,
            backlog_sufficient: None,
        }),
        Finding::BacklogClamped(finding::BacklogClamped {
            asked: 256,
            in_force: 16,
            somaxconn: Some(16),
        }),
        Finding::FinalAckDropped(finding::FinalAckDropped {
            connections: 1,
            data_retransmissions: Some(2),
            syn_ack_retransmissions: None,
            waited_ns_max: 613_000_000,
        }),
        Finding::SynCookies(finding::SynCookies {
            sent: 17,
            received: 15,
            failed: 1,
            request_queue_full: 17,
        }),
        Finding::ConnectionsRefused(finding::ConnectionsRefused {
            refused: 160,
            begun: 160,
            connected: 0,
            server_died: false,
            was_listening: Some(false),
        }),
        Finding::HeadOfLineBlocking(finding::HeadOfLineBlocking {
            requests: 140,
            of_requests: 160,
            service_time_ns: 40_000_000,
            first_byte_ns_median: 320_000_000,
            server_busy: 0.013,
        }),
        Finding::TooFewAcceptors(finding::TooFewAcceptors {
            requests: 140,
            of_requests: 160,
            serves_at_once: None,
            clients: 8,
            depth_mean: 6.92,
            server_busy: 0.013,
        }),
        Finding::DelayedAck(finding::DelayedAck {
            share_of_replies: 0.97,
            gap_ns_median: 44_000_000,
            delayed_acks: 41,
            replies: 42,
        }),
        Finding::GeneratorBound(finding::GeneratorBound {
            generator_busy: 0.994,
            server_busy: 0.71,
        }),
        Finding::UnbalancedListeners(finding::UnbalancedListeners {
            listeners: 4,
            busiest_depth_max: 13,
            busiest_depth_mean: 6.5,
            idlest_depth_max: 1,
            idlest_depth_mean: 0.04,
        }),
        Finding::CostGrowsWithIdle(finding::CostGrowsWithIdle {
            measured: "data".to_owned(),
            ns_per_connection: 6.118,
            ns_per_connection_low: 6.05,
            ns_per_connection_high: 6.2,
            idle: 9_980,
            cost_ns_last: 62_400,
            cost_ns_first: 1_310,
        }),
        Finding::HalfThePortsGone(finding::HalfThePortsGone {
            ports: 28_232,
            connections: 20_000,
            rate_before_per_second: 44_812.4,
            rate_after_per_second: 352.7,
        }),
        Finding::PortsExhausted(finding::PortsExhausted {
            ports: 28_232,
            source_addresses: 1,
            open: 28_232,
            failed: 1_768,
        }),
        Finding::DescriptorsExhausted(finding::DescriptorsExhausted {
            side: throng_record::Side::Server,
            limit: Some(1_024),
            open: 1_017,
            failed: 983,
            descriptors_per_connection: Some(3.0),
        }),
        Finding::ThreadsExhausted(finding::ThreadsExhausted {
            limit_name: "kernel.pid_max".to_owned(),
            limit: 32_768,
            threads: 32_603,
            served: 16_290,
            of_connections: 28_000,
        }),
        Finding::SynRetransmissionSteps(finding::SynRetransmissionSteps {
            connections: 211,
            retransmissions: 240,
            connect_ns_max: 3_070_000_000,
            overflows: Some(0),
            backlog: Some(128),
        }),
        Finding::OneCoreOfMany(finding::OneCoreOfMany {
            cores_used: 1.013,
            cores_allowed: 4,
            cores_idle: 2.87,
            busiest_thread_cores: Some(0.034),
            threads_max: 34,
            connections: 32,
            held_by: OneCoreCause::GlobalInterpreterLock,
        }),
        Finding::UnfairService(finding::UnfairService {
            connections: 1_000,
            replies_min: 0,
            replies_p10: 97,
            replies_median: 1_204,
            replies_p90: 2_310,
            replies_max: 4_018,
            fairness_jain: 0.714,
        }),
        Finding::Stalls(finding::Stalls {
            stalls: 5,
            stall_ns_median: 201_000_000,
            stall_ns_max: 204_000_000,
            period_ns: Some(2_001_000_000),
            share_of_window: 0.1,
            waiting_max: 100,
            latency_ns_median: 612_000,
        }),
        Finding::StarvedConnections(finding::StarvedConnections {
            connections: 20,
            seldom_served: Some(1),
            replies_min: Some(3),
            replies_median: Some(4_712),
            waiting: Some(1),
            waited_ns_max: Some(1_940_000_000),
            reply_ns_max: 41_000_000,
        }),
        Finding::FullUnixQueue(finding::FullUnixQueue {
            connects: 7_120,
            of: 20_000,
            waited_ns: 14_240_000_000,
            share: 0.31,
            backlog: Some(1),
        }),
        Finding::ConnectingCosts(finding::ConnectingCosts {
            requests: 20_000,
            connect_ns_mean: 812_000.0,
            request_ns_mean: 2_300_000.0,
            share: 0.353,
        }),
        Finding::ScanWithoutRest(finding::ScanWithoutRest {
            cores: 0.98,
            cpus: 1,
            window_ns: 200_100_000,
            services: 20,
            connections_of_service: 200,
        }),
        Finding::UnevenServices(finding::UnevenServices {
            among: finding::UnevenAmong::Services,
            number: 7,
            of: 20,
            request_ns_mean: 4_100_000.0,
            request_ns_median: 1_900_000.0,
            cpu_ns: Some(310_000_000),
            cpu_ns_median: Some(290_000_000),
        }),
    ];
    for finding in &all {
        match finding {
            Finding::AcceptQueueOverflow(_)
            | Finding::BacklogClamped(_)
            | Finding::FinalAckDropped(_)
            | Finding::SynCookies(_)
            | Finding::ConnectionsRefused(_)
            | Finding::HeadOfLineBlocking(_)
            | Finding::TooFewAcceptors(_)
            | Finding::DelayedAck(_)
            | Finding::Stalls(_)
            | Finding::StarvedConnections(_)
            | Finding::GeneratorBound(_)
            | Finding::HalfThePortsGone(_)
            | Finding::PortsExhausted(_)
            | Finding::DescriptorsExhausted(_)
            | Finding::ThreadsExhausted(_)
            | Finding::SynRetransmissionSteps(_)
            | Finding::OneCoreOfMany(_)
            | Finding::UnfairService(_)
            | Finding::UnbalancedListeners(_)
            | Finding::CostGrowsWithIdle(_)
            | Finding::FullUnixQueue(_)
            | Finding::ConnectingCosts(_)
            | Finding::ScanWithoutRest(_)
            | Finding::UnevenServices(_) => {}
        }
    }
    all
}

#[test]
fn every_finding_says_what_happened_why_and_what_to_do() {
    let mut record = fixture::backlog_elsewhere();
    record.trials[0].findings = one_of_each();
    let summary = Summary::of(&record);
    let told: Vec<String> = summary
        .findings
        .iter()
        .map(|found| found.sentences())
        .collect();
    insta::assert_snapshot!("findings", told.join("\n"));
}

#[test]
fn a_clamp_is_blamed_on_the_kernel_only_where_it_was_the_kernel() {
    let mut record = fixture::backlog_elsewhere();
    let mut remedy = |somaxconn| {
        record.trials[0].findings = vec![Finding::BacklogClamped(finding::BacklogClamped {
            asked: 256,
            in_force: 16,
            somaxconn,
        })];
        Summary::of(&record).findings[0].remedy.clone()
    };
    assert!(remedy(Some(16)).contains("sysctl -w net.core.somaxconn=256"));
    assert!(!remedy(Some(4_096)).contains("sysctl"));
    assert!(
        remedy(None).contains("sysctl"),
        "not readable: the kernel is the likelier one"
    );
}

#[test]
fn what_is_to_be_done_about_one_core_follows_from_what_holds_the_server_to_it() {
    let mut record = fixture::backlog_elsewhere();
    let mut told = |held_by, threads_max| {
        record.trials[0].findings = vec![Finding::OneCoreOfMany(finding::OneCoreOfMany {
            cores_used: 0.98,
            cores_allowed: 2,
            cores_idle: 0.91,
            busiest_thread_cores: Some(0.97),
            threads_max,
            connections: 8,
            held_by,
        })];
        Summary::of(&record).findings[0].sentences()
    };
    for (held_by, cause, remedy) in [
        (
            OneCoreCause::GlobalInterpreterLock,
            "global interpreter lock (GIL)",
            "PEP 703",
        ),
        (OneCoreCause::GlobalVmLock, "global VM lock", "Ractors"),
        (OneCoreCause::OneThread, "one thread", "SO_REUSEPORT"),
        (OneCoreCause::NotKnown, "not known", "top -H"),
    ] {
        let words = told(held_by, 9);
        let (happened, why) = words.split_once("Cause: ").expect("both are told");
        assert!(happened.contains("used 0.98 of 2 cores"), "{words}");
        assert!(happened.contains("0.97 of a core"), "{words}");
        let (why, what) = why.split_once("Remedy: ").expect("both are told");
        assert!(why.contains(cause) && what.contains(remedy), "{words}");
    }
    let alone = told(OneCoreCause::OneThread, 1);
    assert!(!alone.contains("busiest"), "{alone}");
}

#[test]
fn a_time_that_the_generator_held_up_is_a_bound() {
    let mut record = fixture::backlog();
    for trial in &mut record.trials {
        if (trial.target, trial.setting) == (1, 4) {
            trial.verdict = Verdict::Qualified;
        }
    }
    assert_eq!(cell(&record, 1, 256, 32).standing, Standing::Qualified);
    let text = render(&record, Format::Terminal, &FULL);
    assert!(text.contains("≤ 355 ms (205 ms – 505 ms)"), "{text}");
    assert!(text.contains("≤: at most this long"), "{text}");
}

#[test]
fn an_amplification_is_marked_where_requests_failed_and_never_below_one() {
    let mut record = fixture::backlog();
    let text = render(&record, Format::Terminal, &FULL);
    assert!(text.contains("‡ 1.60×"), "{text}");
    assert!(text.contains("‡: requests failed"), "{text}");
    for trial in &mut record.trials {
        if let Some(phase) = trial.phases.connections_mut() {
            phase.duration_ns = phase.duration_least_ns.expect("known") * 9 / 10;
        }
    }
    assert_eq!(cell(&record, 0, 5, 32).value("amplification"), None);
    for format in [Format::Terminal, Format::Csv] {
        let text = render(&record, format, &FULL);
        for below in ["0.90", "0.9,"] {
            assert!(!text.contains(below), "{text}");
        }
    }
}

#[test]
fn a_backlog_in_force_that_is_another_is_in_the_heading_and_beside_nothing_published() {
    let mut record = fixture::backlog();
    let published = |record: &RunRecord| cell(record, 0, 5, 32).published.is_some();
    assert!(published(&record));
    for trial in &mut record.trials {
        for listener in trial
            .accept_queue
            .iter_mut()
            .flat_map(|all| &mut all.listeners)
        {
            listener.backlog = 2;
        }
    }
    assert!(!published(&record));
    let text = render(&record, Format::Markdown, &FULL);
    assert!(
        text.contains("## iterative · backlog 5 asked, 2 in force\n"),
        "{text}"
    );
    assert!(text.contains("full beyond 2, not beyond 5"), "{text}");
    assert!(!text.contains("10.3 s"), "{text}");
    let csv = render(&record, Format::Csv, &FULL);
    assert!(!csv.contains("10299"), "{csv}");
}

#[test]
fn where_all_requests_failed_their_kinds_are_told() {
    let mut record = fixture::backlog_elsewhere();
    record.trials[0].verdict = Verdict::Invalid;
    let text = render(&record, Format::Markdown, &FULL);
    assert!(text.contains("4 refused, 1 reset, 2 timed out"), "{text}");
}

#[test]
fn an_interrupted_trial_has_no_times_in_csv() {
    let mut record = fixture::backlog_elsewhere();
    let duration = |record: &RunRecord| {
        let csv = render(record, Format::Csv, &FULL);
        let cells = |line: usize| csv.lines().nth(line).expect("there").split(',').collect();
        let (names, values): (Vec<&str>, Vec<&str>) = (cells(0), cells(1));
        let column = names.iter().position(|name| *name == "duration_ns");
        values[column.expect("a column")].to_owned()
    };
    assert_ne!(duration(&record), "");
    record.trials[0].outcome = Outcome::Interrupted;
    assert_eq!(duration(&record), "");
}

#[test]
fn the_head_tells_no_workload_for_another() {
    let mut record = fixture::backlog();
    for (setting, workload) in record
        .plan
        .settings
        .iter_mut()
        .zip(["oneshot", "http"].iter().cycle())
    {
        setting.swept.push(SweptValue {
            key: "workload".to_owned(),
            value: (*workload).to_owned(),
        });
        if *workload == "http" {
            fixture::asked(setting).protocol = Protocol::Request {
                send: b"GET /".to_vec(),
                expect: Expect::HttpResponse,
            };
        }
    }
    record.plan.swept.push("workload".to_owned());
    let text = render(&record, Format::Markdown, &FULL);
    assert!(
        text.contains("requests of the workload oneshot and http"),
        "{text}"
    );
    assert!(!text.contains("answered by"), "{text}");
}
