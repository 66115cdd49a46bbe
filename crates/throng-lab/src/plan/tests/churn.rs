//! Plans of the churn experiment.

use throng_record::plan::Experiment;
use throng_record::{Amount, Closing, ConnectionUse, Expect, Pacing, Protocol, Stop};

use super::super::backlog_test_environment;
use super::{Plans, asked};
use crate::plan::PlanDraft;

const PLANS: Plans = Plans {
    experiment: "churn",
    targets: "targets = ['iterative']",
    environment: backlog_test_environment,
};

#[test]
fn nothing_but_a_target_is_needed() {
    let plan = PLANS.plan("");
    assert_eq!(
        (plan.name.as_str(), plan.experiment, plan.repeats),
        ("churn", Experiment::Churn, 6)
    );
    let setting = &plan.settings[0];
    let exchange = asked(setting);
    assert_eq!((setting.connections, setting.backlog), (100, 1024));
    assert_eq!(setting.closing, Closing::Fin);
    assert_eq!(exchange.protocol, Protocol::Echo { size_bytes: 6 });
    assert_eq!(exchange.pacing, Pacing::Closed { outstanding: 1 });
    assert_eq!(exchange.warmup, Amount::DurationNs(300_000_000));
    assert_eq!(exchange.stop, Stop::DurationNs(2_000_000_000));
    assert!(!setting.observe);
    assert!(matches!(
        exchange.connection,
        ConnectionUse::PerMessage {
            tells_every_request: false,
            ..
        }
    ));
}

#[test]
fn how_connections_end_may_be_swept() {
    let plan = PLANS.plan("closing = ['reset', 'fin']\nclients = [7, 3]");
    let points: Vec<(Closing, u32)> = plan
        .settings
        .iter()
        .map(|one| (one.closing, one.connections))
        .collect();
    assert_eq!(points.len(), 4);
    for closing in [Closing::Fin, Closing::Reset] {
        for clients in [3, 7] {
            assert!(points.contains(&(closing, clients)), "{points:?}");
        }
    }
    let mut swept = plan.swept;
    swept.sort();
    assert_eq!(swept, ["clients", "closing"]);
}

#[test]
fn it_may_go_by_a_schedule_end_by_a_count_and_be_observed() {
    let setting =
        PLANS.setting("rate = 500\nmessages = 1009\nwarmup = '31 messages'\nobserve = true");
    let exchange = asked(&setting);
    assert!(matches!(
        exchange.pacing,
        Pacing::Open {
            rate_per_second: 500.0,
            outstanding: 1,
            ..
        }
    ));
    assert_eq!(exchange.stop, Stop::Messages(1009));
    assert_eq!(exchange.warmup, Amount::Messages(31));
    assert!(setting.observe);
    assert!(matches!(
        exchange.connection,
        ConnectionUse::PerMessage {
            tells_every_request: true,
            ..
        }
    ));
}

#[test]
fn a_workload_that_closes_first_answers_at_once() {
    let setting = PLANS.setting("workload = 'oneshot'");
    assert_eq!(setting.service_time_ns, Some(0));
    assert_eq!(setting.workload.name(), "oneshot");
}

#[test]
fn frames_are_asked_for_and_read_as_such() {
    let setting = PLANS.setting("workload = 'framed'");
    assert_eq!(setting.service_time_ns, None);
    let protocol = setting.phases.protocol();
    let expected = Protocol::Request {
        send: b"\0\0\0\x02{}".to_vec(),
        expect: Expect::Frame,
    };
    assert_eq!(protocol, Some(&expected));
}

#[test]
fn what_it_has_no_use_for_is_refused_with_what_to_write_instead() {
    for (text, said) in [
        ("connections = 5", "write --clients 32"),
        ("requests = 5", "write --messages 10000 or --duration 2s"),
        ("requests-total = 5", "write --messages 10000"),
        ("service-time = '5ms'", "throng backlog"),
        ("delay-inline = true", "throng backlog"),
        ("confidence = 0.01", "write --duration 2s and --repeats 6"),
        ("outstanding = 2", "write --clients 32"),
        ("lockstep = 2", "write --clients 32 or --rate 1000"),
        ("server = 'per-sweep'", "leave it out"),
        ("published = true", "throng accept"),
        ("clients = 0", "nobody would ask"),
        ("rate = 0", "rate"),
        ("messages = 5\nduration = '1s'", "duration"),
        ("family = 'unix'", "handshake"),
        ("targets = ['unix:/tmp/none']", "handshake"),
    ] {
        let refusal = PLANS.refusal(text);
        assert!(refusal.contains(said), "{text}: {refusal}");
    }
}

#[test]
fn only_it_has_a_choice_of_closing() {
    for experiment in ["echo", "backlog", "accept"] {
        let targets = match experiment {
            "accept" => "",
            _ => PLANS.targets,
        };
        let plans = Plans {
            experiment,
            targets,
            ..PLANS
        };
        let refusal = plans.refusal("closing = 'fin'");
        assert!(refusal.contains("throng churn"), "{refusal}");
    }
    let error = PlanDraft::parse("closing = 'slam'", "plan.toml").expect_err("no such word");
    assert!(error.to_string().contains("slam"), "{error}");
}
