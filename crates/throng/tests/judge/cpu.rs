//! Memory and CPU time: what each side used, and what others took.

use std::process::{Child, Command};
use std::time::Instant;

use throng_record::{CheckKind, CheckResult, Limit, Trial};

use super::server;
use super::support::Bench;
use super::{agree, alone, testify};

fn trials(arguments: &[&str]) -> Vec<Trial> {
    let bench = Bench::new();
    bench.throng(arguments);
    bench.record().trials
}

#[test]
fn a_server_that_touches_64_kib_for_each_connection_reads_64_kib() {
    let _alone = alone();
    for connections in ["100", "1000"] {
        for (experiment, pace) in [("echo", 0), ("echo", 300), ("hold", 0)] {
            let bench = Bench::new();
            let command = server::command(
                bench.path(),
                &format!("--touch 65536 --accept-pause-us {pace}"),
            );
            let mut arguments = match experiment {
                "echo" => vec![
                    "echo",
                    "--connections",
                    connections,
                    "--duration",
                    "500ms",
                    "--warmup",
                    "100ms",
                ],
                _ => vec!["hold", connections, "--hold", "500ms"],
            };
            arguments.extend(["--size", "64", "--command", &command, "--repeats", "1"]);
            bench.throng(&arguments);
            let trial = bench.record().trials.remove(0);
            let server = trial.server.expect("observed");
            let told = server.memory_per_connection_bytes.expect("read");
            testify(
                &format!(
                    "{experiment}, {connections} connections: memory of a connection (accepts {pace} µs apart)"
                ),
                &format!("{told:.0} bytes"),
                "65536 bytes and Python's objects",
                "what the server touches",
            );
            assert!((65_536.0..72_090.0).contains(&told), "{told}");
        }
    }
}

/// A program that does nothing but use a CPU.
struct Hog(Child);

impl Hog {
    fn on(cpu: u32) -> Self {
        let child = Command::new("taskset")
            .args(["-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"])
            .spawn()
            .expect("util-linux is installed");
        Self(child)
    }

    /// CPU time so far, in ticks of 10 ms (`/proc/PID/stat`).
    fn cpu_s(&self) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).expect("it runs");
        let (_, fields) = text.rsplit_once(')').expect("a name");
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let ticks = |place: usize| fields[place].parse::<f64>().expect("ticks");
        (ticks(11) + ticks(12)) / 100.0
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_busy_loop_on_either_sides_cpu_is_seen_for_what_it_took() {
    let _alone = alone();
    let cpus = throng_sys::affinity::allowed_cpus();
    let (server, generator) = (cpus[0], *cpus.last().expect("one"));
    let pinned = format!("{server}:{generator}");
    for (side, cpu) in [("server", server), ("generator", generator)] {
        let hog = Hog::on(cpu);
        let (before, began) = (hog.cpu_s(), Instant::now());
        let trials = trials(&[
            "echo",
            "epoll-edge",
            "--connections",
            "100",
            "--duration",
            "3s",
            "--warmup",
            "100ms",
            "--repeats",
            "1",
            "--cpus",
            &pinned,
        ]);
        let took = (hog.cpu_s() - before) / began.elapsed().as_secs_f64();
        let trial = &trials[0];
        let mut checks = trial.checks.iter();
        let check = checks
            .find(|check| check.kind == CheckKind::OtherPrograms)
            .expect("made");
        testify(
            &format!("a busy loop on the {side}'s CPU"),
            &format!(
                "{:?} by other programs, limit {:?}",
                check.measured, trial.limit
            ),
            &format!("{took:.2} of a CPU"),
            "/proc/PID/stat of the loop",
        );
        assert_eq!(check.result, CheckResult::Disturbed, "{check:?}");
        assert_eq!(trial.limit, Limit::OtherPrograms, "{check:?}");
    }
}

#[test]
fn the_limit_of_a_server_of_ours_is_known() {
    let _alone = alone();
    let trials = trials(&[
        "echo",
        "poll",
        "thread-per-connection",
        "fork-per-connection",
        "--connections",
        "10,500",
        "--duration",
        "400ms",
        "--warmup",
        "50ms",
        "--repeats",
        "2",
    ]);
    let unknown = trials
        .iter()
        .filter(|trial| trial.limit == Limit::Unknown)
        .count();
    testify(
        "limit of built-in servers, 10 and 500 connections",
        &format!("{unknown} of {} unknown", trials.len()),
        "their processes are ours: 0",
        "by construction",
    );
    assert_eq!(unknown, 0);
}

/// A thread of the server takes its stack: what one costs is known from its own maps.
#[test]
fn threads_cost_what_holding_them_costs() {
    let _alone = alone();
    let per_connection = |arguments: &[&str]| {
        let trials = trials(arguments);
        let server = trials[0].server.as_ref().expect("observed");
        server.memory_per_connection_bytes.expect("read")
    };
    let echo = per_connection(&[
        "echo",
        "thread-per-connection",
        "--connections",
        "1000",
        "--duration",
        "500ms",
        "--warmup",
        "100ms",
        "--repeats",
        "1",
    ]);
    let hold = per_connection(&[
        "hold",
        "1000",
        "thread-per-connection",
        "--pings",
        "all",
        "--hold",
        "300ms",
        "--repeats",
        "1",
    ]);
    testify(
        "thread-per-connection, 1,000 connections: memory of a connection in echo",
        &format!("{echo:.0} bytes"),
        &format!("{hold:.0} bytes"),
        "hold, which reads it when nothing goes on",
    );
    assert!(agree(echo, hold, 0.25), "{echo} {hold}");
}

#[test]
fn the_doctor_tells_the_stolen_time_since_boot() {
    let _alone = alone();
    let outcome = Bench::new().throng(&["doctor", "--format", "json"]);
    let stat = std::fs::read_to_string("/proc/stat").expect("readable");
    let times: Vec<f64> = stat
        .lines()
        .next()
        .expect("all CPUs")
        .split_whitespace()
        .skip(1)
        .take(8)
        .map(|ticks| ticks.parse().expect("ticks"))
        .collect();
    let share = times[7] / times.iter().sum::<f64>() * 100.0;
    let told = outcome
        .stdout
        .lines()
        .find(|line| line.contains("since boot"));
    let told = told.expect("a line").trim();
    testify(
        "doctor: stolen time",
        told,
        &format!("{share:.1} % since boot"),
        "the ticks of /proc/stat",
    );
    let figure = told
        .split(", ")
        .nth(1)
        .and_then(|text| text.split(' ').next());
    let figure: f64 = figure.and_then(|text| text.parse().ok()).expect("a figure");
    assert!((figure - share).abs() <= 0.11, "{told} {share}");
}
