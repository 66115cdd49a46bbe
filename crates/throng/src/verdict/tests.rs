use throng_lab::plan::{Environment, PlanDraft, resolve};
use throng_record::{LoadJob, Verdict};

use super::*;

/// A run of one target, whose trials each failed these checks.
fn record(trials: &[&[CheckKind]]) -> RunRecord {
    record_of("connections = 5", trials)
}

/// The same of another plan.
fn record_of(plan: &str, trials: &[&[CheckKind]]) -> RunRecord {
    let draft = PlanDraft::parse(&format!("targets = ['poll']\n{plan}"), "test").expect("a plan");
    let environment = Environment {
        cpus_allowed: vec![0],
        io_uring_obstacle: None,
        models: crate::experiment::built_in_models(),
        catalogue: throng_catalogue::catalogue::Catalogue::default(),
        kernel_settings: vec![],
        limits: throng_findings::Limits::default(),
        generators: vec![],
    };
    let plan = resolve(draft, &environment).expect("resolves").plan;
    RunRecord {
        trials_planned: trials.len() as u32,
        trials: trials.iter().map(|failed| trial(failed)).collect(),
        plan,
        ..RunRecord::default()
    }
}

fn trial(failed: &[CheckKind]) -> Trial {
    let checks: Vec<Check> = failed
        .iter()
        .map(|&kind| Check {
            kind,
            result: CheckResult::Failed,
            measured: None,
            bound: None,
            detail: format!("{kind:?} it was; do this"),
        })
        .collect();
    Trial {
        outcome: Outcome::Completed,
        verdict: Verdict::of(&checks),
        checks,
        ..Trial::new((0, 0, 0), LoadJob::default())
    }
}

fn words(record: &RunRecord) -> Vec<String> {
    let complaints = complaints(record);
    complaints
        .iter()
        .map(|failure| format!("{failure:?}"))
        .collect()
}

/// All of whose trials were disturbed.
fn disturbed(trials: &[&[CheckKind]]) -> RunRecord {
    let mut record = record(trials);
    for trial in &mut record.trials {
        trial.verdict = Verdict::Disturbed;
        for check in &mut trial.checks {
            check.result = CheckResult::Disturbed;
        }
    }
    record
}

#[test]
fn a_disturbed_machine_is_no_error() {
    assert!(words(&disturbed(&[&[CheckKind::Steal], &[CheckKind::Drift]])).is_empty());
}

#[test]
fn a_rate_that_was_not_kept_on_a_disturbed_machine_is_no_error() {
    let mut record = disturbed(&[&[CheckKind::RateKept, CheckKind::Steal]]);
    record.trials[0].verdict = Verdict::Qualified;
    let mut complaints = |kept, stolen_ns| {
        let trial = &mut record.trials[0];
        trial.server = Some(SideRecord {
            cpus: vec![0, 1],
            window_ns: 500,
            stolen_ns: Some(stolen_ns),
            others_ns: Some(20),
            ..SideRecord::default()
        });
        let rate = &mut trial.checks[0];
        rate.result = CheckResult::Qualified;
        (rate.measured, rate.bound) = (Some(kept), Some(0.95));
        words(&record).len()
    };
    // 0.95 × (1 − 50 ÷ 1000) is 0.9025.
    assert_eq!(complaints(0.91, 30), 0);
    assert_eq!(complaints(0.90, 30), 1);
    assert_eq!(complaints(0.05, 940), 0);
}

#[test]
fn what_a_server_did_wrong_on_a_disturbed_machine_is_one_still() {
    let mut record = disturbed(&[&[CheckKind::UnexpectedErrors, CheckKind::Steal]]);
    record.trials[0].verdict = Verdict::Invalid;
    record.trials[0].checks[0].result = CheckResult::Failed;
    assert_eq!(words(&record).len(), 1);
    // Made again since: what counts is the other attempt.
    record.trials[0].is_superseded = true;
    record.trials.extend(disturbed(&[&[]]).trials);
    assert!(words(&record).is_empty());
}

#[test]
fn where_disturbed_trials_are_invalid_noise_in_one_of_them_is_no_error() {
    assert!(words(&record(&[&[CheckKind::Steal], &[CheckKind::Drift], &[]])).is_empty());
}

#[test]
fn noise_in_every_trial_is_an_error_with_its_cause() {
    let words = words(&record(&[&[CheckKind::Steal], &[CheckKind::Steal]]));
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(
        words[0].contains("no trial that could be ranked at 5 connections"),
        "{words:?}"
    );
    assert!(words[0].contains("Steal it was"), "{words:?}");
}

#[test]
fn the_next_step_names_flags_that_the_experiment_has() {
    let unserved = CheckKind::UnservedConnections;
    for (experiment, kind, part) in [
        ("backlog", unserved, "--clients 1 --requests 1"),
        ("backlog", CheckKind::Steal, "--repeats"),
        ("churn", unserved, "--clients 1 --messages 1"),
        ("hold", unserved, "--repeats"),
    ] {
        let plan = format!("experiment = '{experiment}'");
        let words = words(&record_of(&plan, &[&[kind]]));
        assert!(words[0].contains(part), "{words:?}");
        assert!(!words[0].contains("--duration"), "{words:?}");
    }
    let words = words(&record(&[&[unserved]]));
    assert!(words[0].contains("--duration"), "{words:?}");
}

#[test]
fn a_server_that_is_wrong_once_is_wrong() {
    let words = words(&record(&[&[CheckKind::UnexpectedErrors], &[], &[]]));
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(
        words[0].contains("UnexpectedErrors it was") && words[0].contains("do this"),
        "{words:?}"
    );
}

#[test]
fn a_rate_that_was_not_kept_once_is_an_error_though_the_trial_stands() {
    let mut record = record(&[&[CheckKind::RateKept], &[]]);
    record.trials[0].checks[0].result = CheckResult::Qualified;
    record.trials[0].verdict = Verdict::Qualified;
    let words = words(&record);
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(words[0].contains("RateKept it was"), "{words:?}");
}

#[test]
fn the_same_wrong_is_told_once_and_its_trials_are_not_told_again() {
    let wrong: &[CheckKind] = &[CheckKind::ServerDied, CheckKind::Steal];
    let words = words(&record(&[wrong, wrong]));
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(words[0].contains("2 trials"), "{words:?}");
}

#[test]
fn a_trial_that_failed_is_told_by_its_message_alone() {
    let mut record = record(&[&[CheckKind::UnexpectedErrors]]);
    record.trials[0].outcome = Outcome::Failed {
        message: "it never listened; look".to_owned(),
    };
    let words = words(&record);
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(words[0].contains("it never listened"), "{words:?}");
}

#[test]
fn a_run_that_was_cut_short_owes_no_ranked_trial() {
    let mut record = record(&[]);
    record.interrupted = true;
    assert!(words(&record).is_empty());
}
