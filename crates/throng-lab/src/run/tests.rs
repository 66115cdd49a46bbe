//! Whole runs with a server and a generator that are scripts: the wiring, the failures, the keeping of the record. That
//! figures are right is tested with the real ones.

use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

use throng_record::{
    CheckKind, CheckResult, ClosePhase, ConnectPhase, ErrorKind, ExchangePhase, Limit, LoadEvent,
    LoadRecord, Measured, Verdict, schema,
};

use throng_record::Outcome;

use super::*;
use crate::event::TrialPhase;
use crate::plan::{PlanDraft, resolve, test_environment};

mod alone;
mod disturbed;
mod phases;
mod sweeps;

const SERVE: &str = r#"
trap 'echo "served connections=10 bytes=600"; exit 0' TERM
echo "ready 127.0.0.1:9"
while :; do sleep 0.02; done
"#;

const LOAD: &str = r#"
read -r job
echo "$job" > "$here/job.json"
echo '{"event":"phase","phase":"connect"}'
read -r _
echo '{"event":"phase","phase":"exchange"}'
read -r _
sleep 0.05
echo '{"event":"measuring"}'
echo '{"event":"progress","replies":55}'
sleep 0.15
echo '{"event":"measured"}'
echo '{"event":"phase","phase":"close"}'
read -r _
cat "$here/finished.json"
"#;

/// A folder with a fake throng in it.
pub(super) struct Fake {
    folder: tempfile::TempDir,
    interrupted: AtomicBool,
}

impl Fake {
    fn new(serve: &str, load: &str, record: LoadRecord) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let fake = concat!(env!("CARGO_MANIFEST_DIR"), "/src/run/fake_throng.sh");
        std::os::unix::fs::symlink(fake, folder.path().join("throng")).expect("linked");
        fs::write(folder.path().join("serve.sh"), serve).expect("written");
        fs::write(folder.path().join("load.sh"), load).expect("written");
        let finished = LoadEvent::Finished {
            record: Box::new(record),
        };
        let line = serde_json::to_string(&finished).expect("plain data") + "\n";
        fs::write(folder.path().join("finished.json"), line).expect("written");
        Self {
            folder,
            interrupted: AtomicBool::new(false),
        }
    }

    fn run(&self, plan: &str, on_event: &mut dyn FnMut(Event<'_>)) -> Finished {
        self.carry_out(&Self::plan(plan), on_event)
    }

    pub(super) fn plan(plan: &str) -> Plan {
        let draft = PlanDraft::parse(plan, "test").expect(plan);
        let draft = PlanDraft {
            net: Some(throng_record::Network::Host),
            ..draft
        };
        resolve(draft, &test_environment(1)).expect(plan).plan
    }

    fn carry_out(&self, plan: &Plan, on_event: &mut dyn FnMut(Event<'_>)) -> Finished {
        self.carry_out_with(plan, Duration::ZERO, false, on_event)
    }

    fn carry_out_with(
        &self,
        plan: &Plan,
        patience: Duration,
        is_strict: bool,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Finished {
        let setup = Setup {
            patience: Some(patience),
            is_strict,
            stations: None,
            listen: None,
            throng_program: &self.folder.path().join("throng"),
            catalogue: &Prepared::default(),
            runs_directory: &self.folder.path().join("runs"),
            throng_version: "0.0.0",
            models: &[],
            capture: None,
            bounds: None,
            interrupted: &self.interrupted,
        };
        run(plan, &setup, on_event).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn good_record() -> LoadRecord {
    of_phases([
        Measured::Connect(ConnectPhase {
            connected: 10,
            ..ConnectPhase::default()
        }),
        Measured::Exchange(ExchangePhase {
            replies: 100,
            sent: 100,
            replies_per_second: 666.0,
            duration_ns: 150_000_000,
            received_bytes: 600,
            connections_served: 10,
            ..ExchangePhase::default()
        }),
        Measured::Close(ClosePhase {
            closed_in_order: 10,
            ..ClosePhase::default()
        }),
    ])
}

fn of_phases<const N: usize>(phases: [Measured; N]) -> LoadRecord {
    LoadRecord {
        phases: phases.into_iter().collect(),
        ..LoadRecord::default()
    }
}

fn message(trial: &Trial) -> &str {
    match &trial.outcome {
        Outcome::Failed { message } => message,
        other => panic!("{other:?} is no failure"),
    }
}

fn result_of(trial: &Trial, kind: CheckKind) -> CheckResult {
    let check = trial.checks.iter().find(|check| check.kind == kind);
    check.expect("every check is recorded").result
}

/// A trial that ran to its end, from which others are made by hand.
pub(super) fn made() -> Trial {
    static MADE: OnceLock<Trial> = OnceLock::new();
    let make = || {
        let fake = Fake::new(SERVE, LOAD, good_record());
        let plan = "targets = ['poll']\nconnections = 10\nrepeats = 1";
        fake.run(plan, &mut |_| {}).record.trials.remove(0)
    };
    MADE.get_or_init(make).clone()
}

#[test]
fn a_run_makes_every_trial_and_keeps_it() {
    let fake = Fake::new(SERVE, LOAD, good_record());
    let mut started = 0;
    let mut finished = Vec::new();
    let mut phases = Vec::new();
    let result = fake.run(
        "targets = ['poll', 'io-uring']\nconnections = 10\nrepeats = 2\nname = 'both'",
        &mut |event| match event {
            Event::Started { trials, path, .. } => {
                assert_eq!((trials, started), (4, 0));
                assert!(path.exists(), "the record is there from the start on");
            }
            Event::TrialStarted { order, .. } => {
                assert_eq!(order, started);
                started += 1;
            }
            Event::Progress { phase, replies, .. } => phases.push((phase, replies)),
            Event::TrialFinished { trial, .. } => finished.push(trial.order),
            Event::MakingAgain { .. } => panic!("without patience nothing is made again"),
        },
    );
    assert_eq!((started, finished), (4, vec![0, 1, 2, 3]));
    for expected in [
        (TrialPhase::Launching, 0),
        (TrialPhase::Measuring, 55),
        (TrialPhase::Closing, 55),
    ] {
        assert!(phases.contains(&expected), "{expected:?} in {phases:?}");
    }
    let stored =
        schema::read(&fs::read_to_string(&result.path).expect("stored")).expect("a record");
    assert_eq!(stored.trials.len(), 4);
    assert_eq!(stored.plan, result.record.plan);
    let folder = result
        .path
        .parent()
        .and_then(Path::file_name)
        .expect("a folder");
    assert!(folder.to_string_lossy().ends_with("Z-both"), "{folder:?}");
    assert!(!stored.interrupted && stored.duration_ns > 0);
    for trial in &result.record.trials {
        assert_eq!(trial.outcome, Outcome::Completed);
        // Who else used the CPUs meanwhile is not for this test to decide.
        let is_ranked = matches!(trial.verdict, Verdict::Valid | Verdict::Disturbed);
        assert!(is_ranked, "{trial:#?}");
        assert_eq!(trial.verdict, Verdict::of(&trial.checks));
        assert_eq!(
            result_of(trial, CheckKind::ServerCount),
            CheckResult::Passed
        );
        assert_eq!(trial.job.fleet.addresses, ["tcp://127.0.0.1:9"]);
        let server = trial.server.as_ref().expect("launched here");
        let of_generator = trial.generator.as_ref().expect("started here");
        // What was read late on a busy machine says nothing of the window.
        if !server.is_of_other_window && !of_generator.is_of_other_window {
            assert_eq!(trial.limit, Limit::Waiting);
        }
        // Not quite 150 ms: the reading at its beginning may come late on a busy machine.
        assert!(
            server.window_ns >= 50_000_000 && server.memory_before.rss_bytes > 0,
            "{server:?}"
        );
        assert!(server.memory_connected.rss_bytes > 0, "{server:?}");
        assert!(!trial.series.is_empty());
    }
    let job =
        fs::read_to_string(fake.folder.path().join("job.json")).expect("the generator's input");
    let last = result.record.trials.last().expect("four");
    assert_eq!(
        serde_json::from_str::<throng_record::LoadJob>(&job).expect("a job"),
        last.job
    );
}

#[test]
fn a_target_that_cannot_be_launched_does_not_stop_the_others_and_is_not_tried_again() {
    let serve = format!(
        "echo started >> \"$here/$2.starts\"\n[ $2 = poll ] && {{ echo no luck >&2; exit 4; }}\n{SERVE}"
    );
    let fake = Fake::new(&serve, LOAD, good_record());
    let record = fake
        .run(
            "targets = ['poll', 'io-uring']\nconnections = 10\nrepeats = 3",
            &mut |_| {},
        )
        .record;
    let (failed, good): (Vec<&Trial>, Vec<&Trial>) =
        record.trials.iter().partition(|trial| trial.target == 0);
    assert_eq!((failed.len(), good.len()), (3, 3));
    for trial in failed {
        let message = message(trial);
        assert!(
            message.contains("exit status: 4") && message.contains("no luck"),
            "{message}"
        );
        assert_eq!(trial.verdict, Verdict::Invalid);
    }
    assert!(good.iter().all(|trial| trial.outcome == Outcome::Completed));
    let starts = fs::read_to_string(fake.folder.path().join("poll.starts")).expect("it was tried");
    assert_eq!(starts.lines().count(), 1);
}

#[test]
fn an_interrupt_keeps_what_was_measured_and_ends_the_children() {
    let load = r#"
        head -n 1 > /dev/null
        echo '{"event":"phase","phase":"connect"}'
        echo '{"event":"phase","phase":"exchange"}'
        echo '{"event":"measuring"}'
        if [ -e "$here/second" ]; then
            trap 'cat "$here/finished.json"; exit 0' TERM
            echo $$ > "$here/generator.pid"
            while :; do echo '{"event":"progress","replies":1}'; sleep 0.02; done
        fi
        echo '{"event":"measured"}'
        sed 's/"interrupted":true/"interrupted":false/' "$here/finished.json"
    "#;
    let record = LoadRecord {
        interrupted: true,
        ..good_record()
    };
    let fake = Fake::new(SERVE, load, record);
    let finished = fake.run(
        "targets = ['poll']\nconnections = 10\nrepeats = 5",
        &mut |event| match event {
            Event::TrialFinished { .. } => {
                fs::write(fake.folder.path().join("second"), "").expect("written");
            }
            Event::Progress {
                order: 1,
                replies: 1,
                ..
            } => fake.interrupted.store(true, Ordering::Relaxed),
            _ => {}
        },
    );
    let record = finished.record;
    assert!(record.interrupted);
    assert_eq!((record.trials.len(), record.trials_planned), (2, 5));
    assert_eq!(record.trials[0].outcome, Outcome::Completed);
    assert_eq!(
        (&record.trials[1].outcome, record.trials[1].verdict),
        (&Outcome::Interrupted, Verdict::Invalid)
    );
    assert!(
        record.trials[1].phases.exchange().is_some(),
        "what was measured is kept"
    );
    let pid = fs::read_to_string(fake.folder.path().join("generator.pid")).expect("it ran");
    assert!(
        !Path::new(&format!("/proc/{}", pid.trim())).exists(),
        "the generator is left"
    );
}

/// The one trial of a run with this generator.
fn single(serve: &str, load: &str, record: LoadRecord) -> Trial {
    let fake = Fake::new(serve, load, record);
    let plan = "targets = ['poll']\nconnections = 10\nrepeats = 1\nconnect-timeout = '1ms'\ntimeout = '1ms'";
    let mut record = fake.run(plan, &mut |_| {}).record;
    record.trials.pop().expect("one trial")
}

#[test]
fn a_generator_that_fails_is_told_from_a_server_that_does() {
    let crash = single(
        SERVE,
        "head -n 1 > /dev/null; echo out of luck >&2; exit 9",
        good_record(),
    );
    let text = message(&crash);
    assert!(
        text.contains("load generator ended")
            && text.contains("exit status: 9")
            && text.contains("out of luck"),
        "{text}"
    );

    let refused = single(
        SERVE,
        r#"head -n 1 > /dev/null; echo '{"event":"failed","message":"no ring"}'; sleep 100"#,
        good_record(),
    );
    assert_eq!(message(&refused), "no ring");

    let garbled = single(
        SERVE,
        "head -n 1 > /dev/null; echo hello; sleep 100",
        good_record(),
    );
    assert!(
        message(&garbled).contains("`hello`"),
        "{}",
        message(&garbled)
    );
}

#[test]
fn a_generator_that_never_reads_its_job_or_says_anything_is_killed() {
    let begin = Instant::now();
    let trial = single(SERVE, "sleep 1000", good_record());
    assert!(
        message(&trial).contains("told nothing for"),
        "{}",
        message(&trial)
    );
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_server_that_dies_is_named_as_the_cause() {
    let serve = "echo 'ready 127.0.0.1:9'; sleep 0.05; echo out of memory >&2; exit 7";
    let load = "head -n 1 > /dev/null; sleep 0.4; exit 1";
    let trial = single(serve, load, good_record());
    let text = message(&trial);
    for part in [
        "the server ended during the trial",
        "exit status: 7",
        "out of memory",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // And where the generator still has a result, the check says it.
    let load = r#"head -n 1 > /dev/null; sleep 0.4; cat "$here/finished.json""#;
    let trial = single(serve, load, good_record());
    assert_eq!(
        (&trial.outcome, trial.verdict),
        (&Outcome::Completed, Verdict::Invalid)
    );
    assert_eq!(
        result_of(&trial, CheckKind::ServerDied),
        CheckResult::Failed
    );
}

#[test]
fn a_miscount_makes_a_trial_invalid() {
    let trial = single(
        &SERVE.replace("bytes=600", "bytes=601"),
        LOAD,
        good_record(),
    );
    assert_eq!(
        result_of(&trial, CheckKind::ServerCount),
        CheckResult::Failed
    );
    assert_eq!(trial.verdict, Verdict::Invalid);
}

#[test]
fn an_address_where_nobody_answers_is_tried_once() {
    let mut connect = ConnectPhase::default();
    connect.errors.count(ErrorKind::ConnectRefused, || {
        "connection 0: refused".to_owned()
    });
    let record = of_phases([Measured::Connect(connect)]);
    let load = format!("echo x >> \"$here/loads\"\n{LOAD}");
    let fake = Fake::new(SERVE, &load, record);
    // TEST-NET-1 (RFC 5737): nobody's.
    let record = fake
        .run(
            "targets = ['tcp://192.0.2.1:9']\nconnections = 10\nrepeats = 3",
            &mut |_| {},
        )
        .record;
    assert_eq!(record.trials.len(), 3);
    for trial in &record.trials {
        let text = message(trial);
        for part in [
            "none of 10 connections to tcp://192.0.2.1:9",
            "connection 0: refused",
            "nobody listens",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(trial.server.is_none());
    }
    let loads = fs::read_to_string(fake.folder.path().join("loads")).expect("it was tried");
    assert_eq!(loads.lines().count(), 1);
}
