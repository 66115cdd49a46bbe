//! Fan-out and holding where something is wrong: counted, named with the connection's index, and what was measured is kept.

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use support::{Bench, Outcome, exit_code, failed_checks, signal};
use throng_record::{ErrorKind, LinePhase, Outcome as TrialOutcome, Trial, Verdict};

/// A server that greets every connection but one, which it greets wrongly; its address.
fn greeting_one_wrongly(wrong: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        let mut open = vec![];
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.expect("accepted");
            let greeting: &[u8] = if number == wrong {
                b"disconnect\n"
            } else {
                b"connected\n"
            };
            let _ = stream.write_all(greeting);
            open.push(stream);
        }
    });
    format!("tcp://{address}")
}

#[test]
fn a_wrong_greeting_and_a_line_that_never_comes_are_counted_with_their_connections() {
    let bench = Bench::new();
    let address = greeting_one_wrongly(3);
    let flags = ["--connections", "10", "--timeout", "1s", "--repeats", "1"];
    let outcome = bench.throng(&[&["fanout", &address], &flags[..]].concat());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let trial = bench.record().trials.remove(0);
    assert_eq!(trial.verdict, Verdict::Invalid);
    let greeted = trial.phases.greeting().expect("kept");
    assert_eq!((greeted.due, greeted.received), (10, 9));
    assert_eq!(greeted.errors.connections[&ErrorKind::WrongBytes], [3]);
    let heard = &trial.phases.put().expect("kept").line;
    assert_eq!(heard.received, 0);
    assert_eq!(
        heard.errors.of(ErrorKind::NotDelivered),
        u64::from(heard.due)
    );
    assert!(
        outcome.stdout.contains("Errors, by connection"),
        "{}",
        outcome.stdout
    );
}

/// How a server passes on what one connection says: the copies of the line that each connection gets.
type Copies = fn(usize) -> usize;

/// A server that greets everybody, awaits `connections` and then passes on each line; its address.
fn passing_on(connections: usize, copies: Copies) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        let mut open: Vec<TcpStream> = vec![];
        while open.len() < connections {
            let (mut stream, _) = listener.accept().expect("accepted");
            let _ = stream.write_all(b"connected\n");
            open.push(stream);
        }
        // In the order of their connects, one of which is in flight at a time; the one in the middle speaks.
        let mut speaker = BufReader::new(&open[connections / 2]);
        let mut line = String::new();
        while speaker.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            for (index, mut stream) in open.iter().enumerate() {
                let _ = stream.write_all(line.repeat(copies(index)).as_bytes());
            }
            line.clear();
        }
    });
    format!("tcp://{address}")
}

/// A fan-out of 50 over it, by a single shard: the record's only trial, and what was said.
fn fan_out_over(address: &str) -> (Outcome, Trial) {
    let bench = Bench::new();
    let outcome = bench.throng(&[
        "fanout",
        address,
        "--connections",
        "50",
        "--shards",
        "1",
        "--repeats",
        "1",
        "--timeout",
        "1s",
    ]);
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    (outcome, bench.record().trials.remove(0))
}

fn heard(trial: &Trial) -> &LinePhase {
    let greeted = trial.phases.greeting().expect("kept");
    assert_eq!((greeted.due, greeted.received), (50, 50));
    assert_eq!(greeted.errors.total(), 0);
    &trial.phases.put().expect("kept").line
}

#[test]
fn every_tenth_that_does_not_hear_is_counted_and_named() {
    let address = passing_on(50, |index| usize::from(index % 10 != 0));
    let (outcome, trial) = fan_out_over(&address);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert_eq!(trial.verdict, Verdict::Invalid);
    let heard = heard(&trial);
    assert_eq!((heard.due, heard.received), (50, 45));
    assert_eq!(heard.latency.count, 45);
    assert_eq!(heard.errors.total(), 5);
    let deaf = &heard.errors.connections[&ErrorKind::NotDelivered];
    assert_eq!(deaf, &[0, 10, 20, 30, 40]);
}

/// The speaker hears once, so that it is not told of what the others are.
#[test]
fn what_comes_twice_is_counted_and_named() {
    let address = passing_on(50, |index| if index % 20 == 7 { 2 } else { 1 });
    let (outcome, trial) = fan_out_over(&address);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert_eq!(trial.verdict, Verdict::Invalid);
    let heard = heard(&trial);
    assert_eq!(heard.errors.total(), 3);
    let twice = &heard.errors.connections[&ErrorKind::DeliveredTwice];
    assert_eq!(twice, &[7, 27, 47]);
}

#[test]
fn a_server_without_fault_is_not_accused() {
    let (outcome, trial) = fan_out_over(&passing_on(50, |_| 1));
    assert_eq!(failed_checks(&trial), Vec::<String>::new());
    let heard = heard(&trial);
    assert_eq!((heard.due, heard.received), (50, 50), "{}", outcome.stderr);
    assert_eq!(heard.errors.total(), 0);
}

fn echo(mut from: TcpStream) {
    let mut to = from.try_clone().expect("a descriptor");
    let _ = std::io::copy(&mut from, &mut to);
}

/// It accepts five and keeps them, then no more; its queue holds seventeen. One connect at a time, and none that sends its SYN again:
/// SYNs that come in a burst are answered before the queue is full, and more are connected than it has room for.
#[test]
fn a_server_that_stops_accepting_is_measured_as_far_as_it_came() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    rustix::net::listen(&listener, 16).expect("listening");
    let address = format!("tcp://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        let accepted = listener.incoming().take(5);
        let echoes = accepted.map(|stream| {
            let from = stream.expect("accepted");
            std::thread::spawn(|| echo(from))
        });
        for echo in echoes.collect::<Vec<_>>() {
            let _ = echo.join();
        }
        // Not closed before: those in the queue would be reset.
        std::thread::park();
        drop(listener);
    });
    let bench = Bench::new();
    let outcome = bench.throng(&[
        "hold",
        "30",
        &address,
        "--shards",
        "1",
        "--hold",
        "0s",
        "--connect-concurrency",
        "1",
        "--connect-timeout",
        "300ms",
        "--timeout",
        "1s",
    ]);
    let trial = bench.record().trials.remove(0);
    assert_eq!(trial.outcome, TrialOutcome::Completed, "{}", outcome.stderr);
    assert_ne!(trial.verdict, Verdict::Valid);
    let connect = trial.phases.connect().expect("as far as it came");
    let connected = connect.connected;
    assert!((17..=22).contains(&connected), "{connected}");
    let timed_out = connect.errors.of(ErrorKind::ConnectTimedOut);
    assert_eq!(u64::from(connected + connect.not_begun) + timed_out, 30);
    let stop = connect.stop.as_ref().expect("why it ended");
    assert_eq!(stop.kind, ErrorKind::ConnectTimedOut);
    let ping = trial.phases.ping();
    let ping = ping.expect("those that are open are held, and pinged");
    assert_eq!(ping.pinged + ping.not_pinged, connected);
    assert!((1..=5).contains(&ping.answered), "{ping:?}");
    let unanswered = u64::from(ping.pinged - ping.answered);
    assert_eq!(ping.errors.of(ErrorKind::ReplyTimedOut), unanswered);
    let close = trial.phases.close();
    assert!(close.is_some(), "they are closed all the same");
}

/// The one that it resets is told from those that it keeps, before any is pinged. The server takes the last connection late and then closes
/// its listener: what stood in its accept queue when all were open is not taken for a limit that explains the reset.
#[test]
fn a_connection_that_is_reset_while_it_is_held_is_named() {
    const N: usize = 20;
    const LOST: usize = 13;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("tcp://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        let mut accepted = listener.incoming().map(|stream| stream.expect("accepted"));
        let mut open: Vec<_> = accepted.by_ref().take(N - 1).collect();
        // The last connect may not have been seen to end; the hold is much longer.
        std::thread::sleep(Duration::from_millis(300));
        open.extend(accepted.next());
        let lost = open.remove(LOST);
        rustix::net::sockopt::set_socket_linger(&lost, Some(Duration::ZERO)).expect("set");
        drop(lost);
        for from in open {
            std::thread::spawn(|| echo(from));
        }
    });
    let bench = Bench::new();
    let outcome = bench.throng(&[
        "hold",
        &N.to_string(),
        &address,
        "--shards",
        "1",
        "--connect-concurrency",
        "1",
        "--hold",
        "1500ms",
        "--pings",
        "all",
    ]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let trial = bench.record().trials.remove(0);
    assert_eq!(trial.verdict, Verdict::Invalid);
    assert_eq!(trial.phases.connect().expect("kept").connected, 20);
    let hold = trial.phases.hold().expect("kept");
    assert_eq!(hold.errors.total(), 1, "{:?}", hold.errors);
    assert_eq!(hold.errors.connections[&ErrorKind::Reset], [13]);
    let ping = trial.phases.ping().expect("kept");
    assert_eq!(ping.lost_errors.total(), 0, "{:?}", ping.lost_errors);
    assert_eq!((ping.pinged, ping.answered), (19, 19));
}

/// Ctrl-C while all are held: what was measured is stored, and nothing stays.
#[test]
fn a_hold_that_is_interrupted_leaves_a_record_and_no_process() {
    const N: usize = 50;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("tcp://{}", listener.local_addr().expect("bound"));
    let (all_open, is_all_open) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let streams = listener.incoming();
        for (number, from) in (1..).zip(streams.map(|stream| stream.expect("accepted"))) {
            std::thread::spawn(|| echo(from));
            if number == N {
                let _ = all_open.send(());
            }
        }
    });
    let bench = Bench::new();
    let mut child = bench.start(&["hold", &N.to_string(), &address, "--hold", "50s"]);
    is_all_open
        .recv_timeout(Duration::from_secs(30))
        .expect("all connect");
    let pressed = Instant::now();
    signal(&child, Signal::INT);
    assert_eq!(exit_code(&mut child), Some(130));
    assert!(pressed.elapsed() < Duration::from_secs(30), "not held on");
    bench.assert_no_process_left();
    let record = bench.record();
    assert!(record.interrupted);
    let trial = &record.trials[0];
    assert_eq!(trial.outcome, TrialOutcome::Interrupted);
    let connect = trial.phases.connect();
    assert!(connect.is_some(), "it was measured before");
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let bench = Bench::new();
    for arguments in [
        &["hold", "0"][..],
        &["hold", "abc"],
        &["hold", "10", "--pings", "11"],
        &["fanout", "iterative"],
    ] {
        let outcome = bench.throng(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("error: "), "{}", outcome.stderr);
        assert!(bench.runs().is_empty());
    }
}
