//! Every built-in model under every back end, address family, size and pacing, from one list each: the counts match exactly.

mod support;

use std::collections::BTreeSet;

use support::{Bench, failed_checks};
use throng_record::{CheckKind, CheckResult, Outcome, RunRecord};
use throng_servers::Model;

/// Prime, and no multiple of the connections: no rounding hides a lost or doubled message.
const MESSAGES: u64 = 1009;
const CONNECTIONS: u32 = 7;
const BACKENDS: [&str; 2] = ["epoll", "io-uring"];

/// Measures every model once with these flags, and looks at the counts.
fn every_model(messages: u64, size: u64, flags: &[&str]) {
    let bench = Bench::new();
    let models = Model::ALL.map(Model::name);
    let (messages_text, size_text) = (messages.to_string(), size.to_string());
    let connections = CONNECTIONS.to_string();
    let mut arguments = vec!["echo"];
    arguments.extend(models);
    arguments.extend(["--messages", &messages_text, "--size", &size_text]);
    arguments.extend(["--connections", &connections]);
    arguments.extend(["--repeats", "1", "--warmup", "0 messages"]);
    arguments.extend(flags);
    let outcome = bench.throng(&arguments);
    let record = bench.record();
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    assert_eq!(record.trials.len(), models.len(), "{flags:?}");
    let targets: BTreeSet<u32> = record.trials.iter().map(|trial| trial.target).collect();
    assert_eq!(targets.len(), models.len());
    assert_counts(&record, messages, size, flags);
}

fn assert_counts(record: &RunRecord, messages: u64, size: u64, flags: &[&str]) {
    for trial in &record.trials {
        let name = format!(
            "{} {size} {flags:?}",
            record.plan.targets[trial.target as usize].name
        );
        assert_eq!(trial.outcome, Outcome::Completed, "{name}");
        let connect = trial.connect.as_ref().expect("connected");
        let exchange = trial.exchange.as_ref().expect("exchanged");
        let close = trial.close.as_ref().expect("closed");
        assert_eq!(connect.connected, CONNECTIONS, "{name}");
        assert_eq!(
            (exchange.sent, exchange.replies),
            (messages, messages),
            "{name}"
        );
        assert_eq!(exchange.latency.count, messages, "{name}");
        assert_eq!(exchange.sent_bytes, messages * size, "{name}");
        assert_eq!(exchange.received_bytes, messages * size, "{name}");
        assert_eq!(close.closed_in_order, CONNECTIONS, "{name}");
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
    let connections = 23;
    let mut arguments = vec!["echo"];
    arguments.extend(Model::ALL.map(Model::name));
    arguments.extend([
        "--connections",
        "23",
        "--repeats",
        "1",
        "--duration",
        "500ms",
    ]);
    bench.throng(&arguments);
    let record = bench.record();
    for trial in &record.trials {
        let name = &record.plan.targets[trial.target as usize].name;
        let model: Model = name.parse().expect("a model");
        let server = trial.server.as_ref().expect("observed");
        assert_eq!(
            u64::from(server.threads_max),
            model.expected_threads(connections),
            "{name}"
        );
        assert_eq!(server.processes_max, 1, "{name}");
    }
}
