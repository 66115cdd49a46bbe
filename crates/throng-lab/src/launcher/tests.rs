//! Against tiny servers in Python and the shell, each with one fault.

use std::time::Instant;
use throng_sys::address::Address;

use throng_record::TargetKind;

use super::*;
use crate::plan::{PlanDraft, resolve, test_environment};

const LISTEN: &str = r#"
import os, signal, socket, sys, time
if sys.argv[1].isdigit():
    s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
elif sys.argv[1].startswith("["):
    s = socket.create_server(("::1", int(sys.argv[1].rsplit(":", 1)[1])), family=socket.AF_INET6)
else:
    s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(8)
"#;

/// A command that runs this Python, with a first argument.
fn python(argument: &str, body: &str) -> String {
    let script = format!("{LISTEN}{body}");
    shlex::try_join(["python3", "-c", script.as_str(), argument]).expect("no NUL in it")
}

fn setting_of(family: &str) -> Setting {
    let text =
        format!("targets = ['poll']\nready-timeout = '10s'\nfamily = '{family}'\ncpus = 'any'");
    let draft = PlanDraft::parse(&text, "test").expect("a plan");
    let plan = resolve(draft, &test_environment(1)).expect("resolves").plan;
    plan.settings.into_iter().next().expect("one")
}

fn target(command: &str) -> TargetRecord {
    TargetRecord {
        command: Some(command.to_owned()),
        ..TargetRecord::named("test", TargetKind::Command)
    }
}

fn launch_in(setting: &Setting, command: &str) -> Result<Server, LaunchError> {
    let interrupted = AtomicBool::new(false);
    let launcher = Launcher {
        setting,
        throng_program: Path::new("/nonexistent/throng"),
        catalogue: &Prepared::default(),
        networks: &Networks::host(),
        interrupted: &interrupted,
        listen: None,
        identity: None,
    };
    launcher.launch(&target(command))
}

fn launch(command: &str) -> Result<Server, LaunchError> {
    launch_in(&setting_of("ipv4"), command)
}

#[test]
fn a_command_is_ready_when_its_listener_is_there_and_leaves_when_told() {
    for (family, argument) in [
        ("ipv4", "{port}"),
        ("ipv6", "{address}"),
        ("unix", "{path}"),
    ] {
        let command = python(argument, "time.sleep(1000)");
        let server = launch_in(&setting_of(family), &command)
            .unwrap_or_else(|error| panic!("{family}: {error}"));
        match &server.announced.addresses[0] {
            Address::Tcp(tcp) => drop(std::net::TcpStream::connect(tcp).expect(family)),
            Address::Unix(path) => {
                drop(std::os::unix::net::UnixStream::connect(path).expect(family));
            }
        }
        let ending = server.end();
        assert!(
            !ending.died_early && !ending.was_killed,
            "{family}: {ending:?}"
        );
        assert!(ending.how.contains("signal: 15"), "{ending:?}");
    }
}

#[test]
fn a_command_that_exits_at_once_is_shown_with_its_output() {
    let error = launch("sh -c 'echo wrong flag {port} >&2; exit 3'").expect_err("it exits");
    let text = error.to_string();
    for part in [
        "ended at once",
        "exit status: 3",
        "tcp://127.0.0.1:",
        "wrong flag",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_command_that_never_listens_is_given_up_and_leaves_nothing_behind() {
    let setting = Setting {
        ready_timeout_ns: 300_000_000,
        ..setting_of("ipv4")
    };
    let begin = Instant::now();
    let error = launch_in(
        &setting,
        "sh -c 'echo busy; echo $$ {port}; exec sleep 1000'",
    )
    .expect_err("never");
    assert!(begin.elapsed() < Duration::from_secs(10));
    let LaunchError::NeverReady { tail, seconds, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((tail[0].as_str(), *seconds), ("busy", 0.3));
    let pid = tail[1].split(' ').next().expect("its id");
    assert!(
        !Path::new(&format!("/proc/{pid}")).exists(),
        "process {pid} is left"
    );
    assert!(error.to_string().contains("--ready-timeout"), "{error}");
}

#[test]
fn a_command_that_listens_elsewhere_is_told_where() {
    let setting = Setting {
        ready_timeout_ns: 3_000_000_000,
        ..setting_of("ipv4")
    };
    let command = python("0", "time.sleep(1000) # {port}");
    let error = launch_in(&setting, &command)
        .expect_err("another port")
        .to_string();
    assert!(error.contains("it listens on 127.0.0.1:"), "{error}");
}

#[test]
fn much_output_does_not_block_a_server() {
    // Listens only after a thousand times what a pipe holds.
    let command = "python3 -c 'import sys; print(\"x\" * 70_000_000, flush=True); import socket, time; \
                   s = socket.create_server((\"127.0.0.1\", int(sys.argv[1]))); time.sleep(1000)' {port}";
    let ending = launch(command)
        .unwrap_or_else(|error| panic!("{error}"))
        .end();
    assert!(!ending.died_early);
}

#[test]
fn a_server_that_ignores_sigterm_is_killed_after_two_seconds() {
    let command = python(
        "{port}",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('deaf', flush=True)\ntime.sleep(1000)",
    );
    let server = launch(&command).unwrap_or_else(|error| panic!("{error}"));
    // Ready as soon as it listens, which is before it has become deaf.
    let begin = Instant::now();
    while server.members[0].child.output().tail_now().is_empty() {
        assert!(
            begin.elapsed() < Duration::from_secs(10),
            "it prints a line"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let begin = Instant::now();
    let ending = server.end();
    assert!(ending.was_killed && !ending.died_early, "{ending:?}");
    assert!(begin.elapsed() >= GRACE);
}

#[test]
fn a_server_that_dies_meanwhile_is_seen_to_have() {
    let command = python("{port}", "s.accept()\nsys.exit('no more')");
    let server = launch(&command).unwrap_or_else(|error| panic!("{error}"));
    let Address::Tcp(tcp) = &server.announced.addresses[0] else {
        panic!("TCP was asked for")
    };
    drop(std::net::TcpStream::connect(tcp).expect("it listens"));
    let pid = server.tree.root_pid();
    let begin = Instant::now();
    let is_over = || {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z"))
    };
    while !is_over() {
        assert!(begin.elapsed() < Duration::from_secs(20), "it exits");
        std::thread::sleep(Duration::from_millis(5));
    }
    let ending = server.end();
    assert!(ending.died_early && !ending.succeeded, "{ending:?}");
    assert_eq!(ending.tail, ["no more"]);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = launch("./no-such-server {port}")
        .expect_err("missing")
        .to_string();
    assert!(
        error.contains("./no-such-server") && error.contains("no such program"),
        "{error}"
    );
}

#[test]
fn a_stranger_at_the_address_is_not_taken_for_the_server() {
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = Address::Tcp(stranger.local_addr().expect("bound"));
    let setting = setting_of("ipv4");
    let interrupted = AtomicBool::new(false);
    let launcher = Launcher {
        setting: &setting,
        throng_program: Path::new("/nonexistent/throng"),
        catalogue: &Prepared::default(),
        networks: &Networks::host(),
        interrupted: &interrupted,
        listen: None,
        identity: None,
    };
    let command =
        command::users("sh -c 'sleep 0.3; echo address in use; exit 1'", &address).expect("words");
    let mut child = Child::spawn(command, &[], Lines::Unwanted).expect("a shell");
    let tree = ProcessTree::of(child.pid()).expect("it runs");
    let error = readiness::wait(
        &mut child,
        &tree,
        Lines::Unwanted,
        std::slice::from_ref(&address),
        &Network::own(),
        &launcher,
    )
    .expect_err("not its own");
    assert!(matches!(error, LaunchError::AddressTaken { .. }), "{error}");
    assert!(error.to_string().contains("address in use"), "{error}");
}

#[test]
fn an_interrupt_ends_the_wait() {
    let setting = setting_of("ipv4");
    let interrupted = AtomicBool::new(true);
    let launcher = Launcher {
        setting: &setting,
        throng_program: Path::new("/nonexistent/throng"),
        catalogue: &Prepared::default(),
        networks: &Networks::host(),
        interrupted: &interrupted,
        listen: None,
        identity: None,
    };
    let error = launcher
        .launch(&target("sh -c 'sleep 1000' {port}"))
        .expect_err("interrupted");
    assert!(matches!(error, LaunchError::Interrupted), "{error}");
}

/// Services that are one target, at Unix sockets.
fn services(number: u32) -> Setting {
    Setting {
        services: number,
        ..setting_of("unix")
    }
}

#[test]
fn several_services_are_launched_reached_and_ended_together() {
    let command = python("{path}", "print('ready', flush=True)\ntime.sleep(1000)");
    let mut server = launch_in(&services(3), &command).unwrap_or_else(|error| panic!("{error}"));
    let mut paths = Vec::new();
    for address in &server.announced.addresses {
        let Address::Unix(path) = address else {
            panic!("{address}")
        };
        drop(std::os::unix::net::UnixStream::connect(path).expect("it listens"));
        paths.push(path.clone());
    }
    paths.dedup();
    assert_eq!(paths.len(), 3);
    let sample = server.tree.sample().expect("readable").expect("they run");
    assert_eq!(sample.processes, 3);
    let each = server.tree.cpu_ns_of_each().expect("readable");
    assert!(
        each.len() == 3 && each.iter().all(|cpu_ns| *cpu_ns > Some(0)),
        "{each:?}"
    );
    assert!(!server.has_died());
    let ending = server.end();
    assert!(!ending.died_early, "{ending:?}");
    assert_eq!(ending.tails.len(), 3);
    assert!(paths.iter().all(|path| !path.exists()));
}

#[test]
fn of_several_services_the_one_that_fails_is_named_by_number() {
    // The second to begin, whichever the kernel lets run first: the folder counts.
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("begun");
    let one_of_them = format!(
        "import fcntl\nwith open({mark:?}, 'a+') as f:\n fcntl.flock(f, fcntl.LOCK_EX); f.write('x'); f.flush(); n = f.tell()\n"
    );
    let leaves = python(
        "{path}",
        &format!("{one_of_them}if n == 2: sys.exit('no more room')\ntime.sleep(1000)"),
    );
    let server = launch_in(&services(3), &leaves);
    let ending = server.map(|mut server| {
        let begin = Instant::now();
        while !server.has_died() && begin.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        server.end()
    });
    let words = match ending {
        Ok(ending) => {
            assert!(ending.died_early, "{ending:?}");
            format!("{} {:?}", ending.how, ending.tail)
        }
        // It may leave before all are seen to listen.
        Err(error) => error.to_string(),
    };
    let is_named = (1..=3).any(|number| words.contains(&format!("service {number} of 3")));
    assert!(is_named && words.contains("no more room"), "{words}");
}
