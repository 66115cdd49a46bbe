//! `cargo xtask ci`: the one gate, the same on every machine.
//!
//! Steps run one after another, cheap ones first, and the first that fails ends the run: what comes after it would only
//! bury its message. The closing list shows every step, how long it took, and what to run for the one that failed.

use std::error::Error;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::{cargo, rules, test};

type Action = fn() -> Result<(), Box<dyn Error>>;

/// One thing that must hold.
struct Step {
    name: &'static str,
    action: Action,
    /// What to run, or to read, when it does not.
    remedy: &'static str,
}

const STEPS: [Step; 8] = [
    Step {
        name: "format",
        action: || cargo::run(&mut cargo::command(&["fmt", "--all", "--check"])),
        remedy: "cargo fmt --all",
    },
    Step {
        name: "rules",
        action: rules::check,
        remedy: "each line above says what to change; the rules are explained in CONTRIBUTING.md",
    },
    Step {
        name: "lints",
        action: || {
            cargo::run(&mut cargo::command(&[
                "clippy",
                "--quiet",
                "--locked",
                "--workspace",
                "--all-targets",
                "--",
                "--deny=warnings",
            ]))
        },
        remedy: "cargo clippy --workspace --all-targets",
    },
    Step {
        name: "tests",
        action: || test::run(&test::TestArguments::default()),
        remedy: "cargo xtask test NAME, for the tests named above",
    },
    Step {
        name: "documentation",
        action: documentation,
        remedy: "RUSTDOCFLAGS='--deny=warnings' cargo doc --workspace --no-deps --document-private-items",
    },
    Step {
        name: "generated files",
        action: || {
            cargo::run(&mut cargo::command(&[
                "run", "--quiet", "--locked", "--", "generate", "--check", "docs",
            ]))
        },
        remedy: "cargo run -- generate docs",
    },
    Step {
        name: "runtimes",
        action: || {
            cargo::run(&mut Command::new(
                cargo::workspace().join("catalogue/runtimes.sh"),
            ))
        },
        remedy: "catalogue/runtimes.sh NAME, for the runtimes named above",
    },
    Step {
        name: "contract",
        // A server that cannot run here fails: its runtime was to be installed. The built-in models are held to it by tests.
        action: || {
            cargo::run(&mut cargo::command(&[
                "run",
                "--quiet",
                "--locked",
                "--",
                "servers",
                "check",
                "--strict",
                "--jobs",
                "2",
                "catalogue",
            ]))
        },
        remedy: "cargo run -- servers check NAME, for the servers named above; the clauses are explained in catalogue/CONTRACT.md",
    },
];

/// Runs every step, or all up to the first that fails.
///
/// # Errors
/// Names the step that failed and what to run.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let mut durations = Vec::new();
    let mut failed = None;
    for step in &STEPS {
        println!("── {}", step.name);
        let start = Instant::now();
        let result = (step.action)();
        durations.push(start.elapsed());
        if let Err(error) = result {
            failed = Some(format!("{}: {error}\nhint: {}", step.name, step.remedy));
            break;
        }
    }
    println!();
    for line in summary(&STEPS.map(|step| step.name), &durations, failed.is_some()) {
        println!("{line}");
    }
    match failed {
        Some(message) => Err(message.into()),
        None => Ok(()),
    }
}

/// A line for each step. There are durations of those that ran, and only the last of them can have failed.
fn summary(names: &[&str], durations: &[Duration], last_failed: bool) -> Vec<String> {
    names
        .iter()
        .enumerate()
        .map(|(index, name)| match durations.get(index) {
            None => format!("not run           {name}"),
            Some(duration) => {
                let is_last = index + 1 == durations.len();
                let word = if last_failed && is_last {
                    "FAILED"
                } else {
                    "ok"
                };
                format!("{word:<7}{:>8.1} s  {name}", duration.as_secs_f64())
            }
        })
        .collect()
}

fn documentation() -> Result<(), Box<dyn Error>> {
    let mut command = cargo::command(&[
        "doc",
        "--quiet",
        "--locked",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ]);
    cargo::run(command.env("RUSTDOCFLAGS", "--deny=warnings"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_list_shows_what_passed_what_failed_and_what_never_ran() {
        let durations = [Duration::from_millis(1_500), Duration::from_secs(61)];
        let lines = summary(&["first", "second", "third"], &durations, true);
        assert_eq!(
            lines,
            [
                "ok          1.5 s  first",
                "FAILED     61.0 s  second",
                "not run           third"
            ]
        );
        let lines = summary(&["first"], &durations[..1], false);
        assert_eq!(lines, ["ok          1.5 s  first"]);
    }
}
