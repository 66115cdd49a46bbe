//! The generator: a child process, `throng load`, that is told its job and tells what happens.
//!
//! A process of its own, so that its CPU time, memory and descriptors are its own too, and so that it can be pinned as a
//! whole. The job goes in as a line of JSON on its standard input, and an empty line each time that it waits to be told to go on;
//! a line of JSON for each event comes out.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use throng_record::format::tail_in_words;
use throng_record::{GoOn, HostPart, LoadEvent, LoadJob, SeriesSample};
use throng_sys::namespace::Network;
use throng_sys::process_tree::ProcessTree;

use throng_child::{Child, Lines, NextLine, SpawnError};

/// The longest event: a record with four whole histograms and a timeline has some hundred KiB.
const EVENT_BYTES_MAX: u64 = 64 << 20;
/// How long an interrupted one may take to close its connections and to report.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);
/// How long it may take to leave once it has finished.
const GRACE: Duration = Duration::from_secs(2);

/// What makes the load of a trial: a process here, or one on each of several hosts. It has its job already.
pub(crate) trait Generating {
    /// Everything that is to be read while it waits has been read: the phase that it waits before begins, at this instant by the monotonic clock of its
    /// host or at once.
    fn go_on(&mut self, at_ns: Option<u64>);

    /// The next event; `None` if none came in the time given.
    fn next(&mut self, timeout: Duration) -> Result<Option<LoadEvent>, GeneratorError>;

    /// Asks it to end early, with what it has measured; how long it may take.
    fn interrupt(&mut self) -> Duration;

    /// Whether it tells nothing while a phase is under way.
    fn is_silent_while_at_work(&self) -> bool;

    /// It has finished. Where there are several: the part of each, and what all of them did over time, from when on is that of the monotonic clock here.
    fn end(self: Box<Self>) -> (Vec<HostPart>, Vec<SeriesSample>);
}

/// A generator at work here.
#[derive(Debug)]
pub(crate) struct Generator {
    child: Child,
    /// It and nothing else: it starts no processes.
    pub(crate) tree: ProcessTree,
    /// What it is told. Dropped, its standard input ends.
    stdin: Sender<Vec<u8>>,
}

/// The generator failed, rather than the server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GeneratorError {
    #[error("the load generator: {0}")]
    Spawn(#[from] SpawnError),
    #[error("cannot observe the load generator that was started: {0}")]
    Observe(std::io::Error),
    #[error("{0}")]
    Failed(String),
    #[error(
        "the load generator ended ({how}) without a result: it crashed, or something killed it (out of memory: see dmesg); run again with fewer connections{tail}"
    )]
    Ended { how: String, tail: String },
    #[error(
        "the load generator said something that is no event ({problem}): are it and this program of the same version? `{line}`"
    )]
    Garbled { problem: String, line: String },
    #[error(
        "the load generator has told nothing for {0} s, and was killed: the machine may be overloaded; run again with fewer connections or more shards"
    )]
    Silent(u64),
}

impl Generator {
    /// Starts it on `cpus` (empty: any), in the server's network. It waits for its job.
    pub(crate) fn start(
        program: &Path,
        cpus: &[u32],
        network: &Network,
    ) -> Result<Self, GeneratorError> {
        let mut command = Command::new(program);
        command.arg("load").stdin(Stdio::piped());
        network.join(&mut command);
        let lines = Lines::Wanted {
            longest_bytes: EVENT_BYTES_MAX,
        };
        let mut child = Child::spawn(command, cpus, lines)?;
        let tree = ProcessTree::of(child.pid()).map_err(GeneratorError::Observe)?;
        let (stdin, told) = channel::<Vec<u8>>();
        if let Some(mut pipe) = child.take_stdin() {
            // A large job does not fit into the pipe: a child that never reads it must not stop us. That the child is gone is
            // noticed by its missing events.
            let write = move || {
                for line in told {
                    let _ = pipe.write_all(&line);
                }
            };
            drop(
                std::thread::Builder::new()
                    .name("job".to_owned())
                    .spawn(write),
            );
        }
        Ok(Self { child, tree, stdin })
    }

    /// Hands it the job.
    pub(crate) fn begin(&self, job: &LoadJob) {
        let mut line =
            serde_json::to_vec(job).expect("a job has no maps with keys that are no text");
        line.push(b'\n');
        self.tell(line);
    }

    fn tell(&self, line: Vec<u8>) {
        // The thread that writes lives as long as this does.
        let _ = self.stdin.send(line);
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }
}

impl Generating for Generator {
    fn go_on(&mut self, at_ns: Option<u64>) {
        let mut line = at_ns.map_or_else(Vec::new, |at_monotonic_ns| {
            serde_json::to_vec(&GoOn { at_monotonic_ns }).expect("a number")
        });
        line.push(b'\n');
        self.tell(line);
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<LoadEvent>, GeneratorError> {
        match self.child.next_line(timeout) {
            NextLine::Silence => Ok(None),
            NextLine::Line(line) => match serde_json::from_str(&line) {
                Ok(LoadEvent::Failed { message }) => Err(GeneratorError::Failed(message)),
                Ok(event) => Ok(Some(event)),
                Err(error) => Err(GeneratorError::Garbled {
                    problem: error.to_string(),
                    line: line.chars().take(200).collect(),
                }),
            },
            NextLine::End => {
                let how = match self.child.wait(GRACE) {
                    Some(status) => status.to_string(),
                    None => "its output, though not its process".to_owned(),
                };
                Err(GeneratorError::Ended {
                    how,
                    tail: tail_in_words(&said(self.child.output().tail())),
                })
            }
        }
    }

    fn interrupt(&mut self) -> Duration {
        self.child.terminate();
        INTERRUPT_GRACE
    }

    fn is_silent_while_at_work(&self) -> bool {
        false
    }

    /// A result is there: it leaves by itself in a moment, or is killed.
    fn end(mut self: Box<Self>) -> (Vec<HostPart>, Vec<SeriesSample>) {
        self.child.wait(GRACE);
        self.child.kill();
        Default::default()
    }
}

/// What of a tail was meant for people: events are the protocol's.
fn said(tail: Vec<String>) -> Vec<String> {
    let is_event = |line: &String| line.trim_start().starts_with("{\"event\":");
    tail.into_iter().filter(|line| !is_event(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_no_last_words() {
        let tail = ["{\"event\":\"measuring\"}", "out of memory"].map(str::to_owned);
        assert_eq!(said(tail.to_vec()), ["out of memory"]);
    }
}
