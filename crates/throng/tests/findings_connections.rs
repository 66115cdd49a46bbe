//! What bounds the number of connections, provoked for real, and absent without its cause.

mod support;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use support::{Bench, THRONG, peer, user};
use throng_record::{ErrorKind, Finding, Outcome, Side, Trial, finding};

/// Bytes of the pings that the servers within the test answer.
const SIZE: &str = "64";
/// Where the kernel chooses, it is 127.0.0.1 for all.
const ONE_ADDRESS: [&str; 2] = ["--addresses", "kernel"];
const TWO_ADDRESSES: [&str; 2] = ["--source", "127.0.0.1,127.0.0.2"];

fn run(arguments: &[&str]) -> Trial {
    let bench = Bench::new();
    let outcome = bench.throng(&[&["hold"], arguments].concat());
    trials_of(&bench, &outcome.stderr).remove(0)
}

/// Runs it by a shell that lowers a limit of its own first, as this user where that can be chosen.
fn run_limited(limit: &str, user: Option<u32>, arguments: &[&str]) -> Trial {
    hold_limited(limit, user, arguments).0.remove(0)
}

/// The trials, and what was said of them.
fn hold_limited(limit: &str, user: Option<u32>, arguments: &[&str]) -> (Vec<Trial>, String) {
    let bench = Bench::new();
    let program = user.map_or_else(|| THRONG.into(), |user| user::give_to(&bench, user));
    let mut command = Command::new("sh");
    let script = format!("{limit} && exec \"$@\"");
    command.args(["-c", &script, "sh"]).arg(program);
    command.args(support::as_tests_want(&[&["hold"], arguments].concat()));
    if let Some(user) = user.filter(|_| user::is_root()) {
        command.uid(user).gid(user);
    }
    let outcome = bench.outcome_of(command, Duration::from_secs(60));
    (trials_of(&bench, &outcome.stderr), outcome.stderr)
}

fn trials_of(bench: &Bench, stderr: &str) -> Vec<Trial> {
    assert!(!bench.runs().is_empty(), "{stderr}");
    bench.record().trials
}

/// Connections that opened, be they all or not.
fn connected(trial: &Trial) -> u32 {
    let connect = trial.phases.connect().expect("as far as it came");
    connect.connected
}

/// Connections that answered when they had been held.
fn answered(trial: &Trial) -> u32 {
    let ping = trial.phases.ping().expect("those held are pinged");
    ping.answered
}

/// Of 200 ports of one address a destination can be reached from each once; other addresses have ports of their own.
#[test]
fn ports_exhausted_where_one_address_has_too_few() {
    let from = |addresses: [&str; 2]| {
        run(&[
            "300",
            "epoll-edge",
            "--hold",
            "0s",
            "--kernel",
            "ip_local_port_range=32768 32967",
            addresses[0],
            addresses[1],
        ])
    };
    let trial = from(ONE_ADDRESS);
    let ports = trial.findings.iter().find_map(|finding| match finding {
        Finding::PortsExhausted(finding::PortsExhausted {
            ports,
            source_addresses,
            open,
            failed,
        }) => Some((*ports, *source_addresses, *open, *failed)),
        _ => None,
    });
    let (ports, addresses, open, failed) = ports.expect("named");
    assert_eq!((ports, addresses), (200, 1));
    assert!((190..=200).contains(&open), "{open}");
    assert_eq!(u64::from(connected(&trial)) + failed, 300);
    let hold = trial.phases.hold();
    assert!(hold.is_some(), "those that are open are held");
    let trial = run(&["150", "epoll-edge", "--hold", "0s", "--addresses", "kernel"]);
    assert_eq!(trial.findings, []);
    let trial = from(TWO_ADDRESSES);
    assert_eq!(trial.findings, []);
    assert_eq!(connected(&trial), 300);
}

/// Beyond the half each connect goes through 2,000 taken ports in vain, and takes several times as long.
#[test]
fn half_the_ports_gone_where_one_address_has_more_connections() {
    let from = |addresses: [&str; 2]| {
        run(&[
            "3900",
            "epoll-edge",
            "--hold",
            "0s",
            "--connect-concurrency",
            "1",
            "--kernel",
            "ip_local_port_range=32768 36767",
            addresses[0],
            addresses[1],
        ])
    };
    let trial = from(ONE_ADDRESS);
    assert_eq!(connected(&trial), 3_900);
    let rates = trial.findings.iter().find_map(|finding| match finding {
        Finding::HalfThePortsGone(finding::HalfThePortsGone {
            ports: 4_000,
            connections: 3_900,
            rate_before_per_second,
            rate_after_per_second,
        }) => Some((*rate_before_per_second, *rate_after_per_second)),
        _ => None,
    });
    let (before, after) = rates.unwrap_or_else(|| panic!("named: {:?}", trial.phases.connect()));
    assert!(before >= 2.0 * after && after > 0.0, "{before} {after}");
    let trial = from(TWO_ADDRESSES);
    assert_eq!(connected(&trial), 3_900);
    assert_eq!(trial.findings, []);
}

fn listen(backlog: i32) -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    rustix::net::listen(&listener, backlog).expect("listening");
    listener
}

/// The server is outside of the limit: that the generator meets its own is said by its connects.
#[test]
fn descriptors_exhausted_of_the_generator() {
    let of_generator = |limit: &str, [shards, at_once]: [&str; 2]| {
        let address = peer::start_after(listen(1_024), |_| {}, peer::faultless);
        let flags = [
            "500",
            &address,
            "--shards",
            shards,
            "--hold",
            "0s",
            "--connect-concurrency",
            at_once,
            "--size",
            SIZE,
        ];
        run_limited(limit, None, &flags)
    };
    let trial = of_generator("ulimit -n 300", ["1", "1"]);
    let connect = trial.phases.connect().expect("as far as it came");
    assert!(
        (290..300).contains(&connect.connected),
        "{}",
        connect.connected
    );
    let stop = connect.stop.as_ref().expect("why it ended");
    assert_eq!(stop.kind, ErrorKind::DescriptorsExhausted);
    let ping = trial.phases.ping();
    let ping = ping.expect("those that are open are held, and pinged");
    assert_eq!(
        (ping.pinged, ping.answered),
        (connect.connected, connect.connected)
    );
    let expected = Finding::DescriptorsExhausted(finding::DescriptorsExhausted {
        side: Side::Generator,
        limit: Some(300),
        open: connect.connected,
        failed: 500 - u64::from(connect.connected),
        descriptors_per_connection: None,
    });
    assert!(trial.findings.contains(&expected), "{:?}", trial.findings);
    // Many in flight at the first failure, and two tables: what was opened and what was not is all that was asked for.
    let trial = of_generator("ulimit -n 160", ["2", "64"]);
    let of_two = trial.findings.iter().find_map(|finding| match finding {
        Finding::DescriptorsExhausted(finding::DescriptorsExhausted {
            side: Side::Generator,
            open,
            failed,
            ..
        }) => Some((*open, *failed)),
        _ => None,
    });
    let (open, failed) = of_two.expect("named");
    assert!((300..320).contains(&open), "{open}");
    assert_eq!(u64::from(open) + failed, 500);
    let trial = of_generator("ulimit -n 1000", ["1", "1"]);
    assert_eq!(connected(&trial), 500);
    assert_eq!(trial.findings, []);
}

/// A server says of its limit when it ends: with the trial that met it, although it would have served the whole sweep.
#[test]
fn a_limit_met_in_a_sweep_stands_with_each_trial_that_met_it() {
    let flags = [
        "100,200,400,450",
        "epoll-level",
        "--server",
        "per-sweep",
        "--shards",
        "3",
        "--hold",
        "0s",
        "--connect-timeout",
        "1s",
        "--timeout",
        "1s",
    ];
    let (mut trials, _) = hold_limited("ulimit -n 300", None, &flags);
    trials.sort_by_key(|trial| trial.order);
    let told = trials.iter().map(|trial| {
        let is_of_server = |finding: &Finding| {
            matches!(
                finding,
                Finding::DescriptorsExhausted(finding::DescriptorsExhausted {
                    side: Side::Server,
                    limit: Some(300),
                    ..
                })
            )
        };
        (
            trial.server_ordinal,
            trial.findings.iter().any(is_of_server),
        )
    });
    let one_serves_until_it_is_full = [
        (Some(0), false),
        (Some(0), false),
        (Some(0), true),
        // It is not asked for more than it did not serve.
        (None, false),
    ];
    assert_eq!(told.collect::<Vec<_>>(), one_serves_until_it_is_full);
    let last = &trials[3].outcome;
    assert!(matches!(last, Outcome::Spared { .. }), "{last:?}");
}

/// Threads and processes of a user, as `RLIMIT_NPROC` counts them.
fn tasks_of(user: u32) -> usize {
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    let is_of_user = |path: &Path| fs::metadata(path).is_ok_and(|process| process.uid() == user);
    processes
        .map(|process| process.path().join("task"))
        .filter(|tasks| is_of_user(tasks))
        .filter_map(|tasks| fs::read_dir(tasks).ok())
        .map(Iterator::count)
        .sum()
}

/// A thread for each of 300 connections, of a user who may have 150 more. Root is bound by no such limit: it runs as a user of its own.
#[test]
fn threads_exhausted_where_the_user_may_have_no_more() {
    const MORE: usize = 150;
    // Nobody's and the services' are below, and each process of these tests has its own.
    let own = 100_000 + std::process::id() % 1_000_000;
    let user = if user::is_root() {
        own
    } else {
        rustix::process::getuid().as_raw()
    };
    let limit = tasks_of(user) + MORE;
    // One of the two: in bash -p is another limit, and dash has no -u.
    let script = format!("{{ ulimit -p {limit} || ulimit -u {limit}; }} 2>/dev/null");
    let of = |model: &str| {
        // All at once, as a burst: some are closed while others still connect.
        let more = [
            "--hold",
            "0s",
            "--timeout",
            "2s",
            "--connect-concurrency",
            "64",
        ];
        run_limited(&script, Some(user), &[&["300", model], &more[..]].concat())
    };
    let trial = of("thread-per-connection");
    let named = trial.findings.iter().find_map(|finding| match finding {
        Finding::ThreadsExhausted(finding::ThreadsExhausted {
            limit_name,
            limit,
            threads,
            served,
            of_connections: 300,
        }) => Some((limit_name.as_str(), *limit, *threads, *served)),
        _ => None,
    });
    let (limit_name, limit_told, threads, served) = named.expect("named");
    assert_eq!((limit_name, limit_told), ("RLIMIT_NPROC", limit as u64));
    assert!((100..=limit_told).contains(&threads.into()), "{threads}");
    let ping = trial.phases.ping().expect("those that it serves are held");
    assert!((50..MORE as u32).contains(&ping.answered), "{ping:?}");
    assert_eq!(
        served, ping.answered,
        "each was pinged, and those closed at once were not served"
    );
    let trial = of("epoll-edge");
    assert_eq!(trial.findings, [], "it needs no threads");
    assert_eq!(answered(&trial), 300);
}

/// A server that takes one at a time, of which nobody is told: one is served, as many wait as the queue holds, and the SYNs of the others are
/// dropped at it, and sent again after a second.
#[test]
fn accept_queue_overflow_of_kept_connections_is_one_finding_with_their_retransmissions() {
    let with = |backlog: &str| {
        let serve =
            format!("{THRONG} serve iterative --listen 127.0.0.1:{{port}} --backlog {backlog}");
        let more = ["--hold", "0s", "--pings", "0", "--connect-timeout", "2s"];
        let target = ["12", "--command", &serve, "--backlog", backlog];
        run(&[&target[..], &more[..]].concat())
    };
    let trial = with("3");
    let opened = connected(&trial);
    assert!((4..10).contains(&opened), "{opened}");
    let [
        Finding::AcceptQueueOverflow(finding::AcceptQueueOverflow {
            overflows,
            connects_delayed,
            syn_retransmissions: Some(retransmissions),
            backlog: Some(3),
            depth_max: None,
            backlog_sufficient: None,
            ..
        }),
    ] = &trial.findings[..]
    else {
        panic!("one finding: {:?}", trial.findings);
    };
    assert!(*connects_delayed >= 2, "{connects_delayed}");
    assert!(retransmissions >= connects_delayed && 2 * overflows >= *retransmissions);
    let trial = with("64");
    assert_eq!(connected(&trial), 12);
    assert_eq!(trial.findings, []);
}

/// Without cookies the kernel keeps a quarter of `tcp_max_syn_backlog` for peers that it knows; of a negative one that is more than there is,
/// and it drops every SYN (`tcp_conn_request()`), before it looks at the accept queue.
#[test]
fn syn_retransmission_steps_where_no_queue_overflowed() {
    let trial = run(&[
        "5",
        "epoll-edge",
        "--hold",
        "0s",
        "--connect-timeout",
        "2500ms",
        "--kernel",
        "tcp_syncookies=0",
        "--kernel",
        "tcp_max_syn_backlog=-4",
    ]);
    let [
        Finding::SynRetransmissionSteps(finding::SynRetransmissionSteps {
            connections: 5,
            retransmissions,
            connect_ns_max: 0,
            overflows: Some(0),
            backlog: Some(_),
        }),
    ] = trial.findings[..]
    else {
        panic!("one finding: {:?}", trial.findings);
    };
    // After 1 and 2 s, or where the waits double from the start after 1 s.
    assert!((5..=10).contains(&retransmissions), "{retransmissions}");
    let trial = run(&["5", "epoll-edge", "--hold", "0s"]);
    assert_eq!(trial.findings, []);
}

/// A number told before the run is held in truth, and noticeably more is not. Loops with tables of their own are asked for by the number of their tables.
#[test]
fn what_is_told_to_fit_into_a_table_is_held_and_noticeably_more_is_not() {
    const NEAR: u32 = 32;
    for (limit, target) in [
        (64, "epoll-edge"),
        (256, "epoll-edge"),
        (1_024, "epoll-edge"),
        (256, "thread-per-connection"),
        (256, "tokio --workers 2"),
        (64, "epoll-shared --workers 3"),
        (256, "epoll-shared --workers 2"),
    ] {
        let asked = 4 * limit;
        let (trial, stderr) = held_with(limit, target, asked);
        let told = told_to_fit(&stderr).unwrap_or_else(|| panic!("{target}: {stderr}"));
        let served = trial.findings.iter().find_map(|finding| match finding {
            Finding::DescriptorsExhausted(finding::DescriptorsExhausted {
                side: Side::Server,
                open,
                ..
            }) => Some(*open),
            _ => None,
        });
        let served = served.unwrap_or_else(|| panic!("{target}: {:?}", trial.findings));
        assert!(
            (told..told + NEAR).contains(&served),
            "{target} within {limit}: {told} told, {served} served"
        );
        let (trial, stderr) = held_with(limit, target, told);
        assert!(told_to_fit(&stderr).is_none(), "{target}: {stderr}");
        assert_eq!(answered(&trial), told, "{target} within {limit}");
    }
}

/// Holds so many connections with so many descriptors in each table; the trial, and what was said.
fn held_with(descriptors: u32, target: &str, connections: u32) -> (Trial, String) {
    let limit = format!("ulimit -n {descriptors}");
    let connections = connections.to_string();
    let flags = [
        &connections,
        target,
        "--hold",
        "0s",
        "--pings",
        "all",
        "--timeout",
        "1s",
        "--connect-timeout",
        "1s",
    ];
    let (mut trials, stderr) = hold_limited(&limit, None, &flags);
    (trials.remove(0), stderr)
}

/// `… this machine can hold about N: …`.
fn told_to_fit(stderr: &str) -> Option<u32> {
    let (_, rest) = stderr.split_once("this machine can hold about ")?;
    let (number, _) = rest.split_once(':')?;
    number.replace(',', "").parse().ok()
}

/// A third of 300 ports: 1,000 connections come from ten addresses, and none meets the end of its ports or the search behind the half.
#[test]
fn connections_are_spread_by_the_ports_that_there_are() {
    let trial = run(&[
        "1000",
        "epoll-edge",
        "--hold",
        "0s",
        "--kernel",
        "ip_local_port_range=32768 33067",
    ]);
    assert_eq!(trial.findings, []);
    assert_eq!(connected(&trial), 1_000);
    assert_eq!(answered(&trial), 1_000);
}
