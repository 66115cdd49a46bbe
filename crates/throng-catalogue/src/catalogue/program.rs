//! Programs of the catalogue: which file a word of `server.toml` means, and what it prints when it is asked something short.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use throng_child::{Child, SpawnError};
use throng_child::{Lines, NextLine};

/// How often an interrupt is looked for.
const POLL: Duration = Duration::from_millis(20);

/// What a word means as a program: a path from the server's own directory, or a name that is looked for in `runtimes`, then in
/// PATH.
pub(super) fn find(word: &str, directory: &Path, runtimes: &Path) -> Option<PathBuf> {
    if word.contains('/') {
        let path = directory.join(word);
        return is_program(&path).then_some(path);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(runtimes.to_owned())
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join(word))
        .find(|path| path.is_absolute() && is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// How a command ended, and the last it said.
#[derive(Debug)]
pub(super) struct CommandOutput {
    /// `None`: it took too long, and was killed.
    pub(super) status: Option<ExitStatus>,
    /// Its first line on standard output with a digit in it.
    pub(super) number: Option<String>,
    /// Its last lines on both streams.
    pub(super) tail: Vec<String>,
}

/// Why a command has no end of its own.
#[derive(Debug)]
pub(super) enum CommandError {
    Spawn(SpawnError),
    Interrupted,
}

/// Runs a command to its end, for so long at most.
pub(super) fn run(
    mut command: Command,
    timeout: Duration,
    interrupted: &AtomicBool,
) -> Result<CommandOutput, CommandError> {
    command.stdin(Stdio::null());
    let lines = Lines::Wanted {
        longest_bytes: 4_096,
    };
    let mut child = Child::spawn(command, &[], lines).map_err(CommandError::Spawn)?;
    let deadline = Instant::now() + timeout;
    let mut number = None;
    let mut hear = |line: String| {
        if number.is_none() && line.contains(|letter: char| letter.is_ascii_digit()) {
            number = Some(line);
        }
    };
    let status = loop {
        match child.next_line(POLL) {
            NextLine::Line(line) => hear(line),
            NextLine::Silence => {}
            NextLine::End => std::thread::sleep(Duration::from_millis(2)),
        }
        if let Some(status) = child.exited() {
            break Some(status);
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(CommandError::Interrupted);
        }
        if Instant::now() >= deadline {
            child.kill();
            break None;
        }
    };
    let tail = child.output().tail();
    while let NextLine::Line(line) = child.next_line(Duration::ZERO) {
        hear(line);
    }
    Ok(CommandOutput {
        status,
        number,
        tail,
    })
}
