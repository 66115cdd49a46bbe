//! Everything works without root. Where the tests run as root, throng runs as nobody, from a folder of nobody's.

mod support;

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use support::{Bench, Outcome, failed_checks, user};
use throng_record::{Network, Outcome as TrialOutcome, RunRecord};

/// `nobody` and `nogroup`, by the numbers that they have everywhere.
const NOBODY: u32 = 65534;

/// A bench in which an ordinary user runs throng.
struct User {
    bench: Bench,
    program: PathBuf,
}

impl User {
    fn new() -> Self {
        let bench = Bench::new();
        let program = user::give_to(&bench, NOBODY);
        Self { bench, program }
    }

    fn throng(&self, arguments: &[&str]) -> Outcome {
        let mut command = Command::new(&self.program);
        command.args(support::as_tests_want(arguments));
        if user::is_root() {
            // Without other groups too, as std does for root.
            command.uid(NOBODY).gid(NOBODY);
        }
        self.bench.outcome_of(command, Duration::from_secs(60))
    }

    /// Whether this user can have a network namespace: what the doctor finds by trying.
    fn can_have_a_network(&self) -> bool {
        let outcome = self.throng(&["doctor", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        let sections = report["sections"].as_array();
        let mut lines = sections
            .expect("sections")
            .iter()
            .flat_map(|section| section["lines"].as_array().expect("lines"));
        let line = lines.find(|line| line["name"] == "network namespaces");
        line.expect("it is looked at")["status"] == "ok"
    }

    fn measured(&self, outcome: &Outcome) -> RunRecord {
        let record = self.bench.record();
        for trial in &record.trials {
            assert_eq!(trial.outcome, TrialOutcome::Completed, "{}", outcome.stderr);
            assert_eq!(failed_checks(trial), Vec::<String>::new());
            let server = trial.server.as_ref().expect("its own child");
            assert!(server.memory_before.pss_bytes > Some(0), "may look into it");
        }
        record
    }
}

#[test]
fn a_plan_runs_in_a_private_network_or_says_why_not() {
    let user = User::new();
    let is_private = user.can_have_a_network();
    let plan = "targets = ['poll', 'io-uring', 'thread-per-connection']\nconnections = 20\n";
    let kernel = if is_private {
        "[kernel]\nsomaxconn = [17, 23]\n"
    } else {
        ""
    };
    let path = user.bench.write("short.toml", &format!("{plan}{kernel}"));
    assert!(Path::new(&path).exists());
    let outcome = user.throng(&[
        "run",
        "short.toml",
        "--quick",
        "--duration",
        "100ms",
        "--repeats",
        "1",
    ]);
    let record = user.measured(&outcome);
    assert_eq!(record.trials.len(), if is_private { 6 } else { 3 });
    if is_private {
        assert_eq!(record.network.used, Network::Private, "{}", outcome.stderr);
        assert!(record.network.user_namespace, "the way without root");
        let kernel = |setting: usize| &record.plan.settings[setting].kernel["net.core.somaxconn"];
        assert_eq!([kernel(0), kernel(1)], ["17", "23"]);
        assert_eq!(record.trials[0].kernel_counters["Tcp.ActiveOpens"], 20);
    } else {
        assert_eq!(record.network.used, Network::Host);
        assert!(
            outcome.stderr.contains("there is no private one here"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn echo_works_in_every_family_and_in_the_host_s_network() {
    let user = User::new();
    for more in [
        &["--family", "ipv4"],
        &["--family", "unix"],
        &["--net", "host"],
    ] {
        let short = [
            "echo",
            "poll",
            "--quick",
            "--duration",
            "100ms",
            "--repeats",
            "1",
        ];
        let outcome = user.throng(&[&short[..], more].concat());
        let record = user.measured(&outcome);
        assert_eq!(record.trials.len(), 1, "{}", outcome.stderr);
    }
}

#[test]
fn the_accept_queue_and_the_handshakes_are_seen() {
    let user = User::new();
    let outcome = user.throng(&[
        "backlog",
        "iterative",
        "--clients",
        "12",
        "--requests",
        "1",
        "--service-time",
        "10ms",
        "--repeats",
        "1",
    ]);
    let record = user.measured(&outcome);
    let trial = &record.trials[0];
    if trial.network == Network::Host {
        assert!(!user.can_have_a_network(), "{}", outcome.stderr);
        assert!(!trial.unseen.is_empty(), "no packet socket, and it is said");
        return;
    }
    let handshakes = trial.handshakes.expect("its own network");
    let connections = trial.phases.connections().expect("each request has one");
    assert_eq!(handshakes.syns, 12);
    assert!(connections.syn_retransmissions > 0, "{connections:?}");
    assert_eq!(
        handshakes.syn_retransmissions,
        connections.syn_retransmissions
    );
    assert!(
        trial
            .accept_queue
            .as_ref()
            .is_some_and(|queue| queue.samples > 0)
    );
}
