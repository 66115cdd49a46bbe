//! Load from several hosts: what a report says of each, and that it says nothing of them where there are none.

use throng_report::compare;

use super::*;

#[test]
fn a_host_has_the_worst_of_its_trials() {
    let record = fixture::hosts();
    let hosts = Summary::of(&record).hosts;
    let [gen1, gen2] = &hosts[..] else {
        panic!("{hosts:?}");
    };
    assert_eq!((gen1.rank, gen1.name.as_str()), (1, "gen1"));
    assert_eq!((gen1.cpus_allowed, gen2.cpus_allowed), (4, 2));
    assert_eq!(gen1.stolen_share_max, Some(0.34));
    assert_eq!(gen2.stolen_share_max, Some(0.001));
    assert_eq!(gen2.generator_utilisation_max, Some(1.0));
    assert_eq!(gen1.throttled_share_max, None, "no quota");
    let skews = [gen1, gen2].map(|host| host.start_skew_ns_max);
    assert_eq!(skews, [0, 412_000_000]);
    assert_eq!(gen1.clock_uncertainty_ns_max, Some(22_000));
    let parts = record.counted().map(|trial| trial.hosts[0].replies);
    assert_eq!(gen1.replies, parts.sum::<u64>());
}

#[test]
fn what_was_made_again_does_not_count() {
    let mut record = fixture::hosts();
    let disturbed = record.trials.iter_mut().find(|trial| {
        let mut hosts = trial.hosts.iter();
        hosts.any(|host| host.stolen_share == Some(0.34))
    });
    disturbed.expect("one").is_superseded = true;
    assert_eq!(Summary::of(&record).hosts[0].stolen_share_max, Some(0.001));
}

#[test]
fn a_finding_about_generators_names_their_hosts() {
    let record = fixture::hosts();
    let summary = Summary::of(&record);
    let [found] = &summary.findings[..] else {
        panic!("{:?}", summary.findings);
    };
    assert_eq!(found.hosts, ["gen2"]);
    let expected = "on host gen2, the generator used 100 % of its CPU";
    assert!(found.happened.starts_with(expected), "{}", found.happened);
}

#[test]
fn sockets_of_both_sides_count_and_those_of_listeners_are_the_servers() {
    let record = fixture::hosts();
    let row = row(&record, 1_000, "poll");
    assert_eq!(row.value("time_wait_sockets"), Some(434.0));
    assert_eq!(row.value("listen_overflows"), Some(400.0));
}

#[test]
fn every_report_has_its_hosts_and_none_where_there_are_none() {
    let table = |record: &RunRecord, format| render(record, format, &FULL);
    let formats = [Format::Terminal, Format::Markdown, Format::Html];
    for format in formats {
        for (record, load) in [
            (fixture::hosts(), "load from 2 hosts: gen1"),
            (fixture::one_host(), "load from host gen1"),
        ] {
            let text = table(&record, format);
            assert!(text.contains(load), "{format:?}");
            assert!(text.contains("Hosts"), "{format:?}");
            assert!(!text.contains("loopback"), "{format:?}");
        }
        let text = table(&fixture::open(), format);
        assert!(!text.contains("load from"), "{format:?}");
        assert!(!text.contains("Hosts"), "{format:?}");
    }
}

#[test]
fn a_sweep_over_connections_tells_the_most() {
    let mut record = fixture::hosts();
    let mut more = record.plan.settings[0].clone();
    more.connections = 2_000;
    record.plan.settings.push(more);
    let text = render(&record, Format::Terminal, &FULL);
    assert!(text.contains("gen1 (up to 500 connections) and gen2 (up to 500)"));
}

#[test]
fn a_comparison_tells_where_the_load_came_from() {
    let [several, one] = [fixture::hosts(), fixture::one_host()];
    let named = |name, record| compare::Named { name, record };
    let runs = compare::runs(named("old", &several), &[named("new", &one)], &[]);
    let runs = runs.expect("alike");
    assert_eq!(runs.cautions, ["load from: 2 hosts in old, 1 host in new"]);
}
