//! Having a namespace made: starting the child that does it, and taking over what it made.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use throng_record::format::tail_in_words;
use throng_sys::namespace::Network;
use throng_sys::sysctl;

use super::error::Refusal;
use super::job::{NamespaceJob, NamespaceReport, SetUp};
use throng_child::{Child, Lines, NextLine, SpawnError};

/// It takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest report: some settings by name.
const REPORT_BYTES_MAX: u64 = 1 << 20;

/// Settings by dotted name.
type Values = BTreeMap<String, String>;

/// Makes namespaces, alike but for the plan's kernel settings.
#[derive(Debug)]
pub(super) struct Making<'a> {
    /// Values of the host that each is given first.
    pub(super) host: Values,
    /// All values that the plan has anywhere, by dotted name: what must never reach the host.
    pub(super) planned: BTreeMap<String, BTreeSet<String>>,
    pub(super) throng_program: &'a Path,
    pub(super) interrupted: &'a AtomicBool,
}

/// A namespace, and how it was set up.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) network: Network,
    pub(super) set_up: SetUp,
}

/// There is no namespace.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MakeError {
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Kernel(Refusal),
    #[error("the process that makes it: {0}")]
    Spawn(#[from] SpawnError),
    #[error("the process that makes it ended without a word ({how}){tail}")]
    Ended { how: String, tail: String },
    #[error("the process that makes it has told nothing for {} s", PATIENCE.as_secs())]
    Silent,
    #[error("interrupted")]
    Interrupted,
    #[error("a process cannot be started in it: {0}")]
    Enter(String),
    #[error("{0}")]
    System(#[from] io::Error),
}

impl Making<'_> {
    /// Makes one with these settings of the plan.
    pub(super) fn make(&self, kernel: &Values) -> Result<Made, MakeError> {
        let before = self.host_values();
        let made = self.hold(NamespaceJob {
            host: self.host.clone(),
            kernel: kernel.clone(),
        });
        // Whatever came of it: the host's settings are as they were.
        for (name, before) in before {
            self.see_to_host(&name, &before)
                .map_err(MakeError::Kernel)?;
        }
        made
    }

    /// Starts a program in it that does nothing, which may be refused on its own.
    pub(super) fn try_to_enter(&self, network: &Network) -> Result<(), MakeError> {
        let mut command = Command::new(self.throng_program);
        command.arg("--version").stdin(Stdio::null());
        network.join(&mut command);
        let mut child = Child::spawn(command, &[], Lines::Unwanted)
            .map_err(|error| MakeError::Enter(error.to_string()))?;
        match child.wait(PATIENCE) {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(MakeError::Enter(status.to_string())),
            None => Err(MakeError::Silent),
        }
    }

    fn hold(&self, job: NamespaceJob) -> Result<Made, MakeError> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(self.throng_program);
        command
            .arg("namespace")
            .stdin(Stdio::from(OwnedFd::from(theirs)));
        let lines = Lines::Wanted {
            longest_bytes: REPORT_BYTES_MAX,
        };
        let mut child = Child::spawn(command, &[], lines)?;
        // One that ends without reading its job tells why, or not, below.
        let job = serde_json::to_vec(&job).map_err(io::Error::from)?;
        ours.set_write_timeout(Some(PATIENCE))?;
        let _ = (&ours).write_all(&job);
        let _ = ours.shutdown(Shutdown::Write);
        match self.report(&mut child)? {
            NamespaceReport::Made(set_up) => Ok(Made {
                network: Network::receive(&ours)?,
                set_up,
            }),
            NamespaceReport::Refused(reason) => Err(MakeError::Refused(reason)),
            NamespaceReport::Kernel(refusal) => Err(MakeError::Kernel(refusal)),
        }
    }

    fn report(&self, child: &mut Child) -> Result<NamespaceReport, MakeError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match child.next_line(Duration::from_millis(20)) {
                NextLine::Line(line) => {
                    return serde_json::from_str(&line).map_err(|_| MakeError::Ended {
                        how: "it said something else".to_owned(),
                        tail: tail_in_words(&[line]),
                    });
                }
                NextLine::Silence if self.interrupted.load(Ordering::Relaxed) => {
                    return Err(MakeError::Interrupted);
                }
                NextLine::Silence if Instant::now() >= deadline => return Err(MakeError::Silent),
                NextLine::Silence => {}
                NextLine::End => {
                    let how = child
                        .wait(PATIENCE)
                        .map_or("its output".to_owned(), |status| status.to_string());
                    let tail = tail_in_words(&child.output().tail());
                    return Err(MakeError::Ended { how, tail });
                }
            }
        }
    }

    /// The host's values of all of the plan's settings.
    fn host_values(&self) -> Vec<(String, String)> {
        let names = self.planned.keys();
        names
            .filter_map(|name| Some((name.clone(), sysctl::read(name).ok()?)))
            .collect()
    }

    /// Kernels have had settings that a namespace could write and that were the whole machine's. Where the
    /// host has come to a value of the plan this is undone; any other change is somebody else's.
    fn see_to_host(&self, name: &str, before: &str) -> Result<(), Refusal> {
        let now = sysctl::read(name).unwrap_or_else(|_| before.to_owned());
        let mut planned = self.planned.get(name).into_iter().flatten();
        let is_planned = planned.any(|value| now.split_whitespace().eq(value.split_whitespace()));
        if now == before || !is_planned {
            return Ok(());
        }
        let name = name.to_owned();
        Err(match sysctl::network::put_back(&name, before) {
            Ok(()) => Refusal::Shared { name },
            Err(error) => Refusal::NotPutBack {
                name,
                before: before.to_owned(),
                problem: error.to_string(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use throng_sys::namespace::Entered;

    use super::*;

    /// In a namespace that plays the host: what a leaking kernel would have done to it is undone, and the run refused.
    #[test]
    fn a_setting_that_reached_the_host_is_put_back_and_refused() {
        let played = std::thread::spawn(|| {
            let Ok(host) = Entered::enter() else {
                // Only root can have one beside other threads.
                return;
            };
            let interrupted = AtomicBool::new(false);
            let name = "net.core.somaxconn";
            let making = Making {
                host: Values::new(),
                planned: [(name.to_owned(), ["17", "19"].map(str::to_owned).into())].into(),
                throng_program: Path::new("/nonexistent/throng"),
                interrupted: &interrupted,
            };
            let before = sysctl::read(name).expect("there");
            let see_to_host = || making.see_to_host(name, &before);
            assert_eq!(see_to_host(), Ok(()), "nothing has happened");
            host.set(name, "18").expect("set");
            assert_eq!(see_to_host(), Ok(()), "somebody else's change");
            for planned in ["17", "19"] {
                host.set(name, planned).expect("set");
                let shared = Refusal::Shared {
                    name: name.to_owned(),
                };
                assert_eq!(see_to_host(), Err(shared));
                assert_eq!(sysctl::read(name).expect("there"), before);
            }
        });
        played.join().expect("as asserted");
    }

    #[test]
    fn a_program_that_makes_no_network_is_told_with_its_output() {
        let interrupted = AtomicBool::new(false);
        let error = |program: &'static str| {
            let making = Making {
                host: Values::new(),
                planned: BTreeMap::new(),
                throng_program: Path::new(program),
                interrupted: &interrupted,
            };
            let made = making.make(&Values::new());
            made.expect_err(program).to_string()
        };
        assert!(
            error("false").contains("exit status: 1"),
            "{}",
            error("false")
        );
        assert!(
            error("echo").contains("something else"),
            "{}",
            error("echo")
        );
        assert!(error("/nonexistent/throng").contains("no such program"));
    }
}
