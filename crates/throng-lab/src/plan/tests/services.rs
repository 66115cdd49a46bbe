//! Plans of the services experiment.

use throng_record::plan::ListenFamily;
use throng_record::{ConnectionUse, Expect, Protocol, Setting, Stop, TasksSpec, Workload};

use super::super::many_test_environment;
use super::{Plans, asked};

const PLANS: Plans = Plans {
    experiment: "services",
    targets: "targets = ['poll']",
    environment: many_test_environment,
};

fn tasks(setting: &Setting) -> TasksSpec {
    *asked(setting).pacing.tasks().expect("clients have some")
}

#[test]
fn nothing_but_a_target_is_needed_and_all_else_is_as_published() {
    let setting = PLANS.setting("");
    let expected = TasksSpec {
        services: 20,
        choices: 1,
        at_once: 25,
    };
    assert_eq!(tasks(&setting), expected);
    assert_eq!(
        (setting.services, setting.listeners, setting.connections),
        (20, 1, 400)
    );
    assert_eq!((setting.listen, setting.backlog), (ListenFamily::Unix, 1));
    let exchange = asked(&setting);
    assert_eq!(exchange.connection, ConnectionUse::Kept);
    assert_eq!(exchange.stop, Stop::MessagesEach(1_000));
    let frame = Protocol::Request {
        send: b"\0\0\0\x0f{\"count\": 1000}".to_vec(),
        expect: Expect::Frame,
    };
    assert_eq!(exchange.protocol, frame);
}

#[test]
fn a_client_has_a_connection_to_each_listener_it_may_choose() {
    let of = |text: &str| {
        let setting = PLANS.setting(&format!("services = 3\nclients = 5\n{text}"));
        (
            setting.connections,
            setting.listeners,
            tasks(&setting).choices,
        )
    };
    assert_eq!(of("listeners = 4"), (60, 4, 4));
    assert_eq!(of("listeners = 4\nchoice = 'bound'"), (15, 4, 1));
    // Each request makes its own, to one of them.
    assert_eq!(of("listeners = 4\nreuse = false"), (15, 4, 4));
}

#[test]
fn a_queue_is_as_long_as_is_usual_where_it_is() {
    assert_eq!(PLANS.setting("family = 'ipv4'").backlog, 1_024);
    assert_eq!(PLANS.setting("backlog = 7").backlog, 7);
}

#[test]
fn pages_are_asked_for_on_the_connections_that_there_are() {
    let sent = |text: &str| {
        let setting = PLANS.setting(&format!("workload = 'http'\ncount = 7\n{text}"));
        match &asked(&setting).protocol {
            Protocol::Request { send, .. } => String::from_utf8_lossy(send).into_owned(),
            other => panic!("{other:?}"),
        }
    };
    let kept = "GET /?count=7 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_eq!(sent(""), kept);
    assert_eq!(
        sent("reuse = false"),
        kept.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
    );
}

#[test]
fn a_server_is_asked_what_it_can_do_where_the_plan_leaves_that_open() {
    let plan = PLANS.plan(
        "targets = ['python/system-1', 'python/system-2', 'python/tornado']\nreuse = [true, false]",
    );
    let of = |target: &str| -> Vec<(bool, Workload)> {
        let place = plan.targets.iter().position(|one| one.name == target);
        let place = place.expect(target) as u32;
        let cells = plan.cells().filter(|&(target, _)| target == place);
        let settings = cells.map(|(_, setting)| &plan.settings[setting as usize]);
        settings
            .map(|one| (asked(one).connection == ConnectionUse::Kept, one.workload))
            .collect()
    };
    assert_eq!(of("python/system-1"), [(false, Workload::Framed)]);
    assert_eq!(
        of("python/system-2"),
        [(true, Workload::Framed), (false, Workload::Framed)]
    );
    assert_eq!(
        of("python/tornado"),
        [(true, Workload::Http), (false, Workload::Http)]
    );
    assert_eq!(plan.swept, ["workload", "reuse"]);
    assert_eq!(plan.cells().count(), 5);
    let why = PLANS.refusal("targets = ['python/system-1']\nreuse = true");
    assert!(why.contains("--reuse false"), "{why}");
}

#[test]
fn a_target_may_have_values_of_its_own_and_stand_there_more_than_once() {
    let plan = PLANS.plan(
        "targets = ['python/system-4 --listeners 1,5', 'python/system-4 --poll single --listeners=5', 'python/system-4 --choice bound --listeners 5', 'poll']",
    );
    let names: Vec<&str> = plan.targets.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        ["python/system-4", "python/system-4 --poll single", "poll"]
    );
    let of = |place: u32| -> Vec<String> {
        let cells = plan.cells().filter(|&(target, _)| target == place);
        let settings = cells.map(|(_, setting)| &plan.settings[setting as usize]);
        let swept =
            settings.map(|one| one.swept.iter().map(|swept| swept.value.as_str()).collect());
        swept.map(|values: Vec<&str>| values.join(" ")).collect()
    };
    assert_eq!(plan.swept, ["listeners", "choice"]);
    assert_eq!(of(0), ["1 random", "5 random", "5 bound"]);
    assert_eq!(of(1), ["5 random"]);
    assert_eq!(of(2), ["1 random"]);
    // The same setting is one, whoever is measured at it.
    assert_eq!(plan.settings.len(), 3);
    for (text, part) in [
        ("['poll --listeners']", "has no value"),
        ("['poll --listeners many']", "no count"),
        ("['poll', 'poll']", "two targets"),
        (
            "['poll --listeners 5', 'poll --listeners 5']",
            "two targets",
        ),
        ("['poll --requests 5']", "no option"),
    ] {
        let why = PLANS.refusal(&format!("targets = {text}"));
        assert!(why.contains(part), "{text}: {why}");
    }
}

#[test]
fn running_services_are_one_target_together() {
    let plan = PLANS.plan("targets = ['unix:/tmp/a', 'tcp://127.0.0.1:81', 'unix:/tmp/c']");
    let [target] = &plan.targets[..] else {
        panic!("{:?}", plan.targets);
    };
    assert_eq!(
        target.addresses,
        ["unix:/tmp/a", "tcp://127.0.0.1:81", "unix:/tmp/c"]
    );
    assert_eq!(target.name, "unix:/tmp/a and 2 more");
    assert_eq!(tasks(&plan.settings[0]).services, 3);
    let short = PLANS.short("targets = ['unix:/tmp/a', 'unix:/tmp/b']");
    assert_eq!(tasks(&short.plan.settings[0]).services, 2);
    let why = PLANS.refusal("targets = ['unix:/tmp/a', 'unix:/tmp/b']\nservices = 3");
    assert!(
        why.contains("2 services run") && why.contains("3 are asked for"),
        "{why}"
    );
}

#[test]
fn what_has_no_use_here_or_cannot_be_is_refused_with_what_to_write() {
    for (text, part) in [
        ("services = 0", "nobody to ask"),
        ("clients = 0", "clients"),
        ("tasks = 0", "no task"),
        ("requests = 0", "nobody would ask"),
        ("listeners = 0", "nobody could connect"),
        ("count = 1_000_000_001", "1000000000"),
        (
            "services = 2000\nlisteners = 10",
            "20000 are more than the 10000",
        ),
        ("clients = 4_000_000_000", "ask for fewer"),
        ("workload = 'echo'", "framed and http"),
        ("duration = '2s'", "--requests 100"),
        ("connections = 10", "--clients 32"),
        ("rate = 100", "--count 10000"),
        ("send = 'x'\nexpect = 'y'", "throng churn"),
        ("targets = ['http://127.0.0.1:80/']", "--workload http"),
        ("targets = ['iterative']", "reuse"),
        ("shards = 21", "21"),
    ] {
        let why = PLANS.refusal(text);
        assert!(why.contains(part), "{text}: {why}");
    }
    // Where each request makes its own connection, one at a time is served too.
    assert_eq!(
        PLANS
            .setting("targets = ['iterative']\nreuse = false")
            .connections,
        400
    );
}
