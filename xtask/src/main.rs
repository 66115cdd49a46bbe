//! `cargo xtask`: the project's automation, in Rust, so that it needs nothing that the project does not need anyway.
//!
//! `ci` is the one gate: what passes it may land. `test` runs every test. `bench` measures the instrument itself.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a terminal: its report is its purpose"
)]

mod bench;
mod cargo;
mod ci;
mod judge;
mod picture;
mod rules;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's automation.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Everything that must hold before a change lands: format, rules, lints, tests, documentation, generated files.
    Ci,
    /// Every test of the workspace.
    Test(test::TestArguments),
    /// throng beside captures, kernel counters and servers of known behaviour; writes docs/results/truth.md.
    Judge,
    /// A chart of a run as a picture, for documents.
    Picture(picture::PictureArguments),
    /// The pictures of the README and of the guide, from the records in docs/results/records.
    Pictures,
    /// What the instrument itself costs, as ratios measured side by side.
    Bench(bench::BenchArguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Ci => ci::run(),
        Command::Test(arguments) => test::run(&arguments),
        Command::Judge => judge::run(),
        Command::Picture(arguments) => picture::run(&arguments),
        Command::Pictures => picture::all(),
        Command::Bench(arguments) => bench::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
