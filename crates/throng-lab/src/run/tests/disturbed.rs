//! Trials that are disturbed each time: by a generator whose record says that the second half of each window was slower.

use super::*;

fn drifting() -> Fake {
    let mut record = good_record();
    let exchange = record.phases.exchange_mut().expect("made with one");
    exchange.timeline.slice_ns = 1_500_000;
    exchange.timeline.replies = [vec![100; 50], vec![50; 50]].concat();
    Fake::new(SERVE, LOAD, record)
}

const PLAN: &str = "targets = ['poll']\nconnections = 10\nrepeats = 2";

#[test]
fn they_are_made_again_until_patience_runs_out_and_one_of_each_repeat_counts() {
    let fake = drifting();
    let mut rounds = vec![];
    let mut count_rounds = |event: Event<'_>| {
        if let Event::MakingAgain { trials, .. } = event {
            rounds.push(trials);
        }
    };
    let plan = Fake::plan(PLAN);
    let record = fake
        .carry_out_with(&plan, Duration::from_secs(3), false, &mut count_rounds)
        .record;
    assert!(rounds.len() > 1, "round after round: {rounds:?}");
    // What is left of patience may be enough for one of the two.
    let (last, before) = rounds.split_last().expect("rounds");
    assert!(before.iter().all(|&trials| trials == 2), "{rounds:?}");
    assert!((1..=2).contains(last), "{rounds:?}");
    assert!(record.trials.len() > 2 + 1, "{}", record.trials.len());
    let mut counted: Vec<u32> = record.counted().map(|trial| trial.repeat).collect();
    counted.sort_unstable();
    assert_eq!(counted, [0, 1]);
    for (place, trial) in record.trials.iter().enumerate() {
        assert_eq!(trial.order as usize, place);
        assert_eq!(trial.verdict, Verdict::Disturbed, "{:?}", trial.checks);
    }
    assert!(!record.interrupted);
}

#[test]
fn what_would_not_be_done_before_patience_runs_out_is_not_begun() {
    let plan = Fake::plan(PLAN);
    let patience = Duration::from_millis(1);
    let finished = drifting().carry_out_with(&plan, patience, false, &mut |event| {
        assert!(!matches!(event, Event::MakingAgain { .. }));
    });
    assert_eq!(finished.record.trials.len(), 2);
}

#[test]
fn who_is_strict_has_them_invalid_and_does_not_wait() {
    let fake = drifting();
    let plan = Fake::plan(PLAN);
    let patience = Duration::from_secs(100);
    let record = fake
        .carry_out_with(&plan, patience, true, &mut |_| {})
        .record;
    assert_eq!(record.trials.len(), 2);
    for trial in &record.trials {
        assert_eq!(trial.verdict, Verdict::Invalid);
        assert_eq!(result_of(trial, CheckKind::Drift), CheckResult::Failed);
    }
}
