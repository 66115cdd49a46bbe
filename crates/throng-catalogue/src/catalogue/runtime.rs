//! Whether what a server needs is on this machine: its program is looked up, and asked for its version.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::manifest::{BUILD_PLACEHOLDER, Manifest};
use super::program::{self, CommandError};
use super::version::Version;
use super::{Cache, Server};

/// How long a program may take to print its version: the slowest start a virtual machine on a busy computer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What programs have said of their versions: each is asked once, however many servers need it.
#[derive(Debug, Default)]
pub struct Versions(Mutex<HashMap<Question, Arc<OnceLock<Answer>>>>);

/// A program, its arguments, and the directory, where an argument is a file in it.
type Question = (PathBuf, Vec<String>, Option<PathBuf>);
/// `None`: interrupted.
type Answer = Option<Result<Version, String>>;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuntimeFound {
    /// It is there, and new enough.
    Present {
        /// As it prints it.
        version: Version,
    },
    /// It is there, and too old.
    TooOld {
        /// As it prints it.
        version: Version,
    },
    /// It is not there, or cannot say its version.
    Missing {
        /// In a few words.
        why: String,
    },
}

impl RuntimeFound {
    /// What is in the way and what to do, as one line; `None` where nothing is.
    #[must_use]
    pub fn obstacle(&self, manifest: &Manifest) -> Option<String> {
        let runtime = &manifest.runtime;
        let what = match self {
            Self::Present { .. } => return None,
            Self::TooOld { version } => format!(
                "{} {version} is too old, {} is the least",
                runtime.name, runtime.least
            ),
            Self::Missing { why } => format!("{} is missing ({why})", runtime.name),
        };
        Some(format!("{what}; to install it: {}", runtime.install))
    }

    /// The version, where one was found that will do.
    #[must_use]
    pub fn version(&self) -> Option<&Version> {
        match self {
            Self::Present { version } => Some(version),
            Self::TooOld { .. } | Self::Missing { .. } => None,
        }
    }
}

/// Looks for everything that the server needs. `None`: interrupted.
pub(super) fn look(
    server: &Server,
    manifest: &Manifest,
    cache: &Cache,
    versions: &Versions,
    interrupted: &AtomicBool,
) -> Option<RuntimeFound> {
    let missing = |why: String| Some(RuntimeFound::Missing { why });
    let runtimes = cache.runtimes();
    let build = manifest.build.as_ref().map(|build| &build.command);
    let run = Some(&manifest.run).filter(|run| !run[0].contains(BUILD_PLACEHOLDER));
    for words in [Some(&manifest.runtime.version), build, run] {
        let Some(word) = words.map(|words| &words[0]) else {
            continue;
        };
        if program::find(word, &server.directory, &runtimes).is_none() {
            return missing(format!("there is no program `{word}`"));
        }
    }
    let words = &manifest.runtime.version;
    let program = program::find(&words[0], &server.directory, &runtimes)?;
    let said = versions.of(program, words, &server.directory, interrupted);
    said.map(|said| match said {
        Ok(version) if version < manifest.runtime.least => RuntimeFound::TooOld { version },
        Ok(version) => RuntimeFound::Present { version },
        Err(why) => RuntimeFound::Missing { why },
    })
}

impl Versions {
    /// Asks the program, or waits for the answer to who has asked before.
    fn of(
        &self,
        program: PathBuf,
        words: &[String],
        directory: &Path,
        interrupted: &AtomicBool,
    ) -> Answer {
        let is_of_directory = words[1..].iter().any(|word| directory.join(word).exists());
        let question = (
            program.clone(),
            words[1..].to_vec(),
            is_of_directory.then(|| directory.to_owned()),
        );
        let answer = {
            let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(asked.entry(question).or_default())
        };
        answer
            .get_or_init(|| ask(&program, words, directory, interrupted))
            .clone()
    }
}

fn ask(program: &Path, words: &[String], directory: &Path, interrupted: &AtomicBool) -> Answer {
    let line = words.join(" ");
    let mut command = Command::new(program);
    command.args(&words[1..]).current_dir(directory);
    let said = match program::run(command, TIMEOUT, interrupted) {
        Ok(said) => said,
        Err(CommandError::Interrupted) => return None,
        Err(CommandError::Spawn(error)) => return Some(Err(error.to_string())),
    };
    let last = said.tail.last().map(|line| line.trim().to_owned());
    Some(match said.status {
        None => Err(format!(
            "`{line}` printed no version within {} s",
            TIMEOUT.as_secs()
        )),
        Some(status) if !status.success() => Err(match last {
            Some(last) => format!("`{line}` says: {last}"),
            None => format!("`{line}` failed: {status}"),
        }),
        Some(_) => {
            // Some print it on standard error.
            let printed = said.number.unwrap_or_else(|| said.tail.join(" "));
            Version::first_in(&printed).ok_or_else(|| format!("`{line}` printed no version"))
        }
    })
}
