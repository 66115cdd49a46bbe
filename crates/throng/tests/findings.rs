//! Every finding of the backlog experiment provoked for real, with its evidence checked for sense, and absent where its cause is taken
//! away. The tenth, generator-bound, needs the machine for itself, and has a file of its own.

mod support;

use std::path::Path;

use support::backlog::{connections, run, run_one};
use support::{Bench, Outcome, peer};
use throng_findings::findings::kind;
use throng_record::{Finding, Network, Trial, finding};

const MS: u64 = 1_000_000;

fn names(trial: &Trial) -> Vec<&'static str> {
    trial
        .findings
        .iter()
        .map(|finding| kind(finding).name)
        .collect()
}

/// The finding of that name; told in the report, with its page, which exists.
fn told<'a>(name: &str, outcome: &Outcome, trial: &'a Trial) -> &'a Finding {
    let named = |finding: &&Finding| kind(finding).name == name;
    let Some(finding) = trial.findings.iter().find(named) else {
        panic!("no {name} in {:?}", trial.findings);
    };
    let page = format!("docs/findings/{name}.md");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(root.join(&page).exists());
    // A report may break the line at a hyphen.
    let words: String = outcome.stdout.split_whitespace().collect();
    assert!(
        words.contains(&format!("throngexplain{name}")),
        "{}",
        outcome.stdout
    );
    finding
}

#[test]
fn accept_queue_overflow_and_the_backlog_that_ends_it() {
    let of_backlog = |backlog: &str| {
        run_one(&[
            "iterative",
            "--clients",
            "10",
            "--requests",
            "2",
            "--service-time",
            "10ms",
            "--backlog",
            backlog,
        ])
    };
    let (outcome, trial) = of_backlog("3");
    let Finding::AcceptQueueOverflow(finding::AcceptQueueOverflow {
        overflows,
        drops,
        connects_delayed,
        connect_ns_max,
        backlog,
        depth_max,
        backlog_sufficient,
        ..
    }) = *told("accept-queue-overflow", &outcome, &trial)
    else {
        panic!("another finding has this name");
    };
    assert!(overflows >= 5 && drops >= overflows, "{overflows} {drops}");
    assert!(connects_delayed >= 5, "{connects_delayed}");
    assert!(connect_ns_max > 900 * MS, "{connect_ns_max}");
    assert_eq!(backlog, Some(3));
    let depth_max = depth_max.expect("observed");
    assert!((1..=4).contains(&depth_max), "{depth_max}");
    let sufficient = backlog_sufficient.expect("all requests are known");
    assert!((4..=9).contains(&sufficient), "{sufficient}");
    let (_, trial) = of_backlog(&sufficient.to_string());
    let overflow = "accept-queue-overflow";
    assert!(!names(&trial).contains(&overflow), "{:?}", trial.findings);
    assert_eq!(connections(&trial).syn_retransmissions, 0);
}

#[test]
fn backlog_clamped_by_somaxconn() {
    let (outcome, trials) = run(&[
        "iterative",
        "--backlog",
        "64",
        "--clients",
        "2",
        "--requests",
        "2",
        "--service-time",
        "5ms",
        "--kernel",
        "somaxconn=4,64",
    ]);
    let clamped = told("backlog-clamped", &outcome, &trials[0]);
    let expected = Finding::BacklogClamped(finding::BacklogClamped {
        asked: 64,
        in_force: 4,
        somaxconn: Some(4),
    });
    assert_eq!(*clamped, expected);
    assert!(!names(&trials[1]).contains(&"backlog-clamped"));
}

/// A wave of 7 clients, two more than the request queue holds, finds 3 places: services of 250 ms have by then emptied the queue by half.
#[test]
fn dropped_final_acks_and_cookies() {
    let (outcome, trials) = run(&[
        "iterative",
        "--backlog",
        "5",
        "--clients",
        "14",
        "--requests",
        "1",
        "--service-time",
        "250ms",
        "--kernel",
        "tcp_syncookies=0,1",
    ]);
    let [without, with] = &trials[..] else {
        panic!("two settings")
    };
    for trial in [without, with] {
        let Finding::FinalAckDropped(finding::FinalAckDropped {
            connections: dropped,
            data_retransmissions,
            waited_ns_max,
            ..
        }) = *told("final-ack-dropped", &outcome, trial)
        else {
            panic!("another finding has this name");
        };
        assert!((1..=9).contains(&dropped), "{dropped}");
        assert!(
            data_retransmissions >= Some(dropped),
            "{data_retransmissions:?}"
        );
        assert!(waited_ns_max > 190 * MS, "{waited_ns_max}");
    }
    assert!(!names(without).contains(&"syn-cookies"));
    let Finding::SynCookies(finding::SynCookies {
        sent,
        received,
        failed,
        request_queue_full,
    }) = *told("syn-cookies", &outcome, with)
    else {
        panic!("another finding has this name");
    };
    assert!(
        sent > 0 && sent == request_queue_full,
        "{sent} {request_queue_full}"
    );
    assert!(received > 0, "they come back");
    assert_eq!(failed, 0);
}

#[test]
fn connections_refused_where_nobody_listens() {
    let address = peer::nobody();
    let (outcome, trial) = run_one(&[&address, "--clients", "4", "--requests", "2"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let refused = told("connections-refused", &outcome, &trial);
    let expected = Finding::ConnectionsRefused(finding::ConnectionsRefused {
        refused: 8,
        begun: 8,
        connected: 0,
        server_died: false,
        was_listening: Some(false),
    });
    assert_eq!(*refused, expected);
    assert_eq!(names(&trial), ["connections-refused"], "and nothing else");
}

#[test]
fn head_of_line_blocking_in_a_loop_that_waits_inline() {
    let (outcome, trials) = run(&[
        "epoll-edge",
        "epoll-edge --delay-inline",
        "--workload",
        "http",
        "--backlog",
        "64",
        "--clients",
        "8",
        "--requests",
        "5",
        "--service-time",
        "40ms",
    ]);
    let [timer, inline] = &trials[..] else {
        panic!("two targets")
    };
    let Finding::HeadOfLineBlocking(finding::HeadOfLineBlocking {
        requests,
        of_requests,
        service_time_ns,
        first_byte_ns_median,
        server_busy,
    }) = *told("head-of-line-blocking", &outcome, inline)
    else {
        panic!("another finding has this name");
    };
    assert_eq!((of_requests, service_time_ns), (40, 40 * MS));
    assert!((2..=40).contains(&requests), "{requests}");
    assert!(first_byte_ns_median > 120 * MS, "{first_byte_ns_median}");
    assert!(server_busy < 0.5, "{server_busy}");
    assert!(
        !names(timer).contains(&"head-of-line-blocking"),
        "{:?}",
        timer.findings
    );
    let times = [timer, inline].map(|trial| connections(trial).duration_ns);
    assert!(times[1] >= 40 * 40 * MS, "one after the other: {times:?}");
    assert!(times[0] < times[1] / 2, "at once: {times:?}");
}

#[test]
fn too_few_acceptors_where_one_serves_eight() {
    let (outcome, trials) = run(&[
        "iterative",
        "thread-per-connection",
        "--backlog",
        "64",
        "--clients",
        "8",
        "--requests",
        "5",
        "--service-time",
        "30ms",
    ]);
    let Finding::TooFewAcceptors(finding::TooFewAcceptors {
        requests,
        of_requests,
        serves_at_once,
        clients,
        depth_mean,
        server_busy,
    }) = *told("too-few-acceptors", &outcome, &trials[0])
    else {
        panic!("another finding has this name");
    };
    assert_eq!((of_requests, serves_at_once, clients), (40, Some(1), 8));
    assert!((30..=40).contains(&requests), "{requests}");
    assert!((3.0..=7.0).contains(&depth_mean), "{depth_mean}");
    assert!(server_busy < 0.5, "{server_busy}");
    assert!(!names(&trials[1]).contains(&"too-few-acceptors"));
}

/// A server in Python that answers each message of 6 bytes in two pieces, with Nagle's algorithm at work or not.
fn in_two_pieces(bench: &Bench, nodelay: u8) -> String {
    let script = format!(
        r#"
import os, signal, socket, sys, threading
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, {nodelay})
    while message := connection.recv(6, socket.MSG_WAITALL):
        connection.sendall(message[:1])
        connection.sendall(message[1:])
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
"#
    );
    bench.write("pieces.py", &script);
    "python3 pieces.py {port}".to_owned()
}

#[test]
fn delayed_ack_against_nagle() {
    let exchange = |nodelay| {
        let bench = Bench::new();
        let command = in_two_pieces(&bench, nodelay);
        let outcome = bench.throng(&[
            "echo",
            "--command",
            &command,
            "--size",
            "6",
            "--connections",
            "2",
            "--duration",
            "1s",
            "--warmup",
            "100ms",
            "--repeats",
            "1",
        ]);
        (outcome, bench.record().trials.remove(0))
    };
    let (outcome, trial) = exchange(0);
    let Finding::DelayedAck(finding::DelayedAck {
        share_of_replies,
        gap_ns_median,
        delayed_acks,
        replies,
    }) = *told("delayed-ack", &outcome, &trial)
    else {
        panic!("another finding has this name");
    };
    assert!(
        (0.2..=1.0).contains(&share_of_replies),
        "{share_of_replies}"
    );
    assert!(
        (38 * MS..=51 * MS).contains(&gap_ns_median),
        "{gap_ns_median}"
    );
    assert!(replies > 0 && delayed_acks as f64 >= share_of_replies * replies as f64 / 2.0);
    let (_, trial) = exchange(1);
    assert!(
        !names(&trial).contains(&"delayed-ack"),
        "{:?}",
        trial.findings
    );
}

/// One loop that asks thousands of descriptors whether they are ready comes to each about every 40 ms, and the kernel delays an ACK for each request
/// meanwhile.
#[test]
fn no_delayed_ack_where_a_full_loop_takes_40_ms() {
    let bench = Bench::new();
    for connections in ["1500", "3000"] {
        let outcome = bench.throng(&[
            "echo",
            "poll",
            "--connections",
            connections,
            "--duration",
            "1s",
            "--repeats",
            "1",
        ]);
        assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
        let trial = bench.record().trials.remove(0);
        let exchange = trial.phases.exchange().expect("exchanged");
        assert!(exchange.latency.p50_ns > 5 * MS, "{:?}", exchange.latency);
        assert!(!names(&trial).contains(&"delayed-ack"));
    }
}

/// The kernel deals connections out by a hash. With 4 clients for each of 16 loops that block, the fullest has several and the emptiest
/// hardly ever one; a shared queue under the same load has no such pair.
#[test]
fn unbalanced_listeners_of_one_port() {
    let (outcome, trials) = run(&[
        "epoll-reuseport",
        "epoll-shared",
        "--workers",
        "16",
        "--delay-inline",
        "--backlog",
        "256",
        "--clients",
        "64",
        "--requests",
        "5",
        "--service-time",
        "20ms",
    ]);
    let Finding::UnbalancedListeners(finding::UnbalancedListeners {
        listeners,
        busiest_depth_max,
        busiest_depth_mean,
        idlest_depth_max,
        idlest_depth_mean,
    }) = *told("unbalanced-listeners", &outcome, &trials[0])
    else {
        panic!("another finding has this name");
    };
    assert_eq!(listeners, 16);
    assert!(busiest_depth_max > idlest_depth_max);
    assert!(busiest_depth_mean >= 1.0 && busiest_depth_mean >= 3.0 * idlest_depth_mean);
    assert!(!names(&trials[1]).contains(&"unbalanced-listeners"));
    assert_eq!(trials[1].network, Network::Private);
}
