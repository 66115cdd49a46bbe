//! Trials whose generator works in phases and waits between them, here a script.

use throng_record::{ConnectPhase, HoldPhases, HoldSpec, PhaseName, Work};

use super::*;

const HOLDING: &str = r#"
read -r job
for phase in connect CONNECTED hold close; do
  case $phase in
  CONNECTED) echo '{"event":"connected","connected":10}' ;;
  *) echo '{"event":"phase","phase":"'$phase'"}' ;;
  esac
  read -r go
  echo '{"event":"progress","replies":7}'
  sleep 0.12
done
cat "$here/finished.json"
"#;

#[test]
fn each_phase_has_its_cost_and_the_kernels_memory_is_read_around_them() {
    let record = LoadRecord {
        connect: ConnectPhase {
            connected: 10,
            ..ConnectPhase::default()
        },
        hold: Some(HoldPhases::default()),
        user_bytes_per_connection: 512.0,
        ..LoadRecord::default()
    };
    let fake = Fake::new(SERVE, HOLDING, record);
    let mut plan = Fake::plan("targets = ['poll']\nconnections = 10\nrepeats = 1");
    plan.settings[0].work = Work::Hold(HoldSpec {
        hold_ns: 1,
        pings: 0,
        pings_at_once: 1,
    });
    let mut phases = Vec::new();
    let finished = fake.carry_out(&plan, &mut |event| {
        if let Event::Progress { phase, replies, .. } = event {
            phases.push((phase, replies));
        }
    });
    let trial = &finished.record.trials[0];
    assert_eq!(trial.outcome, Outcome::Completed);
    let costs: Vec<PhaseName> = trial.phase_costs.iter().map(|cost| cost.phase).collect();
    let expected = [PhaseName::Connect, PhaseName::Hold, PhaseName::Close];
    assert_eq!(costs, expected);
    for cost in &trial.phase_costs {
        assert!(cost.window_ns >= 100_000_000, "{cost:?}");
        assert!(cost.server.is_some_and(|side| side.threads > 0), "{cost:?}");
    }
    assert!(
        trial
            .kernel_memory
            .as_ref()
            .is_some_and(|memory| memory.after.is_some())
    );
    assert_eq!((&trial.exchange, trial.hold.is_some()), (&None, true));
    let generator = trial.generator.as_ref().expect("started here");
    assert_eq!(generator.memory_per_connection_bytes, Some(512.0));
    // That of the connects: the server is read within the borders, hence a little longer, and never up to the end of the next phase.
    let server = trial.server.as_ref().expect("launched here");
    let [connect, hold, _] = [0, 1, 2].map(|index| trial.phase_costs[index].window_ns);
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
