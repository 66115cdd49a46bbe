//! Launched servers in a network of their own: what is set there is in force there, and nowhere else; nothing is left behind.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use support::{Bench, Outcome, column, exit_code, failed_checks, signal, wait_for};
use throng_record::{Network, Outcome as TrialOutcome, RunRecord};
use throng_sys::capability_probe::{network_namespace, user_and_network_namespace};

fn is_available() -> bool {
    network_namespace().is_usable() || user_and_network_namespace().is_usable()
}

/// A short measurement; where there are no namespaces, it is in the host's network and says so.
fn echo(bench: &Bench, more: &[&str]) -> (Outcome, RunRecord) {
    let short = [
        "--quick",
        "--duration",
        "100ms",
        "--repeats",
        "1",
        "--connections",
        "5",
    ];
    let outcome = bench.throng(&[&["echo"], more, &short].concat());
    let record = bench.record();
    for trial in &record.trials {
        assert_eq!(trial.outcome, TrialOutcome::Completed, "{}", outcome.stderr);
        assert_eq!(failed_checks(trial), Vec::<String>::new());
    }
    (outcome, record)
}

/// Every file of the host's network settings that can be read.
fn host_settings() -> BTreeMap<String, String> {
    fn walk(folder: &Path, into: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).expect("listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, into);
            } else if let Ok(value) = fs::read_to_string(&path) {
                into.insert(path.display().to_string(), value);
            }
        }
    }
    let mut settings = BTreeMap::new();
    walk(Path::new("/proc/sys/net"), &mut settings);
    // A count of connections, which is no setting.
    settings.retain(|path, _| !path.ends_with("/nf_conntrack_count"));
    settings
}

/// The network namespaces in which processes of this bench are.
fn namespaces(bench: &Bench) -> BTreeSet<String> {
    let links = bench
        .processes()
        .into_iter()
        .map(|pid| format!("/proc/{pid}/ns/net"));
    links
        .filter_map(|link| Some(fs::read_link(link).ok()?.display().to_string()))
        .collect()
}

/// A server in Python that echoes, and does what `shows` says as soon as it listens.
fn python_server(bench: &Bench, family: &str, shows: &str) -> String {
    let script = format!(
        r#"
import os, signal, socket, sys, threading
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
if "{family}" == "unix":
    server = socket.socket(socket.AF_UNIX); server.bind(sys.argv[1]); server.listen(128)
else:
    kind = socket.AF_INET6 if "{family}" == "ipv6" else socket.AF_INET
    host = "::1" if "{family}" == "ipv6" else "127.0.0.1"
    server = socket.create_server((host, int(sys.argv[1])), family=kind, backlog=128)
{shows}
def serve(connection):
    while data := connection.recv(65536):
        connection.sendall(data)
    connection.close()
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
"#
    );
    bench.write("server.py", &script);
    let placeholder = if family == "unix" { "{path}" } else { "{port}" };
    format!("python3 server.py {placeholder}")
}

#[test]
fn the_host_s_settings_are_the_same_after_a_run_with_others() {
    if !is_available() {
        return;
    }
    let bench = Bench::new();
    let before = host_settings();
    let (outcome, record) = echo(
        &bench,
        &[
            "poll",
            "--kernel",
            "somaxconn=17",
            "--kernel",
            "net.ipv4.tcp_syncookies=2",
            "--kernel",
            "ip_local_port_range=20000 20999",
            "--kernel",
            "net.ipv4.ip_forward=1",
        ],
    );
    assert_eq!(host_settings(), before);
    assert_eq!(record.network.used, Network::Private);
    assert_eq!(record.trials[0].network, Network::Private);
    let kernel = &record.plan.settings[0].kernel;
    assert_eq!(kernel["net.core.somaxconn"], "17");
    assert_eq!(kernel["net.ipv4.ip_local_port_range"], "20000 20999");
    assert!(
        outcome.stdout.contains("private network namespace with"),
        "{}",
        outcome.stdout
    );
    // Of this trial alone, whatever else runs here.
    assert_eq!(record.trials[0].kernel_counters["Tcp.ActiveOpens"], 5);
}

#[test]
fn settings_are_in_force_for_a_command() {
    if !is_available() {
        return;
    }
    let bench = Bench::new();
    let shows = "open('seen', 'w').write(open('/proc/sys/net/core/somaxconn').read())";
    let command = python_server(&bench, "ipv4", shows);
    bench.write("plan.toml", &format!(
        "targets = [{{ command = '{command}', name = 'mine' }}]\n[kernel]\nsomaxconn = 17\nnet.ipv4.tcp_syncookies = 0\n"
    ));
    let outcome = bench.throng(&[
        "run",
        "plan.toml",
        "--quick",
        "--duration",
        "100ms",
        "--repeats",
        "1",
        "--connections",
        "5",
    ]);
    assert_eq!(
        fs::read_to_string(bench.path().join("seen")).expect("written"),
        "17\n"
    );
    let record = bench.record();
    assert_eq!(
        record.trials[0].outcome,
        TrialOutcome::Completed,
        "{}",
        outcome.stderr
    );
    let kernel = &record.plan.settings[0].kernel;
    assert_eq!(kernel["net.ipv4.tcp_syncookies"], "0");
}

/// Adds a line with its accept queue's limit: `tcpi_sacked` of a listener (`include/uapi/linux/tcp.h`, `tcp_get_info` in `net/ipv4/tcp.c`).
const SHOWS_QUEUE_LIMIT: &str = "import struct; open('limits', 'a').write('%d\\n' % struct.unpack_from('I', server.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 28))";

#[test]
fn a_sweep_over_a_setting_gives_each_value_a_network_and_a_server_of_its_own() {
    if !is_available() {
        return;
    }
    let bench = Bench::new();
    let before = host_settings();
    let command = python_server(&bench, "ipv4", SHOWS_QUEUE_LIMIT);
    bench.write("plan.toml", &format!(
        "targets = [{{ command = '{command}', name = 'mine' }}]\nserver = 'per-sweep'\nconnections = [5, 2]\nmessages = 101\nwarmup = '0 messages'\nrepeats = 2\n[kernel]\nsomaxconn = [23, 17]\nnet.ipv4.tcp_syncookies = 2\n"
    ));
    let outcome = bench.throng(&["run", "plan.toml"]);
    assert_eq!(host_settings(), before);
    let record = bench.record();
    assert_eq!(record.plan.swept, ["somaxconn", "connections"]);
    let limits = fs::read_to_string(bench.path().join("limits")).expect("written");
    let limits: Vec<&str> = limits.lines().collect();
    assert_eq!(limits.len(), 4, "a process for each value in each repeat");
    assert_eq!(record.trials.len(), 8, "{}", outcome.stderr);
    for trial in &record.trials {
        assert_eq!(trial.outcome, TrialOutcome::Completed, "{}", outcome.stderr);
        let kernel = &record.plan.settings[trial.setting as usize].kernel;
        let server = trial.server_ordinal.expect("launched") as usize;
        assert_eq!(kernel["net.core.somaxconn"], limits[server]);
        assert_eq!(kernel["net.ipv4.tcp_syncookies"], "2");
    }
    assert_eq!(limits.iter().filter(|limit| **limit == "23").count(), 2);
    for part in [
        "private network namespace with net.ipv4.tcp_syncookies = 2",
        "net.core.somaxconn 23 and 17",
        "2 connections · somaxconn 23",
        "5 connections · somaxconn 17",
    ] {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    let table = bench.throng(&["report", "--format", "csv"]).stdout;
    let swept = column(&table, "swept_somaxconn");
    assert_eq!(swept.iter().filter(|value| *value == "17").count(), 4);
}

#[test]
fn every_family_and_a_command_are_served_inside() {
    let expected = if is_available() {
        Network::Private
    } else {
        Network::Host
    };
    for family in ["ipv4", "ipv6", "unix"] {
        if family == "ipv6" && std::net::TcpListener::bind("[::1]:0").is_err() {
            continue;
        }
        let bench = Bench::new();
        let command = python_server(&bench, family, "");
        let (_, record) = echo(
            &bench,
            &[
                "poll",
                "io-uring",
                "--command",
                &command,
                "--family",
                family,
            ],
        );
        assert_eq!(record.trials.len(), 3);
        assert_eq!(record.network.used, expected, "{family}");
        for trial in &record.trials {
            let server = trial.server.as_ref().expect("observed");
            assert!(server.memory_connected.pss_bytes > Some(0), "{family}");
            let queue = trial.series.iter().find_map(|sample| sample.accept_queue);
            assert_eq!(queue.is_some(), family != "unix", "{family}");
        }
    }
}

#[test]
fn the_host_s_network_is_used_when_it_is_asked_for() {
    let bench = Bench::new();
    let (outcome, record) = echo(&bench, &["poll", "--net", "host"]);
    assert_eq!(record.network.used, Network::Host);
    assert_eq!(record.network.fallback, None);
    assert!(
        outcome.stdout.contains("host network"),
        "{}",
        outcome.stdout
    );
    assert!(
        !outcome.stderr.contains("no private one"),
        "{}",
        outcome.stderr
    );
}

/// Runs throng where no network namespace may be made: in a user namespace whose limit on them is 0.
fn where_namespaces_are_refused(bench: &Bench, arguments: &[&str]) -> Outcome {
    let script = "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$0\" \"$@\"";
    let shell = ["unshare", "--user", "--map-root-user", "sh", "-c", script];
    bench.throng_by(&shell.map(str::to_owned), arguments)
}

#[test]
fn where_namespaces_are_refused_the_host_s_network_is_used_and_this_is_said() {
    if !user_and_network_namespace().is_usable() {
        return;
    }
    let bench = Bench::new();
    let short = [
        "--quick",
        "--duration",
        "100ms",
        "--repeats",
        "1",
        "--connections",
        "5",
    ];
    let outcome = where_namespaces_are_refused(&bench, &[&["echo", "poll"], &short[..]].concat());
    assert!(
        outcome.stderr.contains("there is no private one here: forbidden by the kernel setting user.max_net_namespaces = 0"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stdout.contains("host network (forbidden by"),
        "{}",
        outcome.stdout
    );
    let record = bench.record();
    assert_eq!(record.trials[0].outcome, TrialOutcome::Completed);
    assert_eq!(failed_checks(&record.trials[0]), Vec::<String>::new());
    assert_eq!(
        (record.network.used, record.trials[0].network),
        (Network::Host, Network::Host)
    );
    assert!(record.network.fallback.is_some());

    // Settings are never made in the host's: no fallback.
    let bench = Bench::new();
    let before = host_settings();
    let arguments = [&["echo", "poll", "--kernel", "somaxconn=17"], &short[..]].concat();
    let outcome = where_namespaces_are_refused(&bench, &arguments);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("`[kernel]` needs a private network"),
        "{}",
        outcome.stderr
    );
    assert!(bench.runs().is_empty());
    assert_eq!(host_settings(), before);
}

#[test]
fn settings_that_the_kernel_refuses_are_told_before_anything_runs() {
    if !is_available() {
        return;
    }
    let bench = Bench::new();
    let before = host_settings();
    for (setting, part) in [
        ("tcp_max_orphans=1", "the whole machine's"),
        ("rmem_max=1", "can only be read"),
        ("tcp_syncookies=x", "does not take `x`"),
        ("somaxconn=-5", "does not take `-5`"),
        ("somaxconn=17,23,-5", "does not take `-5`"),
        ("rmem_max=1,2", "can only be read"),
        ("somaxconn=17 18", "it makes `17` of it"),
        ("ip_local_port_range=5 3", "such as the present one, `"),
    ] {
        let outcome = bench.throng(&["echo", "poll", "--kernel", setting]);
        assert_eq!(outcome.code, Some(2), "{setting}");
        assert_eq!(outcome.stdout, "");
        outcome.assert_plain();
        assert!(
            outcome.stderr.contains(part),
            "{setting}: {}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains("hint:"),
            "{setting}: {}",
            outcome.stderr
        );
    }
    assert!(bench.runs().is_empty());
    assert_eq!(host_settings(), before);
}

#[test]
fn an_interrupted_run_leaves_no_process_and_no_namespace() {
    for end in [Signal::INT, Signal::KILL] {
        let bench = Bench::new();
        let own = fs::read_link("/proc/self/ns/net")
            .expect("a link")
            .display()
            .to_string();
        let mut child = bench.start(&["echo", "poll", "--duration", "60s", "--connections", "5"]);
        let count = if is_available() { 2 } else { 1 };
        let is_under_way = || bench.processes().len() >= 3 && namespaces(&bench).len() == count;
        assert!(
            wait_for(Duration::from_secs(30), is_under_way),
            "{:?}",
            namespaces(&bench)
        );
        // throng itself stays in the host's.
        assert!(namespaces(&bench).contains(&own));
        signal(&child, end);
        let code = exit_code(&mut child);
        assert_eq!(code, (end == Signal::INT).then_some(130));
        bench.assert_no_process_left();
        assert_eq!(namespaces(&bench), BTreeSet::new());
    }
}

/// The entry of a container begins no session of its own: within, the number of its session is 0, which `getsid(2)` never is elsewhere.
#[test]
fn in_a_container_whose_session_began_outside_servers_are_started_and_ended() {
    let container = ["unshare", "--user", "--map-root-user"];
    let container = [&container[..], &["--pid", "--fork", "--mount-proc"]].concat();
    let can_be_had = Command::new(container[0])
        .args(&container[1..])
        .arg("true")
        .status()
        .is_ok_and(|status| status.success());
    if !can_be_had {
        return;
    }
    let bench = Bench::new();
    let words: Vec<String> = container.iter().map(|&word| word.to_owned()).collect();
    let outcome = bench.throng_by(
        &words,
        &[
            "echo",
            "poll",
            "--quick",
            "--connections",
            "5",
            "--repeats",
            "1",
        ],
    );
    for trial in &bench.record().trials {
        assert_eq!(trial.outcome, TrialOutcome::Completed, "{}", outcome.stderr);
    }
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}
