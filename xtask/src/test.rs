//! `cargo xtask test`: every test of the workspace, one closing line that sums them up, and what failed once more at the end.
//!
//! What cargo prints is passed on line by line as it comes. Programs whose tests fail do not keep the others from running.
//! Of a failure in the middle of ten thousand lines the end of a log shows nothing, and often the end is all that is kept.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Instant;

use crate::cargo;

/// Flags of `cargo xtask test`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct TestArguments {
    /// Only tests whose name contains this.
    name: Option<String>,
}

/// Runs the tests.
///
/// # Errors
/// Where one fails or does not compile.
pub(crate) fn run(arguments: &TestArguments) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mut command = cargo::command(&["test", "--workspace", "--locked", "--no-fail-fast"]);
    let mut child = command
        .args(&arguments.name)
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().expect("it was asked for");
    let mut total = Totals::default();
    let mut failures = Failures::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        total.add(&line);
        failures.add(&line);
    }
    let status = child.wait()?;
    println!(
        "{} tests passed, {} failed, in {} programs and {:.0} s",
        total.passed,
        total.failed,
        total.programs,
        start.elapsed().as_secs_f64()
    );
    if !status.success() {
        return Err(format!("cargo test ended with {status}{}", failures.in_words()).into());
    }
    Ok(())
}

/// What the closing lines of the test programs add up to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Totals {
    programs: u32,
    passed: u32,
    failed: u32,
}

impl Totals {
    /// Counts a program's closing line, `test result: ok. 7 passed; 0 failed; …`; any other line is left alone.
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        self.programs += 1;
        for part in result.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (count, what) = (
                words.next().and_then(|word| word.parse::<u32>().ok()),
                words.next(),
            );
            match (count, what) {
                (Some(count), Some("passed")) => self.passed += count,
                (Some(count), Some("failed")) => self.failed += count,
                _ => {}
            }
        }
    }
}

/// What the failed tests said.
#[derive(Debug, Default)]
struct Failures {
    /// The first lines of each panic: its test and its place, then its message.
    panics: Vec<String>,
    /// The last of them still goes on.
    is_open: bool,
}

impl Failures {
    /// Of each panic so much, in characters: the first words of a message say most.
    const PANIC_CHARACTERS_MAX: usize = 240;

    /// Takes note of a panic, from `thread 'NAME' (TID) panicked at PLACE:` to what the standard library adds to its message.
    fn add(&mut self, line: &str) {
        if line.starts_with("thread '") && line.contains(" panicked at ") {
            self.panics.push(line.to_owned());
            self.is_open = true;
        } else if line.is_empty()
            || line.starts_with("stack backtrace:")
            || line.starts_with("note: ")
        {
            self.is_open = false;
        } else if let Some(panic) = self.panics.last_mut().filter(|_| self.is_open) {
            panic.push(' ');
            panic.push_str(line.trim());
        }
    }

    /// A line for each, none where nothing panicked.
    fn in_words(&self) -> String {
        let shortened = |panic: &String| {
            let mut text: String = panic.chars().take(Self::PANIC_CHARACTERS_MAX).collect();
            if text.len() < panic.len() {
                text.push('…');
            }
            format!("\n  {text}")
        };
        self.panics.iter().map(shortened).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_said_again_in_a_line_each() {
        let mut failures = Failures::default();
        assert_eq!(failures.in_words(), "");
        let long = "x".repeat(1_000);
        for line in [
            "test counts ... FAILED",
            "---- counts stdout ----",
            "",
            "thread 'counts' (7) panicked at crates/throng/tests/a.rs:3:5:",
            "assertion `left == right` failed",
            "  left: 1",
            " right: 2",
            "stack backtrace:",
            "   0: __rustc::rust_begin_unwind",
            "",
            "thread 'other' panicked at crates/throng/tests/b.rs:1:1:",
            &long,
            "",
            "test result: FAILED. 3 passed; 2 failed",
        ] {
            failures.add(line);
        }
        let words = failures.in_words();
        let lines: Vec<&str> = words.lines().collect();
        assert_eq!(
            lines[..2],
            [
                "",
                "  thread 'counts' (7) panicked at crates/throng/tests/a.rs:3:5: assertion `left == right` failed left: 1 right: 2"
            ]
        );
        assert!(
            lines[2].starts_with("  thread 'other' panicked at crates/throng/tests/b.rs:1:1: xxx")
        );
        assert!(lines[2].ends_with("x…") && lines[2].len() < 300, "{words}");
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn only_closing_lines_count() {
        let mut totals = Totals::default();
        for line in [
            "test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.19s",
            "test name ... ok",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 1 filtered out; finished in 1.00s",
        ] {
            totals.add(line);
        }
        assert_eq!(
            totals,
            Totals {
                programs: 2,
                passed: 10,
                failed: 2
            }
        );
    }
}
