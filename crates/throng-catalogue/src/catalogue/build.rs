//! Making a server: the command of `[build]`, into a directory that belongs to it.
//!
//! It is made anew when something of what it is made from has changed: the digest of that is kept beside what was made.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use throng_record::format::tail_in_words;

use super::manifest::{BUILD_PLACEHOLDER, Build};
use super::program::{self, CommandError};
use super::version::Version;
use super::{Cache, Server, digest};

/// Of one build, and of waiting for another process that builds the same.
const TIMEOUT: Duration = Duration::from_secs(600);
const POLL: Duration = Duration::from_millis(50);
const DIGEST: &str = ".throng-digest";

/// A server that could not be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum BuildError {
    #[error("cannot build {name}: `{command}` failed ({how}); correct its source or its server.toml{tail}", tail = tail_in_words(.tail))]
    Failed {
        name: String,
        command: String,
        how: String,
        tail: Vec<String>,
    },
    #[error("cannot build {name}: `{command}` took longer than {seconds} s, and was ended; run it by itself to see why{tail}", tail = tail_in_words(.tail))]
    TooLong {
        name: String,
        command: String,
        seconds: u64,
        tail: Vec<String>,
    },
    #[error("cannot build {name}: {problem}")]
    NotStarted { name: String, problem: String },
    #[error(
        "cannot build {name} in {path}: {source}; make that place writable, or set XDG_CACHE_HOME to another",
        path = .path.display()
    )]
    Folder {
        name: String,
        path: PathBuf,
        source: io::Error,
    },
    #[error("interrupted while a server was built")]
    Interrupted,
}

/// What one build needs.
pub(super) struct Builder<'a> {
    pub(super) server: &'a Server,
    pub(super) build: &'a Build,
    pub(super) cache: &'a Cache,
    pub(super) version: &'a Version,
    pub(super) interrupted: &'a AtomicBool,
}

impl Builder<'_> {
    /// Makes the server if it is not there as it should be. `on_build` is told when it is made.
    pub(super) fn up_to_date(&self, on_build: &mut dyn FnMut()) -> Result<(), BuildError> {
        let server = self.server;
        let place = self.cache.build(&server.language, &server.name);
        let folder = |source| BuildError::Folder {
            name: server.full_name(),
            path: place.clone(),
            source,
        };
        let parent = place.parent().unwrap_or(&place);
        fs::create_dir_all(parent).map_err(folder)?;
        let lock = File::create(place.with_added_extension("lock")).map_err(folder)?;
        self.wait_for(&lock, &folder)?;
        let digest = digest::of(server, &self.version.to_string(), &place).map_err(folder)?;
        let stamp = place.join(DIGEST);
        if fs::read_to_string(&stamp).is_ok_and(|kept| kept == digest) {
            return Ok(());
        }
        match fs::remove_dir_all(&place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(folder(error)),
            _ => {}
        }
        fs::create_dir_all(&place).map_err(folder)?;
        on_build();
        self.run(&place)?;
        fs::write(&stamp, digest).map_err(folder)
    }

    /// Another throng may be making the same.
    fn wait_for(
        &self,
        lock: &File,
        folder: &dyn Fn(io::Error) -> BuildError,
    ) -> Result<(), BuildError> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(folder(error)),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(folder(io::ErrorKind::TimedOut.into()));
                }
            }
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(BuildError::Interrupted);
            }
            std::thread::sleep(POLL);
        }
    }

    fn run(&self, place: &Path) -> Result<(), BuildError> {
        let (server, words) = (self.server, &self.build.command);
        let name = server.full_name();
        let command = words.join(" ");
        let Some(program) = program::find(&words[0], &server.directory, &self.cache.runtimes())
        else {
            let problem = format!("there is no program `{}`; install it", words[0]);
            return Err(BuildError::NotStarted { name, problem });
        };
        let mut started = Command::new(program);
        started
            .args(words[1..].iter().map(|word| fill_in(word, place)))
            .current_dir(&server.directory);
        let said = match program::run(started, TIMEOUT, self.interrupted) {
            Ok(said) => said,
            Err(CommandError::Interrupted) => return Err(BuildError::Interrupted),
            Err(CommandError::Spawn(error)) => {
                let problem = error.to_string();
                return Err(BuildError::NotStarted { name, problem });
            }
        };
        let tail = said.tail;
        match said.status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(BuildError::Failed {
                name,
                command,
                how: status.to_string(),
                tail,
            }),
            None => Err(BuildError::TooLong {
                name,
                command,
                seconds: TIMEOUT.as_secs(),
                tail,
            }),
        }
    }
}

/// The placeholder becomes the directory.
pub(super) fn fill_in(word: &str, place: &Path) -> String {
    word.replace(BUILD_PLACEHOLDER, &place.to_string_lossy())
}
