//! Several services: when clients were done, what each service used, how long connects waited for a full queue, and who rests while nobody asks. Beside servers
//! that log by the same clock what they did, and a client that blocks.

use std::path::Path;
use std::process::Command;

use throng_record::finding::UnevenAmong;
use throng_record::{Finding, TasksRecord, Trial};

use super::support::Bench;
use super::{agree, alone, finding, testify};

/// A thread for each connection; works and waits for so long for each request. Logs when its first request came and its last reply was sent, and its CPU time when it is told to end.
const SERVER: &str = r#"
import json, os, select, signal, socket, struct, sys, threading, time
path, work_ms, wait_ms, backlog, how = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
log = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "log.%d" % os.getpid())
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(backlog)
first = last = cpu = answered = 0
lock = threading.Lock()
open_ones = []

def end(*_):
    with open(log, "w") as file:
        json.dump({"first": first, "last": last, "cpu": cpu, "answered": answered}, file)
    os._exit(0)

def answer(connection):
    global first, last, cpu, answered
    head = connection.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        return False
    connection.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL)
    with lock:
        if not first:
            first, cpu = time.monotonic_ns(), -time.process_time_ns()
    until = time.thread_time_ns() + work_ms * 1e6
    while time.thread_time_ns() < until:
        pass
    time.sleep(wait_ms / 1e3)
    reply = b'{"code": 200, "msg": "ok"}'
    connection.sendall(struct.pack(">I", len(reply)) + reply)
    with lock:
        answered += 1
        last = time.monotonic_ns()
    return True

def serve(connection):
    while answer(connection):
        pass
    connection.close()

def scan():
    while True:
        for connection in list(open_ones):
            select.select([connection], [], [], 0)

def end_later():
    global cpu
    signal.sigwait({signal.SIGTERM})
    cpu += time.process_time_ns()
    end()

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
threading.Thread(target=end_later, daemon=True).start()
if how == "scans":
    threading.Thread(target=scan, daemon=True).start()
while True:
    connection, _ = listener.accept()
    if how == "one":
        answer(connection)
        connection.close()
        continue
    open_ones.append(connection)
    threading.Thread(target=serve, args=[connection], daemon=True).start()
"#;

/// As many clients as are asked for, each with a connection for each request, by connects that block: the mean of all connects.
const BLOCKING: &str = r#"
import socket, struct, sys, threading, time
path, clients, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
took = []

def ask():
    for _ in range(requests):
        own = socket.socket(socket.AF_UNIX)
        begin = time.monotonic_ns()
        own.connect(path)
        took.append(time.monotonic_ns() - begin)
        own.sendall(struct.pack(">I", 15) + b'{"count": 1000}')
        (length,) = struct.unpack(">I", own.recv(4, socket.MSG_WAITALL))
        own.recv(length, socket.MSG_WAITALL)
        own.close()

threads = [threading.Thread(target=ask) for _ in range(clients)]
[one.start() for one in threads]
[one.join() for one in threads]
print(sum(took) / len(took))
"#;

/// A server of the catalogue's kind with a thread for each connection; requests at its first two listeners wait for 2 ms, and at the others for 6. Counts what each was
/// asked.
const LISTENERS: &str = r#"
import os, signal, socket, struct, sys, threading, time
paths = [b[5:] for a, b in zip(sys.argv, sys.argv[1:]) if a == "--listen"]
asked = [0] * len(paths)

def answer(number, connection):
    head = connection.recv(4, socket.MSG_WAITALL)
    while len(head) == 4:
        connection.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL)
        asked[number] += 1
        time.sleep(0.002 if number < 2 else 0.006)
        reply = b'{"code": 200, "msg": "ok"}'
        connection.sendall(struct.pack(">I", len(reply)) + reply)
        head = connection.recv(4, socket.MSG_WAITALL)

def accept(number, listener):
    while True:
        threading.Thread(target=answer, args=[number, listener.accept()[0]], daemon=True).start()

for number, path in enumerate(paths):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(128)
    threading.Thread(target=accept, args=[number, listener], daemon=True).start()
for path in paths:
    print("ready unix:" + path, flush=True)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
signal.sigwait({signal.SIGTERM})
with open(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "asked"), "w") as file:
    print(*asked, file=file)
os._exit(0)
"#;

/// What declares it.
const DECLARATION: &str = "title = 'listeners'\nlanguage = 'Python'\nmodel = 'thread-per-connection'\n\
    workloads = ['framed']\nsource = 'A test.'\nrun = ['python3', 'server.py']\n[runtime]\nname = 'CPython'\n\
    version = ['python3', '--version']\nleast = '3.0'\ninstall = 'apt-get install python3'\n";

const MS: f64 = 1e6;

/// What a service logged.
struct Log {
    first_ns: f64,
    last_ns: f64,
    cpu_ns: f64,
    answered: u64,
}

fn logs(folder: &Path) -> Vec<Log> {
    let entries = std::fs::read_dir(folder).expect("readable").flatten();
    let logs = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("log."));
    logs.map(|entry| {
        let text = std::fs::read_to_string(entry.path()).expect("readable");
        let log: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let number = |key: &str| log[key].as_f64().expect(key);
        Log {
            first_ns: number("first"),
            last_ns: number("last"),
            cpu_ns: number("cpu"),
            answered: number("answered") as u64,
        }
    })
    .collect()
}

/// The one trial of services that work and wait for so long, and what they logged.
fn asked(server: [&str; 4], arguments: &[&str]) -> (Trial, Vec<Log>) {
    let bench = Bench::new();
    let program = bench.write("services.py", SERVER);
    let command = format!(
        "mine=python3 {} {{path}} {}",
        program.display(),
        server.join(" ")
    );
    let mut all = vec!["services", "--repeats", "1", "--command", &command];
    all.extend(arguments);
    let outcome = bench.throng(&all);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    (bench.record().trials.remove(0), logs(bench.path()))
}

fn tasks(trial: &Trial) -> &TasksRecord {
    let exchange = trial.phases.exchange().expect("they asked");
    exchange.tasks.as_ref().expect("clients have tasks")
}

#[test]
fn the_last_client_is_done_when_the_last_service_has_answered_and_each_used_what_it_says() {
    let _alone = alone();
    let (trial, logs) = asked(
        ["2", "3", "128", "rests"],
        &["--services", "4", "--clients", "3", "--requests", "40"],
    );
    let last = tasks(&trial).completion_ns().max().expect("three") as f64;
    let first_ns = logs
        .iter()
        .map(|log| log.first_ns)
        .fold(f64::INFINITY, f64::min);
    let last_ns = logs.iter().map(|log| log.last_ns).fold(0.0, f64::max);
    let seen = last_ns - first_ns;
    testify(
        "the last of 3 clients done, 40 requests to each of 4 services",
        &format!("{:.1} ms", last / MS),
        &format!("{:.1} ms", seen / MS),
        "the services' logs: first request to last reply, by the same clock",
    );
    assert!(agree(last, seen, 0.03), "{last} {seen}");
    assert_eq!(logs.iter().map(|log| log.answered).sum::<u64>(), 4 * 3 * 40);
    let side = trial.server.as_ref().expect("launched here");
    let mut told: Vec<f64> = side.cpu_ns_each.iter().map(|&ns| ns as f64).collect();
    let mut own: Vec<f64> = logs.iter().map(|log| log.cpu_ns).collect();
    told.sort_by(f64::total_cmp);
    own.sort_by(f64::total_cmp);
    let of = |all: &[f64]| {
        let words: Vec<String> = all.iter().map(|ns| format!("{:.0}", ns / MS)).collect();
        format!("{} ms", words.join(", "))
    };
    testify(
        "CPU time of each of 4 services",
        &of(&told),
        &of(&own),
        "the services' own clocks of their processes",
    );
    assert_eq!(told.len(), 4);
    for (told, own) in told.iter().zip(&own) {
        assert!(agree(*told, *own, 0.1), "{told} {own}");
    }
}

#[test]
fn connects_wait_for_a_full_queue_as_long_as_those_that_block() {
    let _alone = alone();
    let (clients, requests) = ("8", "25");
    let (trial, _) = asked(
        ["0", "2", "1", "one"],
        &[
            "--services",
            "1",
            "--clients",
            clients,
            "--requests",
            requests,
            "--reuse",
            "false",
        ],
    );
    let phase = trial.phases.connections().expect("each request makes one");
    let told = phase.connect_latency.mean_ns;
    let bench = Bench::new();
    let server = bench.write("services.py", SERVER);
    let client = bench.write("client.py", BLOCKING);
    let path = bench.path().join("socket");
    let arguments = ["0", "2", "1", "one"];
    let mut child = Command::new("python3")
        .arg(&server)
        .arg(&path)
        .args(arguments)
        .spawn()
        .expect("python3");
    while !path.exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    let output = Command::new("python3")
        .arg(&client)
        .arg(&path)
        .args([clients, requests])
        .output();
    let _ = child.kill();
    let _ = child.wait();
    let text = String::from_utf8(output.expect("python3").stdout).expect("a number");
    let seen: f64 = text.trim().parse().expect("a number");
    testify(
        "mean connect of 8 clients to a Unix socket of backlog 1, one served at a time for 2 ms",
        &format!("{:.2} ms", told / MS),
        &format!("{:.2} ms", seen / MS),
        "a client of threads whose connects block",
    );
    assert!(agree(told, seen, 0.15), "{told} {seen}");
    let waits = phase.queue_full;
    assert!(waits.connects > 100, "{waits:?}");
    assert!(finding(&trial, "full-unix-queue").is_some());
}

#[test]
fn who_scans_while_nobody_asks_is_told_and_who_waits_is_not() {
    let _alone = alone();
    for (how, is_found) in [("scans", true), ("rests", false)] {
        let (trial, _) = asked(
            ["0", "0", "128", how],
            &["--services", "2", "--clients", "5", "--requests", "20"],
        );
        let found = finding(&trial, "scan-without-rest").is_some();
        testify(
            &format!("services of which a thread {how} while nobody asks"),
            if found {
                "scan-without-rest"
            } else {
                "not found"
            },
            if is_found {
                "it calls select(2) with a timeout of 0"
            } else {
                "its threads sleep in recv(2)"
            },
            "the server's source",
        );
        assert_eq!(found, is_found, "{how}");
    }
}

#[test]
fn a_listener_that_gets_more_than_its_part_is_named() {
    let _alone = alone();
    for (listeners, is_found) in [("3", true), ("2", false)] {
        let bench = Bench::new();
        let folder = "mine/python/listeners";
        std::fs::create_dir_all(bench.path().join(folder)).expect("made");
        bench.write(&format!("{folder}/server.py"), LISTENERS);
        bench.write(&format!("{folder}/server.toml"), DECLARATION);
        let asked = "services python/listeners --catalogue mine --services 1 --clients 6 --requests 200 --choice bound --repeats 1";
        let asked: Vec<&str> = asked.split(' ').chain(["--listeners", listeners]).collect();
        let outcome = bench.throng(&asked);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let trial = bench.record().trials.remove(0);
        let told = &tasks(&trial).listeners;
        let counts: Vec<String> = told.iter().map(|one| one.answered.to_string()).collect();
        let log = bench.path().join(folder).join("asked");
        let seen = std::fs::read_to_string(log).expect("it wrote what it was asked");
        assert_eq!(counts.join(" "), seen.trim());
        let found = finding(&trial, "uneven-services");
        assert_eq!(found.is_some(), is_found, "{found:?}");
        if let Some(Finding::UnevenServices(found)) = found {
            testify(
                "listeners 1 and 2 wait 2 ms for each request, listener 3 waits 6 ms",
                &format!(
                    "listener {} {:.2} ms, all {:.2} ms",
                    found.number,
                    found.request_ns_mean / MS,
                    found.request_ns_median / MS
                ),
                "listener 3: 6 ms, the others 2 ms",
                "the server's source",
            );
            assert_eq!((found.among, found.number), (UnevenAmong::Listeners, 3));
            assert!(
                (6.0..7.5).contains(&(found.request_ns_mean / MS)),
                "{found:?}"
            );
            assert!(
                (2.0..3.5).contains(&(found.request_ns_median / MS)),
                "{found:?}"
            );
        }
    }
}
