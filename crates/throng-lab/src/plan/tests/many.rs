//! Plans of the fan-out and hold experiments.

use throng_record::plan::Experiment;
use throng_record::{
    Arrivals, PhaseName, PhaseSpec, PingSpec, Protocol, PutSpec, Setting, SustainSpec,
};

use super::super::many_test_environment;
use super::Plans;
use crate::plan::{PlanDraft, Resolved, resolve};

const FANOUT: Plans = Plans {
    experiment: "fanout",
    targets: "targets = ['epoll-edge']",
    environment: many_test_environment,
};

const HOLD: Plans = Plans {
    experiment: "hold",
    targets: "",
    environment: many_test_environment,
};

fn put(setting: &Setting) -> &PutSpec {
    setting.phases.put().expect("a line is put")
}

fn pings(setting: &Setting) -> u32 {
    setting.phases.ping().map_or(0, |ping| ping.pings)
}

#[test]
fn a_fan_out_is_as_published_where_nothing_else_is_asked_for() {
    let plan = FANOUT.plan("");
    assert_eq!(
        (plan.name.as_str(), plan.experiment, plan.repeats),
        ("fanout", Experiment::Fanout, 3)
    );
    let setting = &plan.settings[0];
    assert_eq!(setting.connections, 1_000);
    assert_eq!(setting.workload.name(), "broadcast");
    assert_eq!(
        (setting.connect_concurrency, setting.connect_rate_per_second),
        (1, None)
    );
    assert_eq!(setting.reply_timeout_ns, 60_000_000_000);
    assert_eq!(setting.phases.greeting(), Some(&b"connected\n"[..]));
    assert_eq!(put(setting).line, b"hello\n");
    assert_eq!(put(setting).speaker, 500);
    let names: Vec<PhaseName> = setting.phases.0.iter().map(PhaseSpec::name).collect();
    use PhaseName::{Acknowledge, Close, Connect, Get};
    assert_eq!(names, [Connect, Acknowledge, Get, Close]);
}

#[test]
fn lines_greetings_and_a_rate_may_be_asked_for() {
    let plan = FANOUT.plan(
        "targets = ['tcp://127.0.0.1:9']\nconnections = [7, 3]\nline = 'a\\tb'\ngreeting = ''\nrate = 20\nduration = '3s'\narrivals = 'exponential'\nconnect-concurrency = 8\nconnect-rate = 1000.0",
    );
    let speakers: Vec<u32> = plan
        .settings
        .iter()
        .map(|setting| put(setting).speaker)
        .collect();
    assert_eq!(speakers, [1, 3]);
    let setting = &plan.settings[0];
    assert_eq!(
        (setting.connect_concurrency, setting.connect_rate_per_second),
        (8, Some(1_000.0))
    );
    assert_eq!(setting.phases.greeting(), None);
    assert_eq!(put(setting).line, b"a\tb\n");
    assert_eq!(
        setting.phases.sustain(),
        Some(&SustainSpec {
            put: put(setting).clone(),
            rate_per_second: 20.0,
            arrivals: Arrivals::Exponential,
            duration_ns: 3_000_000_000
        })
    );
}

#[test]
fn all_are_those_that_broadcast() {
    let resolved = FANOUT.resolved("targets = ['all']");
    let names: Vec<&str> = resolved
        .plan
        .targets
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert!(!names.contains(&"iterative"), "{names:?}");
    assert!(names.contains(&"two-threads-per-connection"), "{names:?}");
    assert!(
        resolved.notes[0].contains("cannot pass a line on to all connections: iterative"),
        "{:?}",
        resolved.notes
    );
}

#[test]
fn ways_to_hand_over_are_targets_of_their_own() {
    let plan = FANOUT.plan(
        "targets = ['two-threads-per-connection', 'two-threads-per-connection --hand-over queues']",
    );
    let ways: Vec<Option<&str>> = plan
        .targets
        .iter()
        .map(|one| one.options.hand_over.map(throng_record::HandOver::name))
        .collect();
    assert_eq!(ways, [None, Some("queues")]);
}

#[test]
fn connections_are_held_by_loops_with_tables_of_their_own() {
    let plan = HOLD.resolved("").plan;
    assert_eq!(
        (plan.name.as_str(), plan.repeats, plan.targets.len()),
        ("hold", 1, 1)
    );
    assert_eq!(plan.targets[0].name, "epoll-shared");
    assert_eq!(plan.targets[0].options.workers, None);
    let setting = &plan.settings[0];
    assert_eq!(
        (setting.connections, setting.workload.name()),
        (10_000, "echo")
    );
    assert_eq!((setting.shards, setting.connect_concurrency), (1, 64));
    assert_eq!(setting.phases.hold_ns(), Some(2_000_000_000));
    assert_eq!(
        setting.phases.ping(),
        Some(&PingSpec {
            protocol: Protocol::Echo { size_bytes: 6 },
            verify: true,
            pings: 1_000,
            at_once: 16
        })
    );
    let few = HOLD
        .resolved("connections = 7\nhold = '0s'\npings = 0\nsize = 9")
        .plan;
    let setting = &few.settings[0];
    assert_eq!((pings(setting), setting.phases.hold_ns()), (0, Some(0)));
    assert_eq!(setting.phases.protocol(), None, "nothing is sent");
}

#[test]
fn a_million_get_as_many_tables_on_each_side_as_they_need() {
    let Resolved { plan, notes } = HOLD.resolved("connections = [1000, 1_000_000]\npings = 'all'");
    let [few, many] = &plan.settings[..] else {
        panic!("{:?}", plan.settings);
    };
    assert_eq!((few.shards, many.shards), (1, 51));
    assert_eq!(many.workers, None);
    assert_eq!(plan.targets[0].options.workers, Some(51));
    assert!(
        notes[0].contains("epoll-shared has 51 workers: 1000000 connections need"),
        "{notes:?}"
    );
    // Together they must fit into the accept queue.
    assert!(many.connect_concurrency * many.shards <= many.backlog);
    assert_eq!((pings(few), pings(many)), (1_000, 1_000_000));
}

#[test]
fn workers_that_are_asked_for_are_left_alone_and_so_is_one_table_for_all() {
    let workers = |text: &str| HOLD.resolved(text).plan.targets[0].options.workers;
    assert_eq!(workers("connections = 100_000\nworkers = 3"), None);
    let own = "targets = ['epoll-shared --workers 3']\nconnections = 100_000";
    assert_eq!(workers(own), Some(3));
    assert_eq!(
        workers("targets = ['epoll-edge']\nconnections = 100_000"),
        None
    );
    assert_eq!(workers("connections = 19_000"), None);
    let fanned = FANOUT.plan("targets = ['epoll-shared']\nconnections = 28_000");
    assert_eq!(fanned.settings[0].shards, 2);
    let mut environment = many_test_environment();
    environment.limits.open_files_hard = u64::MAX;
    let draft = HOLD.draft("connections = 1_000_000");
    let unlimited = resolve(draft, &environment).expect("a plan").plan;
    assert_eq!(unlimited.settings[0].shards, 1);
    assert_eq!(unlimited.targets[0].options.workers, None);
}

#[test]
fn whatever_makes_no_sense_is_refused_with_what_to_write() {
    for (text, parts) in [
        ("line = ''", &["`line = `", "empty"][..]),
        (
            "line = 'a\\nb'",
            &["`line = a\\nb`", "leave the newline out"],
        ),
        ("greeting = 'a\\q'", &["`greeting = a\\q`", "no escape"]),
        (
            "greeting = ''",
            &["greets with `connected`", "--no-greeting"],
        ),
        ("greeting = 'hi'", &["greets with `connected`"]),
        ("rate = 0", &["`rate = 0`", "lines per second", "rate = 10"]),
        ("duration = '1s'", &["`duration` needs `rate`"]),
        ("arrivals = 'constant'", &["`arrivals` needs `rate`"]),
        ("rate = 1\nduration = '0s'", &["`duration` is 0"]),
        (
            "connect-rate = -1",
            &["`connect-rate = -1`", "connects per second"],
        ),
        (
            "connect-concurrency = 0",
            &["`connect-concurrency` is 0", "nobody would connect"],
        ),
        ("connections = 0", &["`connections` is 0"]),
        (
            "targets = ['iterative']",
            &["iterative cannot pass on", "epoll-edge"],
        ),
        (
            "targets = ['http://127.0.0.1:80/']",
            &["fan-out experiment", "passes every line on"],
        ),
        (
            "targets = ['poll --delay-inline']",
            &["`delay-inline`", "fanout"],
        ),
        ("size = 6", &["`size`", "write --line hello"]),
        (
            "messages = 5",
            &["`messages`", "write --rate 10 and --duration 2s"],
        ),
        ("pings = 5", &["`pings`", "throng hold"]),
        ("workload = 'echo'", &["`workload`", "broadcast"]),
    ] {
        let error = FANOUT.refusal(text);
        for part in parts {
            assert!(error.contains(part), "{text}: `{part}` in: {error}");
        }
    }
    for (text, parts) in [
        (
            "connections = 0",
            &["`connections` is 0", "nothing would be held"][..],
        ),
        (
            "connections = 10\npings = 11",
            &["11 pings for 10 connections", "pings = 10 or less"],
        ),
        ("duration = '1s'", &["`duration`", "write --hold 1s"]),
        ("messages = 5", &["`messages`", "write --pings 100"]),
        ("rate = 5", &["`rate`", "throng echo"]),
        ("line = 'a'", &["`line`", "throng fanout"]),
        (
            "targets = ['http://127.0.0.1:80/']",
            &["hold experiment", "--send"],
        ),
        ("targets = []", &["no target"]),
    ] {
        let error = HOLD.refusal(text);
        for part in parts {
            assert!(error.contains(part), "{text}: `{part}` in: {error}");
        }
    }
}

#[test]
fn their_own_keys_are_refused_elsewhere() {
    for key in [
        "line = 'a'",
        "greeting = 'a'",
        "hold = '1s'",
        "pings = 'all'",
        "connect-rate = 5",
        "connect-concurrency = 5",
    ] {
        for experiment in ["echo", "backlog", "accept"] {
            let plans = Plans {
                experiment,
                ..FANOUT
            };
            let error = plans.refusal(key);
            assert!(error.contains("is not for the"), "{key}: {error}");
        }
    }
    for (text, part) in [
        ("pings = 'some'", "write for example 1000, 5k or all"),
        ("pings = -1", "`-1` is below 0"),
        ("pings = [1, 'none']", "`none` is neither a number nor all"),
        ("pings = '0.5'", "`0.5` is no whole number"),
    ] {
        let error = PlanDraft::parse(text, "plan.toml").expect_err(text);
        assert!(error.problem.contains(part), "{error}");
    }
}

#[test]
fn the_short_forms_have_one_repeat_of_fewer_connections() {
    let fanned = FANOUT.short("connections = [500, 28_000]\nrate = 5").plan;
    let connections: Vec<u32> = fanned.settings.iter().map(|one| one.connections).collect();
    assert_eq!((fanned.repeats, connections), (1, vec![500, 7_000]));
    let sustain = fanned.settings[0].phases.sustain().expect("a rate");
    assert_eq!(sustain.duration_ns, 400_000_000);
    let held = HOLD
        .short("connections = 1_000_000\npings = 50_000\nhold = '1m'")
        .plan;
    let setting = &held.settings[0];
    assert_eq!(setting.connections, 10_000);
    let held_ns = setting.phases.hold_ns();
    assert_eq!((pings(setting), held_ns), (10_000, Some(400_000_000)));
}

#[test]
fn a_short_form_that_is_still_long_keeps_its_parts_consistent() {
    let resolved = HOLD.short("[quick]\nconnections = 4_000_000\npings = 'all'\nhold = '5m'");
    let setting = &resolved.plan.settings[0];
    assert!(setting.connections < 4_000_000);
    assert_eq!(pings(setting), setting.connections);
    assert!(
        setting.phases.hold_ns() < Some(1_000_000_000),
        "{setting:?}"
    );
    let environment = many_test_environment();
    let estimate = crate::estimate(&resolved.plan, &environment.models, &environment.limits);
    assert!(estimate.as_secs() < 120, "{estimate:?}");
}

#[test]
fn the_short_forms_of_the_built_in_plans_take_less_than_a_minute() {
    let planned = |name: &str, is_quick| {
        let plan = crate::plans::find(name).expect("it is built in");
        let draft = PlanDraft::parse(plan.text, name).expect("parses");
        let draft = if is_quick { draft.shortened() } else { draft };
        let plan = resolve(draft, &many_test_environment()).expect(name).plan;
        let environment = many_test_environment();
        let estimate = crate::estimate(&plan, &environment.models, &environment.limits);
        (plan, estimate.as_secs())
    };
    let (many, seconds) = planned("many", false);
    assert_eq!(
        many.settings.last().map(|one| one.connections),
        Some(28_000)
    );
    // Eleven servers at seven numbers of connections, twice; five of them are Ruby's, which take minutes for 14,000 and end there.
    assert!((1_200..2_000).contains(&seconds), "{seconds}");
    let (million, seconds) = planned("million", false);
    assert_eq!(pings(&million.settings[0]), 1_000_000);
    assert!((60..90).contains(&seconds), "{seconds}");
    for (name, connections) in [("many", 4_000), ("million", 50_000)] {
        let (plan, seconds) = planned(name, true);
        assert_eq!(
            plan.settings.last().map(|one| one.connections),
            Some(connections)
        );
        assert!(seconds < 60, "{name}: {seconds}");
    }
}
