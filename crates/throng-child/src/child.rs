//! A process that the lab started: bound to us, pinned, its output read, and never left behind.
//!
//! It leads a process group of its own and is killed by the kernel when the *thread* that started it ends
//! (`PR_SET_PDEATHSIG`), so it must be started from the thread that lives as long as the run. Affinity is inherited: the
//! starting thread takes on the child's CPUs for the moment of the start, which needs no code between fork and exec.
//!
//! What a child started and left, in its group or in the background, is ended with it: this process adopts orphans.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use throng_sys::orphans::{self, Orphan};
use throng_sys::{affinity, signal};

use crate::guard;
use crate::output::{Lines, NextLine, Output};

/// How often a child that was told to end is looked at.
const POLL: Duration = Duration::from_millis(2);

/// How long what it left may take to go after SIGKILL.
const PATIENCE: Duration = Duration::from_secs(2);

/// A running child, or one that has ended; killed with its whole group when dropped.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    status: Option<ExitStatus>,
    /// Nothing of it is left, and its id may be another's.
    is_over: bool,
    output: Output,
}

/// A child could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No such program.
    #[error(
        "cannot start `{program}`: there is no such program; check the path, or the spelling if it is to be found in PATH"
    )]
    NotFound {
        /// As it was named.
        program: String,
    },
    /// It is there and may not be executed.
    #[error(
        "cannot start `{program}`: it may not be executed; make it executable (chmod +x {program}), or name its interpreter first"
    )]
    NotExecutable {
        /// As it was named.
        program: String,
    },
    /// Whatever else.
    #[error("cannot start `{program}`: {source}")]
    Other {
        /// As it was named.
        program: String,
        /// What the kernel answered.
        source: io::Error,
    },
    /// Its CPUs are not to be had.
    #[error("cannot start `{program}`: {0}; choose other CPUs (--cpus)", program = .1)]
    Pin(io::Error, String),
}

impl Child {
    /// Starts `command` on `cpus` (empty: where the caller may run).
    pub fn spawn(mut command: Command, cpus: &[u32], lines: Lines) -> Result<Self, SpawnError> {
        let program = command.get_program().to_string_lossy().into_owned();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        signal::bind_to_parent(&mut command);
        // Without it what goes into the background could not be found; nothing else depends on it.
        let _ = orphans::adopt();
        let pinned = Pinned::to(cpus).map_err(|error| SpawnError::Pin(error, program.clone()))?;
        let start = guard::announce(&mut command);
        let spawned = command.spawn();
        drop(pinned);
        let mut process = spawned.map_err(|source| {
            guard::withdraw(&start);
            match source.kind() {
                io::ErrorKind::NotFound => SpawnError::NotFound { program },
                io::ErrorKind::PermissionDenied => SpawnError::NotExecutable { program },
                _ => SpawnError::Other { program, source },
            }
        })?;
        let stdout = process
            .stdout
            .take()
            .expect("its standard output was asked for above");
        let stderr = process
            .stderr
            .take()
            .expect("its standard error was asked for above");
        Ok(Self {
            process,
            status: None,
            is_over: false,
            output: Output::read(stdout, stderr, lines),
        })
    }

    /// Its process id, which is its group's too.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Its standard input, where the command asked for a pipe; once.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.process.stdin.take()
    }

    /// The next line of its standard output.
    pub fn next_line(&self, timeout: Duration) -> NextLine {
        self.output.next_line(timeout)
    }

    /// What it printed.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// How it ended, if it has.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            // An error would be that it was waited for already, which only this function does.
            self.status = self.process.try_wait().unwrap_or(None);
        }
        self.status
    }

    /// What of it lives in its group or in the background.
    pub fn left(&self) -> Vec<Orphan> {
        orphans::left_by(self.pid()).unwrap_or_default()
    }

    /// Asks its group to end.
    pub fn terminate(&self) {
        // Fails only for processes of another user, who are killed below or have to be left.
        let _ = signal::terminate_group(self.pid());
    }

    /// Waits for its end for so long at most.
    pub fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(status) = self.exited() {
                return Some(status);
            }
            if Instant::now() >= deadline {
                return None;
            }
            sleep(POLL);
        }
    }

    /// Kills it with all that it started, and takes its status. What outlived it ends here too.
    pub fn kill(&mut self) -> ExitStatus {
        if !self.is_over {
            let _ = signal::kill_group(self.pid());
        }
        let status = self.status.unwrap_or_else(|| {
            // A child that left its group is reached by its id, which cannot be another's before it has been waited for.
            let _ = self.process.kill();
            let status = self.process.wait();
            status.unwrap_or_else(|_| ExitStatus::from_raw(9))
        });
        if !self.is_over {
            let _ = orphans::end(self.pid(), PATIENCE);
            guard::forget(self.pid());
            self.is_over = true;
        }
        self.status = Some(status);
        status
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The calling thread on other CPUs, until dropped.
struct Pinned {
    before: Option<Vec<u32>>,
}

impl Pinned {
    fn to(cpus: &[u32]) -> io::Result<Self> {
        if cpus.is_empty() {
            return Ok(Self { before: None });
        }
        let pinned = Self {
            before: Some(affinity::allowed_cpus()),
        };
        affinity::set_current_thread(cpus)?;
        Ok(pinned)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // These were allowed a moment ago; if they are no longer, the thread may stay where it is.
            let _ = affinity::set_current_thread(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        command
    }

    const WANTED: Lines = Lines::Wanted {
        longest_bytes: 1_000,
    };
    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_dropped_child_takes_its_whole_group_along() {
        let child =
            Child::spawn(shell("sleep 1000 & echo $!; wait"), &[], WANTED).expect("a shell");
        let NextLine::Line(grandchild) = child.next_line(LONG) else {
            panic!("the shell prints the id of its child");
        };
        drop(child);
        let deadline = Instant::now() + LONG;
        let lives = || {
            std::fs::read_to_string(format!("/proc/{grandchild}/stat"))
                .is_ok_and(|stat| !stat.contains(") Z"))
        };
        while lives() {
            assert!(Instant::now() < deadline, "process {grandchild} still runs");
            sleep(POLL);
        }
    }

    #[test]
    fn what_went_into_the_background_is_found_and_ended() {
        let script = "setsid sleep 1000 & echo $!";
        let mut child = Child::spawn(shell(script), &[], WANTED).expect("a shell");
        let NextLine::Line(background) = child.next_line(LONG) else {
            panic!("the shell prints the id of its child");
        };
        assert!(child.wait(LONG).expect("it ends").success());
        let deadline = Instant::now() + LONG;
        while !child.left().iter().any(|left| left.name == "sleep") {
            assert!(Instant::now() < deadline, "{:?}", child.left());
            sleep(POLL);
        }
        child.kill();
        assert!(!std::path::Path::new(&format!("/proc/{background}")).exists());
        assert_eq!(child.left(), []);
    }

    #[test]
    fn a_child_is_pinned_and_its_starter_is_not() {
        let before = affinity::allowed_cpus();
        let target = *before.last().expect("at least one");
        let child = Child::spawn(
            shell("grep Cpus_allowed_list /proc/self/status"),
            &[target],
            WANTED,
        )
        .expect("a shell");
        let NextLine::Line(line) = child.next_line(LONG) else {
            panic!("grep prints a line")
        };
        assert_eq!(
            line.split_whitespace().last(),
            Some(target.to_string().as_str())
        );
        assert_eq!(affinity::allowed_cpus(), before);
    }

    #[test]
    fn a_command_that_cannot_be_started_is_explained() {
        let spawn = |program: &str| {
            Child::spawn(Command::new(program), &[], Lines::Unwanted)
                .expect_err(program)
                .to_string()
        };
        let missing = spawn("./no-such-program");
        assert!(
            missing.contains("no such program") && missing.contains("./no-such-program"),
            "{missing}"
        );
        let plain = spawn("/etc/passwd");
        assert!(plain.contains("chmod +x"), "{plain}");
        let error = Child::spawn(shell("true"), &[1023], Lines::Unwanted).expect_err("no such CPU");
        assert!(error.to_string().contains("1023"), "{error}");
    }

    #[test]
    fn much_output_does_not_stop_a_child() {
        let mut child = Child::spawn(
            shell("head -c 20000000 /dev/zero; head -c 20000000 /dev/zero >&2"),
            &[],
            Lines::Unwanted,
        )
        .expect("a shell");
        assert!(child.wait(LONG).expect("it ends").success());
    }
}
