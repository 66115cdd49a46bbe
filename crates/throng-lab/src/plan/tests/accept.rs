//! Plans of the accept experiment.

use throng_record::plan::Experiment;
use throng_record::{AcceptSpec, Network, PhaseSpec, Setting, TargetKind};

use super::super::test_environment;
use super::Plans;
use crate::plan::{Resolved, resolve};

const PLANS: Plans = Plans {
    experiment: "accept",
    targets: "",
    environment: || test_environment(2),
};

fn names(text: &str) -> Vec<String> {
    let targets = PLANS.plan(text).targets.into_iter();
    targets.map(|target| target.name).collect()
}

const ALL: [&str; 5] = ["select", "poll", "epoll-level", "epoll-edge", "io-uring"];

/// The only phase.
fn timed(setting: &Setting) -> &AcceptSpec {
    match &setting.phases.0[..] {
        [PhaseSpec::Multiplex(spec)] => spec,
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_is_needed_and_ten_thousand_connections_meet_every_multiplexer() {
    let plan = PLANS.plan("");
    assert_eq!(
        (plan.name.as_str(), plan.experiment, plan.repeats),
        ("accept", Experiment::Accept, 6)
    );
    assert_eq!(plan.net, Network::Private);
    assert_eq!(names(""), ALL);
    assert_eq!(names("targets = ['all']"), ALL);
    let is_multiplexer = |kind| kind == TargetKind::Multiplexer;
    assert!(plan.targets.iter().all(|one| is_multiplexer(one.kind)));
    let setting = &plan.settings[0];
    let spec = timed(setting);
    assert_eq!((setting.connections, spec.connections), (10_000, 10_000));
    assert_eq!(setting.shards, 1);
    assert_eq!(
        (
            setting.server_cpus.as_slice(),
            setting.generator_cpus.as_slice()
        ),
        (&[][..], &[1][..])
    );
}

#[test]
fn connections_may_be_swept_and_cpus_and_kernel_settings_chosen() {
    let plan = PLANS.plan(
        "targets = ['poll']\nconnections = [500, 100]\ncpus = ':0'\nrepeats = 2\nseed = 3\n[kernel]\nsomaxconn = 8",
    );
    let connections: Vec<u32> = plan.settings.iter().map(|one| one.connections).collect();
    assert_eq!(connections, [100, 500]);
    for setting in &plan.settings {
        assert_eq!(timed(setting).connections, setting.connections);
        assert_eq!(setting.generator_cpus, [0]);
        assert_eq!(setting.kernel["net.core.somaxconn"], "8");
    }
    let any = PLANS.plan("cpus = 'any'\nnet = 'host'");
    assert_eq!(
        (any.net, any.settings[0].generator_cpus.len()),
        (Network::Host, 0)
    );
}

#[test]
fn the_published_form_takes_the_place_of_poll() {
    let published = [
        "select",
        "poll-published",
        "epoll-level",
        "epoll-edge",
        "io-uring",
    ];
    assert_eq!(names("published = true"), published);
    assert_eq!(names("published = false"), ALL);
    let both = "targets = ['poll-published', 'poll']";
    assert_eq!(names(both), ["poll-published", "poll"]);
    assert_eq!(
        names(&format!("published = true\n{both}")),
        ["poll-published"]
    );
}

#[test]
fn whatever_is_no_multiplexer_and_whatever_asks_for_a_server_is_refused() {
    for (text, parts) in [
        ("targets = []", &["nothing to time", "poll-published"][..]),
        (
            "targets = ['tokio']",
            &["`tokio` is no multiplexer", "io-uring"],
        ),
        (
            "targets = ['tcp://127.0.0.1:80']",
            &["has no server", "poll-published"],
        ),
        (
            "targets = [{ command = './mine {port}' }]",
            &["`./mine {port}`", "select"],
        ),
        ("targets = ['poll', 'poll']", &["two targets", "`poll`"]),
        (
            "targets = ['select']\npublished = true",
            &["`published` needs `poll`"],
        ),
        (
            "targets = ['poll']\nbaseline = 'select'",
            &["`select`", "name one of poll"],
        ),
        (
            "connections = 0",
            &["`connections` is 0", "connections = 10000"],
        ),
        ("cpus = '0:1'", &["`cpus = 0:1`", "cpus = \":1\""]),
        ("cpus = ':7'", &["CPU 7"]),
        (
            "clients = 5",
            &["not for the accept experiment", "write --connections 1000"],
        ),
        (
            "duration = '1s'",
            &["`duration`", "write --connections 1000"],
        ),
        ("size = 6", &["`size`", "throng echo"]),
        (
            "service-time = '1ms'",
            &["`service-time`", "throng backlog"],
        ),
        ("backend = 'epoll'", &["`backend`", "name the targets"]),
        ("net = 'host'\n[kernel]\nsomaxconn = 1", &["contradict"]),
    ] {
        let error = PLANS.refusal(text);
        for part in parts {
            assert!(error.contains(part), "{text}: `{part}` in: {error}");
        }
    }
}

#[test]
fn its_own_key_is_refused_elsewhere() {
    for experiment in ["echo", "backlog"] {
        let plans = Plans {
            experiment,
            targets: "targets = ['poll']",
            ..PLANS
        };
        let error = plans.refusal("published = true");
        assert!(error.contains("throng accept"), "{error}");
    }
}

#[test]
fn too_few_for_a_slope_are_measured_all_the_same() {
    let notes = |text: &str| PLANS.resolved(text).notes;
    assert!(notes("connections = 20").is_empty());
    let told = notes("connections = [5, 19]");
    assert!(told[0].contains("5 connections are too few"), "{told:?}");
}

#[test]
fn where_io_uring_is_forbidden_it_is_left_out_of_all() {
    let mut environment = test_environment(2);
    environment.io_uring_obstacle = Some("forbidden".to_owned());
    let resolved = resolve(PLANS.draft(""), &environment).expect("resolves");
    assert_eq!(resolved.plan.targets.len(), 4);
    assert!(
        resolved.notes[0].contains("io-uring"),
        "{:?}",
        resolved.notes
    );
}

#[test]
fn the_short_form_is_one_repeat_of_few_connections() {
    let connections = |text: &str| {
        let plan = PLANS.short(text).plan;
        assert_eq!(plan.repeats, 1);
        let settings = plan.settings.iter();
        settings.map(|one| one.connections).collect::<Vec<_>>()
    };
    assert_eq!(connections(""), [2_000]);
    assert_eq!(connections("connections = [500, 5000]"), [500, 2_000]);
}

#[test]
fn a_short_form_that_is_still_long_loses_connections_and_nothing_that_it_has_not() {
    let text = "targets = ['poll']\n[quick]\nconnections = 100000";
    let Resolved { plan, notes } = PLANS.short(text);
    let setting = &plan.settings[0];
    assert!(setting.connections < 100_000);
    assert_eq!(timed(setting).connections, setting.connections);
    assert!(notes[0].contains("with fewer connections"), "{notes:?}");
    assert!(!notes[0].contains("by time"), "{notes:?}");
}
