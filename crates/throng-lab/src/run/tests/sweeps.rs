//! Servers that live for a sweep.

use super::*;

/// A server that counts its launches and tells what three trials of the good record come to.
fn serve_of_a_sweep(words: &str) -> String {
    format!(
        "echo launched >> \"$here/launches\"\ntrap 'echo \"{words}\"; exit 0' TERM\necho 'ready 127.0.0.1:9'\nwhile :; do sleep 0.02; done"
    )
}

const SWEEP: &str = "server = 'per-sweep'\ntargets = ['poll']\nconnections = [3, 1, 2]";

fn launches(fake: &Fake) -> usize {
    let text = fs::read_to_string(fake.folder.path().join("launches"));
    text.map_or(0, |text| text.lines().count())
}

fn ordinals(trials: &[Trial]) -> Vec<Option<u32>> {
    trials.iter().map(|trial| trial.server_ordinal).collect()
}

#[test]
fn one_process_serves_a_sweep_in_each_repeat_and_is_judged_at_its_last_trial() {
    let serve = serve_of_a_sweep("served connections=30 bytes=1800");
    let fake = Fake::new(&serve, LOAD, good_record());
    let record = fake
        .run(&format!("{SWEEP}\nrepeats = 2"), &mut |_| {})
        .record;
    let connections: Vec<u32> = record
        .trials
        .iter()
        .map(|trial| trial.job.fleet.connections)
        .collect();
    assert_eq!(connections, [1, 2, 3, 1, 2, 3]);
    assert_eq!(
        ordinals(&record.trials),
        [0, 0, 0, 1, 1, 1].map(Some),
        "one process for each repeat"
    );
    assert_eq!(launches(&fake), 2);
    for trial in &record.trials {
        let expected = if trial.setting == 2 {
            CheckResult::Passed
        } else {
            CheckResult::NotApplicable
        };
        assert_eq!(result_of(trial, CheckKind::ServerCount), expected);
        assert_eq!(result_of(trial, CheckKind::ServerDied), CheckResult::Passed);
    }
}

#[test]
fn a_miscount_over_a_sweep_makes_its_last_trial_invalid() {
    let serve = serve_of_a_sweep("served connections=30 bytes=1801");
    let fake = Fake::new(&serve, LOAD, good_record());
    let record = fake
        .run(&format!("{SWEEP}\nrepeats = 1"), &mut |_| {})
        .record;
    let check = |trial: &Trial| result_of(trial, CheckKind::ServerCount);
    let checks: Vec<CheckResult> = record.trials.iter().map(check).collect();
    assert_eq!(
        checks,
        [
            CheckResult::NotApplicable,
            CheckResult::NotApplicable,
            CheckResult::Failed
        ]
    );
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_sweep_is_told_there_and_launched_anew() {
    let serve = serve_of_a_sweep("served connections=10 bytes=600")
        .replace("while", "echo $$ > \"$here/server.pid\"\nwhile");
    // The generator of the second trial kills the server, and sees to it that it is gone.
    let load = format!(
        "echo x >> \"$here/loads\"\n\
         if [ $(wc -l < \"$here/loads\") = 2 ]; then\n\
             pid=$(cat \"$here/server.pid\"); kill -9 $pid\n\
             until grep -q ') Z' /proc/$pid/stat; do sleep 0.01; done\n\
         fi\n{LOAD}"
    );
    let fake = Fake::new(&serve, &load, good_record());
    let record = fake
        .run(&format!("{SWEEP}\nrepeats = 1"), &mut |_| {})
        .record;
    assert_eq!(ordinals(&record.trials), [0, 0, 1].map(Some));
    assert_eq!(launches(&fake), 2);
    let died: Vec<CheckResult> = record
        .trials
        .iter()
        .map(|trial| result_of(trial, CheckKind::ServerDied))
        .collect();
    assert_eq!(
        died,
        [
            CheckResult::Passed,
            CheckResult::Failed,
            CheckResult::Passed
        ]
    );
    assert_eq!(
        result_of(&record.trials[2], CheckKind::ServerCount),
        CheckResult::Passed,
        "the new process is judged by itself"
    );
}

#[test]
fn a_server_is_launched_for_each_setting_that_it_is_told_of() {
    let serve = format!("echo \"$@\" >> \"$here/launches\"\n{SERVE}");
    let fake = Fake::new(&serve, LOAD, good_record());
    let plan = "server = 'per-sweep'\ntargets = ['poll']\nbacklog = [8, 16]\nconnections = [1, 2]\nrepeats = 1";
    let record = fake.run(plan, &mut |_| {}).record;
    let told = fs::read_to_string(fake.folder.path().join("launches")).expect("launched");
    let mut backlogs: Vec<&str> = told
        .lines()
        .filter_map(|line| line.split_once("--backlog ").map(|(_, rest)| rest))
        .collect();
    backlogs.sort_unstable();
    assert_eq!(backlogs, ["16", "8"]);
    for trial in &record.trials {
        let same = |other: &&Trial| other.server_ordinal == trial.server_ordinal;
        assert_eq!(record.trials.iter().filter(same).count(), 2);
    }
}

#[test]
fn an_interrupt_between_two_trials_of_a_sweep_ends_its_server_in_order() {
    let serve = format!(
        "trap 'echo left > \"$here/left\"; exit 0' TERM\n{}",
        SERVE.replace("trap", ": trap")
    );
    let fake = Fake::new(&serve, LOAD, good_record());
    let record = fake
        .run(&format!("{SWEEP}\nrepeats = 5"), &mut |event| {
            if let Event::TrialFinished { .. } = event {
                fake.interrupted.store(true, Ordering::Relaxed);
            }
        })
        .record;
    assert!(record.interrupted);
    assert_eq!(record.trials.len(), 1);
    assert_eq!(record.trials[0].outcome, Outcome::Completed);
    assert!(
        fake.folder.path().join("left").exists(),
        "it was asked to leave, not killed"
    );
}
