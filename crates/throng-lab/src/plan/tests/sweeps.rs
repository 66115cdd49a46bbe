//! Plans with more than one value for a key.

use throng_record::Pacing;
use throng_record::plan::ServerLifetime;

use super::{ECHO, asked};
use crate::plan::{PlanDraft, Sweep};

/// Each setting's values of the swept keys, as text.
fn values(text: &str) -> Vec<String> {
    let settings = ECHO.plan(text).settings.into_iter();
    settings
        .map(|setting| {
            let values: Vec<String> = setting.swept.into_iter().map(|swept| swept.value).collect();
            values.join(" ")
        })
        .collect()
}

#[test]
fn every_combination_is_a_setting_and_connections_vary_fastest() {
    let text = "connections = [100, 1]\noutstanding = [8, 1]\nsize = [6, 1024]";
    assert_eq!(
        ECHO.plan(text).swept,
        ["size", "outstanding", "connections"]
    );
    assert_eq!(
        values(text),
        [
            "6 8 1",
            "6 8 100",
            "6 1 1",
            "6 1 100",
            "1024 8 1",
            "1024 8 100",
            "1024 1 1",
            "1024 1 100"
        ]
    );
    let last = ECHO.plan(text).settings.pop().expect("eight");
    assert_eq!(
        (last.connections, &asked(&last).pacing),
        (100, &Pacing::Closed { outstanding: 1 })
    );
}

#[test]
fn any_key_of_the_load_the_generator_and_the_launch_may_be_a_list() {
    for text in [
        "connections = [1, 2]",
        "size = [1, 2]",
        "send = ['a', 'b']\nexpect = '1 byte'",
        "send = 'a'\nexpect = ['1 byte', 'until b']",
        "verify = [true, false]",
        "outstanding = [1, 2]",
        "lockstep = [1, 2]",
        "rate = [1000, 2500.5]",
        "rate = 9\narrivals = ['constant', 'exponential']",
        "rate = 9\nspin = [true, false]",
        "warmup = ['1s', '5 messages']",
        "duration = ['1s', '2s']",
        "messages = [1, 2]",
        "confidence = [0.1, 0.2]",
        "confidence = 0.1\nmax-duration = ['1s', '2s']",
        "connect-timeout = ['1s', '2s']",
        "timeout = ['1s', '2s']",
        "ready-timeout = ['1s', '2s']",
        "backend = ['epoll', 'io-uring']",
        "shards = [1, 2]",
        "addresses = ['spread', 'kernel']",
        "nodelay = [true, false]",
        "family = ['ipv4', 'unix']",
        "backlog = [1, 2]",
        "workers = [1, 2]",
        "cpus = ['0:1', { server = '1' }]",
        "[kernel]\nsomaxconn = [1, 2]",
    ] {
        let plan = ECHO.plan(text);
        assert_eq!((plan.settings.len(), plan.swept.len()), (2, 1), "{text}");
        let [one, other] = &plan.settings[..] else {
            unreachable!("two")
        };
        assert_ne!(one.swept, other.swept, "{text}");
        let mut same = other.clone();
        same.swept.clone_from(&one.swept);
        assert_ne!(&same, one, "{text}: the value reaches the setting");
    }
}

#[test]
fn values_are_told_as_they_are_written() {
    assert_eq!(values("duration = ['1500ms', '2s']"), ["1s 500ms", "2s"]);
    assert_eq!(values("rate = [1000, 2500.5]"), ["1000", "2500.5"]);
    assert_eq!(values("cpus = ['0:1', 'any']"), ["0:1", "any"]);
    assert_eq!(
        values("backend = ['io-uring', 'epoll']"),
        ["io-uring", "epoll"]
    );
}

#[test]
fn a_repeated_value_is_measured_once_and_one_value_is_no_sweep() {
    assert_eq!(values("size = [7, 6, 7]"), ["7", "6"]);
    assert!(
        ECHO.plan("size = [7, 7]\nconnections = [3]")
            .swept
            .is_empty()
    );
    assert_eq!(
        ECHO.setting("size = [7, 7]\nconnections = [3]").connections,
        3
    );
}

#[test]
fn source_is_one_list_of_addresses_and_no_sweep() {
    let plan = ECHO.plan("source = ['127.0.0.2', '127.0.0.3']");
    assert_eq!((plan.settings.len(), plan.swept.len()), (1, 0));
}

#[test]
fn shards_follow_the_connections_of_each_setting() {
    let resolved = super::resolve(
        ECHO.draft("connections = [1, 2, 10]"),
        &super::test_environment(8),
    )
    .expect("resolves")
    .plan;
    let shards: Vec<u32> = resolved.settings.iter().map(|one| one.shards).collect();
    assert_eq!(shards, [1, 2, 4]);
}

#[test]
fn a_sweep_that_explodes_is_refused_before_it_is_made() {
    let list = |last: u32| {
        let values: Vec<String> = (1..=last).map(|value| value.to_string()).collect();
        values.join(", ")
    };
    let text = format!(
        "targets = ['poll', 'io-uring']\nsize = [{0}]\nbacklog = [{0}]\nconnections = [{0}]",
        list(1_000)
    );
    let error = ECHO.refusal(&text);
    for part in [
        "2000000000 combinations",
        "2 targets",
        "1000 of size",
        "10000",
        "shorten a list",
    ] {
        assert!(error.contains(part), "{part} in {error}");
    }
    assert_eq!(
        ECHO.plan(&format!("size = [{}]", list(10_000)))
            .settings
            .len(),
        10_000
    );
}

#[test]
fn all_stands_for_every_model_in_the_vocabularys_order() {
    let plan = ECHO.plan("targets = ['tcp://127.0.0.1:9', 'all']\nbaseline = 'epoll-edge'");
    let names: Vec<&str> = plan.targets.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "tcp://127.0.0.1:9",
            "thread-per-connection",
            "poll",
            "epoll-edge",
            "io-uring"
        ]
    );
    assert_eq!(plan.baseline, 3);
}

#[test]
fn a_list_above_replaces_a_value_below_and_a_servers_lifetime_too() {
    let file =
        PlanDraft::parse("targets = ['poll']\nsize = [1, 2, 3]", "plan.toml").expect("a plan");
    let flags = PlanDraft {
        outstanding: Sweep::of(vec![1, 8]),
        size: Some(Sweep::from(9)),
        server: Some(ServerLifetime::PerSweep),
        ..PlanDraft::default()
    };
    let plan = super::resolve(file.overlay(flags), &super::test_environment(2))
        .expect("resolves")
        .plan;
    assert_eq!(plan.swept, ["outstanding"]);
    assert_eq!(plan.server, ServerLifetime::PerSweep);
}
