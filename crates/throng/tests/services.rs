//! The services experiment as a user runs it: servers of known behaviour, of which one of several dies, hangs or answers wrongly.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use support::{Bench, Outcome, check, failed_checks};
use throng_record::{CheckKind, CheckResult, Outcome as TrialOutcome, TasksRecord, Trial};

/// A thread for each connection, and a reply of its own after so long. Which of the services it is follows from who came first to a file beside it.
const SERVER: &str = r#"
import fcntl, json, os, signal, socket, struct, sys, threading, time
path, how = sys.argv[1], sys.argv[2:]
place = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "number")
with open(place, "a+") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write("x")
    file.flush()
    number = file.tell()
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(128)
OK, NO = (json.dumps({"code": code, "msg": "m"}).encode() for code in (200, 400))
answered = 0
lock = threading.Lock()

def serve(connection):
    global answered
    while head := connection.recv(4, socket.MSG_WAITALL):
        (length,) = struct.unpack(">I", head)
        assert json.loads(connection.recv(length, socket.MSG_WAITALL))["count"] == 1000
        with lock:
            answered += 1
            if number == 2 and answered == 5:
                print("the last words of one service", file=sys.stderr, flush=True)
                if "dies" in how:
                    os.kill(os.getpid(), signal.SIGKILL)
                if "hangs" in how:
                    time.sleep(1000)
        time.sleep(0.005)
        reply = NO if number == 2 and "refuses" in how and answered >= 5 else OK
        connection.sendall(struct.pack(">I", len(reply)) + reply)
        if "closes" in how:
            break
    connection.close()

while True:
    connection, _ = listener.accept()
    threading.Thread(target=serve, args=[connection], daemon=True).start()
"#;

const SERVICES: usize = 20;
const CLIENTS: u64 = 3;
const REQUESTS: u64 = 4;

fn run(how: &str, more: &[&str]) -> (Bench, Outcome) {
    let bench = Bench::new();
    let server = bench.write("server.py", SERVER);
    let command = format!("mine=python3 {} {{path}} {how}", server.display());
    let (services, clients, requests) = (
        SERVICES.to_string(),
        CLIENTS.to_string(),
        REQUESTS.to_string(),
    );
    let usual = [
        "services",
        "--command",
        &command,
        "--services",
        &services,
        "--clients",
        &clients,
        "--requests",
        &requests,
        "--repeats",
        "1",
        "--timeout",
        "700ms",
    ];
    let outcome = bench.throng(&[&usual, more].concat());
    (bench, outcome)
}

fn tasks(trial: &Trial) -> &TasksRecord {
    let exchange = trial.phases.exchange().expect("they asked");
    exchange.tasks.as_ref().expect("clients have tasks")
}

#[test]
fn each_client_takes_what_the_slowest_of_its_tasks_takes() {
    let (bench, outcome) = run("", &[]);
    let trial = &bench.record().trials[0];
    assert_eq!(
        failed_checks(trial),
        Vec::<String>::new(),
        "{}",
        outcome.stderr
    );
    let tasks = tasks(trial);
    assert_eq!(
        (tasks.clients.len() as u64, tasks.services.len()),
        (CLIENTS, SERVICES)
    );
    let least_ns = 5_000_000 * REQUESTS;
    for client in &tasks.clients {
        assert_eq!(client.answered, REQUESTS * SERVICES as u64);
        // Twenty tasks one after another would take twenty times as long.
        assert!(
            (least_ns..10 * least_ns).contains(&client.duration_ns),
            "{client:?}"
        );
    }
    let services = tasks.services.iter();
    let mean_ns = services.map(|one| one.requests_ns / one.answered).min();
    assert!(mean_ns >= Some(5_000_000), "{tasks:?}");
    let side = trial.server.as_ref().expect("launched here");
    assert_eq!(side.processes_max as usize, SERVICES);
    assert_eq!(side.cpu_ns_each.len(), SERVICES);
    assert!(side.cpu_ns_each.iter().sum::<u64>() <= side.cpu_ns * 11 / 10 + 20_000_000);
    let report = bench.throng_as_typed(&["report"]);
    assert!(
        report.stdout.contains("A client of mine is done after"),
        "{}",
        report.stdout
    );
}

#[test]
fn one_of_twenty_that_dies_is_named_with_its_last_words_and_the_others_are_measured() {
    let (bench, outcome) = run("dies", &[]);
    let trial = &bench.record().trials[0];
    assert_eq!(trial.outcome, TrialOutcome::Completed);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
    let tasks = tasks(trial);
    let failed: Vec<usize> = tasks.failed_services().map(|(number, _)| number).collect();
    assert_eq!(failed.len(), 1);
    let named = format!("service {} of {SERVICES}", failed[0]);
    let errors = check(trial, CheckKind::UnexpectedErrors);
    assert_eq!(errors.result, CheckResult::Failed);
    assert!(errors.detail.contains(&named), "{}", errors.detail);
    assert!(
        errors.detail.contains("the last words of one service"),
        "{}",
        errors.detail
    );
    let died = check(trial, CheckKind::ServerDied);
    assert!(
        died.detail.contains(&named) && died.detail.contains("signal: 9"),
        "{}",
        died.detail
    );
    let whole = tasks
        .services
        .iter()
        .filter(|one| one.answered == CLIENTS * REQUESTS);
    assert_eq!(whole.count(), SERVICES - 1);
    assert!(outcome.stdout.contains(&named), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("✗"), "{}", outcome.stdout);
}

#[test]
fn one_that_hangs_or_refuses_is_named_and_nobody_waits_for_it_for_ever() {
    for (how, words) in [("hangs", "no reply within"), ("refuses", "the code 400")] {
        for reuse in ["true", "false"] {
            let (bench, outcome) = run(how, &["--reuse", reuse]);
            let trial = &bench.record().trials[0];
            let failed: Vec<_> = tasks(trial).failed_services().collect();
            let [(number, service)] = &failed[..] else {
                panic!("{how} {reuse}: {failed:?} {}", outcome.stderr);
            };
            let why = service.first_failure.as_deref().expect("words");
            assert!(why.contains(words), "{how} {reuse}: {why}");
            let errors = check(trial, CheckKind::UnexpectedErrors);
            assert!(
                errors.detail.contains(&format!("service {number} of")),
                "{}",
                errors.detail
            );
            assert!(
                errors.detail.contains("the last words of one"),
                "{}",
                errors.detail
            );
            assert!(outcome.took < Duration::from_secs(30));
        }
    }
}

#[test]
fn a_server_that_closes_after_each_reply_is_told_to_keep_none() {
    let (bench, outcome) = run("closes", &["--reuse", "true,false"]);
    let record = bench.record();
    let of = |is_kept: bool| {
        let mut trials = record.trials.iter();
        let trial = trials.find(|trial| trial.phases.connections().is_none() == is_kept);
        trial.expect("one of each")
    };
    let errors = check(of(true), CheckKind::UnexpectedErrors);
    assert!(errors.detail.contains("--reuse false"), "{}", errors.detail);
    assert_eq!(failed_checks(of(false)), Vec::<String>::new());
    assert_eq!(tasks(of(false)).completion_ns().count() as u64, CLIENTS);
    assert!(outcome.took < Duration::from_secs(30));
}

/// Ended when dropped.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(folder: &Path, name: &str, server: &Path) -> (Service, PathBuf) {
    let path = folder.join(name);
    let child = Command::new("python3").arg(server).arg(&path).spawn();
    let service = Service(child.expect("python3"));
    let begin = Instant::now();
    while !path.exists() {
        assert!(begin.elapsed() < Duration::from_secs(20), "it listens");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Between bind and listen.
    std::thread::sleep(Duration::from_millis(100));
    (service, path)
}

#[test]
fn running_services_that_are_named_together_are_asked_together_and_left_running() {
    let bench = Bench::new();
    let server = bench.write("server.py", SERVER);
    let mut services: Vec<_> = ["a", "b", "c"]
        .map(|name| serve(bench.path(), name, &server))
        .into();
    let addresses: Vec<String> = services
        .iter()
        .map(|(_, path)| format!("unix:{}", path.display()))
        .collect();
    let mut arguments: Vec<&str> = vec!["services"];
    arguments.extend(addresses.iter().map(String::as_str));
    arguments.extend(["--clients", "2", "--requests", "5", "--repeats", "1"]);
    let outcome = bench.throng(&arguments);
    let trial = &bench.record().trials[0];
    assert_eq!(
        failed_checks(trial),
        Vec::<String>::new(),
        "{}",
        outcome.stderr
    );
    let answered: Vec<u64> = tasks(trial)
        .services
        .iter()
        .map(|one| one.answered)
        .collect();
    assert_eq!(answered, [10, 10, 10]);
    let side = trial.server.as_ref().expect("they are visible");
    assert_eq!(side.processes_max, 3);
    for (service, _) in &mut services {
        assert!(service.0.try_wait().expect("ours").is_none(), "it runs on");
    }
}

#[test]
fn what_does_not_fit_is_refused_beforehand_with_how_many_would() {
    let bench = Bench::new();
    for (arguments, words) in [
        (&["epoll-edge", "--clients", "2m"][..], "clients)"),
        (&["python/system-2", "--services", "9000"], "would fit"),
        (&["epoll-edge", "--services", "0"], "nobody to ask"),
        (&["epoll-edge", "--reuse", "perhaps"], "true"),
        (&["epoll-edge", "--choice", "any"], "bound"),
    ] {
        let outcome = bench.throng_as_typed(&[&["services"], arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(words),
            "{arguments:?}: {}",
            outcome.stderr
        );
    }
    assert!(bench.runs().is_empty());
}
