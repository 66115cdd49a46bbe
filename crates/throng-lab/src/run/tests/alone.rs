//! Trials without a server: a generator alone, here a script.

use throng_record::AcceptPhase;

use super::*;

const PLAN: &str =
    "experiment = 'accept'\ntargets = ['poll']\nconnections = 100\nrepeats = 1\nseed = 1";

/// No server may be started.
const NO_SERVER: &str = r#"touch "$here/served""#;

const TIMING: &str = r#"
read -r job
echo "$job" > "$here/job.json"
echo '{"event":"phase","phase":"multiplex"}'
read -r go
echo '{"event":"progress","replies":40}'
sleep 0.15
echo '{"event":"progress","replies":90}'
cat "$here/finished.json"
"#;

fn accepted(accepted: u32, stopped_by: Option<&str>) -> LoadRecord {
    of_phases([Measured::Multiplex(AcceptPhase {
        accepted,
        stopped_by: stopped_by.map(str::to_owned),
        ..AcceptPhase::default()
    })])
}

#[test]
fn a_multiplexer_is_timed_without_a_server() {
    let fake = Fake::new(NO_SERVER, TIMING, accepted(100, None));
    let mut phases = Vec::new();
    let finished = fake.run(PLAN, &mut |event| {
        if let Event::Progress { phase, replies, .. } = event {
            phases.push((phase, replies));
        }
    });
    assert!(!fake.folder.path().join("served").exists());
    let trial = &finished.record.trials[0];
    assert_eq!(trial.outcome, Outcome::Completed);
    let timed = trial.phases.multiplexer().expect("it was timed");
    assert_eq!((timed.accepted, trial.phases.0.len()), (100, 1));
    assert!(trial.server.is_none());
    let generator = trial.generator.as_ref().expect("observed");
    assert!(
        generator.window_ns >= 150_000_000,
        "{}",
        generator.window_ns
    );
    assert!(phases.contains(&(TrialPhase::Measuring, 90)), "{phases:?}");
    let result = |kind| {
        let check = trial.checks.iter().find(|check| check.kind == kind);
        check.expect("made").result
    };
    assert_eq!(result(CheckKind::UnservedConnections), CheckResult::Passed);
    assert_ne!(result(CheckKind::Steal), CheckResult::NotApplicable);
    for kind in [
        CheckKind::LittlesLaw,
        CheckKind::Drift,
        CheckKind::ServerDied,
    ] {
        assert_eq!(result(kind), CheckResult::NotApplicable, "{kind:?}");
    }
    let job = fs::read_to_string(fake.folder.path().join("job.json")).expect("a job");
    assert!(
        job.contains(r#""phase":"multiplex""#) && job.contains(r#""multiplexer":"poll""#),
        "{job}"
    );
}

#[test]
fn a_limit_that_ends_it_early_is_told_in_its_words() {
    let record = accepted(60, Some("there is no room above 60"));
    let finished = Fake::new(NO_SERVER, TIMING, record).run(PLAN, &mut |_| {});
    let trial = &finished.record.trials[0];
    assert_eq!(trial.outcome, Outcome::Completed);
    let partial = trial
        .checks
        .iter()
        .find(|check| check.result == CheckResult::Partial);
    let detail = &partial.expect("partial").detail;
    assert_eq!(detail, "accepted 60 of 100: there is no room above 60");
}

#[test]
fn a_generator_that_accepts_none_has_failed() {
    let record = accepted(0, Some("no descriptor was left"));
    let finished = Fake::new(NO_SERVER, TIMING, record).run(PLAN, &mut |_| {});
    let trial = &finished.record.trials[0];
    assert_eq!(trial.verdict, Verdict::Invalid);
    let Outcome::Failed { message } = &trial.outcome else {
        panic!("{:?}", trial.outcome);
    };
    assert_eq!(
        message,
        "none of 100 connections was accepted: no descriptor was left"
    );
}

#[test]
fn a_generator_that_dies_leaves_its_last_words() {
    let fake = Fake::new(
        NO_SERVER,
        "echo 'io_uring is forbidden' >&2; exit 1",
        accepted(1, None),
    );
    let finished = fake.run(PLAN, &mut |_| {});
    let trial = &finished.record.trials[0];
    assert!(
        matches!(&trial.outcome, Outcome::Failed { message } if message.contains("io_uring is forbidden")),
        "{:?}",
        trial.outcome
    );
    assert!(trial.phases.0.is_empty());
}
