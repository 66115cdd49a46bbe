//! What a server met on its way that its user should hear of, although it went on.

use std::fmt;
use std::io;
use std::process::ExitStatus;

/// Something that did not end the server, counted, with its first cause.
#[derive(Debug)]
pub enum Note {
    /// Accepting was paused because the machine had nothing left for a further connection. Those who wanted to
    /// connect waited in the accept queue, or found it full.
    AcceptPaused {
        /// Pauses, each until a connection closed or 50 ms had passed.
        times: u64,
        /// The first failed accept, or that no loop had a place left.
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
    /// Worker processes ended without being asked to, and were replaced. What they served was cut off.
    WorkersReplaced {
        /// How many.
        workers: u64,
        /// How the first of them ended.
        status: ExitStatus,
    },
}

impl Note {
    /// Becomes one with the note of its kind that another part of the server has made, whose cause was the first.
    pub(crate) fn add_to(self, notes: &mut Vec<Self>) {
        for note in &mut *notes {
            match (note, &self) {
                (Self::AcceptPaused { times, .. }, Self::AcceptPaused { times: more, .. }) => {
                    *times += more;
                    return;
                }
                (
                    Self::Refused { connections, .. },
                    Self::Refused {
                        connections: more, ..
                    },
                ) => {
                    *connections += more;
                    return;
                }
                _ => {}
            }
        }
        notes.push(self);
    }
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
            Self::WorkersReplaced { workers, status } => write!(
                formatter,
                "worker processes died and were replaced, {workers} in all, the first with {status}; whom they served \
                 was cut off; look for the out-of-memory killer in the kernel's log (`dmesg`)"
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_one_kind_become_one() {
        let paused = |times, cause: &str| Note::AcceptPaused {
            times,
            cause: io::Error::other(cause),
        };
        let refused = |connections| Note::Refused {
            connections,
            cause: io::Error::other("full"),
            remedy: "empty it",
        };
        let mut notes = Vec::new();
        for note in [
            paused(2, "first"),
            refused(3),
            paused(5, "second"),
            refused(7),
        ] {
            note.add_to(&mut notes);
        }
        let texts: Vec<String> = notes.iter().map(Note::to_string).collect();
        assert_eq!(texts.len(), 2);
        assert!(
            texts[0].contains("paused 7 times, first because of: first"),
            "{texts:?}"
        );
        assert!(texts[1].starts_with("10 connections"), "{texts:?}");
    }
}
