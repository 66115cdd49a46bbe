//! Healthy servers have no findings: every experiment against built-in servers with room for all that is asked of them. A binary of its own, so that no
//! other test shares the CPUs.
//!
//! The short form is part of the gate. The long form is ten runs of every model and workload, from 1 to 5,000 connections, takes a quarter of an hour,
//! prints each finding with the trial it is of, and fails on those that nothing excuses:
//!
//! ```sh
//! THRONG_HEALTHY=long cargo test -p throng --test healthy -- --nocapture
//! ```
//!
//! What is true of a healthy run is not an error: [`excuse`] lists it, each with the reason.

#![expect(clippy::print_stdout, reason = "the long form is read by a person")]

mod support;

use std::time::Duration;

use support::Bench;
use throng_record::{Finding, Outcome, RunRecord, Trial};
use throng_servers::Model;

const LONG: &str = "THRONG_HEALTHY";
/// For one command of the long form.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// One command: the experiment with its flags, and models as targets.
struct Run {
    arguments: Vec<String>,
}

fn run(models: &[&str], flags: &str) -> Run {
    let (experiment, flags) = flags.split_once(' ').expect("an experiment and its flags");
    let all = [experiment].into_iter().chain(flags.split(' '));
    let all = all.chain(models.iter().copied());
    Run {
        arguments: all.map(str::to_owned).collect(),
    }
}

fn short() -> Vec<Run> {
    let models = [
        "epoll-edge",
        "poll",
        "thread-per-connection",
        "io-uring",
        "tokio",
    ];
    let few = ["epoll-edge", "thread-per-connection"];
    let times = "--duration 400ms --warmup 100ms --repeats 1";
    vec![
        run(&models, &format!("echo --connections 1,10,1000 {times}")),
        run(&few, &format!("echo --connections 20 --rate 1000 {times}")),
        run(&few, &format!("churn --workload http --clients 10 {times}")),
        run(
            &few,
            &format!("churn --workload oneshot --clients 10 {times}"),
        ),
        run(
            &few,
            "backlog --workload http --clients 8 --requests 3 --service-time 10ms --backlog 64 --repeats 1",
        ),
        run(&few, "fanout --connections 100 --repeats 1"),
        run(&few, "hold 500 --hold 0s --repeats 1"),
        run(&["epoll-edge"], "accept --connections 1000 --repeats 1"),
    ]
}

/// Every model and workload, ten times over, from 1 to 5,000 connections.
fn long() -> Vec<Run> {
    [1, 2, 5, 10, 50, 100, 500, 1_000, 3_000, 5_000]
        .into_iter()
        .flat_map(every_model)
        .collect()
}

fn every_model(connections: u32) -> Vec<Run> {
    let models = Model::ALL.map(Model::name);
    let broadcasting = Model::ALL
        .into_iter()
        .filter(|model| model.declaration().broadcasts);
    let broadcasting: Vec<&str> = broadcasting.map(Model::name).collect();
    let times = "--duration 400ms --warmup 200ms --repeats 1";
    // Servers that take one at a time would need minutes for more.
    let clients = connections.min(1_000);
    let mut runs = vec![
        run(
            &models,
            &format!("echo --connections {connections} {times}"),
        ),
        run(
            &broadcasting,
            &format!("fanout --connections {connections} --repeats 1"),
        ),
        run(
            &models,
            &format!("hold {connections} --hold 0s --repeats 1"),
        ),
    ];
    for workload in ["http", "oneshot"] {
        let churn = format!("churn --workload {workload} --clients {clients} {times}");
        let backlog = format!(
            "backlog --workload {workload} --clients {clients} --requests 2 --service-time 5ms --backlog 4096 --repeats 1"
        );
        runs.extend([run(&models, &churn), run(&models, &backlog)]);
    }
    runs
}

/// Why a finding about a healthy run is true; `None` where nothing excuses it.
fn excuse(record: &RunRecord, trial: &Trial, finding: &Finding) -> Option<&'static str> {
    let serves_some = trial.job.fleet.serves_at_once;
    let asked = record.plan.settings[trial.setting as usize].connections;
    match finding {
        Finding::GeneratorBound(_) => Some("the two sides' CPU time says so"),
        // Whoever has a thread or a process for each connection leaves the order to the kernel's scheduler.
        Finding::UnfairService(_) | Finding::StarvedConnections(_)
            if is_scheduled_by_kernel(record, trial) =>
        {
            Some("the replies of each connection say so")
        }
        Finding::AcceptQueueOverflow(_) if was_counted(trial, "TcpExt.ListenOverflows") => {
            Some("the kernel counted them")
        }
        Finding::SynCookies(_) if was_counted(trial, "TcpExt.SyncookiesSent") => {
            Some("the kernel counted them")
        }
        Finding::TooFewAcceptors(_) if serves_some.is_some_and(|some| some < asked) => {
            Some("it serves fewer at once than there are")
        }
        _ => None,
    }
}

fn was_counted(trial: &Trial, counter: &str) -> bool {
    let change = trial.kernel_counters.get(counter);
    change.is_some_and(|&change| change > 0)
}

fn is_scheduled_by_kernel(record: &RunRecord, trial: &Trial) -> bool {
    let target = &record.plan.targets[trial.target as usize];
    let mut blocking = Model::ALL
        .into_iter()
        .filter(|model| model.declaration().blocks());
    blocking.any(|model| target.name == model.name())
}

/// Every finding that nothing excuses, with the trial it is of.
fn false_findings(bench: &Bench, run: &Run, is_long: bool) -> Vec<String> {
    let arguments: Vec<&str> = run.arguments.iter().map(String::as_str).collect();
    let runs_before = bench.runs().len();
    let outcome = bench.throng_within(PATIENCE, &arguments);
    assert_eq!(bench.runs().len(), runs_before + 1, "{}", outcome.stderr);
    let record = bench.record();
    let mut without_excuse = vec![];
    for trial in &record.trials {
        for finding in &trial.findings {
            let target = &record.plan.targets[trial.target as usize].name;
            let connections = trial.job.fleet.connections;
            let excuse = excuse(&record, trial, finding);
            let words = format!(
                "{} {target} {connections}: {finding:?} ({})",
                arguments[0],
                excuse.unwrap_or("FALSE")
            );
            if is_long {
                println!("{words}");
            }
            if excuse.is_none() {
                without_excuse.push(words);
            }
        }
    }
    assert_eq!(
        completed(&record),
        record.trials.len(),
        "{}",
        outcome.stderr
    );
    assert!(!record.trials.is_empty(), "{}", outcome.stderr);
    if is_long {
        println!(
            "{}: {} trials",
            run.arguments.join(" "),
            record.trials.len()
        );
    }
    without_excuse
}

fn completed(record: &RunRecord) -> usize {
    let trials = record.trials.iter();
    trials
        .filter(|trial| trial.outcome == Outcome::Completed)
        .count()
}

#[test]
fn healthy_servers_have_no_findings() {
    let is_long = std::env::var(LONG).is_ok_and(|form| form == "long");
    let runs = if is_long { long() } else { short() };
    let bench = Bench::new();
    let found: Vec<String> = runs
        .iter()
        .flat_map(|run| false_findings(&bench, run, is_long))
        .collect();
    assert_eq!(found, Vec::<String>::new());
}
