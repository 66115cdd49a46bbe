//! Hosts that fail, and runs that are ended: one message says which and why, what was measured is kept, and no process is left.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use throng::record::Outcome;

use crate::cluster::{Cluster, Ended};

/// Each phase long enough to be met: about a second of connecting, of holding, of exchanging.
const PHASES: &str = r#"
    experiment = "phases"
    targets = ["epoll-level"]
    repeats = 1
    [[phase]]
    do = "connect"
    connections = 40
    connect-rate = 40.0
    [[phase]]
    do = "hold"
    duration = "1s"
    [[phase]]
    do = "exchange"
    duration = "3s"
    [[phase]]
    do = "close"
"#;

fn cluster() -> Cluster {
    let cluster = Cluster::of(2);
    std::fs::write(cluster.folder().join("plan.toml"), PHASES).expect("written");
    cluster
}

const RUN: [&str; 5] = ["run", "plan.toml", "--no-html", "--patience", "0"];

/// In connect, hold and exchange.
const MOMENTS: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_millis(1_500),
    Duration::from_millis(3_000),
];

fn assert_kept_and_gone(cluster: &Cluster, ended: &Ended) {
    assert_eq!(ended.left, "", "{}", ended.stderr);
    assert_ne!(ended.code, Some(0));
    assert!(cluster.record().interrupted);
}

#[test]
fn a_rank_that_is_killed_ends_the_run_on_all_hosts_and_is_named() {
    for moment in MOMENTS {
        let cluster = cluster();
        let running = cluster.start(&RUN);
        let station = running.process(2, false);
        running.process(2, true);
        sleep(moment);
        kill_process(station, Signal::KILL).expect("it runs");
        let ended = running.end();
        assert_kept_and_gone(&cluster, &ended);
        // In the words of mpirun, which notices first.
        for part in ["rank 2", "10.77.0.3", "signal 9", "throng report"] {
            assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
        }
    }
}

#[test]
fn a_generator_that_is_killed_ends_its_trial_on_all_hosts_and_is_named() {
    for moment in MOMENTS {
        let cluster = cluster();
        let running = cluster.start(&RUN);
        let generator = running.process(1, true);
        sleep(moment);
        kill_process(generator, Signal::KILL).expect("it runs");
        let ended = running.end();
        assert_eq!(ended.left, "", "{}", ended.stderr);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let record = cluster.record();
        let Outcome::Failed { message } = &record.trials[0].outcome else {
            panic!("{:?}", record.trials[0].outcome);
        };
        for part in ["gen1 (rank 1)", "signal: 9"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert!(!record.interrupted, "the run itself came to its end");
    }
}

#[test]
fn a_lab_that_is_killed_leaves_nothing_on_any_host() {
    let cluster = cluster();
    let running = cluster.start(&RUN);
    let lab = running.process(0, false);
    running.process(2, true);
    sleep(MOMENTS[2]);
    kill_process(lab, Signal::KILL).expect("it runs");
    let ended = running.end();
    assert_kept_and_gone(&cluster, &ended);
}

#[test]
fn a_run_ended_by_the_user_keeps_its_whole_trials() {
    let cluster = Cluster::of(2);
    let running = cluster.start(&[
        "echo",
        "epoll-level",
        "epoll-edge",
        "poll",
        "--connections",
        "10",
        "--duration",
        "700ms",
        "--repeats",
        "100",
        "--no-html",
    ]);
    running.process(2, true);
    sleep(Duration::from_secs(6));
    kill_process(running.mpirun(), Signal::INT).expect("it runs");
    let ended = running.end();
    assert_kept_and_gone(&cluster, &ended);
    let whole = |outcome: &Outcome| *outcome == Outcome::Completed;
    let record = cluster.record();
    assert!(
        record
            .trials
            .iter()
            .filter(|one| whole(&one.outcome))
            .count()
            > 1,
        "{}",
        ended.stderr
    );
}

#[test]
fn a_host_whose_network_is_gone_ends_the_run_and_is_named() {
    let cluster = Cluster::of(2).with("CUT", "2 4").mpirun(&[
        // What docs/machines.md advises, shorter: mpirun itself notices after eight minutes.
        "--mca",
        "oob_tcp_keepalive_time",
        "2",
        "--mca",
        "oob_tcp_keepalive_intvl",
        "1",
        "--mca",
        "oob_tcp_keepalive_probes",
        "2",
    ]);
    let plan = PHASES.replace("3s", "20s");
    std::fs::write(cluster.folder().join("plan.toml"), plan).expect("written");
    let ended = cluster.run(&RUN);
    assert_kept_and_gone(&cluster, &ended);
    for part in ["10.77.0.3", "throng report"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}
