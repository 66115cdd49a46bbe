//! `throng`: a laboratory for TCP servers under many connections.
//!
//! The binary parses flags, wires the crates together, writes to the user and exits; what is measured, served or
//! reported is the other crates' work. One command, one file, in `command`.
#![forbid(unsafe_code)]

mod bounds;
mod catalogue;
mod cli;
mod command;
mod doctor;
mod exit;
mod experiment;
mod failure;
mod flags;
mod gates;
pub mod hosts;
mod interrupt;
mod output;
mod progress;
mod runs;
mod table;
mod verdict;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use hosts::Hosts;
/// What runs are kept as, for programs that conduct them.
pub use throng_record as record;

/// Carries out the command line of this process: all that the program does. Where the load is generated on other hosts, `hosts` are those.
#[must_use]
pub fn main(hosts: Option<&Hosts<'_>>) -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(error),
    };
    if hosts.is_some() {
        output::carry_on();
    }
    match cli.command.run(hosts) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}

fn refused(error: clap::Error) -> ExitCode {
    let refused = flags::of_other_experiment(&error, std::env::args().nth(1).as_deref());
    let Some(refused) = refused else {
        // Help and the version come this way too.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    };
    let failure = experiment::plan_failure(refused);
    failure.print();
    failure.exit.into()
}

/// Whether several hosts have a part in this command line: it measures, or examines them. Wrong ones count, so that one host complains for all.
#[must_use]
pub fn concerns_all_hosts(arguments: impl IntoIterator<Item = OsString>) -> bool {
    match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => cli.command.concerns_all_hosts(),
        Err(error) => error.use_stderr(),
    }
}
