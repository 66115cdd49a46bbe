use throng_lab::plan::{Environment, PlanDraft, resolve};
use throng_record::{
    Backend, ExchangeSpec, FleetSpec, Limit, LoadJob, Machine, Network, NetworkRecord,
    SCHEMA_VERSION, Setting, SourceAddresses,
};

use super::*;

/// A run of one target, whose trials each failed these checks.
fn record(trials: &[&[CheckKind]]) -> RunRecord {
    let draft = PlanDraft::parse("targets = ['poll']\nconnections = 5", "test").expect("a plan");
    let environment = Environment {
        cpus_allowed: vec![0],
        io_uring_obstacle: None,
        models: crate::experiment::built_in_models(),
        catalogue: throng_lab::catalogue::Catalogue::default(),
        kernel_settings: vec![],
        open_files_hard: 20_000,
    };
    let plan = resolve(draft, &environment).expect("resolves").plan;
    RunRecord {
        schema_version: SCHEMA_VERSION,
        throng_version: String::new(),
        started_at: String::new(),
        duration_ns: 0,
        machine: Machine::default(),
        network: NetworkRecord::default(),
        trials_planned: trials.len() as u32,
        trials: trials.iter().map(|failed| trial(&plan, failed)).collect(),
        plan,
        interrupted: false,
    }
}

fn trial(plan: &Plan, failed: &[CheckKind]) -> Trial {
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
        target: 0,
        setting: 0,
        repeat: 0,
        order: 0,
        started_at_ns: 0,
        duration_ns: 0,
        server_ordinal: None,
        outcome: Outcome::Completed,
        workers: None,
        network: Network::Host,
        job: job(&plan.settings[0]),
        connect: None,
        exchange: None,
        close: None,
        server: None,
        generator: None,
        connections: None,
        fanout: None,
        hold: None,
        phase_costs: vec![],
        kernel_memory: None,
        generator_bytes_per_connection: None,
        unaccepted: None,
        accept: None,
        accept_queue: None,
        handshakes: None,
        unseen: vec![],
        findings: vec![],
        series: vec![],
        kernel_counters: BTreeMap::new(),
        verdict: Verdict::of(&checks),
        checks,
        limit: Limit::Unknown,
    }
}

fn job(setting: &Setting) -> LoadJob {
    LoadJob {
        fleet: FleetSpec {
            address: String::new(),
            connections: setting.connections,
            shards: 1,
            backend: Backend::Epoll,
            source: SourceAddresses::Spread,
            cpus: vec![],
            nodelay: true,
            connect_concurrency: 1,
            connect_rate_per_second: None,
            closing: throng_record::Closing::Fin,
            connect_timeout_ns: 1,
            reply_timeout_ns: 1,
        },
        exchange: ExchangeSpec {
            protocol: setting.protocol.clone(),
            connection: throng_record::ConnectionUse::Kept,
            verify: true,
            pacing: setting.pacing.clone(),
            warmup: setting.warmup,
            stop: setting.stop,
            seed: 1,
            serves_at_once: None,
        },
        work: throng_record::Work::Exchange,
    }
}

fn words(record: &RunRecord) -> Vec<String> {
    let complaints = complaints(record);
    complaints
        .iter()
        .map(|failure| format!("{failure:?}"))
        .collect()
}

#[test]
fn noise_is_no_error_while_one_trial_can_be_ranked() {
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
    for (kind, part) in [
        (CheckKind::UnservedConnections, "--clients 1 --requests 1"),
        (CheckKind::Steal, "--repeats"),
    ] {
        let mut record = record(&[&[kind]]);
        record.plan.experiment = Experiment::Backlog;
        let words = words(&record);
        assert!(words[0].contains(part), "{words:?}");
        assert!(!words[0].contains("--duration"), "{words:?}");
    }
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
