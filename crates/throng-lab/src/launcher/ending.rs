//! How a server ended, and what it said that it had done.

use std::time::Duration;

use throng_child::Child;
use throng_child::output::{self, NextLine};

/// How a built-in server begins to tell that it had no descriptor, or no memory, for a further connection.
pub(crate) const PAUSED: &str = "accepting was paused";
/// What it says of connections that it had nothing to serve with, such as a thread.
const CLOSED_UNSERVED: &str = "connections were closed unserved";

/// The end of a launched server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// It had ended before it was told to.
    pub(crate) died_early: bool,
    /// It did not leave in time.
    pub(crate) was_killed: bool,
    /// It exited with 0.
    pub(crate) succeeded: bool,
    /// Its exit status in words.
    pub(crate) how: String,
    /// A built-in server's last words.
    pub(crate) served: Option<Served>,
    /// Its last output.
    pub(crate) tail: Vec<String>,
}

/// `served connections=N bytes=M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    pub(crate) connections: u64,
    /// Bytes of answers.
    pub(crate) bytes: u64,
}

impl Ending {
    /// The last output as the end of an error message.
    pub(crate) fn tail_in_words(&self) -> String {
        output::tail_in_words(&self.tail)
    }

    /// What a built-in server noted at its end.
    pub(crate) fn notes(&self) -> impl Iterator<Item = &str> {
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
        }
    }
}

/// Looks for the last words among the lines that have not been read yet; the child has ended.
pub(super) fn served(child: &Child) -> Option<Served> {
    let mut served = None;
    while let NextLine::Line(line) = child.next_line(Duration::from_millis(300)) {
        served = parse(&line).or(served);
    }
    served
}

fn parse(line: &str) -> Option<Served> {
    let (connections, bytes) = line
        .strip_prefix("served connections=")?
        .split_once(" bytes=")?;
    Some(Served {
        connections: connections.parse().ok()?,
        bytes: bytes.trim().parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_read_and_nothing_else() {
        let served = Served {
            connections: 100,
            bytes: 6_000,
        };
        assert_eq!(parse("served connections=100 bytes=6000"), Some(served));
        for line in [
            "served connections=x bytes=1",
            "served connections=1",
            "ready tcp://127.0.0.1:1",
            "",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
