//! The closed vocabulary of concurrency models, the same in file names, flags, records and charts.

use std::fmt;
use std::str::FromStr;

/// How a server shares its attention between connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// One thread for each connection, whose reads and writes block.
    ThreadPerConnection,
    /// One thread that asks `poll(2)` about every connection.
    Poll,
    /// One thread that edge-triggered `epoll(7)` tells about changes.
    EpollEdge,
    /// One thread that submits operations to `io_uring(7)` and is told of their completion.
    IoUring,
}

/// The name of no model.
#[derive(Debug, thiserror::Error)]
#[error("there is no built-in server model '{given}'; there are: {}", names())]
pub struct UnknownModel {
    /// As written.
    pub given: String,
}

impl Model {
    /// Every model, from the oldest idea to the newest.
    pub const ALL: [Self; 4] = [
        Self::ThreadPerConnection,
        Self::Poll,
        Self::EpollEdge,
        Self::IoUring,
    ];

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ThreadPerConnection => "thread-per-connection",
            Self::Poll => "poll",
            Self::EpollEdge => "epoll-edge",
            Self::IoUring => "io-uring",
        }
    }

    /// What it does, in a line.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::ThreadPerConnection => "a thread for each connection, blocking reads and writes",
            Self::Poll => "one thread, poll(2) over all connections at every turn",
            Self::EpollEdge => "one thread, edge-triggered epoll(7)",
            Self::IoUring => {
                "one thread, io_uring(7): multishot accept and receive, provided buffers"
            }
        }
    }

    /// How many connections it serves at the same time, where that is bounded by its design (a pool's size, 1 for an
    /// iterative server) and not only by the machine. `None`: unbounded.
    #[must_use]
    pub fn serves_at_once(self) -> Option<u64> {
        match self {
            Self::ThreadPerConnection | Self::Poll | Self::EpollEdge | Self::IoUring => None,
        }
    }

    /// Threads of its process with that many connections open: what an observer must find for the server to be what
    /// it says it is. Each of these models is one process.
    #[must_use]
    pub fn expected_threads(self, connections: u64) -> u64 {
        match self {
            Self::ThreadPerConnection => connections + 1,
            Self::Poll | Self::EpollEdge | Self::IoUring => 1,
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Self, UnknownModel> {
        Self::ALL
            .into_iter()
            .find(|model| model.name() == text)
            .ok_or_else(|| UnknownModel {
                given: text.to_owned(),
            })
    }
}

fn names() -> String {
    Model::ALL.map(Model::name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for model in Model::ALL {
            assert_eq!(model.name().parse::<Model>().expect("a name"), model);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "epol-edge"
            .parse::<Model>()
            .expect_err("unknown")
            .to_string();
        assert!(
            error.contains("'epol-edge'") && error.contains("epoll-edge"),
            "{error}"
        );
    }
}
