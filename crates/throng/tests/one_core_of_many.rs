//! One core of many used, for real: threads that take turns, declared and undeclared, and one loop; absent where processes or a second loop do
//! the same work. A binary of its own, so that no other test shares the CPUs.
//!
//! Each message costs the server about a millisecond, in which the generator does nothing: both may have the same two CPUs, and one of
//! these is left. Where others have the CPUs meanwhile none is idle, and rightly nothing is found: of six trials on CPUs that were idle for a third
//! of the time one has to show it. That it is *not* found needs no quiet.

mod support;

use std::fs;
use std::path::Path;

use support::others::OthersWatch;
use support::{Bench, Outcome};
use throng_findings::findings::kind;
use throng_record::{Finding, OneCoreCause, TargetKind, Trial, finding};

/// `turns.py HOW PORT`, or with the flags of a catalogued server behind `HOW`: echoes 6 bytes after some work, in threads under the global
/// interpreter lock, in processes, or in one loop. (`sum` over a range never lets the lock go.)
const TURNS: &str = r#"
import os, selectors, signal, socket, sys, threading
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
how, *rest = sys.argv[1:]
port = 0 if "--listen" in rest else int(rest[0])
server = socket.create_server(("127.0.0.1", port), backlog=64)
print("ready 127.0.0.1:%d" % server.getsockname()[1], flush=True)

def answer(connection):
    message = connection.recv(6)
    if message:
        sum(range(150_000))
        connection.sendall(message)
    return bool(message)

def serve(connection):
    while answer(connection):
        pass
    connection.close()

def threads():
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

def processes():
    while True:
        connection, _ = server.accept()
        if os.fork() == 0:
            serve(connection)
            os._exit(0)
        connection.close()

def loop():
    ready = selectors.DefaultSelector()
    ready.register(server, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj is server:
                ready.register(server.accept()[0], selectors.EVENT_READ)
            elif not answer(key.fileobj):
                ready.unregister(key.fileobj)
                key.fileobj.close()

{"threads": threads, "processes": processes, "loop": loop}[how]()
"#;

const NAME: &str = "one-core-of-many";
const CLIENTS: u32 = 8;

/// What came of one command.
struct Run {
    outcome: Outcome,
    trials: Vec<Trial>,
    /// From its start to its end.
    others_cores: f64,
}

/// With so much used by others, all of it may be of the CPU that the server is on: less than the 0.9 of a core is left to it, that it has to use.
const OTHERS_CORES_MAX: f64 = 0.1;

fn two_cpus() -> [u32; 2] {
    let cpus = throng_sys::affinity::allowed_cpus();
    let [one, other, ..] = cpus[..] else {
        panic!("two CPUs are needed: {cpus:?}");
    };
    [one, other]
}

/// Both sides on the same two CPUs.
fn run(bench: &Bench, target: &[&str]) -> Run {
    let [one, other] = two_cpus();
    let cpus = format!("{one},{other}:{one},{other}");
    let clients = CLIENTS.to_string();
    let asked = [
        "--duration",
        "400ms",
        "--warmup",
        "100ms",
        "--repeats",
        "6",
        "--shards",
        "1",
        "--cpus",
        &cpus,
    ];
    let number = match target[0] {
        "churn" => ["--clients", &clients],
        _ => ["--connections", &clients],
    };
    let others = OthersWatch::begin();
    let outcome = bench.throng(&[target, &number, &asked].concat());
    let others_cores = others.cores();
    assert!(!bench.runs().is_empty(), "{}", outcome.stderr);
    Run {
        outcome,
        trials: bench.record().trials,
        others_cores,
    }
}

/// The trials that have the finding, each with it.
fn found(trials: &[Trial]) -> Vec<(&Trial, &Finding)> {
    let findings = trials
        .iter()
        .flat_map(|trial| trial.findings.iter().map(move |finding| (trial, finding)));
    findings
        .filter(|(_, finding)| kind(finding).name == NAME)
        .collect()
}

/// The share of the server's CPUs that the hypervisor left it.
fn left(trial: &Trial) -> f64 {
    let server = trial.server.as_ref().expect("observed");
    let all_ns = (server.window_ns * server.cpus.len() as u64) as f64;
    1.0 - server.stolen_ns.expect("/proc/stat is there") as f64 / all_ns
}

/// That one of them shows it at least, and that all of them are right.
fn assert_held_by(expected: OneCoreCause, run: &Run) {
    let all = found(&run.trials);
    if all.is_empty() {
        let sides: Vec<_> = run.trials.iter().map(|trial| &trial.server).collect();
        let others = run.others_cores;
        assert!(
            others > OTHERS_CORES_MAX,
            "{expected:?}, {others}: {sides:#?}"
        );
        return;
    }
    for (trial, finding) in all {
        let Finding::OneCoreOfMany(finding::OneCoreOfMany {
            cores_used,
            cores_allowed,
            cores_idle,
            busiest_thread_cores,
            threads_max,
            connections,
            held_by,
        }) = finding
        else {
            panic!("another finding has this name");
        };
        assert_eq!(
            (*held_by, *cores_allowed, *connections),
            (expected, 2, CLIENTS)
        );
        let least = 0.9 * left(trial);
        assert!((least..=1.25).contains(cores_used), "{finding:?}");
        assert!((0.5..=1.1).contains(cores_idle), "{finding:?}");
        let busiest = busiest_thread_cores.expect("the kernel counts it");
        match expected {
            OneCoreCause::OneThread => assert!(busiest >= 0.8 * left(trial), "{finding:?}"),
            _ => {
                assert!(*threads_max > CLIENTS, "{finding:?}");
                assert!(busiest < 0.8, "{finding:?}");
            }
        }
    }
    let stdout = &run.outcome.stdout;
    let words: String = stdout.split_whitespace().collect();
    let page = format!("docs/findings/{NAME}.md");
    assert!(words.contains(&format!("throngexplain{NAME}")), "{stdout}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(root.join(page).exists());
}

fn assert_absent(run: &Run) {
    assert_eq!(run.trials.len(), 6, "{}", run.outcome.stderr);
    assert_eq!(found(&run.trials), []);
}

fn command(bench: &Bench, how: &str) -> Run {
    bench.write("turns.py", TURNS);
    let command = format!("python3 turns.py {how} {{port}}");
    run(bench, &["echo", "--command", &command])
}

/// The threads once more, as a server whose model and runtime are known.
fn declared(bench: &Bench) -> Run {
    let folder = bench.path().join("mine/python/turns");
    fs::create_dir_all(&folder).expect("made");
    fs::write(folder.join("turns.py"), TURNS).expect("written");
    let text = "title = 'threads that take turns'\nlanguage = 'Python'\nmodel = 'thread-per-connection'\n\
        workloads = ['echo']\nsource = 'This test.'\nrun = ['python3', 'turns.py', 'threads']\n\
        [runtime]\nname = 'CPython'\nversion = ['python3', '--version']\nleast = '3.6'\n\
        install = 'apt-get install python3'\n";
    fs::write(folder.join("server.toml"), text).expect("written");
    let run = run(bench, &["echo", "--catalogue", "mine", "python/turns"]);
    let kind = bench.record().plan.targets[0].kind;
    assert_eq!(kind, TargetKind::Catalogue, "{}", run.outcome.stderr);
    run
}

/// A connection for each request that counts to so many.
fn counting(bench: &Bench, model: &str) -> Run {
    let request = "GET /?count=3000000 HTTP/1.1\\r\\n\\r\\n";
    run(
        bench,
        &[
            "churn",
            model,
            "--workload",
            "http",
            "--send",
            request,
            "--expect",
            "until ok\\n",
        ],
    )
}

/// One after the other, in one test: they would take each other's CPUs.
#[test]
fn one_core_of_two_is_found_with_what_holds_the_server_to_it() {
    let bench = Bench::new();
    assert_held_by(OneCoreCause::GlobalInterpreterLock, &declared(&bench));
    assert_held_by(OneCoreCause::NotKnown, &command(&bench, "threads"));
    assert_held_by(OneCoreCause::OneThread, &command(&bench, "loop"));
    assert_absent(&command(&bench, "processes"));
    assert_held_by(OneCoreCause::OneThread, &counting(&bench, "epoll-edge"));
    assert_absent(&counting(&bench, "epoll-shared"));
}
