//! Unfair service, for real: a server that answers half of its connections once for every eight answers to the others; absent where one loop comes
//! to each in turn.

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use support::{Bench, Outcome, peer};
use throng_record::{Finding, Trial};

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

fn run(target: &str) -> (Outcome, Trial) {
    let bench = Bench::new();
    let connections = CONNECTIONS.to_string();
    let size = peer::SIZE.to_string();
    let outcome = bench.throng(&[
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
    ]);
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    let csv = bench.throng(&["report", "latest", "--format", "csv"]);
    assert!(csv.stdout.contains(",fairness_jain,"), "{}", csv.stdout);
    (outcome, bench.record().trials.remove(0))
}

fn found(trial: &Trial) -> Option<&Finding> {
    trial.findings.iter().find(|found| found.name() == NAME)
}

#[test]
fn connections_that_are_answered_once_for_eight_times_are_found() {
    let (outcome, trial) = run(&peer::start(unfair));
    let Some(Finding::UnfairService {
        connections,
        replies_min,
        replies_p10,
        replies_median,
        replies_p90,
        replies_max,
        fairness_jain,
    }) = found(&trial)
    else {
        panic!("{:?} {:?}", trial.findings, trial.exchange);
    };
    assert_eq!(u64::from(*connections), CONNECTIONS);
    assert!(replies_min <= replies_p10 && replies_p10 <= replies_median);
    assert!(replies_median <= replies_p90 && replies_p90 <= replies_max);
    assert!(replies_p90 >= &(3 * replies_p10), "{trial:?}");
    // Ten with 8 for each one of the others: (10 × 8 + 10)² ÷ (20 × 10 × (64 + 1)).
    assert!((0.5..0.8).contains(fairness_jain), "{fairness_jain}");
    let words: String = outcome.stdout.split_whitespace().collect();
    let page = format!("docs/findings/{NAME}.md");
    assert!(words.contains(&page), "{}", outcome.stdout);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(root.join(page).exists());
}

#[test]
fn a_loop_that_comes_to_each_in_turn_is_fair() {
    let (_, trial) = run("epoll-edge");
    assert_eq!(found(&trial), None, "{:?}", trial.exchange);
    let steady = trial.exchange.as_ref().and_then(|done| done.steady);
    let each = steady.and_then(|steady| steady.replies_per_connection);
    let each = each.expect("a closed loop");
    assert_eq!(u64::from(each.connections), CONNECTIONS);
    assert!(each.fairness_jain > 0.9, "{each:?}");
}
