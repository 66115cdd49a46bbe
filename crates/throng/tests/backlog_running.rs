//! A server that runs already: what can be seen of it from outside is there, and what cannot be seen is said.

mod support;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use support::backlog::{assert_valid_but_for_noise, connections, errors, run_one};
use support::{THRONG, check, exit_code, peer, signal};
use throng_record::{CheckKind, CheckResult, Network, Outcome};

/// A server that somebody else has started; killed where the test fails.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// It, and its address.
fn start() -> (Server, String) {
    let child = Command::new(THRONG)
        .args([
            "serve",
            "epoll-edge",
            "--workload",
            "http",
            "--backlog",
            "100",
        ])
        .args(["--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut server = Server(child);
    let stdout = server.0.stdout.as_mut().expect("piped");
    let mut lines = BufReader::new(stdout).lines();
    let ready = lines.find_map(|line| {
        let line = line.expect("text");
        line.strip_prefix("ready tcp://").map(str::to_owned)
    });
    drop(lines);
    let address = ready.expect("it listens");
    (server, address)
}

#[test]
fn a_page_of_a_running_server_is_asked_for_and_its_queue_is_seen() {
    let (mut server, address) = start();
    let url = format!("http://{address}/?delay=5");
    let (outcome, trial) = run_one(&[
        &url,
        "--clients",
        "4",
        "--requests",
        "10",
        "--service-time",
        "5ms",
        // So that every segment is seen, by root too.
        "--capture",
        "seen.pcapng",
    ]);
    signal(&server.0, rustix::process::Signal::TERM);
    assert_eq!(exit_code(&mut server.0), Some(0));
    assert_eq!(trial.outcome, Outcome::Completed, "{}", outcome.stderr);
    assert_eq!(trial.network, Network::Host);
    assert_valid_but_for_noise(&trial);
    let phase = connections(&trial);
    assert_eq!(
        (phase.begun, phase.answered, errors(&trial).total()),
        (40, 40, 0)
    );
    assert!(
        phase.first_byte_latency.min_ns >= 4_900_000,
        "the page's own delay"
    );
    assert!(
        outcome.stderr.contains("since it cannot be asked to"),
        "{}",
        outcome.stderr
    );
    let queue = trial.accept_queue.as_ref().expect("it is on this host");
    assert_eq!(
        (queue.backlog_asked, queue.listeners[0].backlog),
        (None, 100)
    );
    assert!(
        outcome.stdout.contains("backlog 100 as found"),
        "{}",
        outcome.stdout
    );
    let is_seen = trial.handshakes.is_some_and(|seen| seen.syns == 40);
    assert!(
        is_seen || !trial.unseen.is_empty(),
        "seen, or said: {:?}",
        trial.unseen
    );
    for kind in [CheckKind::HandshakeAccount, CheckKind::ServerCount] {
        assert_eq!(
            check(&trial, kind).result,
            CheckResult::NotApplicable,
            "{kind:?}"
        );
    }
}

#[test]
fn what_cannot_be_seen_is_stated() {
    let (outcome, trial) = run_one(&[&peer::nobody(), "--clients", "1", "--requests", "1"]);
    assert_eq!(trial.accept_queue, None);
    let of_the_queue = |line: &&String| line.contains("accept queue");
    let unseen = trial.unseen.iter().find(of_the_queue).expect("said");
    let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
    let said: Vec<&str> = unseen.split_whitespace().take(8).collect();
    assert!(
        words.windows(said.len()).any(|some| some == said),
        "{}",
        outcome.stdout
    );
}
