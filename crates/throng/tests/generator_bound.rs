//! The finding that needs a CPU for itself: a generator that has nothing to spare beside a server that has. A binary of its own, so
//! that no other test shares the CPUs.
//!
//! The server sends back what it gets. The generator looks at every byte of the reply more than once, since a delimiter that begins like all
//! of it keeps the search busy: several times the server's work. On a machine that others use too a trial may miss its 98 % of
//! a CPU, so one of six has to show it, and in all of them finding and check agree. What a hypervisor takes is accounted for by the finding
//! itself, to a tick of 10 ms: each is long enough for that to be less than what is missing to 100 %. Where programs beside it took the CPU
//! all the time, none can show it, and then the kernel's account of the CPUs has to say so.

mod support;

use support::others::OthersWatch;
use support::{Bench, failed_checks};
use throng_record::{CheckKind, CheckResult, Finding, Trial, finding};

const REPLY_BYTES: usize = 64 * 1024;

fn found(trial: &Trial) -> Option<(f64, f64)> {
    trial.findings.iter().find_map(|finding| match finding {
        Finding::GeneratorBound(finding::GeneratorBound {
            generator_busy,
            server_busy,
        }) => Some((*generator_busy, *server_busy)),
        _ => None,
    })
}

fn is_qualified(trial: &Trial) -> bool {
    trial.checks.iter().any(|check| {
        check.kind == CheckKind::GeneratorBound && check.result == CheckResult::Qualified
    })
}

/// With so much used by others, all of it may be of the generator's CPU, and less than its 98 % is left to it. (On a quiet machine with two
/// CPUs it is 0.02, the kernel's own work among it, and that is not all of one CPU's.)
const OTHERS_CORES_MAX: f64 = 0.04;
/// The hypervisor's account is kept in ticks: of a second of which more is stolen nobody can tell to 2 % how much was left.
const STOLEN_CORES_MAX: f64 = 0.05;

#[test]
fn a_generator_with_nothing_to_spare_is_found() {
    let cpus = throng_sys::affinity::allowed_cpus();
    let (Some(server), Some(generator)) = (cpus.first(), cpus.last()) else {
        panic!("no CPU is allowed");
    };
    assert_ne!(server, generator, "each side needs a CPU of its own");
    let bench = Bench::new();
    let message = "a".repeat(REPLY_BYTES - 1) + "b";
    let delimiter = "until ".to_owned() + &"a".repeat(63) + "b";
    let cpus = format!("{server}:{generator}");
    let others = OthersWatch::begin();
    let outcome = bench.throng(&[
        "echo",
        "epoll-edge",
        "--send",
        &message,
        "--expect",
        &delimiter,
        "--connections",
        "8",
        "--shards",
        "1",
        "--duration",
        "1500ms",
        "--warmup",
        "50ms",
        "--repeats",
        "6",
        "--cpus",
        &cpus,
    ]);
    let (others_cores, stolen_cores) = (others.cores(), others.stolen_cores());
    let trials = bench.record().trials;
    assert_eq!(trials.len(), 6, "{}", outcome.stderr);
    for trial in &trials {
        assert_eq!(found(trial).is_some(), is_qualified(trial), "{trial:?}");
        if let Some((generator_busy, server_busy)) = found(trial) {
            assert!(generator_busy >= 0.98 && server_busy < 0.9, "{trial:?}");
        }
    }
    if trials.iter().all(|trial| found(trial).is_none()) {
        let sides: Vec<_> = trials
            .iter()
            .map(|trial| (&trial.generator, &trial.server, failed_checks(trial)))
            .collect();
        assert!(
            others_cores > OTHERS_CORES_MAX || stolen_cores > STOLEN_CORES_MAX,
            "{others_cores} {stolen_cores}: {sides:#?}"
        );
        return;
    }
    assert!(
        outcome.stdout.contains("throng explain generator-bound"),
        "{}",
        outcome.stdout
    );
}
