//! The finding that needs the machine for itself: a generator that has nothing to spare beside a server that has. A binary of its own, so
//! that no other test shares the CPUs.
//!
//! Replies of 256 KiB, compared byte by byte, cost the generator more than they cost the server. Whether it then gets 98 % of its CPU is
//! not ours to say on a machine that others use too, and nothing here waits for a quiet one: what is asserted is that the finding
//! follows the figures of real trials, either way. Root has both sides run before everybody else (`SCHED_FIFO`, sched(7)), which
//! makes it likely.

mod support;

use std::process::Command;

use support::{Bench, THRONG};
use throng_record::{CheckKind, CheckResult, Finding, SideRecord, Trial};

/// Of a single-threaded side; absent where its readings are of another window.
fn cores_used(side: Option<&SideRecord>) -> Option<f64> {
    let side = side.filter(|side| side.window_ns > 0 && !side.is_of_other_window)?;
    Some(side.cpu_ns as f64 / side.window_ns as f64)
}

fn assert_follows_its_figures(trial: &Trial) {
    let figures = format!(
        "{:?} {:?} {:?}",
        trial.server, trial.generator, trial.findings
    );
    let generator = cores_used(trial.generator.as_ref());
    let server = cores_used(trial.server.as_ref());
    let is_bound = generator
        .zip(server)
        .is_some_and(|(generator, server)| generator >= 0.98 && server < 0.9);
    let found = trial.findings.iter().find_map(|finding| match finding {
        Finding::GeneratorBound {
            generator_busy,
            server_busy,
        } => Some((*generator_busy, *server_busy)),
        _ => None,
    });
    assert_eq!(
        found,
        generator.zip(server).filter(|_| is_bound),
        "{figures}"
    );
    let qualified = trial.checks.iter().any(|check| {
        check.kind == CheckKind::GeneratorBound && check.result == CheckResult::Qualified
    });
    assert_eq!(qualified, is_bound, "{figures}");
}

#[test]
fn the_finding_follows_what_both_sides_used() {
    let cpus = throng_sys::affinity::allowed_cpus();
    let (Some(first), Some(last)) = (cpus.first(), cpus.last()) else {
        panic!("no CPU is allowed");
    };
    let bench = Bench::new();
    let is_root = rustix::process::getuid().is_root();
    let mut command = Command::new(if is_root { "chrt" } else { THRONG });
    if is_root {
        command.args(["--fifo", "1", THRONG]);
    }
    command.args([
        "echo",
        "io-uring",
        "--size",
        "262144",
        "--connections",
        "32",
        "--shards",
        "1",
    ]);
    command.args(["--duration", "300ms", "--warmup", "50ms", "--repeats", "6"]);
    command.args(["--cpus", &format!("{first}:{last}")]);
    let output = command.current_dir(bench.path()).output().expect("started");
    let trials = bench.record().trials;
    assert_eq!(
        trials.len(),
        6,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for trial in &trials {
        assert_follows_its_figures(trial);
    }
    bench.assert_no_process_left();
}
