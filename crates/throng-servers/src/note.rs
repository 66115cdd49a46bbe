//! What a server met on its way that its user should hear of, although it went on.

use std::fmt;
use std::io;

/// Something that did not end the server, counted, with its first cause.
#[derive(Debug)]
pub enum Note {
    /// Accepting was paused because the machine had nothing left for a further connection. Those who wanted to
    /// connect waited in the accept queue, or found it full.
    AcceptPaused {
        /// Pauses, each until a connection closed or 50 ms had passed.
        times: u64,
        /// The first failed accept.
        cause: io::Error,
    },
    /// Connections were accepted and closed at once, unserved.
    Refused {
        /// How many.
        connections: u64,
        /// Why the first of them was.
        cause: io::Error,
        /// What to look at and change.
        remedy: &'static str,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AcceptPaused { times, cause } => write!(
                formatter,
                "accepting was paused {times} times, first because of: {cause}; raise the limit on open files \
                 (`ulimit -n`, fs.file-max) or hold fewer connections"
            ),
            Self::Refused {
                connections,
                cause,
                remedy,
            } => write!(
                formatter,
                "{connections} connections were closed unserved, the first because of: {cause}; {remedy}"
            ),
        }
    }
}

/// Counts the connections that were refused, and keeps why the first one was.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    connections: u64,
    cause: Option<io::Error>,
}

impl Refusals {
    pub(crate) fn add(&mut self, cause: io::Error) {
        self.connections += 1;
        self.cause.get_or_insert(cause);
    }

    pub(crate) fn into_note(self, remedy: &'static str) -> Option<Note> {
        let connections = self.connections;
        self.cause.map(|cause| Note::Refused {
            connections,
            cause,
            remedy,
        })
    }
}
