//! Plans that write their own phases: they are done in that order, each has its figures, and what cannot be is refused in words.

mod support;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use support::{Bench, column};
use throng_record::{PhaseName, PhaseSpec};

const PLAN: &str = r#"
experiment = "phases"
repeats = 2
targets = ["epoll-edge", "poll"]

[[phase]]
do = "connect"
connections = 50

[[phase]]
do = "hold"
duration = "200ms"

[[phase]]
do = "exchange"
rate = 1000
duration = "300ms"
warmup = "50ms"

[[phase]]
do = "ping"
pings = "all"

[[phase]]
do = "close"
"#;

fn run(plan: &str, more: &[&str]) -> (Bench, support::Outcome) {
    let bench = Bench::new();
    bench.write("mine.toml", plan);
    let outcome = bench.throng(&[&["run", "mine.toml"], more].concat());
    (bench, outcome)
}

#[test]
fn phases_are_done_in_the_order_in_which_they_are_written() {
    let (bench, outcome) = run(PLAN, &[]);
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    let record = bench.record();
    let names = |phases: &[PhaseSpec]| phases.iter().map(PhaseSpec::name).collect::<Vec<_>>();
    use PhaseName::{Close, Connect, Exchange, Hold, Ping};
    let asked = names(&record.plan.settings[0].phases.0);
    assert_eq!(asked, [Connect, Hold, Exchange, Ping, Close]);
    for trial in &record.trials {
        let measured: Vec<_> = trial
            .phases
            .0
            .iter()
            .map(|one| one.measured.name())
            .collect();
        assert_eq!(measured, asked);
        assert!(trial.phases.0.iter().all(|phase| phase.cost.is_some()));
        assert_eq!(trial.phases.connect().expect("done").connected, 50);
        assert_eq!(trial.phases.ping().expect("done").answered, 50);
    }
    let full = bench.throng(&["report"]);
    assert_eq!((full.code, full.stderr.as_str()), (Some(0), ""));
    let full = full.stdout;
    for phase in ["connect", "hold", "exchange", "ping", "close"] {
        let heading = format!("50 connections: {phase}\n");
        assert!(full.contains(&heading), "{phase}: {full}");
    }
    let csv = bench.throng(&["report", "--format", "csv"]).stdout;
    assert_eq!(column(&csv, "connected"), ["50"; 4]);
    assert_eq!(column(&csv, "answered"), ["50"; 4]);
    assert!(
        column(&csv, "messages_per_second")
            .iter()
            .all(|rate| !rate.is_empty())
    );
}

#[test]
fn a_flag_replaces_the_key_of_a_phase_and_a_list_in_it_is_a_sweep() {
    let plan = PLAN.replace("rate = 1000", "rate = [500, 1000]");
    let (bench, outcome) = run(
        &plan,
        &["--connections", "10", "--hold", "0ms", "--repeats", "1"],
    );
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    let record = bench.record();
    assert_eq!(record.plan.swept, ["rate"]);
    assert_eq!(record.plan.settings.len(), 2);
    for setting in &record.plan.settings {
        assert_eq!(
            (setting.connections, setting.phases.hold_ns()),
            (10, Some(0))
        );
    }
}

#[test]
fn the_short_form_shortens_each_phase() {
    let (bench, outcome) = run(
        &PLAN.replace("200ms", "20s").replace("300ms", "20s"),
        &["--quick"],
    );
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    let record = bench.record();
    let setting = &record.plan.settings[0];
    assert_eq!(setting.phases.hold_ns(), Some(400_000_000));
    assert_eq!(record.plan.repeats, 1);
    assert!(outcome.took < Duration::from_secs(20), "{:?}", outcome.took);
}

#[test]
fn what_cannot_be_is_refused_with_what_to_write() {
    for (from, to, parts) in [
        ("do = \"close\"", "do = \"shut\"", &["shut", "connect"][..]),
        ("do = \"close\"", "pings = 3", &["do = \"connect\""]),
        (
            "do = \"hold\"",
            "do = \"hold\"\nrate = 5",
            &["`rate` is no key of the phase hold", "duration"],
        ),
        (
            "do = \"close\"",
            "do = \"hold\"",
            &["`hold` occurs twice", "list"],
        ),
        (
            "do = \"connect\"\nconnections = 50",
            "do = \"ping\"",
            &["`ping` occurs twice"],
        ),
        (
            "repeats = 2",
            "rate = 7",
            &["`rate` of the phase exchange stands in the plan already"],
        ),
        (
            "repeats = 2",
            "clients = 7",
            &["`clients` is not for the phases experiment", "connections"],
        ),
        (
            "experiment = \"phases\"",
            "experiment = \"echo\"",
            &[
                "`phase` is not for the echo experiment",
                "experiment = \"phases\"",
            ],
        ),
        (
            "connections = 50",
            "connections = 0",
            &["`connections` is 0"],
        ),
    ] {
        assert!(PLAN.contains(from), "{from}");
        let (bench, outcome) = run(&PLAN.replacen(from, to, 1), &[]);
        assert_eq!(outcome.code, Some(2), "{to}: {}", outcome.stderr);
        for part in parts {
            assert!(
                outcome.stderr.contains(part),
                "{to}: {part} in {}",
                outcome.stderr
            );
        }
        assert!(bench.runs().is_empty(), "{to}");
    }
    let (_, outcome) = run("experiment = \"phases\"\ntargets = [\"poll\"]", &[]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("[[phase]]"), "{}", outcome.stderr);
    let order = "experiment = 'phases'\ntargets = ['poll']\n[[phase]]\ndo = 'hold'\n[[phase]]\ndo = 'connect'";
    let (_, outcome) = run(order, &[]);
    assert!(
        outcome.stderr.contains("`connect` is the first"),
        "{}",
        outcome.stderr
    );
    let lacking = "experiment = 'phases'\ntargets = ['poll']\npings = 5\n[[phase]]\ndo = 'hold'";
    let (_, outcome) = run(lacking, &[]);
    assert!(
        outcome.stderr.contains("`pings` is of the phase ping"),
        "{}",
        outcome.stderr
    );
}

/// What one connection of a server of the test's own saw: when it was accepted, when bytes came first and last, and when it ended.
struct Life {
    accepted: Instant,
    first_bytes: Option<Instant>,
    ended: Instant,
    bytes: usize,
}

fn echo(mut stream: TcpStream, accepted: Instant) -> Life {
    let mut life = Life {
        accepted,
        first_bytes: None,
        ended: accepted,
        bytes: 0,
    };
    let mut buffer = [0; 4096];
    while let Ok(number @ 1..) = stream.read(&mut buffer) {
        life.first_bytes.get_or_insert_with(Instant::now);
        life.bytes += number;
        if stream.write_all(&buffer[..number]).is_err() {
            break;
        }
    }
    life.ended = Instant::now();
    life
}

fn watched_server() -> (String, Receiver<Life>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = format!("tcp://{}", listener.local_addr().expect("known"));
    let (tell, lives) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (tell, accepted) = (tell.clone(), Instant::now());
            thread::spawn(move || tell.send(echo(stream, accepted)));
        }
    });
    (address, lives)
}

/// The server itself sees that nothing was said while all were held, and as much as the record has afterwards.
#[test]
fn a_server_sees_the_phases_that_the_record_tells_of() {
    let (address, lives) = watched_server();
    let plan = PLAN
        .replace("[\"epoll-edge\", \"poll\"]", &format!("[\"{address}\"]"))
        .replace("repeats = 2", "repeats = 1")
        .replace("200ms", "700ms");
    let (bench, outcome) = run(&plan, &[]);
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    let record = bench.record();
    let trial = &record.trials[0];
    let lives: Vec<Life> = lives.try_iter().collect();
    // Whoever looks whether the server is there connects once more, and says nothing.
    let spoken: Vec<&Life> = lives.iter().filter(|life| life.bytes > 0).collect();
    assert_eq!(spoken.len(), 50, "each is pinged");
    let last_accepted = spoken.iter().map(|life| life.accepted).max().expect("some");
    let first_bytes = spoken.iter().filter_map(|life| life.first_bytes).min();
    let silence = first_bytes.expect("some") - last_accepted;
    assert!(silence >= Duration::from_millis(690), "{silence:?}");
    let exchange = trial.phases.exchange().expect("done");
    let messages = exchange.warmup_replies + exchange.replies + 50;
    let bytes: usize = spoken.iter().map(|life| life.bytes).sum();
    assert_eq!(bytes as u64, messages * 6, "as many as were answered");
}
