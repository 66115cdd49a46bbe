//! Running the binary as a user does: in a folder of its own, with a bound on its time, and looking at what it leaves behind.
#![expect(dead_code, reason = "each test binary uses its part of this")]

pub(crate) mod backlog;
pub(crate) mod others;
pub(crate) mod peer;
pub(crate) mod user;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use throng_record::{Check, CheckKind, CheckResult, ErrorKind, RunRecord, Trial, schema};

/// The commands that measure.
pub(crate) const MEASURING: [&str; 8] = [
    "echo", "backlog", "churn", "accept", "fanout", "hold", "services", "run",
];

/// Longer than any command of these tests may take, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The binary.
pub(crate) const THRONG: &str = env!("CARGO_BIN_EXE_throng");

/// The fields of a column of CSV.
pub(crate) fn column(table: &str, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let place = header.iter().position(|heading| heading == name);
    let place = place.unwrap_or_else(|| panic!("no {name} in {header:?}"));
    let lines = reader
        .records()
        .map(|line| line.expect("as wide as the header"));
    lines.map(|line| line[place].to_owned()).collect()
}

/// A folder in which the binary runs; gone in the end.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

/// What a command came to.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).expect("written");
        path
    }

    /// Runs it to its end. Whatever it was told: it has not panicked, and has left no process behind.
    pub(crate) fn throng(&self, arguments: &[&str]) -> Outcome {
        self.run(&[], PATIENCE, &as_tests_want(arguments))
    }

    /// The same without a word added: for what is told about the words themselves.
    pub(crate) fn throng_as_typed(&self, arguments: &[&str]) -> Outcome {
        self.run(&[], PATIENCE, arguments)
    }

    /// The same with a bound of its own, as typed.
    pub(crate) fn throng_as_typed_within(&self, patience: Duration, arguments: &[&str]) -> Outcome {
        self.run(&[], patience, arguments)
    }

    /// The same with a bound of its own.
    pub(crate) fn throng_within(&self, patience: Duration, arguments: &[&str]) -> Outcome {
        self.run(&[], patience, &as_tests_want(arguments))
    }

    /// The same, started by another program, such as one that enters a namespace.
    pub(crate) fn throng_by(&self, starter: &[String], arguments: &[&str]) -> Outcome {
        self.run(starter, PATIENCE, &as_tests_want(arguments))
    }

    fn run(&self, starter: &[String], patience: Duration, arguments: &[&str]) -> Outcome {
        let words: Vec<&str> = starter.iter().map(String::as_str).chain([THRONG]).collect();
        let mut command = std::process::Command::new(words[0]);
        command.args(&words[1..]).args(arguments);
        self.outcome_of(command, patience)
    }

    /// Runs this command here to its end.
    pub(crate) fn outcome_of(
        &self,
        mut command: std::process::Command,
        patience: Duration,
    ) -> Outcome {
        let began = Instant::now();
        command
            .current_dir(self.path())
            .env("COLUMNS", "100")
            .env("XDG_CACHE_HOME", self.path().join("cache"))
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE");
        let output = assert_cmd::Command::from_std(command)
            .timeout(patience)
            .output()
            .expect("started");
        let outcome = Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
            took: began.elapsed(),
        };
        assert!(
            outcome.code.is_some(),
            "ended by a signal: {}",
            outcome.stderr
        );
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
        self.assert_no_process_left();
        outcome
    }

    /// Starts it, with pipes.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.start_by(&[], arguments)
    }

    /// The same, by another program that becomes it, such as one that sets how signals are taken.
    pub(crate) fn start_by(&self, starter: &[&str], arguments: &[&str]) -> Child {
        let words = [starter, &[THRONG]].concat();
        std::process::Command::new(words[0])
            .args(&words[1..])
            .args(as_tests_want(arguments))
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started")
    }

    /// The stored runs, oldest first.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let Ok(folders) = fs::read_dir(self.path().join("throng-runs")) else {
            return vec![];
        };
        let mut runs: Vec<PathBuf> = folders
            .map(|folder| folder.expect("listed").path().join("run.json"))
            .filter(|path| path.exists())
            .collect();
        runs.sort_by_key(|path| {
            fs::metadata(path)
                .and_then(|file| file.modified())
                .expect("dated")
        });
        runs
    }

    /// The record of the last run.
    pub(crate) fn record(&self) -> RunRecord {
        let path = self.runs().pop().expect("a run");
        schema::read(&fs::read_to_string(path).expect("readable")).expect("a record")
    }

    /// Every process that was started here, directly or not, is known by its working directory.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let folder = self.path().canonicalize().expect("there");
        let is_here = |pid: &u32| {
            fs::read_link(format!("/proc/{pid}/cwd"))
                .is_ok_and(|working| working.starts_with(&folder))
        };
        let entries = fs::read_dir("/proc").expect("proc").flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(is_here)
            .collect()
    }

    /// A killed process takes a moment to go.
    pub(crate) fn assert_no_process_left(&self) {
        let is_empty = wait_for(Duration::from_secs(5), || self.processes().is_empty());
        assert!(is_empty, "left behind: {:?}", self.processes());
    }
}

impl Outcome {
    /// It ended well, or had nothing against it but that a target has no trial fit to be ranked: on a machine whose time is stolen,
    /// or which others use, that says nothing of us. What else may have been wrong with a trial, [`failed_checks`] tells.
    pub(crate) fn assert_well_but_for_noise(&self) {
        let lines = self.stderr.lines();
        let errors: Vec<&str> = lines.filter(|line| line.starts_with("error: ")).collect();
        let is_noise = |error: &&str| error.contains("no trial that could be ranked");
        assert!(errors.iter().all(is_noise), "{}", self.stderr);
        let code = i32::from(!errors.is_empty());
        assert_eq!(self.code, Some(code), "{}", self.stderr);
    }

    /// Text that may go into a file: no control characters but newlines.
    pub(crate) fn assert_plain(&self) {
        for text in [&self.stdout, &self.stderr] {
            let control = text
                .chars()
                .find(|letter| letter.is_control() && *letter != '\n');
            assert_eq!(control, None, "{text:?}");
        }
    }
}

/// The same without patience for disturbed trials, since tests count them and are bound in time, without a page with charts, which weighs megabytes, and with
/// everything that a report can say.
pub(crate) fn as_tests_want<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut words = arguments.to_vec();
    let is_told = words.contains(&"--patience") || words.contains(&"--strict");
    let measures = words.first().is_some_and(|word| MEASURING.contains(word));
    if measures && !is_told {
        words.splice(1..1, ["--patience", "0"]);
    }
    if measures && !words.contains(&"--no-html") {
        words.insert(1, "--no-html");
    }
    if measures || words.first() == Some(&"report") {
        words.insert(1, "--full");
    }
    words
}

/// Whether it came true in time.
pub(crate) fn wait_for(patience: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).expect("signalled");
}

/// The code with which it ends, in time.
pub(crate) fn exit_code(child: &mut Child) -> Option<i32> {
    let mut status = None;
    let ended = wait_for(PATIENCE, || {
        status = child.try_wait().expect("waited");
        status.is_some()
    });
    if !ended {
        child.kill().expect("killed");
        panic!("it did not end");
    }
    status.and_then(|status| status.code())
}

/// Checks of a trial that failed. Little's law is left out: a machine that stands still for a moment can break it in a window as short as those of tests.
pub(crate) fn failed_checks(trial: &Trial) -> Vec<String> {
    let checks = trial.checks.iter();
    let is_lasting = |check: &&Check| check.kind != CheckKind::LittlesLaw;
    checks
        .filter(|check| check.result == CheckResult::Failed && is_lasting(check))
        .map(|check| format!("{:?}: {}", check.kind, check.detail))
        .collect()
}

/// The check of this kind, which every trial has.
pub(crate) fn check(trial: &Trial, kind: CheckKind) -> &Check {
    let found = trial.checks.iter().find(|check| check.kind == kind);
    found.expect("every check is made")
}

/// How often something happened, over all phases of a trial.
pub(crate) fn errors_of(trial: &Trial, kind: ErrorKind) -> u64 {
    trial.phases.errors().of(kind)
}
