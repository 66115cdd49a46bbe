//! What a server answers, and how it passes messages on: the words that servers, plans, the catalogue and records share.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The wire behaviour of a server (`catalogue/CONTRACT.md`).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Every byte comes back, in order; the end of input is answered by the end of output.
    #[default]
    Echo,
    /// Each connection is greeted with `connected`, and every line that comes goes to all connections.
    Broadcast,
    /// HTTP/1.1 requests, each answered after a delay and after counting, where it asks for that.
    Http,
    /// What the first read brings is answered with the same 23 bytes; then the server closes.
    Oneshot,
    /// Frames of a length and JSON, each answered by one after counting.
    Framed,
}

/// How a message comes from the thread that has read it to those that write it, in the model of two threads for each
/// connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HandOver {
    /// One list of messages under one mutex, and one condition variable that wakes every writer; each remembers how far it
    /// has come.
    #[default]
    Condvar,
    /// A queue for each connection, into which the reader puts the message.
    Queues,
    /// One more thread that alone knows everybody's queues: readers send it their messages.
    Broadcaster,
}

/// A word of no meaning here.
#[derive(Debug, thiserror::Error)]
#[error("there is no {kind} '{given}'; there are: {known}")]
pub struct UnknownWord {
    kind: &'static str,
    given: String,
    known: String,
}

impl Workload {
    /// Every workload.
    pub const ALL: [Self; 5] = [
        Self::Echo,
        Self::Broadcast,
        Self::Http,
        Self::Oneshot,
        Self::Framed,
    ];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Broadcast => "broadcast",
            Self::Http => "http",
            Self::Oneshot => "oneshot",
            Self::Framed => "framed",
        }
    }

    /// What it answers, in a line.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::Echo => "every byte comes back",
            Self::Broadcast => "a greeting, then every line goes to all connections",
            Self::Http => {
                "HTTP/1.1, keep-alive; GET /?delay=40 waits 40 ms, GET /?count=1000 counts"
            }
            Self::Oneshot => "one answer to the first bytes, then it closes",
            Self::Framed => "frames of a length and JSON; {\"count\": 1000} counts",
        }
    }

    /// Whether its answers may be delayed.
    #[must_use]
    pub fn takes_delay(self) -> bool {
        matches!(self, Self::Http | Self::Oneshot)
    }
}

impl HandOver {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Condvar, Self::Queues, Self::Broadcaster];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
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
    #[must_use]
    pub fn threads(self) -> u64 {
        match self {
            Self::Condvar | Self::Queues => 0,
            Self::Broadcaster => 1,
        }
    }
}

/// Shows a word and reads it back.
macro_rules! words {
    ($($type:ty: $kind:literal)+) => { $(
        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                let mut all = Self::ALL.into_iter();
                all.find(|one| one.name() == text).ok_or_else(|| UnknownWord {
                    kind: $kind,
                    given: text.to_owned(),
                    known: Self::ALL.map(Self::name).join(", "),
                })
            }
        }
    )+ };
}
words!(Workload: "workload" HandOver: "hand-over");

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
        for workload in Workload::ALL {
            let read: Workload = workload.name().parse().expect("a name");
            assert_eq!(read, workload);
        }
        let error = "ech".parse::<Workload>().expect_err("unknown");
        let words = "there is no workload 'ech'; there are: echo, broadcast, http, oneshot, framed";
        assert_eq!(error.to_string(), words);
    }
}
