//! Servers that reset, fall silent, starve or stall: what throng says beside what they did.

use throng_record::{ErrorKind, Finding, Trial, finding};

use super::server::{self, Log, Server};
use super::support::{Bench, Outcome};
use super::{alone, finding, findings, in_one_line, testify};

/// One trial of a launched server, and the log of that.
fn launched(experiment: &str, flags: &str, arguments: &[&str]) -> (Outcome, Trial, Log) {
    let bench = Bench::new();
    let command = server::command(bench.path(), flags);
    let mut all = vec![experiment, "--command", &command, "--repeats", "1"];
    all.extend(arguments);
    let outcome = bench.throng(&all);
    let trial = bench.record().trials.remove(0);
    let log = server::logs(bench.path()).pop().expect("it ended");
    (outcome, trial, log)
}

fn failed(trial: &Trial, kind: ErrorKind) -> u64 {
    let exchange = trial.phases.exchange().expect("measured");
    exchange.errors.of(kind)
}

#[test]
fn resets_of_short_connections_are_the_servers() {
    let _alone = alone();
    for (experiment, arguments) in [
        ("churn", &["--messages", "997", "--clients", "7"][..]),
        (
            "backlog",
            &[
                "--requests",
                "83",
                "--clients",
                "12",
                "--send",
                "0123456789",
                "--expect",
                "10 bytes",
            ],
        ),
    ] {
        let flags = if experiment == "churn" {
            "--size 6 --reset-every 50"
        } else {
            "--size 10 --reset-every 50"
        };
        let mut all = arguments.to_vec();
        if experiment == "churn" {
            all.extend(["--send", "012345", "--expect", "6 bytes"]);
        }
        let (outcome, trial, log) = launched(experiment, flags, &all);
        let told = failed(&trial, ErrorKind::Reset);
        testify(
            &format!("{experiment}: every 50th connection is reset by the server"),
            &format!("{told} resets, exit code {:?}", outcome.code),
            &format!("{} resets of {}", log.resets, log.accepted),
            "the server's log",
        );
        assert!(log.resets > 0);
        assert_eq!(told, log.resets, "{}", outcome.stderr);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    }
}

#[test]
fn requests_that_are_never_answered_are_the_servers() {
    let _alone = alone();
    let (outcome, trial, log) = launched(
        "churn",
        "--size 6 --silent-every 7",
        &[
            "--messages",
            "50",
            "--clients",
            "10",
            "--timeout",
            "500ms",
            "--send",
            "012345",
            "--expect",
            "6 bytes",
        ],
    );
    let told = failed(&trial, ErrorKind::ReplyTimedOut);
    testify(
        "churn: every 7th connection is never answered",
        &format!("{told} timed out, exit code {:?}", outcome.code),
        &format!("{} of {} not answered", log.silent, log.accepted),
        "the server's log",
    );
    assert!(log.silent > 0);
    assert_eq!(told, log.silent, "{}", outcome.stderr);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
}

#[test]
fn a_reply_that_breaks_off_is_told_with_its_bytes() {
    let _alone = alone();
    let (outcome, _, _) = launched(
        "echo",
        "--size 6 --partial 5",
        &[
            "--size",
            "6",
            "--connections",
            "4",
            "--timeout",
            "500ms",
            "--duration",
            "300ms",
            "--warmup",
            "0s",
        ],
    );
    let words = in_one_line(&outcome.stderr);
    testify(
        "echo: 5 of 6 bytes of a reply are sent, then nothing",
        words
            .split(": ")
            .find(|part| part.contains("of 6 bytes"))
            .unwrap_or("nothing"),
        "5 of 6 bytes",
        "the server's own fault",
    );
    assert!(words.contains("5 of 6 bytes"), "{words}");
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
}

#[test]
fn one_connection_of_twenty_that_starves_is_found() {
    let _alone = alone();
    let arguments = [
        "--size",
        "64",
        "--connections",
        "20",
        "--duration",
        "2s",
        "--warmup",
        "100ms",
    ];
    for flags in ["--starve 7 --starve-ms 300", ""] {
        let (outcome, trial, log) = launched("echo", flags, &arguments);
        let fewest = *log.replies_each.iter().min().expect("twenty");
        let all = log.replies_each.iter().sum::<u64>();
        let found = findings(&trial);
        testify(
            &format!(
                "echo, 20 connections, {}",
                if flags.is_empty() {
                    "all alike"
                } else {
                    "the 7th starves"
                }
            ),
            &format!("{found:?}"),
            &format!("fewest replies {fewest}, mean {}", all / 20),
            "the server's log",
        );
        let is_found = found.contains(&"unfair-service") || found.contains(&"starved-connections");
        assert_eq!(
            is_found,
            !flags.is_empty(),
            "{found:?} {} {:?}",
            outcome.stdout,
            log.replies_each
        );
    }
}

/// What the hypervisor took of all CPUs so far, in seconds (`/proc/stat`).
fn stolen_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").expect("readable");
    let ticks = stat.split_whitespace().nth(8).expect("steal");
    ticks.parse::<f64>().expect("ticks") / 100.0
}

/// With so much taken, the stolen time may be why nobody was answered, and throng says nothing.
const STOLEN_S_MAX: f64 = 0.2;

#[test]
fn stalls_are_found_with_their_number_and_length() {
    let _alone = alone();
    let arguments = [
        "--size",
        "64",
        "--connections",
        "10",
        "--duration",
        "5s",
        "--warmup",
        "100ms",
    ];
    for flags in ["--stall-ms 200 --stall-every-ms 1000", ""] {
        let stolen_before_s = stolen_s();
        let (_, trial, log) = launched("echo", flags, &arguments);
        let is_disturbed = stolen_s() - stolen_before_s > STOLEN_S_MAX;
        let found = finding(&trial, "stalls");
        testify(
            &format!(
                "echo, {}",
                if flags.is_empty() {
                    "no stall"
                } else {
                    "a stall of 200 ms each second"
                }
            ),
            &found.map_or("no finding".to_owned(), |finding| format!("{finding:?}")),
            &format!("{} stalls", log.stalls.len()),
            "the server's log",
        );
        let Some(finding) = found else {
            assert!(flags.is_empty() || is_disturbed, "{:?}", log.stalls);
            continue;
        };
        assert!(!flags.is_empty(), "{finding:?}");
        if is_disturbed {
            continue;
        }
        let Finding::Stalls(finding::Stalls {
            stalls,
            stall_ns_median,
            ..
        }) = finding
        else {
            panic!("another finding has this name");
        };
        let in_window = log.stalls.len() as u32;
        assert!(
            (in_window - 1..=in_window).contains(stalls),
            "{finding:?} {in_window}"
        );
        assert!(
            (190_000_000..260_000_000).contains(stall_ns_median),
            "{finding:?}"
        );
    }
}

/// A backlog of 2 holds 3; the others' last ACKs are dropped, and their data with it, while the server sleeps.
#[test]
fn a_connection_that_the_server_never_knew_is_told_as_that() {
    let _alone = alone();
    let server = Server::start("--size 6 --backlog 2 --accept-pause-us 400000");
    let (outcome, trial) = server.throng(&[
        "echo",
        &server.target(),
        "--size",
        "6",
        "--connections",
        "12",
        "--timeout",
        "1s",
        "--duration",
        "500ms",
        "--warmup",
        "0s",
        "--repeats",
        "1",
    ]);
    let counters = server.namespace.counters();
    let overflows = counters["TcpExtListenOverflows"];
    testify(
        "echo: connections that a full accept queue kept from the server",
        &format!("{:?}", findings(&trial)),
        &format!("ListenOverflows {overflows}"),
        "nstat",
    );
    assert!(overflows > 0);
    let told = findings(&trial);
    assert!(
        told.contains(&"final-ack-dropped") || told.contains(&"accept-queue-overflow"),
        "{told:?}"
    );
    let words = in_one_line(&outcome.stderr);
    assert!(!words.contains("the server stopped answering"), "{words}");
}
