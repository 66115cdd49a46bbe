//! `throng`: a laboratory for TCP servers under many connections.
//!
//! The binary parses flags, wires the crates together, writes to the user and exits; what is measured, served or
//! reported is the other crates' work. One command, one file, in [`command`].
#![forbid(unsafe_code)]

mod catalogue;
mod cli;
mod command;
mod doctor;
mod exit;
mod experiment;
mod failure;
mod flags;
mod gates;
mod interrupt;
mod output;
mod progress;
mod runs;
mod table;
mod verdict;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            match flags::of_other_experiment(&error, std::env::args().nth(1).as_deref()) {
                Some(refused) => {
                    let failure = experiment::plan_failure(refused);
                    failure.print();
                    return failure.exit.into();
                }
                None => error.exit(),
            }
        }
    };
    match cli.command.run() {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}
