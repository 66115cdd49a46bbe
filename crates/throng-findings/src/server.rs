//! How it stands with a server at the end of a trial, and what it said that it had done.

use crate::asked::Asked;

/// How a built-in server begins to tell that it had no descriptor, or no memory, for a further connection.
pub(crate) const PAUSED: &str = "accepting was paused";
/// What it says of connections that it had nothing to serve with, such as a thread.
const CLOSED_UNSERVED: &str = "connections were closed unserved";

/// The end of a launched server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// It had ended before it was told to.
    pub died_early: bool,
    /// It did not leave in time.
    pub was_killed: bool,
    /// It exited with 0.
    pub succeeded: bool,
    /// Its exit status in words.
    pub how: String,
    /// A built-in server's last words.
    pub served: Option<Served>,
    /// Its last output; of several services that of the one that `how` is of.
    pub tail: Vec<String>,
    /// The last output of each, where several services are one target.
    pub tails: Vec<Vec<String>>,
}

/// `served connections=N bytes=M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Connections.
    pub connections: u64,
    /// Bytes of answers.
    pub bytes: u64,
}

impl Ending {
    /// What a built-in server noted at its end.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        let lines = self.tail.iter();
        lines.filter_map(|line| line.strip_prefix("note: "))
    }

    /// The note of a limit at which it accepted no more, or closed what it had accepted.
    pub(crate) fn note_of_limit(&self) -> Option<&str> {
        self.notes()
            .find(|note| note.starts_with(PAUSED) || note.contains(CLOSED_UNSERVED))
    }

    /// Whether it closed connections that it had accepted, for want of something to serve them with.
    pub(crate) fn closed_unserved(&self) -> bool {
        self.notes().any(|note| note.contains(CLOSED_UNSERVED))
    }

    #[cfg(test)]
    pub(crate) fn in_order_for_tests() -> Self {
        Self {
            died_early: false,
            was_killed: false,
            succeeded: true,
            how: "exit status: 0".to_owned(),
            served: None,
            tail: vec![],
            tails: vec![],
        }
    }
}

/// How it stands with the server at the end of a trial.
#[derive(Clone, Debug, Default)]
pub enum LifeEnd {
    /// It was not started here, and is not ended here.
    #[default]
    NotOurs,
    /// It serves the next trial as well.
    LivesOn,
    /// This trial was its last.
    Ended(Ending, Asked),
}

impl LifeEnd {
    /// How it ended, if it has and it was ours.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        match self {
            Self::Ended(ending, _) => Some(ending),
            Self::NotOurs | Self::LivesOn => None,
        }
    }
}
