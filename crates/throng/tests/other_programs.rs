//! Other programs on the CPUs of either side are found by the check and by the limit. A binary with one test, so that nobody else is on them
//! but who is on this machine anyway.
//!
//! A loop that never sleeps gets its share of the CPU, whatever else runs there, and the kernel accounts for it. That the side beside it could have
//! run all the time is not certain in each trial: one of six has to show it, unless yet others had the CPUs of both sides.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};

use support::{Bench, failed_checks};
use throng_record::{Check, CheckKind, CheckResult, Limit, SideRecord, Trial};
use throng_sys::affinity;

/// Measures with a busy loop on `loop_cpu`.
fn trials(server_cpu: u32, generator_cpu: u32, loop_cpu: u32) -> (Vec<Trial>, String) {
    let bench = Bench::new();
    let is_over = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            affinity::set_current_thread(&[loop_cpu]).expect("an allowed CPU");
            while !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let outcome = bench.throng(&[
            "echo",
            "epoll-edge",
            "--connections",
            "50",
            "--duration",
            "500ms",
            "--repeats",
            "6",
            "--cpus",
            &format!("{server_cpu}:{generator_cpu}"),
        ]);
        is_over.store(true, Ordering::Relaxed);
        outcome
    });
    let trials = bench.record().trials;
    assert_eq!(trials.len(), 6, "{}", outcome.stderr);
    (trials, outcome.stdout)
}

fn check(trial: &Trial) -> &Check {
    let mut checks = trial.checks.iter();
    let check = checks.find(|check| check.kind == CheckKind::OtherPrograms);
    check.expect("it is made of every trial")
}

/// Beside one loop on one CPU: on the other CPU too, or for more than the loop's half of its own.
fn has_yet_others(trial: &Trial) -> bool {
    let share = |side: &Option<SideRecord>| {
        let side = side.as_ref().expect("observed");
        side.others_ns.expect("told") as f64 / side.window_ns as f64
    };
    let shares = [share(&trial.server), share(&trial.generator)];
    shares.iter().all(|&share| share > 0.1) || shares.iter().any(|&share| share > 0.6)
}

fn assert_found(trials: &[Trial], stdout: &str, disturbed: fn(&Trial) -> Option<&SideRecord>) {
    for trial in trials {
        assert_eq!(failed_checks(trial), Vec::<String>::new());
        let side = disturbed(trial).expect("observed");
        assert_eq!(check(trial).result, CheckResult::Disturbed, "{side:?}");
        // A tenth is far less than the loop's share beside one other.
        let others_ns = side.others_ns.expect("told");
        assert!(others_ns > side.window_ns / 10, "{side:?}");
    }
    let limits: Vec<Limit> = trials.iter().map(|trial| trial.limit).collect();
    assert!(
        limits.contains(&Limit::OtherPrograms) || trials.iter().all(has_yet_others),
        "{limits:?} {trials:#?}"
    );
    assert!(stdout.contains("other programs (6 trials"), "{stdout}");
}

#[test]
fn a_busy_loop_on_the_cpu_of_either_side_is_found() {
    let cpus = affinity::allowed_cpus();
    let (Some(&one), Some(&other)) = (cpus.first(), cpus.last()) else {
        panic!("no CPU is allowed");
    };
    assert_ne!(one, other, "each side needs a CPU of its own");
    let (of_server, stdout) = trials(one, other, one);
    assert_found(&of_server, &stdout, |trial| trial.server.as_ref());
    let (of_generator, stdout) = trials(one, other, other);
    assert_found(&of_generator, &stdout, |trial| trial.generator.as_ref());
}
