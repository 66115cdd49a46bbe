//! Where every message has a connection of its own, or connections are held: what a server does to some of them is its error, what a full accept
//! queue does is a result, and neither is ranked by the requests that were answered.

mod support;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use support::peer::{self, Fault};
use support::{Bench, Outcome, check, errors_of, failed_checks};
use throng_record::{CheckKind, CheckResult, ErrorKind, Finding, Trial, Verdict, finding};

fn run(arguments: &[&str]) -> (Outcome, Trial) {
    let bench = Bench::new();
    let outcome = bench.throng(&[arguments, &["--repeats", "1"]].concat());
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    (outcome, bench.record().trials.remove(0))
}

fn churn(address: &str, cycles: &str) -> (Outcome, Trial) {
    let flags = ["--messages", cycles, "--warmup", "0 messages"];
    let patience = ["--timeout", "700ms", "--clients", "8"];
    run(&[&["churn", address], &flags[..], &patience[..]].concat())
}

#[test]
fn what_a_server_does_to_every_nth_connection_of_a_churn_run_is_its_error() {
    for (every, fault, cycles, kind, failed) in [
        (50, Fault::Reset, "2000", ErrorKind::Reset, 40),
        (7, Fault::Silence, "70", ErrorKind::ReplyTimedOut, 10),
        (1_000, Fault::Close, "1009", ErrorKind::ClosedEarly, 1),
    ] {
        let (outcome, trial) = churn(&peer::failing_every(every, fault), cycles);
        assert_eq!(errors_of(&trial, kind), failed, "{fault:?}");
        assert_eq!(trial.verdict, Verdict::Invalid, "{fault:?}");
        assert_eq!(
            check(&trial, CheckKind::UnexpectedErrors).result,
            CheckResult::Failed
        );
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        let told = format!("{failed} × {}", kind.words());
        assert!(outcome.stderr.contains(&told), "{}", outcome.stderr);
    }
}

#[test]
fn a_server_that_fails_nobody_is_not_accused() {
    let (_, trial) = churn(&peer::failing_every(usize::MAX, Fault::Reset), "1009");
    assert_eq!(failed_checks(&trial), Vec::<String>::new());
}

#[test]
fn what_a_server_does_to_every_nth_connection_that_is_held_is_its_error() {
    for (fault, kind) in [
        (Fault::Reset, ErrorKind::Reset),
        (Fault::Silence, ErrorKind::ReplyTimedOut),
    ] {
        let address = peer::failing_every(50, fault);
        let flags = ["--hold", "0s", "--pings", "all", "--timeout", "700ms"];
        let (outcome, trial) = run(&[&["hold", "200", &address], &flags[..]].concat());
        let ping = trial.phases.ping().expect("pinged");
        assert_eq!(ping.errors.of(kind), 4, "{:?}", ping.errors);
        assert_eq!(trial.verdict, Verdict::Invalid);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    }
}

/// One at a time, 50 ms each, behind a queue of two: of 20 clients most have their SYN dropped, and give up before it is sent again.
fn slow_with_a_short_queue() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    rustix::net::listen(&listener, 1).expect("listening");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("accepted");
            let mut bytes = [0; 64];
            if let Ok(length) = stream.read(&mut bytes) {
                std::thread::sleep(Duration::from_millis(50));
                let _ = stream.write_all(&bytes[..length]);
            }
        }
    });
    format!("tcp://{address}")
}

#[test]
fn requests_that_a_full_queue_drops_are_a_result_that_is_not_ranked_by_the_others() {
    let address = slow_with_a_short_queue();
    let flags = ["--messages", "60", "--warmup", "0 messages"];
    let patience = ["--connect-timeout", "600ms", "--clients", "20"];
    let (outcome, trial) = run(&[&["churn", &address], &flags[..], &patience[..]].concat());
    let phase = trial.phases.connections().expect("each request has one");
    assert_eq!(phase.begun, 60);
    let timed_out = errors_of(&trial, ErrorKind::ConnectTimedOut);
    assert!(timed_out >= 10, "{timed_out}");
    assert_eq!(phase.answered + timed_out, 60, "{:?}", trial.checks);
    assert_eq!(
        check(&trial, CheckKind::UnexpectedErrors).result,
        CheckResult::Passed
    );
    assert_eq!(
        check(&trial, CheckKind::UnservedConnections).result,
        CheckResult::Partial
    );
    if trial.verdict == Verdict::Partial {
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let told = format!("answered {} of 60", phase.answered);
        assert!(outcome.stdout.contains(&told), "{}", outcome.stdout);
    } else {
        assert!(failed_checks(&trial).is_empty(), "{:?}", trial.checks);
    }
}

/// The queue holds 6, and 3 are accepted while the SYNs of the others wait to be sent again. Those come in one wave, of which 3 find room;
/// the final ACKs of 4 are dropped, and nothing is accepted any more.
fn stopping_to_accept() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    rustix::net::listen(&listener, 5).expect("listening");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        let mut echoes = vec![];
        for accepted in 0..3 {
            let (mut stream, _) = listener.accept().expect("accepted");
            if accepted == 0 {
                std::thread::sleep(Duration::from_millis(500));
            }
            echoes.push(std::thread::spawn(move || {
                let mut to = TcpStream::try_clone(&stream).expect("a descriptor");
                let _ = std::io::copy(&mut stream, &mut to);
            }));
        }
        for echo in echoes {
            let _ = echo.join();
        }
        // Not closed before: those in the queue would be reset.
        std::thread::park();
        drop(listener);
    });
    format!("tcp://{address}")
}

#[test]
fn kept_connections_that_the_server_does_not_have_are_told_from_those_that_it_leaves_waiting() {
    let address = stopping_to_accept();
    let (outcome, trial) = run(&[
        "echo",
        &address,
        "--connections",
        "13",
        "--shards",
        "1",
        "--connect-timeout",
        "5s",
        "--timeout",
        "1500ms",
        "--duration",
        "500ms",
    ]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let connect = trial.phases.connect();
    assert_eq!(connect.map(|phase| phase.connected), Some(13));
    let exchange = trial.phases.exchange().expect("exchanged");
    assert_eq!(exchange.connections_served, 3);
    let unknown = exchange.errors.of(ErrorKind::NotAcknowledged);
    let waiting = exchange.errors.of(ErrorKind::ReplyTimedOut);
    // One more may find room where the first was accepted before all had connected.
    assert!((3..=4).contains(&unknown), "{:?}", exchange.errors);
    assert_eq!(unknown + waiting, 10, "{:?}", exchange.errors);
    assert_eq!(u64::from(exchange.connections_silent), waiting);
    let found = trial.findings.iter().find_map(|finding| match finding {
        Finding::FinalAckDropped(finding::FinalAckDropped { connections, .. }) => {
            Some(*connections)
        }
        _ => None,
    });
    assert_eq!(found, Some(unknown), "{:?}", trial.findings);
    let is_in_force = |finding: &Finding| {
        matches!(
            finding,
            Finding::AcceptQueueOverflow(finding::AcceptQueueOverflow {
                backlog: Some(5),
                ..
            })
        )
    };
    assert!(
        trial.findings.iter().any(is_in_force),
        "{:?}",
        trial.findings
    );
    let told = format!("{unknown} × not acknowledged");
    assert!(outcome.stderr.contains(&told), "{}", outcome.stderr);
    assert_eq!(trial.backlog_in_force, Some(5));
}
