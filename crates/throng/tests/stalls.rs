//! Stalls, for real: a server that is stopped for a fifth of a second now and then; absent where the generator is stopped instead, where the
//! service is slow by design, and where too few wait to tell. A binary of its own, so that no other test shares the CPUs.
//!
//! Where other programs take the server's CPU for as long as it was stopped, the machine may be why, and rightly nothing is found. That the
//! silences are seen needs no quiet.

mod support;

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use support::{Bench, exit_code, peer, wait_for};
use throng_findings::findings::kind;
use throng_record::{Finding, Silence, Trial, finding};

const NAME: &str = "stalls";
const MS: u64 = 1_000_000;
const STOPPED: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_millis(500);
const STOPS: usize = 5;

fn found(trial: &Trial) -> Option<&Finding> {
    trial.findings.iter().find(|found| kind(found).name == NAME)
}

fn silences(trial: &Trial) -> &[Silence] {
    &trial.phases.exchange().expect("exchanged").silences
}

/// The process of this bench whose command line says so.
fn process(bench: &Bench, word: &str) -> Option<Pid> {
    let is_it = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = line.split(|&byte| byte == 0);
        words.nth(1) == Some(word.as_bytes())
    };
    let pid = bench.processes().into_iter().find(is_it)?;
    Pid::from_raw(pid.cast_signed())
}

/// A trial of 4 s, in which that process is stopped five times.
fn run_stopping(word: &str, pacing: &[&str]) -> (String, Trial) {
    let bench = Bench::new();
    let flags = [
        "echo",
        "epoll-edge",
        "--connections",
        "20",
        "--shards",
        "2",
        "--duration",
        "4s",
        "--warmup",
        "100ms",
        "--repeats",
        "1",
    ];
    let mut child = bench.start(&[&flags, pacing].concat());
    let is_there = wait_for(Duration::from_secs(20), || {
        process(&bench, "load").is_some()
    });
    assert!(is_there, "no generator was started");
    let pid = process(&bench, word).expect("it is there too");
    for _ in 0..STOPS {
        std::thread::sleep(PAUSE);
        // A process that has ended is stopped no more.
        let _ = kill_process(pid, Signal::STOP);
        std::thread::sleep(STOPPED);
        let _ = kill_process(pid, Signal::CONT);
    }
    exit_code(&mut child);
    let report = bench.throng(&["report", "latest"]).stdout;
    (report, bench.record().trials.remove(0))
}

/// Whether half of the stops may be the machine's doing, by the kernel's account.
fn is_disturbed(trial: &Trial) -> bool {
    let server = trial.server.as_ref().expect("observed");
    let half_ns = STOPPED.as_nanos() as u64 * STOPS as u64 / 3;
    let stolen_ns = server.stolen_ns.expect("/proc/stat is there");
    stolen_ns > half_ns
        || server
            .run_delay_ns
            .is_none_or(|waited_ns| waited_ns > half_ns)
}

#[test]
fn a_server_that_stops_now_and_then_is_found_with_its_period() {
    for pacing in [&[][..], &["--rate", "2000"]] {
        let (report, trial) = run_stopping("serve", pacing);
        let stops = silences(&trial).iter();
        let stops = stops.filter(|silence| silence.duration_ns.abs_diff(210 * MS) < 40 * MS);
        assert!(stops.count() >= 3, "{:?}", silences(&trial));
        let Some(Finding::Stalls(finding::Stalls {
            stalls,
            stall_ns_median,
            share_of_window,
            waiting_max,
            latency_ns_median,
            ..
        })) = found(&trial)
        else {
            assert!(
                is_disturbed(&trial),
                "{:?} {:?}",
                trial.findings,
                trial.server
            );
            continue;
        };
        assert!((3..=6).contains(stalls), "{stalls}");
        assert!(
            stall_ns_median.abs_diff(200 * MS) < 50 * MS,
            "{stall_ns_median}"
        );
        assert!((0.1..0.33).contains(share_of_window), "{share_of_window}");
        assert!((8..=20).contains(waiting_max), "{waiting_max}");
        assert!(*latency_ns_median < 50 * MS, "{latency_ns_median}");
        let words: String = report.split_whitespace().collect();
        let page = format!("docs/findings/{NAME}.md");
        assert!(words.contains(&format!("throngexplain{NAME}")), "{report}");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        assert!(root.join(page).exists());
    }
}

#[test]
fn a_generator_that_stops_accuses_nobody() {
    let (_, trial) = run_stopping("load", &[]);
    assert_eq!(found(&trial), None, "{:?}", silences(&trial));
    let stops = silences(&trial);
    let own = stops.iter().map(|silence| silence.generator_late_ns);
    assert!(
        own.sum::<u64>() > 400 * MS,
        "seen, and as its own: {stops:?}"
    );
}

fn run(target: &str, more: &[&str]) -> Trial {
    let bench = Bench::new();
    let size = peer::SIZE.to_string();
    let flags = [
        "echo",
        target,
        "--size",
        &size,
        "--duration",
        "1500ms",
        "--warmup",
        "100ms",
        "--repeats",
        "1",
    ];
    let outcome = bench.throng(&[&flags, more].concat());
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    bench.record().trials.remove(0)
}

/// Answers after 150 ms, whoever asks.
fn slow(stream: std::net::TcpStream) {
    peer::slow_by(stream, Duration::from_millis(150));
}

#[test]
fn a_service_that_is_slow_by_design_is_no_stall() {
    for connections in ["1", "4", "40"] {
        let trial = run(&peer::start(slow), &["--connections", connections]);
        assert_eq!(found(&trial), None, "{:?}", silences(&trial));
    }
    let rate = ["--connections", "20", "--rate", "5"];
    let trial = run("epoll-edge", &rate);
    assert_eq!(found(&trial), None, "{:?}", silences(&trial));
    assert_eq!(silences(&trial), [], "nobody waited in them");
}
