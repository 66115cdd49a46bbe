//! Trials whose generator works in phases and waits between them, here a script.

use throng_record::{HoldPhase, PhaseName, PhaseSpec, Sequence};

use super::*;

const HOLDING: &str = r#"
read -r job
for phase in connect hold close; do
  echo '{"event":"phase","phase":"'$phase'"}'
  read -r go
  echo '{"event":"progress","replies":7}'
  sleep 0.12
done
cat "$here/finished.json"
"#;

#[test]
fn each_phase_has_its_cost_and_the_kernels_memory_is_read_around_them() {
    let record = LoadRecord {
        user_bytes_per_connection: 512.0,
        ..of_phases([
            Measured::Connect(ConnectPhase {
                connected: 10,
                ..ConnectPhase::default()
            }),
            Measured::Hold(HoldPhase::default()),
            Measured::Close(ClosePhase::default()),
        ])
    };
    let fake = Fake::new(SERVE, HOLDING, record);
    let mut plan = Fake::plan("targets = ['poll']\nconnections = 10\nrepeats = 1");
    let hold = PhaseSpec::Hold { duration_ns: 1 };
    plan.settings[0].phases = Sequence::on_open_connections([hold]);
    let mut phases = Vec::new();
    let finished = fake.carry_out(&plan, &mut |event| {
        if let Event::Progress { phase, replies, .. } = event {
            phases.push((phase, replies));
        }
    });
    let trial = &finished.record.trials[0];
    assert_eq!(trial.outcome, Outcome::Completed);
    let phases_made = trial.phases.0.iter();
    let names: Vec<PhaseName> = phases_made.map(|phase| phase.measured.name()).collect();
    let expected = [PhaseName::Connect, PhaseName::Hold, PhaseName::Close];
    assert_eq!(names, expected);
    let costs = expected.map(|name| trial.phases.cost(name).expect("both sides were read"));
    for cost in costs {
        assert!(cost.window_ns >= 100_000_000, "{cost:?}");
        assert!(cost.server.is_some_and(|side| side.threads > 0), "{cost:?}");
    }
    assert!(
        trial
            .kernel_memory
            .as_ref()
            .is_some_and(|memory| memory.after.is_some())
    );
    let generator = trial.generator.as_ref().expect("started here");
    assert_eq!(generator.memory_per_connection_bytes, Some(512.0));
    // That of the connects: the server is read within the borders, hence a little longer, and never up to the end of the next phase.
    let server = trial.server.as_ref().expect("launched here");
    let [connect, hold, _] = costs.map(|cost| cost.window_ns);
    assert!(
        (connect..connect + hold).contains(&server.window_ns),
        "{server:?}"
    );
    for phase in [
        TrialPhase::Connecting,
        TrialPhase::Holding,
        TrialPhase::Closing,
    ] {
        assert!(phases.contains(&(phase, 7)), "{phase:?} in {phases:?}");
    }
    assert_eq!(
        result_of(trial, CheckKind::UnservedConnections),
        CheckResult::Passed
    );
}
