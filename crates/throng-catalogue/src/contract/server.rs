//! A server started for one clause: from its announcements to its end.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use throng_sys::address::Address;
use throng_sys::process_tree::{ProcessTree, TreeSample};
use throng_sys::signal;

use super::stage::{Failure, Stage};
use throng_child::Child;
use throng_child::{Lines, NextLine};

const LINES: Lines = Lines::Wanted {
    longest_bytes: 4_096,
};
/// How often something outside of this process is looked at.
pub(super) const POLL: Duration = Duration::from_millis(5);
/// What a busy machine may add to the two seconds in which a server leaves.
const LEAVES_WITHIN: Duration = Duration::from_millis(2_500);
/// How long a server that will not listen may take to say so.
const REFUSES_WITHIN: Duration = Duration::from_secs(20);
/// How long the last of its output may take to be read when it has ended: on a busy machine the threads that read have their turn late,
/// and nothing on standard error would be held against the server.
const OUTPUT_ENDS_WITHIN: Duration = Duration::from_secs(5);

/// A server that is ready. Killed, with all it has started, when dropped.
pub(super) struct Server<'s> {
    stage: &'s Stage<'s>,
    child: Child,
    tree: ProcessTree,
    was_told_to_leave: bool,
    /// Its processes when it was told to leave: those that outlive the first are nobody's children any more.
    processes: Vec<ProcessTree>,
    /// Where it listens, in the order of its ready lines.
    pub(super) addresses: Vec<Address>,
    /// Its ready lines as they are.
    pub(super) ready: Vec<String>,
    /// The most connections that it serves at the same time, where it has announced a bound.
    pub(super) serves_at_once: Option<usize>,
}

/// How a server left that was told to.
pub(super) struct Left {
    /// From the signal to the end of its last process; `None` where that took too long.
    pub(super) took: Option<Duration>,
    pub(super) status: Option<ExitStatus>,
    /// Processes that are left behind.
    pub(super) behind: Vec<u32>,
    /// What it printed after its last ready line.
    pub(super) lines: Vec<String>,
}

/// How a command ended that is no server.
pub(super) struct Refusal {
    pub(super) status: ExitStatus,
    pub(super) stderr: String,
}

fn spawn(stage: &Stage<'_>, words: &[String]) -> Result<Child, Failure> {
    let mut command = (stage.subject.command)(words);
    command.stdin(Stdio::null());
    Child::spawn(command, &[], LINES).map_err(|error| Failure(error.to_string()))
}

/// Runs the command to its end, which a server does not come to.
pub(super) fn refuses(stage: &Stage<'_>, words: &[String]) -> Result<Refusal, Failure> {
    let mut child = spawn(stage, words)?;
    let deadline = Instant::now() + REFUSES_WITHIN;
    let mut stdout: Vec<String> = Vec::new();
    let is_ready = |lines: &[String]| lines.iter().any(|line| line.starts_with("ready"));
    while child.exited().is_none() && Instant::now() < deadline && !is_ready(&stdout) {
        match child.next_line(POLL) {
            NextLine::Line(line) => stdout.push(line),
            NextLine::Silence => {}
            NextLine::End => sleep(POLL),
        }
    }
    let status = child.exited();
    child.kill();
    let tail = child.output().tail_within(OUTPUT_ENDS_WITHIN);
    while let NextLine::Line(line) = child.next_line(POLL) {
        stdout.push(line);
    }
    stage.keep_last_words(None, &tail);
    if let Some(ready) = stdout.iter().find(|line| line.starts_with("ready")) {
        return Failure::of(format!("it says `{ready}`"));
    }
    let Some(status) = status else {
        return Failure::of(format!("it still runs after {REFUSES_WITHIN:?}"));
    };
    let of_stderr = tail.into_iter().filter(|line| !stdout.contains(line));
    Ok(Refusal {
        status,
        stderr: of_stderr.collect::<Vec<_>>().join("\n"),
    })
}

impl<'s> Server<'s> {
    pub(super) fn start(
        stage: &'s Stage<'s>,
        words: &[String],
        listeners: usize,
    ) -> Result<Self, Failure> {
        let child = spawn(stage, words)?;
        let tree = ProcessTree::of(child.pid()).map_err(|error| Failure(error.to_string()))?;
        let mut server = Self {
            stage,
            child,
            tree,
            was_told_to_leave: false,
            processes: Vec::new(),
            addresses: Vec::new(),
            ready: Vec::new(),
            serves_at_once: None,
        };
        server.becomes_ready(listeners)?;
        Ok(server)
    }

    fn becomes_ready(&mut self, listeners: usize) -> Result<(), Failure> {
        let deadline = Instant::now() + self.stage.ready_timeout();
        while self.addresses.len() < listeners {
            match self.child.next_line(POLL) {
                NextLine::Line(line) => self.hear(line)?,
                NextLine::Silence => {}
                NextLine::End => sleep(POLL),
            }
            if let Some(status) = self.child.exited() {
                return Failure::of(format!("it ended before it was ready ({status})"));
            }
            if Instant::now() >= deadline {
                self.stage.was_not_ready();
                return Failure::of(format!(
                    "{} of {listeners} ready lines within {:?}",
                    self.addresses.len(),
                    self.stage.ready_timeout()
                ));
            }
        }
        Ok(())
    }

    fn hear(&mut self, line: String) -> Result<(), Failure> {
        match line.split_once(' ') {
            Some(("ready", text)) => match text.parse::<Address>() {
                Ok(address) => {
                    self.addresses.push(address.connectable());
                    self.ready.push(line);
                }
                Err(error) => return Failure::of(format!("the line `{line}`: {error}")),
            },
            Some(("serves-at-once", text)) => match text.parse() {
                Ok(count) if count > 0 => self.serves_at_once = Some(count),
                _ => return Failure::of(format!("the line `{line}`, in which there is no number")),
            },
            _ => {}
        }
        Ok(())
    }

    /// As many, or those that it serves at once if they are fewer.
    pub(super) fn at_most(&self, connections: usize) -> usize {
        self.serves_at_once
            .map_or(connections, |bound| bound.min(connections))
    }

    /// Its processes, threads and CPU time now.
    pub(super) fn sample(&self) -> Result<TreeSample, Failure> {
        match self.tree.sample() {
            Ok(Some(sample)) if sample.processes > 0 => Ok(sample),
            Ok(_) => Failure::of("it has no process any more"),
            Err(error) => Failure::of(error.to_string()),
        }
    }

    /// That it has not ended.
    pub(super) fn lives(&mut self) -> Result<(), Failure> {
        self.child.exited().map_or(Ok(()), |status| {
            Failure::of(format!("the server has ended ({status})"))
        })
    }

    /// SIGTERM to its first process, and what becomes of all of them.
    pub(super) fn leave(mut self) -> Result<Left, Failure> {
        self.lives()?;
        self.processes = self.processes_now();
        self.was_told_to_leave = true;
        let begin = Instant::now();
        signal::terminate_process(self.child.pid()).map_err(|error| Failure(error.to_string()))?;
        let mut behind = Vec::new();
        let mut took = None;
        while took.is_none() && begin.elapsed() < LEAVES_WITHIN {
            behind = living(&self.processes);
            if self.child.exited().is_some() && behind.is_empty() {
                took = Some(begin.elapsed());
            } else {
                sleep(POLL);
            }
        }
        let status = self.child.exited();
        // Whoever holds its output open beyond its end is among those left behind.
        let mut lines = Vec::new();
        while let NextLine::Line(line) = self.child.next_line(Duration::from_millis(50)) {
            lines.push(line);
        }
        Ok(Left {
            took,
            status,
            behind,
            lines,
        })
    }

    fn processes_now(&self) -> Vec<ProcessTree> {
        let pids = self.tree.pids().ok().flatten().unwrap_or_default();
        pids.into_iter()
            .filter_map(|pid| ProcessTree::of(pid).ok())
            .collect()
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let mut processes = self.processes_now();
        processes.append(&mut self.processes);
        let ended = self.child.exited().filter(|_| !self.was_told_to_leave);
        let ended = ended.map(|status| status.to_string());
        self.child.kill();
        // Those that have left its group are reached by their ids, which are still theirs.
        for pid in living(&processes) {
            let _ = signal::kill_process(pid);
        }
        self.stage
            .keep_last_words(ended, &self.child.output().tail_within(OUTPUT_ENDS_WITHIN));
    }
}

/// Those that have not ended. A process that nobody has waited for has ended all the same.
fn living(processes: &[ProcessTree]) -> Vec<u32> {
    let living = processes.iter().filter(|process| process.root_lives());
    living.map(ProcessTree::root_pid).collect()
}

/// Whether SIGTERM was obeyed: an exit status of 0, the signal itself, or what shells and some runtimes make of it.
pub(super) fn is_orderly(status: ExitStatus) -> bool {
    const SIGTERM: i32 = 15;
    status.success() || status.signal() == Some(SIGTERM) || status.code() == Some(128 + SIGTERM)
}

impl Stage<'_> {
    /// A server of this clause's workload on a free port of 127.0.0.1.
    pub(super) fn start(&self) -> Result<Server<'_>, Failure> {
        self.start_with(&[])
    }

    /// The same with further flags.
    pub(super) fn start_with(&self, more: &[&str]) -> Result<Server<'_>, Failure> {
        self.start_on(&["127.0.0.1:0"], more)
    }

    /// The same on these addresses.
    pub(super) fn start_on(&self, listen: &[&str], more: &[&str]) -> Result<Server<'_>, Failure> {
        let mut words = self.words(listen);
        words.extend(more.iter().map(|&word| word.to_owned()));
        Server::start(self, &words, listen.len())
    }
}
