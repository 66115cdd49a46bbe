//! The lab and its stations with channels between them: what several generators measure together is what one would.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use throng_catalogue::catalogue::{Catalogue, Prepared};
use throng_lab::Setup;
use throng_lab::plan::{Environment, PlanDraft, resolve};
use throng_lab::stations::{Link, Stations, attend, dismiss};
use throng_record::{Check, CheckKind, CheckResult, Outcome, PhaseName, RunRecord, Trial};
use throng_servers::Model;

const THRONG: &str = env!("CARGO_BIN_EXE_throng");
const VERSION: &str = "0.0.0-test";

/// One end of channels between all.
struct Channels {
    own: u32,
    to: Vec<Sender<(u32, Vec<u8>)>>,
    inbox: Receiver<(u32, Vec<u8>)>,
}

impl Link for Channels {
    fn number(&self) -> u32 {
        self.to.len() as u32
    }

    fn send(&self, rank: u32, message: Vec<u8>) {
        // Whoever is gone hears nothing.
        let _ = self.to[rank as usize].send((self.own, message));
    }

    fn poll(&self) -> Option<(u32, Vec<u8>)> {
        self.inbox.try_recv().ok()
    }
}

fn channels(number: u32) -> Vec<Channels> {
    let (to, inboxes): (Vec<_>, Vec<_>) = (0..number).map(|_| channel()).unzip();
    let ends = inboxes.into_iter().zip(0..);
    ends.map(|(inbox, own)| Channels {
        own,
        to: to.clone(),
        inbox,
    })
    .collect()
}

/// Carries a plan out with so many generators.
fn run_over(generators: u32, plan: &str) -> RunRecord {
    let folder = tempfile::tempdir().expect("a folder");
    let interrupted = AtomicBool::new(false);
    let mut links = channels(generators + 1);
    let stations = links.split_off(1);
    std::thread::scope(|scope| {
        for link in stations {
            scope.spawn(move || {
                let name = format!("gen{}", link.own);
                attend(
                    &link,
                    Path::new(THRONG),
                    (&name, VERSION),
                    &AtomicBool::new(false),
                )
                .expect("orders to the end");
            });
        }
        let all = Stations::muster(&links[0], VERSION).expect("all are there");
        let models = Model::ALL.map(|model| *model.declaration()).to_vec();
        let mut environment = Environment::detect(models, Catalogue::default());
        environment.generators = all.generators().to_vec();
        let draft = PlanDraft::parse(plan, "test").expect("a plan");
        let plan = resolve(draft, &environment)
            .expect("can be carried out")
            .plan;
        let setup = Setup {
            throng_program: Path::new(THRONG),
            catalogue: &Prepared::default(),
            runs_directory: folder.path(),
            throng_version: VERSION,
            models: &environment.models,
            capture: None,
            bounds: None,
            // Trials that tests beside this one disturb are not made again.
            patience: Some(Duration::ZERO),
            is_strict: false,
            stations: Some(&all),
            listen: None,
            interrupted: &interrupted,
        };
        let finished = throng_lab::run(&plan, &setup, &mut |_| {});
        dismiss(&links[0]);
        finished.expect("measured").record
    })
}

fn only(record: &RunRecord) -> &Trial {
    let [trial] = &record.trials[..] else {
        panic!("{} trials", record.trials.len());
    };
    trial
}

/// Neither wrong nor cut short, whatever the machine did meanwhile: tests beside this one may have held a host up when all were to begin.
fn assert_well(trial: &Trial) {
    assert_eq!(trial.outcome, Outcome::Completed);
    let failed = |check: &&Check| check.result == CheckResult::Failed;
    let mut failed = trial.checks.iter().filter(failed);
    assert!(
        failed.all(|check| check.kind == CheckKind::StartSkew),
        "{:#?}",
        trial.checks
    );
}

const ECHO: &str = r#"
experiment = "echo"
targets = ["epoll-level"]
connections = 11
messages = 10007
warmup = "13 messages"
repeats = 1
net = "host"
"#;

#[test]
fn counts_of_several_generators_are_those_of_one() {
    for generators in [1, 2, 3] {
        let record = run_over(generators, ECHO);
        let trial = only(&record);
        assert_well(trial);
        let exchange = trial.phases.exchange().expect("an exchange");
        assert_eq!(exchange.replies, 10_007);
        assert_eq!(exchange.warmup_replies, 13);
        assert_eq!(exchange.latency.count, 10_007);
        assert_eq!(exchange.timeline.replies.iter().sum::<u64>(), 10_007);
        let connect = trial.phases.connect().expect("a connect phase");
        assert_eq!((connect.connected, connect.latency.count), (11, 11));
        assert_eq!(record.hosts.len(), generators as usize);
        assert_eq!(
            trial.hosts.iter().map(|host| host.connections).sum::<u32>(),
            11
        );
        assert_eq!(
            trial.hosts.iter().map(|host| host.replies).sum::<u64>(),
            10_007
        );
    }
}

#[test]
fn all_begin_at_one_instant_and_by_one_clock() {
    let record = run_over(2, ECHO);
    let trial = only(&record);
    assert_well(trial);
    for host in &trial.hosts {
        // Both are this machine, whose clock is one.
        let clock = host.clock;
        assert!(
            clock.offset_ns.unsigned_abs() <= clock.uncertainty_ns,
            "{clock:?}"
        );
        assert!(clock.uncertainty_ns < 10_000_000, "{clock:?}");
    }
    let connect = trial
        .phases
        .0
        .iter()
        .find(|phase| phase.measured.name() == PhaseName::Connect);
    assert!(connect.is_some_and(|phase| phase.begun_at_monotonic_ns.is_some()));
}

#[test]
fn the_server_is_observed_by_the_lab_and_each_generator_by_its_host() {
    let record = run_over(2, &ECHO.replace("messages = 10007", "messages = 40009"));
    let trial = only(&record);
    assert_well(trial);
    let server = trial.server.as_ref().expect("launched by the lab");
    assert!(server.cpu_ns > 0);
    for host in &trial.hosts {
        let generator = host.generator.as_ref().expect("seen by its host");
        assert!(generator.cpu_ns > 0, "{host:?}");
    }
}

#[test]
fn connections_are_held_by_all() {
    let record = run_over(
        3,
        r#"
        experiment = "hold"
        targets = ["epoll-level"]
        connections = 101
        hold = "300ms"
        pings = 17
        repeats = 1
        net = "host"
        "#,
    );
    let trial = only(&record);
    assert_well(trial);
    let connect = trial.phases.connect().expect("a connect phase");
    assert_eq!(connect.connected, 101);
    let ping = trial.phases.ping().expect("a ping phase");
    assert_eq!(
        (ping.pinged, ping.answered, ping.latency.count),
        (17, 17, 17)
    );
    assert_eq!(
        trial.phases.close().map(|close| close.closed_in_order),
        Some(101)
    );
}

#[test]
fn requests_with_connections_of_their_own_are_those_of_all() {
    let record = run_over(
        2,
        r#"
        experiment = "backlog"
        targets = ["thread-per-connection"]
        clients = 7
        requests = 3
        service-time = "1ms"
        repeats = 1
        net = "host"
        "#,
    );
    let trial = only(&record);
    assert_well(trial);
    let requests = trial.phases.connections().expect("a request phase");
    assert_eq!((requests.begun, requests.answered), (21, 21));
    assert_eq!(requests.request_latency.count, 21);
    let clients: Vec<u32> = trial.hosts.iter().map(|host| host.connections).collect();
    assert_eq!(clients, [4, 3]);
}

#[test]
fn a_host_of_another_version_is_refused() {
    let mut links = channels(2);
    let station = links.pop().expect("two ends");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = attend(
                &station,
                Path::new(THRONG),
                ("old", "0.0.1"),
                &AtomicBool::new(false),
            );
        });
        let error = Stations::muster(&links[0], VERSION)
            .map(|_| ())
            .expect_err("refused");
        dismiss(&links[0]);
        let said = error.to_string();
        assert!(said.contains("old has throng 0.0.1"), "{said}");
    });
}
