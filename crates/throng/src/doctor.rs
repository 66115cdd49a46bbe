//! What this machine allows: each limit and setting that decides how many connections there can be, or how steady a figure
//! is, with what it means here and the command that improves it.
//!
//! Everything is read or tried and undone; nothing is changed.

mod capabilities;
mod cpu;
mod descriptors;
mod kernel;
mod network;
mod processes;

use serde::Serialize;

/// How a line is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// As it should be.
    Ok,
    /// Good to know; figures are right all the same.
    Note,
    /// Bounds what can be measured, or makes figures unsteady.
    Warn,
    /// Without it nothing can be measured.
    Unusable,
}

impl Status {
    /// The mark in words.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Unusable => "FAIL",
        }
    }
}

/// One line of the examination.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    /// What was looked at.
    pub(crate) name: &'static str,
    /// How it is meant.
    pub(crate) status: Status,
    /// What was found.
    pub(crate) found: String,
    /// What that means for throng.
    pub(crate) meaning: String,
    /// The command that improves it, where there is one.
    pub(crate) improve: Option<String>,
}

impl Line {
    fn new(
        name: &'static str,
        status: Status,
        found: impl Into<String>,
        meaning: impl Into<String>,
    ) -> Self {
        Self {
            name,
            status,
            found: found.into(),
            meaning: meaning.into(),
            improve: None,
        }
    }

    fn improve(mut self, command: impl Into<String>) -> Self {
        self.improve = Some(command.into());
        self
    }

    /// The command, only where something is to be improved.
    fn improve_unless_ok(self, command: impl Into<String>) -> Self {
        if self.status == Status::Ok {
            self
        } else {
            self.improve(command)
        }
    }
}

/// Lines about one thing.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Section {
    /// The thing.
    pub(crate) title: &'static str,
    /// The lines.
    pub(crate) lines: Vec<Line>,
}

/// Examines the machine. Takes about a quarter of a second, most of it to watch for stolen time.
pub(crate) fn examine() -> Vec<Section> {
    let limits = throng_lab::machine::limits();
    let section = |title, lines| Section { title, lines };
    vec![
        section(
            "Connections",
            [descriptors::lines(), network::lines(&limits)].concat(),
        ),
        section("Threads and processes", processes::lines(&limits)),
        section("Kernel interfaces", capabilities::lines()),
        section("TCP", kernel::lines()),
        section("Steadiness of figures", cpu::lines()),
    ]
}
