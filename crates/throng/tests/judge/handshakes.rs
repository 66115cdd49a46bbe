//! Handshakes and accept queues beside `tshark`, `nstat` and `ss`.

use std::process::{Command, Stdio};

use throng_record::{Finding, RunRecord, finding};

use super::namespace::{segments, syns};
use super::server::Server;
use super::support::{Bench, THRONG};
use super::{alone, finding, findings, testify};

/// Each run sees its own handshakes only, to the unit, though both go on at the same time.
#[test]
fn two_runs_at_once_do_not_see_each_other() {
    let _alone = alone();
    let benches = [Bench::new(), Bench::new()];
    let start = |bench: &Bench| {
        Command::new(THRONG)
            .args([
                "backlog",
                "iterative",
                "--backlog",
                "3",
                "--clients",
                "10",
                "--requests",
                "3",
            ])
            .args([
                "--service-time",
                "10ms",
                "--repeats",
                "1",
                "--capture",
                "it.pcapng",
                "--patience",
                "0",
            ])
            .current_dir(bench.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started")
    };
    let children: Vec<_> = benches.iter().map(start).collect();
    for mut child in children {
        child.wait().expect("ended");
    }
    for bench in &benches {
        let record: RunRecord = bench.record();
        let told = record.trials[0].handshakes.as_ref().expect("observed");
        let seen = segments(&bench.path().join("it.pcapng"));
        let sent = syns(&seen);
        let account = told.syns + told.syn_retransmissions;
        testify(
            "two backlog runs at once: SYNs of one, those sent again included",
            &account.to_string(),
            &sent.to_string(),
            "tshark, on the capture of that run",
        );
        assert_eq!(account, sent);
        assert_eq!(told.syns, 30, "10 clients × 3 requests");
    }
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one trial, beside all that the kernel counted of it"
)]
fn overflows_cookies_and_the_backlog_are_the_kernels() {
    let _alone = alone();
    let server =
        Server::start("--size 6 --backlog 5 --delay-ms 0 --accept-pause-us 250000 --close");
    let capture = server.capture();
    let (outcome, trial) = server.throng(&[
        "backlog",
        &server.target(),
        "--clients",
        "14",
        "--requests",
        "1",
        "--send",
        "012345",
        "--expect",
        "6 bytes",
        "--repeats",
        "1",
        "--service-time",
        "250ms",
    ]);
    let seen = capture.stop();
    let counters = server.namespace.counters();
    let Some(Finding::AcceptQueueOverflow(finding::AcceptQueueOverflow {
        overflows,
        drops,
        backlog,
        ..
    })) = finding(&trial, "accept-queue-overflow")
    else {
        panic!("{:?} {}", findings(&trial), outcome.stderr);
    };
    let in_force = server.namespace.backlog(server.port);
    testify(
        "backlog 5, 14 clients: overflows, drops, backlog in force",
        &format!("{overflows}, {drops}, {backlog:?}"),
        &format!(
            "{}, {}, {in_force:?}",
            counters["TcpExtListenOverflows"], counters["TcpExtListenDrops"]
        ),
        "nstat, ss",
    );
    assert_eq!(
        (*overflows, *drops),
        (
            counters["TcpExtListenOverflows"],
            counters["TcpExtListenDrops"]
        )
    );
    assert_eq!((*backlog, in_force), (Some(5), Some(5)));
    let told = trial.handshakes.as_ref().expect("observed");
    let sent = syns(&seen);
    testify(
        "the same: SYNs, those sent again included",
        &(told.syns + told.syn_retransmissions).to_string(),
        &sent.to_string(),
        "tshark",
    );
    assert_eq!(told.syns + told.syn_retransmissions, sent);
    if let Some(Finding::SynCookies(finding::SynCookies { sent, received, .. })) =
        finding(&trial, "syn-cookies")
    {
        testify(
            "the same: SYN cookies sent, and valid ones that came",
            &format!("{sent}, {received}"),
            &format!(
                "{}, {}",
                counters["TcpExtSyncookiesSent"], counters["TcpExtSyncookiesRecv"]
            ),
            "nstat",
        );
        assert_eq!(
            (*sent, *received),
            (
                counters["TcpExtSyncookiesSent"],
                counters["TcpExtSyncookiesRecv"]
            )
        );
        assert_eq!(
            *received > *sent,
            outcome.stdout.contains("again"),
            "{}",
            outcome.stdout
        );
    }
}

/// A queue that holds four, and nobody accepts: the others time out, which is no part of the time in which those four opened.
#[test]
fn opening_ends_with_the_last_connection_that_opened() {
    let _alone = alone();
    let server = Server::start("--backlog 3 --accept-pause-us 20000000");
    let capture = server.capture();
    let flags = [
        "--hold",
        "0s",
        "--pings",
        "0",
        "--connect-timeout",
        "2s",
        "--repeats",
        "1",
    ];
    let target = server.target();
    let (_, trial) = server.throng(&[&["hold", "12", &*target], &flags[..]].concat());
    let seen = capture.stop();
    let connect = trial.phases.connect().expect("some opened");
    let first = seen.iter().find(|segment| segment.is_syn()).expect("a SYN");
    let answers = || seen.iter().filter(|segment| segment.flags & 0x12 == 0x12);
    let last = answers().next_back().expect("a SYN-ACK");
    let seen_ns = last.at_ns - first.at_ns;
    testify(
        "hold, 12 connections to a queue for 4: opened, and the time of opening",
        &format!(
            "{} in {:.1} ms (the connect phase took {:.1} s)",
            connect.connected,
            connect.opened_ns as f64 / 1e6,
            connect.duration_ns as f64 / 1e9
        ),
        &format!("last SYN-ACK after {:.1} ms", seen_ns as f64 / 1e6),
        "tshark",
    );
    assert!(connect.duration_ns > 1_900_000_000, "{connect:?}");
    assert!(
        connect.opened_ns <= seen_ns + 5_000_000,
        "{connect:?} {seen_ns}"
    );
}
