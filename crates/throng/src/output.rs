//! Where results go: standard output or a file. Everything else a user reads goes to standard error.
//!
//! A reader that closes early (`throng … | head -1`) has had enough: that is no error.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use serde::Serialize;
use terminal_size::{Width, terminal_size_of};
use throng_report::Options;

use crate::failure::Failure;

/// For whom a list or an examination is written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Audience {
    /// For people
    Terminal,
    /// For programs
    Json,
}

/// Texts, numbers and lists of them, for programs.
pub(crate) fn json(value: &impl Serialize) -> String {
    let text =
        serde_json::to_string_pretty(value).expect("texts, numbers and lists are always JSON");
    format!("{text}\n")
}

/// Writes results to `file`, or to standard output.
pub(crate) fn write(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = file else {
        return write_to_stdout(text);
    };
    std::fs::write(path, text).map_err(|error| {
        Failure::failed(format_args!("cannot write {}", path.display()))
            .cause(error)
            .hint("give another place with --output")
    })
}

/// Writes a page for a browser; into a terminal nobody wants megabytes of it.
pub(crate) fn write_page(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    if file.is_none() && is_terminal() {
        return Err(Failure::usage(format_args!(
            "a page of {} MB is nothing for a terminal",
            text.len() / 1_000_000
        ))
        .hint("name a file for it, such as --output report.html, and open that in a browser"));
    }
    write(text, file)
}

/// Whether what is written here is carried on by another program, whose own output may be no terminal although ours is one.
static IS_CARRIED_ON: AtomicBool = AtomicBool::new(false);

/// Standard output goes to the program that started this one: `mpirun` gives its processes a terminal, whatever its own output is.
pub(crate) fn carry_on() {
    IS_CARRIED_ON.store(true, Relaxed);
}

/// Whether somebody looks at standard output.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal() && !IS_CARRIED_ON.load(Relaxed)
}

fn write_to_stdout(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed("cannot write to standard output").cause(error))
        }
        _ => Ok(()),
    }
}

/// What a report may count on where it will be read.
pub(crate) fn report_options(file: Option<&Path>, is_full: bool) -> Options {
    match file {
        Some(_) => Options {
            is_full,
            ..Options::default()
        },
        None => Options {
            width: stdout_width(),
            colour: stdout_has_colour(),
            is_full,
        },
    }
}

/// Columns of the terminal that standard output is; `None` where it is none.
pub(crate) fn stdout_width() -> Option<u16> {
    let size = is_terminal().then(|| terminal_size_of(io::stdout()))?;
    size.map(|(Width(columns), _)| columns)
}

/// Whether colour may be written there: a terminal, and not forbidden by `NO_COLOR`.
pub(crate) fn stdout_has_colour() -> bool {
    let is_carried_on = IS_CARRIED_ON.load(Relaxed);
    !is_carried_on && AutoStream::choice(&io::stdout()) != ColorChoice::Never
}
