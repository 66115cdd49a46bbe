//! The exit codes: a promise to scripts, listed in `throng --help`.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything asked for was done.
    Success,
    /// Something measured went wrong, or the measuring itself.
    Failed,
    /// What was asked for cannot be done as written.
    Usage,
    /// Ended early by the user: 128 + SIGINT, as shells have it.
    Interrupted,
}

impl Exit {
    /// The number that the shell sees.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
