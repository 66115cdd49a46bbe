//! The accept experiment from end to end: every connection accepted and timed, a limit told in words, the published form.

mod support;

use support::{Bench, check, failed_checks};
use throng_record::accept::IdleCost;
use throng_record::{
    CheckKind, CheckResult, Outcome, PhaseSpec, RunRecord, TargetKind, Trial, Verdict, schema,
};

/// Runs it; where standard output is JSON, it is the record.
fn run(arguments: &[&str]) -> RunRecord {
    let bench = Bench::new();
    let outcome = bench.throng(&[arguments, &["--repeats", "1", "--format", "json"]].concat());
    outcome.assert_well_but_for_noise();
    outcome.assert_plain();
    let stored = bench.record();
    let read = std::fs::read_to_string(bench.runs().pop().expect("a run")).expect("readable");
    assert_eq!(schema::read(&read).expect("a record"), stored);
    assert!(outcome.stdout.contains("accept"), "{}", outcome.stdout);
    stored
}

fn trial<'a>(record: &'a RunRecord, name: &str) -> &'a Trial {
    let place = record
        .plan
        .targets
        .iter()
        .position(|target| target.name == name);
    let place = place.expect("a target") as u32;
    let trial = record.trials.iter().find(|trial| trial.target == place);
    trial.expect("a trial")
}

/// Each measurement is in one slice, slices ascend, and each has its median between its ends.
fn assert_measured(cost: &IdleCost, samples: u32) {
    let slices = &cost.slices;
    assert!((10..=250).contains(&slices.len()), "{}", slices.len());
    assert_eq!(
        slices.iter().map(|slice| slice.samples).sum::<u32>(),
        samples
    );
    assert!(slices.is_sorted_by(|one, next| one.idle < next.idle));
    for slice in slices {
        let [least, median, most] = [slice.cost_ns_min, slice.cost_ns_median, slice.cost_ns_max];
        assert!(0 < least && least <= median && median <= most, "{slice:?}");
    }
    let slope = cost.slope.expect("fitted");
    assert!(slope.ns_per_connection_low <= slope.ns_per_connection);
    assert!(slope.ns_per_connection <= slope.ns_per_connection_high);
}

#[test]
fn every_connection_is_accepted_and_timed_by_each_multiplexer() {
    let targets = ["epoll-edge", "poll", "poll-published", "epoll-level"];
    let record = run(&[&["accept"], &targets[..], &["--connections", "600"]].concat());
    for name in targets {
        let trial = trial(&record, name);
        assert_eq!(trial.outcome, Outcome::Completed, "{name}");
        assert_eq!(failed_checks(trial), Vec::<String>::new(), "{name}");
        let phase = trial.phases.multiplexer().expect(name);
        assert_eq!((phase.accepted, &phase.stopped_by), (600, &None), "{name}");
        assert_measured(&phase.accept, 600);
        assert_measured(&phase.data, 600);
        let (connect, exchange) = (trial.phases.connect(), trial.phases.exchange());
        assert!(connect.is_none() && exchange.is_none() && trial.server.is_none());
        let [PhaseSpec::Multiplex(spec)] = &trial.job.phases.0[..] else {
            panic!("{:?}", trial.job.phases);
        };
        assert_eq!(spec.published, name == "poll-published");
        let target = &record.plan.targets[trial.target as usize];
        assert_eq!(target.kind, TargetKind::Multiplexer);
        assert_eq!(target.model.as_deref(), Some(spec.multiplexer.name()));
    }
}

#[test]
fn select_ends_where_its_sets_do_and_says_so() {
    let record = run(&["accept", "select", "--connections", "2000"]);
    let trial = trial(&record, "select");
    assert_eq!(trial.outcome, Outcome::Completed);
    let phase = trial.phases.multiplexer().expect("measured");
    assert!((900..1_024).contains(&phase.accepted), "{}", phase.accepted);
    let why = phase.stopped_by.as_ref().expect("told");
    assert!(why.contains("FD_SETSIZE") || why.contains("1024"), "{why}");
    let check = check(trial, CheckKind::UnservedConnections);
    assert_eq!(check.result, CheckResult::Partial);
    assert!(check.detail.ends_with(why), "{}", check.detail);
    assert_eq!(trial.verdict, Verdict::Partial, "{:?}", trial.checks);
}

#[test]
fn the_flag_puts_the_published_form_in_the_place_of_poll() {
    let record = run(&["accept", "poll", "--published", "--connections", "40"]);
    let names: Vec<&str> = record
        .plan
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    assert_eq!(names, ["poll-published"]);
    let phases = &record.trials[0].phases;
    let phase = phases.multiplexer().expect("measured");
    assert_eq!(phase.accepted, 40);
}

#[test]
fn the_built_in_plan_runs_in_its_short_form() {
    let record = run(&["run", "c10k", "--quick", "--connections", "100"]);
    assert!(record.plan.quick);
    assert_eq!((record.plan.targets.len(), record.trials.len()), (6, 6));
    assert_eq!(record.plan.targets[0].name, "poll-published");
}
