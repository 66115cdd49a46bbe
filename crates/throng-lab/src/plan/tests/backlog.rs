//! Plans of the backlog experiment.

use std::time::Duration;

use throng_record::plan::Experiment;
use throng_record::{Amount, ConnectionUse, Expect, Network, Pacing, Plan, Protocol, Stop};

use super::super::backlog_test_environment;
use super::{Plans, asked};
use crate::plan::{PlanDraft, Sweep, resolve};

const PLANS: Plans = Plans {
    experiment: "backlog",
    targets: "targets = ['iterative']",
    environment: backlog_test_environment,
};

fn question(text: &str) -> (String, Expect) {
    match asked(&PLANS.setting(text)).protocol.clone() {
        Protocol::Request { send, expect } => (String::from_utf8(send).expect("text"), expect),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_but_a_target_is_needed_and_the_load_is_the_published_one() {
    let plan = PLANS.plan("");
    assert_eq!(
        (plan.name.as_str(), plan.experiment, plan.repeats),
        ("backlog", Experiment::Backlog, 3)
    );
    let setting = PLANS.setting("");
    let asked = asked(&setting);
    assert_eq!((setting.connections, setting.backlog), (32, 5));
    assert_eq!(asked.stop, Stop::MessagesEach(5));
    assert_eq!(setting.service_time_ns, Some(40_000_000));
    assert_eq!(
        asked.connection,
        ConnectionUse::PerMessage {
            slow_first_byte_ns: 240_000_000,
            tells_every_request: true,
        }
    );
    assert_eq!(asked.pacing, Pacing::Closed { outstanding: 1 });
    assert_eq!(asked.warmup, Amount::Messages(0));
    assert_eq!(
        (setting.workload.name(), setting.delay_inline),
        ("oneshot", false)
    );
    assert_eq!(setting.accept_threads, None);
    let protocol = Protocol::Request {
        send: b"GET / HTTP/1.1".to_vec(),
        expect: Expect::Text(b"HTTP/1.1 200 OK\r\n\r\nok\r\n".to_vec()),
    };
    assert_eq!(asked.protocol, protocol);
    let timeouts = [setting.connect_timeout_ns, setting.reply_timeout_ns];
    assert_eq!(timeouts, [140_000_000_000, 120_000_000_000]);
}

#[test]
fn every_key_of_its_own_is_read_and_may_be_a_list() {
    for text in [
        "clients = [2, 1]",
        "requests = [1, 2]",
        "requests-total = [160, 320]",
        "service-time = ['1ms', '2ms']",
        "workload = ['http', 'oneshot']",
        "targets = ['poll']\ndelay-inline = [false, true]",
        "targets = ['thread-per-connection']\naccept-threads = [1, 4]",
        "backlog = [0, 5]",
    ] {
        let plan = PLANS.plan(text);
        let [one, other] = &plan.settings[..] else {
            panic!("{text}: {} settings", plan.settings.len())
        };
        let mut same = other.clone();
        same.swept.clone_from(&one.swept);
        assert_ne!(&same, one, "{text}: the value reaches the setting");
    }
    let clients: Vec<u32> = PLANS
        .plan("clients = [32, 1, 8]")
        .settings
        .iter()
        .map(|setting| setting.connections)
        .collect();
    assert_eq!(clients, [1, 8, 32]);
}

#[test]
fn requests_in_all_are_shared_out_evenly_or_not_at_all() {
    let plan = PLANS.plan("clients = [1, 8, 160]\nrequests-total = 160");
    let each: Vec<Stop> = plan.settings.iter().map(|one| asked(one).stop).collect();
    let expected = [160, 20, 1].map(Stop::MessagesEach);
    assert_eq!(each, expected);
    assert_eq!(plan.swept, ["clients"]);
    let file = PLANS.draft("requests-total = 64");
    let flags = PlanDraft {
        requests: Some(Sweep::from(3)),
        ..PlanDraft::default()
    };
    let over = resolve(file.overlay(flags), &backlog_test_environment());
    let stop = asked(&over.expect("replaced").plan.settings[0]).stop;
    assert_eq!(stop, Stop::MessagesEach(3));
}

#[test]
fn what_is_asked_follows_the_workload_the_page_or_the_request() {
    let (send, expect) = question("workload = 'http'\nservice-time = '500us'");
    assert_eq!(
        send,
        "GET /?delay=0.5 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(expect, Expect::HttpResponse);
    let page = "targets = ['http://127.0.0.1/a']";
    let (send, expect) = question(page);
    assert!(
        send.starts_with("GET /a HTTP/1.1\r\nHost: 127.0.0.1\r\n"),
        "{send}"
    );
    assert_eq!(expect, Expect::HttpResponse);
    let setting_of_page = PLANS.setting(page);
    assert_eq!(
        (
            setting_of_page.workload.name(),
            setting_of_page.service_time_ns
        ),
        ("http", None)
    );
    let said = PLANS.setting(&format!("{page}\nservice-time = '7ms'"));
    assert_eq!(said.service_time_ns, Some(7_000_000));
    let echo = PLANS.setting("workload = 'echo'\nsize = 9");
    assert_eq!(
        (&asked(&echo).protocol, echo.service_time_ns),
        (&Protocol::Echo { size_bytes: 9 }, None)
    );
    let own = "send = 'PING\\r\\n'\nexpect = 'end'";
    assert_eq!(question(own), ("PING\r\n".to_owned(), Expect::End));
    assert_eq!(
        PLANS.setting(own).service_time_ns,
        Some(40_000_000),
        "it can be asked for"
    );
    let running = PLANS.setting(&format!("targets = ['tcp://127.0.0.1:9']\n{own}"));
    assert_eq!(
        (running.service_time_ns, running.workload.name()),
        (None, "oneshot")
    );
}

#[test]
fn of_a_server_that_cannot_be_asked_it_is_said_that_its_service_time_is_believed() {
    let resolved = PLANS
        .resolved("targets = ['iterative', 'tcp://127.0.0.1:9', { command = './mine {port}' }]");
    let notes = resolved.notes;
    assert_eq!(notes.len(), 2, "{notes:?}");
    for (note, name) in notes.iter().zip(["tcp://127.0.0.1:9", "./mine {port}"]) {
        assert!(
            note.starts_with(&format!("{name} is taken to need 40ms")),
            "{note}"
        );
    }
    let swept = PLANS.resolved("targets = ['tcp://127.0.0.1:9']\nclients = [1, 2]");
    assert_eq!((swept.notes.len(), swept.plan.net), (1, Network::Host));
}

#[test]
fn all_are_those_models_that_can() {
    let names = |text: &str| -> Vec<String> {
        let targets = PLANS.plan(text).targets.into_iter();
        targets.map(|target| target.name).collect()
    };
    assert_eq!(names("targets = ['all']").len(), 6);
    assert_eq!(
        names("targets = ['all']\naccept-threads = 4"),
        ["thread-per-connection"]
    );
    let first = PLANS.plan("targets = ['iterative', 'poll']").baseline;
    assert_eq!(first, 0, "every model has a figure here");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn whatever_cannot_be_carried_out_is_refused_with_what_to_write() {
    let running = "targets = ['tcp://127.0.0.1:9']\n";
    let of_running = |key: &str| format!("{running}{key}");
    for (text, parts) in [
        ("clients = 0", &["`clients` is 0", "clients = 32"][..]),
        ("requests = 0", &["`requests` is 0", "requests = 5"]),
        ("requests-total = 0", &["`requests-total` is 0"]),
        ("requests = 5\nrequests-total = 160", &["contradict"]),
        (
            "clients = [8, 7, 9]\nrequests-total = 160",
            &[
                "160 requests",
                "among 7 or 9 clients",
                "requests-total = 504",
            ],
        ),
        (
            "clients = 1\nrequests-total = 5_000_000_000",
            &["`requests = 5000000000`", "write fewer"],
        ),
        ("requests-total = 33", &["among 32 clients", "= 64"]),
        (
            "connections = 5",
            &["`connections` is not for the backlog", "write --clients 32"],
        ),
        ("messages = 5", &["`messages`", "requests-total"]),
        ("duration = '1s'", &["`duration`", "requests"]),
        ("warmup = '1s'", &["`warmup`", "leave it out"]),
        ("outstanding = 2", &["`outstanding`", "write --clients 32"]),
        (
            "rate = 5",
            &["`rate`", "--clients 32 and --service-time 40ms"],
        ),
        ("server = 'per-sweep'", &["`server`", "network of its own"]),
        ("size = 9", &["`size` needs `workload = \"echo\"`"]),
        ("send = 'a'", &["`send` needs `expect`"]),
        (
            "workload = 'echo'\nservice-time = '1ms'",
            &["`service-time`", "contradict", "at once"],
        ),
        (
            "workload = 'echo'\ndelay-inline = true",
            &["`delay-inline`", "contradict"],
        ),
        (
            "service-time = '2h'",
            &["`service-time = 2h`", "at most an hour"],
        ),
        (
            "family = 'unix'",
            &["`family = unix`", "no handshake", "throng echo"],
        ),
        (
            "targets = ['unix:/run/a']",
            &["target `unix:/run/a`", "no handshake"],
        ),
        (
            "targets = ['http://127.0.0.1/', 'poll']",
            &["`http://` needs `service-time`"],
        ),
        (
            "targets = ['http://127.0.0.1/']\nworkload = 'oneshot'",
            &["`workload` and `http://` contradict"],
        ),
        (
            "targets = ['http://127.0.0.1/']\nsend = 'a'\nexpect = 'b'",
            &["`send` and `http://` contradict", "tcp://HOST:PORT"],
        ),
        (
            &of_running("backlog = 5"),
            &["`backlog` is asked of", "leave backlog out"],
        ),
        (&of_running("workers = 5"), &["`workers`", "built in"]),
        (
            &of_running("accept-threads = 5"),
            &["`accept-threads`", "built in"],
        ),
        (
            &of_running("delay-inline = true"),
            &["`delay-inline`", "built in"],
        ),
        (
            &of_running("[kernel]\ntcp_syncookies = 0"),
            &["a target to launch"],
        ),
        (
            "targets = [{ command = './mine {port}' }]\nworkers = 2",
            &["`workers`", "built in"],
        ),
    ] {
        let error = PLANS.refusal(text);
        for part in parts {
            assert!(error.contains(part), "{text}: `{part}` in: {error}");
        }
    }
}

#[test]
fn the_plan_of_the_published_tables_has_every_row_and_its_short_form_a_corner() {
    let resolved = |name: &str, is_short: bool| {
        let text = crate::plans::find(name).expect("built in").text;
        let draft = PlanDraft::parse(text, name).expect("parses");
        let draft = if is_short { draft.shortened() } else { draft };
        let resolved = resolve(draft, &backlog_test_environment()).expect("resolves");
        assert!(resolved.notes.is_empty(), "{:?}", resolved.notes);
        resolved.plan
    };
    let environment = backlog_test_environment();
    let estimate = |plan: &Plan| crate::estimate(plan, &environment.models, &environment.limits);
    let whole = resolved("backlog", false);
    assert_eq!((whole.targets.len(), whole.settings.len()), (3, 16));
    for setting in &whole.settings {
        let Stop::MessagesEach(each) = asked(setting).stop else {
            panic!("{:?}", setting.phases)
        };
        assert_eq!(each * u64::from(setting.connections), 160);
    }
    let kernel = resolved("backlog-kernel", false);
    assert_eq!((kernel.targets.len(), kernel.settings.len()), (1, 8));
    for name in ["backlog", "backlog-kernel"] {
        let short = estimate(&resolved(name, true));
        assert!(short < Duration::from_secs(60), "{name}: {short:?}");
    }
}
