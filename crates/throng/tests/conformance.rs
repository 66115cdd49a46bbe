//! Every built-in model under every back end, address family, size and pacing, from one list each: the counts match exactly.

mod support;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use support::{Bench, failed_checks};
use throng_record::{CheckKind, CheckResult, Outcome, RunRecord};
use throng_servers::Model;

/// Prime, and no multiple of the connections: no rounding hides a lost or doubled message.
const MESSAGES: u64 = 1009;
const CONNECTIONS: u32 = 7;
const BACKENDS: [&str; 2] = ["epoll", "io-uring"];

/// Measures every model once with these flags, and looks at the counts. One that serves a single connection at a time is
/// given one.
fn every_model(messages: u64, size: u64, flags: &[&str]) {
    let on_unix = flags.contains(&"unix");
    let (one, several): (Vec<Model>, Vec<Model>) = Model::ALL
        .into_iter()
        .filter(|model| model.declaration().serves_unix || !on_unix)
        .partition(|&model| model == Model::Iterative);
    measure(&several, CONNECTIONS, messages, size, flags);
    // A lone connection goes in no group, and has one thread.
    let mut flags = flags.to_vec();
    for divided in ["--lockstep", "--shards"] {
        if let Some(place) = flags.iter().position(|&flag| flag == divided) {
            flags.drain(place..place + 2);
        }
    }
    measure(&one, 1, messages, size, &flags);
}

fn measure(models: &[Model], connections: u32, messages: u64, size: u64, flags: &[&str]) {
    let bench = Bench::new();
    let (messages_text, size_text) = (messages.to_string(), size.to_string());
    let connections_text = connections.to_string();
    let mut arguments = vec!["echo"];
    arguments.extend(models.iter().map(|model| model.name()));
    arguments.extend(["--messages", &messages_text, "--size", &size_text]);
    arguments.extend(["--connections", &connections_text]);
    arguments.extend(["--repeats", "1", "--warmup", "0 messages"]);
    arguments.extend(flags);
    let outcome = bench.throng(&arguments);
    let record = bench.record();
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    assert_eq!(record.trials.len(), models.len(), "{flags:?}");
    let targets: BTreeSet<u32> = record.trials.iter().map(|trial| trial.target).collect();
    assert_eq!(targets.len(), models.len());
    assert_counts(&record, connections, messages, size, flags);
}

fn assert_counts(record: &RunRecord, connections: u32, messages: u64, size: u64, flags: &[&str]) {
    for trial in &record.trials {
        let name = format!(
            "{} {size} {flags:?}",
            record.plan.targets[trial.target as usize].name
        );
        assert_eq!(trial.outcome, Outcome::Completed, "{name}");
        let connect = trial.phases.connect().expect("connected");
        let exchange = trial.phases.exchange().expect("exchanged");
        let close = trial.phases.close().expect("closed");
        assert_eq!(connect.connected, connections, "{name}");
        assert_eq!(
            (exchange.sent, exchange.replies),
            (messages, messages),
            "{name}"
        );
        assert_eq!(exchange.latency.count, messages, "{name}");
        assert_eq!(exchange.sent_bytes, messages * size, "{name}");
        assert_eq!(exchange.received_bytes, messages * size, "{name}");
        assert_eq!(close.closed_in_order, connections, "{name}");
        for errors in [&connect.errors, &exchange.errors, &close.errors] {
            assert_eq!(errors.total(), 0, "{name}: {errors:?}");
        }
        let server_count = trial
            .checks
            .iter()
            .find(|check| check.kind == CheckKind::ServerCount);
        let server_count = server_count.expect("made for every built-in server");
        assert_eq!(
            server_count.result,
            CheckResult::Passed,
            "{name}: {}",
            server_count.detail
        );
        assert_eq!(failed_checks(trial), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn every_family_under_every_back_end() {
    for backend in BACKENDS {
        for family in ["ipv4", "ipv6", "unix"] {
            every_model(MESSAGES, 6, &["--backend", backend, "--family", family]);
        }
    }
}

#[test]
fn every_size_under_every_back_end() {
    for backend in BACKENDS {
        for size in [1, 2, 4096] {
            every_model(MESSAGES, size, &["--backend", backend]);
        }
        every_model(101, 1 << 20, &["--backend", backend]);
    }
}

#[test]
fn every_pacing_under_every_back_end() {
    for backend in BACKENDS {
        for pacing in [
            &["--outstanding", "13"][..],
            &["--lockstep", "3"],
            &["--rate", "5000"],
            &[
                "--rate",
                "5000",
                "--arrivals",
                "exponential",
                "--no-spin",
                "--outstanding",
                "3",
            ],
        ] {
            every_model(MESSAGES, 6, &[&["--backend", backend], pacing].concat());
        }
    }
}

#[test]
fn several_shards_and_any_cpu_change_no_count() {
    for backend in BACKENDS {
        every_model(
            MESSAGES,
            6,
            &["--backend", backend, "--shards", "3", "--cpus", "any"],
        );
        every_model(
            MESSAGES,
            6,
            &[
                "--backend",
                backend,
                "--addresses",
                "kernel",
                "--nodelay",
                "false",
            ],
        );
    }
}

#[test]
fn a_launched_server_is_what_its_model_says() {
    let bench = Bench::new();
    bench.throng(&[
        "echo",
        "all",
        "--connections",
        "23",
        "--repeats",
        "1",
        "--duration",
        "500ms",
    ]);
    let record = bench.record();
    assert_eq!(record.trials.len(), Model::ALL.len());
    for trial in &record.trials {
        let name = &record.plan.targets[trial.target as usize].name;
        let model: Model = name.parse().expect("a model");
        let server = trial.server.as_ref().expect("observed");
        let workers = trial.workers.and_then(NonZeroU32::new);
        assert_eq!(
            u64::from(server.threads_max),
            model.expected_threads(workers, None, None, 23),
            "{name}"
        );
        assert_eq!(
            u64::from(server.processes_max),
            model.expected_processes(workers, 23),
            "{name}"
        );
    }
}

#[test]
fn a_bounded_server_serves_as_many_as_it_declares_and_the_trial_says_so() {
    let bench = Bench::new();
    let outcome = bench.throng(&[
        "echo",
        "thread-pool",
        "prefork",
        "--workers",
        "5",
        "--connections",
        "4,8",
        "--repeats",
        "1",
        "--duration",
        "300ms",
    ]);
    let record = bench.record();
    for trial in &record.trials {
        assert_eq!(
            (trial.workers, trial.job.fleet.serves_at_once),
            (Some(5), Some(5))
        );
        let exchange = trial.phases.exchange().expect("exchanged");
        let check = trial
            .checks
            .iter()
            .find(|check| check.kind == CheckKind::UnservedConnections);
        let result = check.expect("made for every trial").result;
        let expected = if trial.job.fleet.connections == 8 {
            (5, CheckResult::Partial)
        } else {
            (4, CheckResult::Passed)
        };
        assert_eq!((exchange.connections_served, result), expected);
    }
    assert!(
        outcome.stdout.contains("serves 5 of 8"),
        "{}",
        outcome.stdout
    );
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
}

#[test]
fn an_iterative_server_serves_one_of_many() {
    let bench = Bench::new();
    let outcome = bench.throng(&[
        "echo",
        "iterative",
        "--connections",
        "9",
        "--repeats",
        "1",
        "--duration",
        "300ms",
    ]);
    assert!(
        outcome.stdout.contains("serves 1 of 9"),
        "{}",
        outcome.stdout
    );
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
}
