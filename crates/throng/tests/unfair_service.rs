//! Unfair service and starved connections, for real: a server that answers half of its connections once for every eight answers to the others, and
//! servers that answer one connection of twenty seldom. Absent where one loop comes to each in turn, and where half of the connections end.

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use support::{Bench, Outcome, peer};
use throng_findings::findings::kind;
use throng_record::{ErrorKind, Finding, Trial, finding};

const NAME: &str = "unfair-service";
const CONNECTIONS: u64 = 20;
/// Answers to each preferred connection for one to each of the others.
const TIMES: u64 = 8;
/// Preferred connections that have been silent for so long have left.
const SILENCE: Duration = Duration::from_millis(200);

static ACCEPTED: AtomicU64 = AtomicU64::new(0);
static PREFERRED_ANSWERS: AtomicU64 = AtomicU64::new(0);

/// Every other connection waits before each answer until the preferred ones have had theirs. What it waits for is counted and not timed.
fn unfair(mut stream: TcpStream) {
    let is_preferred = ACCEPTED.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
    let mut message = [0; peer::SIZE];
    while stream.read_exact(&mut message).is_ok() {
        if is_preferred {
            PREFERRED_ANSWERS.fetch_add(1, Ordering::Relaxed);
        } else {
            wait_for_preferred(TIMES * CONNECTIONS / 2);
        }
        if stream.write_all(&message).is_err() {
            return;
        }
    }
}

fn wait_for_preferred(answers: u64) {
    let answered = || PREFERRED_ANSWERS.load(Ordering::Relaxed);
    let due = answered() + answers;
    let mut seen = (answered(), Instant::now());
    while answered() < due && seen.1.elapsed() < SILENCE {
        std::thread::sleep(Duration::from_micros(200));
        if answered() > seen.0 {
            seen = (answered(), Instant::now());
        }
    }
}

/// The eighth connection is answered rightly and only twice a second.
fn starving(mut stream: TcpStream) {
    let is_eighth = ACCEPTED_STARVING.fetch_add(1, Ordering::Relaxed) % CONNECTIONS == 7;
    let mut message = [0; peer::SIZE];
    while stream.read_exact(&mut message).is_ok() {
        if is_eighth {
            std::thread::sleep(Duration::from_millis(500));
        }
        if stream.write_all(&message).is_err() {
            return;
        }
    }
}

static ACCEPTED_STARVING: AtomicU64 = AtomicU64::new(0);

/// Every other connection ends after 300 answers: half of those by closing, half by falling silent.
fn mortal(mut stream: TcpStream) {
    let number = ACCEPTED_MORTAL.fetch_add(1, Ordering::Relaxed);
    let mut message = [0; peer::SIZE];
    let mut answers = 0;
    while stream.read_exact(&mut message).is_ok() {
        answers += 1;
        match (answers > 300, number % 4) {
            (true, 0) => return,
            (true, 2) => {}
            _ if stream.write_all(&message).is_err() => return,
            _ => {}
        }
    }
}

static ACCEPTED_MORTAL: AtomicU64 = AtomicU64::new(0);

fn run(target: &str) -> (Outcome, Trial) {
    run_with(target, &[])
}

fn run_with(target: &str, more: &[&str]) -> (Outcome, Trial) {
    let bench = Bench::new();
    let connections = CONNECTIONS.to_string();
    let size = peer::SIZE.to_string();
    let flags = [
        "echo",
        target,
        "--connections",
        &connections,
        "--size",
        &size,
        "--shards",
        "1",
        "--duration",
        "1s",
        "--warmup",
        "100ms",
        "--repeats",
        "1",
    ];
    let outcome = bench.throng(&[&flags, more].concat());
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    let csv = bench.throng(&["report", "latest", "--format", "csv"]);
    assert!(csv.stdout.contains(",fairness_jain,"), "{}", csv.stdout);
    (outcome, bench.record().trials.remove(0))
}

fn found(trial: &Trial) -> Option<&Finding> {
    trial.findings.iter().find(|found| kind(found).name == NAME)
}

#[test]
fn connections_that_are_answered_once_for_eight_times_are_found() {
    let (outcome, trial) = run(&peer::start(unfair));
    let Some(Finding::UnfairService(finding::UnfairService {
        connections,
        replies_min,
        replies_p10,
        replies_median,
        replies_p90,
        replies_max,
        fairness_jain,
    })) = found(&trial)
    else {
        panic!("{:?} {:?}", trial.findings, trial.phases.exchange());
    };
    assert_eq!(u64::from(*connections), CONNECTIONS);
    assert!(replies_min <= replies_p10 && replies_p10 <= replies_median);
    assert!(replies_median <= replies_p90 && replies_p90 <= replies_max);
    assert!(replies_p90 >= &(3 * replies_p10), "{trial:?}");
    // Ten with 8 for each one of the others: (10 × 8 + 10)² ÷ (20 × 10 × (64 + 1)), which is 0.62; in any case at least mean ÷ greatest.
    let exchange = trial.phases.exchange();
    let steady = exchange.and_then(|phase| phase.steady.as_ref());
    let shares = steady.and_then(|steady| steady.replies_per_connection);
    let shares = shares.expect("of a closed loop");
    let least = shares.mean / f64::from(shares.max);
    assert!(
        (least..0.8).contains(fairness_jain),
        "{fairness_jain} {shares:?}"
    );
    let words: String = outcome.stdout.split_whitespace().collect();
    let page = format!("docs/findings/{NAME}.md");
    assert!(
        words.contains(&format!("throngexplain{NAME}")),
        "{}",
        outcome.stdout
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(root.join(page).exists());
}

#[test]
fn a_loop_that_comes_to_each_in_turn_is_fair() {
    let (_, trial) = run("epoll-edge");
    let exchange = trial.phases.exchange();
    assert_eq!(found(&trial), None, "{exchange:?}");
    let steady = exchange.and_then(|done| done.steady);
    let each = steady.and_then(|steady| steady.replies_per_connection);
    let each = each.expect("a closed loop");
    assert_eq!(u64::from(each.connections), CONNECTIONS);
    assert!(each.fairness_jain > 0.9, "{each:?}");
}

fn starved(trial: &Trial) -> Option<&Finding> {
    let mut findings = trial.findings.iter();
    findings.find(|found| kind(found).name == "starved-connections")
}

#[test]
fn one_connection_of_twenty_that_is_seldom_answered_is_found() {
    let (outcome, trial) = run(&peer::start(starving));
    let Some(&Finding::StarvedConnections(finding::StarvedConnections {
        connections,
        seldom_served,
        replies_min,
        replies_median,
        ..
    })) = starved(&trial)
    else {
        panic!("{:?} {:?}", trial.findings, trial.phases.exchange());
    };
    assert_eq!(
        (u64::from(connections), seldom_served),
        (CONNECTIONS, Some(1))
    );
    assert!(replies_min.expect("told with it") <= 3, "{replies_min:?}");
    assert!(
        replies_median.expect("likewise") > 100,
        "{replies_median:?}"
    );
    assert_eq!(found(&trial), None, "tenths are alike");
    let words: String = outcome.stdout.split_whitespace().collect();
    let page = "docs/findings/starved-connections.md";
    assert!(
        words.contains("throngexplainstarved-connections"),
        "{}",
        outcome.stdout
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(root.join(page).exists());
}

/// There the generator chooses whom it asks: the connection that owes it a reply is asked nothing more.
#[test]
fn in_an_open_loop_its_wait_is_told() {
    let (_, trial) = run_with(&peer::start(owing), &["--rate", "500"]);
    let Some(&Finding::StarvedConnections(finding::StarvedConnections {
        seldom_served: None,
        waiting: Some(1),
        waited_ns_max: Some(waited_ns),
        reply_ns_max,
        ..
    })) = starved(&trial)
    else {
        panic!("{:?} {:?}", trial.findings, trial.phases.exchange());
    };
    assert!(waited_ns > 500_000_000 && waited_ns >= 5 * reply_ns_max);
    let (_, trial) = run_with("epoll-edge", &["--rate", "500"]);
    assert_eq!(starved(&trial), None, "{:?}", trial.phases.exchange());
}

/// The eighth connection waits for two seconds for each answer.
fn owing(mut stream: TcpStream) {
    let is_eighth = ACCEPTED_OWING.fetch_add(1, Ordering::Relaxed) % CONNECTIONS == 7;
    let mut message = [0; peer::SIZE];
    while stream.read_exact(&mut message).is_ok() {
        if is_eighth {
            std::thread::sleep(Duration::from_secs(2));
        }
        if stream.write_all(&message).is_err() {
            return;
        }
    }
}

static ACCEPTED_OWING: AtomicU64 = AtomicU64::new(0);

#[test]
fn connections_that_ended_are_compared_with_nobody() {
    let (_, trial) = run_with(&peer::start(mortal), &["--timeout", "1s"]);
    let exchange = trial.phases.exchange().expect("exchanged");
    let errors = &exchange.errors;
    assert!(
        errors.of(ErrorKind::ClosedEarly) + errors.of(ErrorKind::Reset) == 5,
        "{errors:?}"
    );
    assert_eq!(errors.of(ErrorKind::ReplyTimedOut), 5, "{errors:?}");
    let steady = exchange.steady;
    let each = steady.and_then(|steady| steady.replies_per_connection);
    let each = each.expect("a closed loop");
    assert_eq!(each.connections, 10);
    // The dead had a few replies. Where others use one of the CPUs, the threads of the living may be served unequally, but not like that.
    assert!(each.min >= each.median / 4, "{each:?}");
}
