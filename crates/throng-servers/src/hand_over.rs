//! How a message comes from the thread that has read it to the threads that write it, as a word.

use std::fmt;
use std::str::FromStr;

/// The way from a connection's reader to everybody's writers, in the model of two threads for each connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HandOver {
    /// One list of messages under one mutex, and one condition variable that wakes every writer; each remembers how far it
    /// has come.
    #[default]
    Condvar,
    /// A queue for each connection: the reader puts the message into all of them.
    Queues,
    /// One more thread that alone knows everybody's queues: readers send it their messages.
    Broadcaster,
}

/// The name of no hand-over.
#[derive(Debug, thiserror::Error)]
#[error("there is no hand-over '{given}'; there are: {}", HandOver::ALL.map(HandOver::name).join(", "))]
pub struct UnknownHandOver {
    /// As written.
    pub given: String,
}

impl HandOver {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Condvar, Self::Queues, Self::Broadcaster];

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Condvar => "condvar",
            Self::Queues => "queues",
            Self::Broadcaster => "broadcaster",
        }
    }

    /// How it works, in a line.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::Condvar => {
                "one list under one mutex, and a condition variable that wakes every writer"
            }
            Self::Queues => "a queue for each connection, into which the reader puts the message",
            Self::Broadcaster => "one more thread, which alone fills every connection's queue",
        }
    }

    /// Threads of its own, however many connections there are.
    pub(crate) fn threads(self) -> u64 {
        match self {
            Self::Condvar | Self::Queues => 0,
            Self::Broadcaster => 1,
        }
    }
}

impl fmt::Display for HandOver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for HandOver {
    type Err = UnknownHandOver;

    fn from_str(text: &str) -> Result<Self, UnknownHandOver> {
        Self::ALL
            .into_iter()
            .find(|hand_over| hand_over.name() == text)
            .ok_or_else(|| UnknownHandOver {
                given: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_and_others_are_answered_with_them() {
        for hand_over in HandOver::ALL {
            let read: HandOver = hand_over.name().parse().expect("a name");
            assert_eq!(read, hand_over);
        }
        let error = "queue".parse::<HandOver>().expect_err("unknown");
        assert!(error.to_string().ends_with("condvar, queues, broadcaster"));
    }
}
