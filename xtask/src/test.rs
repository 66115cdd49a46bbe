//! `cargo xtask test`: every test of the workspace, and one closing line that sums them up.
//!
//! What cargo prints is passed on line by line as it comes. Programs whose tests fail do not keep the others from running.

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
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        total.add(&line);
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
        return Err(format!("cargo test ended with {status}").into());
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

#[cfg(test)]
mod tests {
    use super::*;

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
