//! A server under test: a child process that leads a process group, from its announcements to its totals.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};
use std::num::NonZeroU32;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use throng_record::HandOver;
use throng_servers::Model;
use throng_sys::address::Address;
use throng_sys::process_tree::{ProcessTree, TreeSample};
use throng_sys::{signal, sock_diag};

use super::child;
use super::client::Client;
use super::setup::Setup;

/// Who waits longer than this waits in vain.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Server {
    model: Model,
    /// Where it listens, in the order asked for.
    pub(crate) addresses: Vec<Address>,
    pub(crate) workers: Option<NonZeroU32>,
    accept_threads: Option<NonZeroU32>,
    hand_over: Option<HandOver>,
    /// The most connections that it serves at the same time, where it has announced a bound.
    pub(crate) serves_at_once: Option<u64>,
    child: Child,
    is_reaped: bool,
    tree: ProcessTree,
    /// What it says on its standard output. A thread reads it, so that waiting for it is bounded.
    lines: Receiver<String>,
    /// A file, since several processes write to it and nobody waits for their ends.
    errors: File,
}

/// What it did, in its own words, and how long its end took.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) connections: u64,
    pub(crate) bytes: u64,
    pub(crate) notes: Vec<String>,
    /// From the signal to the end of the first process.
    pub(crate) took: Duration,
}

impl Server {
    pub(super) fn spawn(setup: &Setup) -> Self {
        let errors = tempfile::tempfile().expect("a file");
        let mut command = child::command(setup);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors.try_clone().expect("cloned"));
        let mut child = signal::bind_to_parent(&mut command)
            .spawn()
            .expect("a child");
        let output = child.stdout.take().expect("a pipe");
        Self {
            model: setup.model,
            addresses: setup.listen.clone(),
            workers: setup.workers,
            accept_threads: setup.accept_threads,
            hand_over: setup.hand_over,
            serves_at_once: None,
            tree: ProcessTree::of(child.id()).expect("it is not reaped yet"),
            child,
            is_reaped: false,
            lines: lines_of(output),
            errors,
        }
    }

    /// Reads until every listener is ready; the workers announced.
    pub(super) fn read_announcements(&mut self, listeners: usize) -> Option<NonZeroU32> {
        let mut workers = None;
        self.addresses.clear();
        while self.addresses.len() < listeners {
            let line = self.lines.recv_timeout(PATIENCE).expect("an announcement");
            let (word, value) = line.split_once(' ').expect("a word and a value");
            match word {
                "ready" => self.addresses.push(value.parse().expect("an address")),
                _ if !self.addresses.is_empty() => panic!("'{line}' after 'ready'"),
                "workers" => workers = Some(value.parse().expect("a number")),
                "serves-at-once" => self.serves_at_once = Some(value.parse().expect("a number")),
                _ => panic!("'{line}' is no announcement"),
            }
        }
        self.workers = workers;
        workers
    }

    /// That it refuses to serve, without an announcement; in which words.
    pub(super) fn ends_unready(mut self) -> String {
        self.await_end();
        let status = self.reap();
        assert_eq!(status.code(), Some(1), "{status}");
        let said: Vec<String> = self.lines.iter().collect();
        assert!(said.is_empty(), "it announced {said:?}");
        self.errors()
    }

    /// The first of its addresses.
    pub(crate) fn address(&self) -> &Address {
        &self.addresses[0]
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.address()).expect("connected")
    }

    pub(crate) fn connect_many(&self, count: usize) -> Vec<Client> {
        (0..count).map(|_| self.connect()).collect()
    }

    /// As many, or those that it serves at once if they are fewer.
    pub(crate) fn at_most(&self, connections: usize) -> usize {
        self.serves_at_once
            .map_or(connections, |bound| connections.min(bound as usize))
    }

    /// That it sleeps, rather than asks again and again for what it cannot have. One that spins has what the others on
    /// this machine leave it, which may be less than half.
    pub(crate) fn uses_little_cpu_time(&self, during: Duration) {
        let before_ns = self.sample().cpu_ns;
        thread::sleep(during);
        // A process that has ended meanwhile takes what it used along.
        let used_ns = self.sample().cpu_ns.saturating_sub(before_ns);
        assert!(
            u128::from(used_ns) < during.as_nanos() / 5,
            "{} used {used_ns} ns in {during:?}",
            self.model
        );
    }

    /// Its processes, threads and CPU time now.
    pub(crate) fn sample(&self) -> TreeSample {
        let sample = self.tree.sample().expect("readable");
        sample.expect("it is not reaped yet")
    }

    /// Resident memory of all its processes.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let sample = self.tree.sample_memory().expect("readable");
        sample.expect("it is not reaped yet").rss_bytes
    }

    /// Waits until it has the processes and threads that its model declares with so many connections served. One that
    /// has done its work may still be on its way out.
    pub(crate) fn becomes_as_declared(&self, connections: usize) {
        let connections = connections as u64;
        let expected = (
            self.model.expected_processes(self.workers, connections),
            self.model.expected_threads(
                self.workers,
                self.accept_threads,
                self.hand_over,
                connections,
            ),
        );
        let begin = Instant::now();
        loop {
            let sample = self.sample();
            let found = (sample.processes, sample.threads);
            if found == expected {
                return;
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "{} has {found:?} processes and threads with {connections} connections, not {expected:?}",
                self.model
            );
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until nobody waits to be accepted on a TCP listener. A Unix socket's queue cannot be looked at, but it is
    /// one queue: whoever is served was the last in it.
    pub(crate) fn accepts_everyone(&self) {
        let waiting = |address: &Address| {
            let Address::Tcp(address) = address else {
                return 0;
            };
            let listeners = sock_diag::listeners().expect("listed");
            let own = listeners.iter().filter(|own| own.address == *address);
            own.map(|own| own.accept_queue).sum::<u32>()
        };
        let begin = Instant::now();
        while self.addresses.iter().map(waiting).sum::<u32>() > 0 {
            assert!(begin.elapsed() < PATIENCE, "it accepts no more");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// SIGTERM to the whole group, as the launcher and a terminal do it.
    pub(crate) fn stop(self) -> Ended {
        self.end(|leader| signal::terminate_group(leader).expect("signalled"))
    }

    /// SIGTERM to the first process, as a supervisor does it.
    pub(crate) fn stop_first_process(self) -> Ended {
        self.end(|leader| send_to_process(leader, Signal::TERM))
    }

    /// SIGTERM; that the totals are these, that there is no note, and that Unix paths are removed.
    pub(crate) fn stop_expecting(self, connections: usize, bytes: usize) {
        let addresses = self.addresses.clone();
        let ended = self.stop();
        let totals = (ended.connections, ended.bytes);
        assert_eq!(totals, (connections as u64, bytes as u64));
        assert!(ended.notes.is_empty(), "{:?}", ended.notes);
        for address in addresses {
            if let Address::Unix(path) = address {
                assert!(!path.exists(), "the socket's path is removed");
            }
        }
    }

    /// SIGKILL to the first process; that the others end too.
    pub(crate) fn kill_first_process(mut self) {
        send_to_process(self.child.id(), Signal::KILL);
        self.await_end();
        let begin = Instant::now();
        while !self.living().is_empty() {
            assert!(begin.elapsed() < PATIENCE, "{:?} are left", self.living());
            thread::sleep(Duration::from_millis(2));
        }
        self.reap();
    }

    fn end(mut self, signal: impl FnOnce(u32)) -> Ended {
        let begin = Instant::now();
        signal(self.child.id());
        self.await_end();
        let took = begin.elapsed();
        let left = self.living();
        assert!(left.is_empty(), "processes {left:?} are left behind");
        let status = self.reap();
        let errors = self.errors();
        assert!(status.success(), "{status}");
        assert!(errors.is_empty(), "it complained");
        let mut ended = Ended {
            connections: 0,
            bytes: 0,
            notes: Vec::new(),
            took,
        };
        let served = self.lines.recv_timeout(PATIENCE).expect("totals");
        let [word, connections, bytes] = served.split(' ').collect::<Vec<_>>()[..] else {
            panic!("'{served}' are no totals");
        };
        assert_eq!(word, "served");
        ended.connections = connections.parse().expect("a number");
        ended.bytes = bytes.parse().expect("a number");
        for line in &self.lines {
            let note = line.strip_prefix("note ").expect("a note");
            ended.notes.push(note.to_owned());
        }
        ended
    }

    /// Waits for the first process's end and leaves it unreaped: until then nobody else gets its number.
    fn await_end(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let begin = Instant::now();
        while waitid(WaitId::Pid(pid(self.child.id())), options)
            .expect("a child")
            .is_none()
        {
            assert!(begin.elapsed() < PATIENCE, "it does not end");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// From here on its number, and its group's, may be somebody else's.
    fn reap(&mut self) -> ExitStatus {
        self.is_reaped = true;
        self.child.wait().expect("reaped")
    }

    /// Its processes, of which one that has ended but is not reaped is none.
    fn living(&self) -> Vec<u32> {
        let pids = self.tree.pids().expect("readable");
        pids.expect("it is not reaped yet")
    }

    /// What it has complained of.
    fn errors(&self) -> String {
        let mut file = &self.errors;
        let mut text = String::new();
        file.rewind().expect("a file");
        file.read_to_string(&mut text).expect("text");
        text
    }
}

impl Drop for Server {
    #[expect(
        clippy::print_stderr,
        reason = "a failed test shows its server's words"
    )]
    fn drop(&mut self) {
        if !self.is_reaped {
            // The test has failed already: errors here would hide why.
            let _ = signal::kill_group(self.child.id());
            let _ = self.child.wait();
        }
        for address in &self.addresses {
            if let Address::Unix(path) = address {
                let _ = std::fs::remove_file(path);
            }
        }
        if thread::panicking() {
            eprintln!("{}'s server said: {}", self.model, self.errors());
        }
    }
}

fn lines_of(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn send_to_process(process: u32, signal: Signal) {
    kill_process(pid(process), signal).expect("signalled");
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(number.cast_signed()).expect("not zero")
}
