//! Commands whose output goes to a file, of which only the end is shown, and that only where one fails.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Lines of a failed command that are shown.
const LAST_LINES: usize = 15;

/// The log of one runtime.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
}

impl Log {
    /// Begins it anew.
    ///
    /// # Errors
    /// Where the file cannot be made.
    pub(super) fn begin(path: PathBuf) -> Result<Self, Box<dyn Error>> {
        let made = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| File::create(&path));
        match made {
            Ok(_) => Ok(Self { path }),
            Err(error) => Err(format!("cannot write {}: {error}", path.display()).into()),
        }
    }

    /// Runs a command to its end, without input.
    ///
    /// # Errors
    /// Where it cannot be started, or fails: the error has its last lines and says where the others are.
    pub(super) fn run(&self, command: &mut Command) -> Result<(), Box<dyn Error>> {
        let mut file = OpenOptions::new().append(true).open(&self.path)?;
        writeln!(file, "$ {}", words(command))?;
        let begun = file.metadata()?.len();
        let status = command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .status()
            .map_err(|error| {
                format!("cannot start {}: {error}", command.get_program().display())
            })?;
        if status.success() {
            return Ok(());
        }
        let said = fs::read(&self.path)?;
        let said = String::from_utf8_lossy(&said[usize::try_from(begun)?..]);
        Err(failure(&words(command), &status.to_string(), &said, &self.path).into())
    }
}

fn failure(command: &str, status: &str, said: &str, log: &Path) -> String {
    let lines: Vec<&str> = said.lines().collect();
    let mut message = format!("`{command}` ended with {status}");
    for line in &lines[lines.len().saturating_sub(LAST_LINES)..] {
        message.push_str("\n    ");
        message.push_str(line);
    }
    format!("{message}\nhint: all of it stands in {}", log.display())
}

/// The command as a person would type it.
fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_the_last_lines_and_the_place_of_the_others() {
        let said: String = (1..=40).map(|line| format!("line {line}\n")).collect();
        let message = failure("make", "exit status: 2", &said, Path::new("/cache/a.log"));
        assert!(message.starts_with("`make` ended with exit status: 2\n    line 26\n"));
        assert!(message.ends_with("    line 40\nhint: all of it stands in /cache/a.log"));
    }

    #[test]
    fn a_command_that_fails_is_told_with_what_it_said_and_not_with_what_others_said() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("logs/a.log");
        let log = Log::begin(path.clone()).expect("a log");
        let shell = |script: &str| log.run(Command::new("sh").args(["-c", script]));
        shell("echo first").expect("it succeeds");
        let error = shell("echo second; echo third >&2; exit 3").expect_err("it fails");
        let error = error.to_string();
        assert!(
            error.contains("exit status: 3\n    second\n    third\n"),
            "{error}"
        );
        assert!(!error.contains("first"), "{error}");
        let all = fs::read_to_string(path).expect("the log");
        assert!(all.contains("$ sh -c echo first\nfirst\n$ sh"), "{all}");
    }
}
