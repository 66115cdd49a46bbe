//! The judge's servers: `server.py`, whose behaviour is known and whose log says what it did.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use throng_record::Trial;

use super::namespace::{Capture, Namespace};
use super::support::{Bench, Outcome};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judge/server.py");

/// What a server says that it did.
#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Log {
    pub(crate) accepted: u64,
    pub(crate) requests: u64,
    /// Of each connection, in the order of their accepts.
    pub(crate) replies_each: Vec<u64>,
    pub(crate) resets: u64,
    pub(crate) silent: u64,
    pub(crate) open_max: u64,
    pub(crate) descriptors_max: u64,
    /// Begin and length of each, in seconds.
    pub(crate) stalls: Vec<(f64, f64)>,
}

/// The command by which throng launches one; its log is [`logs`]' last.
pub(crate) fn command(folder: &Path, flags: &str) -> String {
    let log = log_file(folder);
    format!(
        "python3 {PROGRAM} --log {} --port {{port}} {flags}",
        log.display()
    )
}

/// What the servers of a folder did, in the order of their ends.
pub(crate) fn logs(folder: &Path) -> Vec<Log> {
    let text = std::fs::read_to_string(log_file(folder)).expect("a server has ended");
    let log = |line| serde_json::from_str(line).expect("JSON");
    text.lines().map(log).collect()
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("server.log")
}

/// One that runs already, in a network in which nobody else is, and what throng makes of it there.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    pub(crate) namespace: Namespace,
    bench: Bench,
}

impl Server {
    pub(crate) fn start(flags: &str) -> Self {
        let (namespace, bench) = (Namespace::new(), Bench::new());
        let mut child = namespace
            .command("python3")
            .arg(PROGRAM)
            .arg("--log")
            .arg(log_file(bench.path()))
            .args(flags.split_whitespace())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is installed");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("text");
        let port = line
            .trim()
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok());
        Self {
            child,
            port: port.expect("it says where it listens"),
            namespace,
            bench,
        }
    }

    /// Keeps every segment to and from it from now on.
    pub(crate) fn capture(&self) -> Capture {
        self.namespace.capture(self.bench.path())
    }

    /// Runs throng in its network: how that ended, and the first trial.
    pub(crate) fn throng(&self, arguments: &[&str]) -> (Outcome, Trial) {
        let outcome = self.bench.throng_by(&self.namespace.starter(), arguments);
        (outcome, self.bench.record().trials.remove(0))
    }

    pub(crate) fn target(&self) -> String {
        format!("tcp://127.0.0.1:{}", self.port)
    }

    /// Ends it: what it did.
    pub(crate) fn end(mut self) -> Log {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it runs");
        self.child.wait().expect("it ends");
        logs(self.bench.path()).pop().expect("a line")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
