//! The closed vocabulary of concurrency models, the same in file names, flags, records and charts.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use throng_record::HandOver;

use crate::declaration::{Declaration, ServesAtOnce, Workers};
use crate::models::{
    compio, epoll_edge, epoll_level, epoll_reuseport, epoll_shared, fork_per_connection, io_uring,
    iterative, may, mio, poll, prefork, select, smol, thread_per_connection, thread_pool, tokio,
    two_threads_per_connection,
};

/// How a server shares its attention between connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// One thread that serves one connection after another, each from its first byte to its last.
    Iterative,
    /// A process forked for each connection, whose reads and writes block.
    ForkPerConnection,
    /// A fixed number of processes that block in accept, each with one connection at a time.
    Prefork,
    /// One thread for each connection, whose reads and writes block.
    ThreadPerConnection,
    /// Two threads for each connection: one that reads, and one that waits for what is to be written.
    TwoThreadsPerConnection,
    /// A fixed number of threads that block in accept, each with one connection at a time.
    ThreadPool,
    /// One thread that asks `select(2)` about every descriptor number up to the highest, 1023 at most.
    Select,
    /// One thread that asks `poll(2)` about every connection.
    Poll,
    /// One thread that level-triggered `epoll(7)` tells about ready connections.
    EpollLevel,
    /// One thread that edge-triggered `epoll(7)` tells about changes.
    EpollEdge,
    /// Several `epoll(7)` loops that accept from one listener.
    EpollShared,
    /// Several `epoll(7)` loops, each with a listener of its own on the same port.
    EpollReuseport,
    /// One thread that submits operations to `io_uring(7)` and is told of their completion.
    IoUring,
    /// One thread that mio tells about changes.
    Mio,
    /// A task for each connection on one thread of tokio's.
    TokioCurrentThread,
    /// A task for each connection on tokio's work-stealing threads.
    Tokio,
    /// A task for each connection on several threads that run smol's executor.
    Smol,
    /// A stackful coroutine for each connection on may's threads.
    May,
    /// A task for each connection on threads that each have a ring and an executor of compio's.
    Compio,
}

/// What kind of thing waits for a connection's next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// A thread blocked in a read.
    Threads,
    /// A process blocked in a read.
    Processes,
    /// A loop that the kernel tells which connections are ready.
    EventLoop,
    /// Several such loops, each on a thread of its own.
    EventLoops,
    /// A loop that the kernel tells which operations are complete.
    Completions,
    /// A task or coroutine that a runtime resumes on one of its threads.
    Tasks,
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
    pub const ALL: [Self; 19] = [
        Self::Iterative,
        Self::ForkPerConnection,
        Self::Prefork,
        Self::ThreadPerConnection,
        Self::TwoThreadsPerConnection,
        Self::ThreadPool,
        Self::Select,
        Self::Poll,
        Self::EpollLevel,
        Self::EpollEdge,
        Self::EpollShared,
        Self::EpollReuseport,
        Self::IoUring,
        Self::Mio,
        Self::TokioCurrentThread,
        Self::Tokio,
        Self::Smol,
        Self::May,
        Self::Compio,
    ];

    pub(crate) fn declaration(self) -> &'static Declaration {
        match self {
            Self::Iterative => &iterative::DECLARATION,
            Self::ForkPerConnection => &fork_per_connection::DECLARATION,
            Self::Prefork => &prefork::DECLARATION,
            Self::ThreadPerConnection => &thread_per_connection::DECLARATION,
            Self::TwoThreadsPerConnection => &two_threads_per_connection::DECLARATION,
            Self::ThreadPool => &thread_pool::DECLARATION,
            Self::Select => &select::DECLARATION,
            Self::Poll => &poll::DECLARATION,
            Self::EpollLevel => &epoll_level::DECLARATION,
            Self::EpollEdge => &epoll_edge::DECLARATION,
            Self::EpollShared => &epoll_shared::DECLARATION,
            Self::EpollReuseport => &epoll_reuseport::DECLARATION,
            Self::IoUring => &io_uring::DECLARATION,
            Self::Mio => &mio::DECLARATION,
            Self::TokioCurrentThread => &tokio::current_thread::DECLARATION,
            Self::Tokio => &tokio::work_stealing::DECLARATION,
            Self::Smol => &smol::DECLARATION,
            Self::May => &may::DECLARATION,
            Self::Compio => &compio::DECLARATION,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.declaration().name
    }

    /// What kind of model it is.
    #[must_use]
    pub fn family(self) -> Family {
        self.declaration().family
    }

    /// How it works, in a line.
    #[must_use]
    pub fn summary(self) -> &'static str {
        self.declaration().summary
    }

    /// How many connections it serves at once, in words: the rule, before a number of workers is known.
    #[must_use]
    pub fn serves_at_once(self) -> String {
        let declaration = self.declaration();
        match (declaration.serves_at_once, declaration.workers) {
            (ServesAtOnce::Unbounded, _) => "any number".to_owned(),
            (ServesAtOnce::OnePerWorker, Workers::Pool(usual)) => {
                format!("its workers ({usual})")
            }
            (ServesAtOnce::OnePerWorker, _) => "1".to_owned(),
            (ServesAtOnce::WithinFdSetSize, _) => "about 1,020".to_owned(),
        }
    }

    /// Whether it has a loop for each CPU it may use, so that a single CPU holds it back.
    #[must_use]
    pub fn uses_every_cpu(self) -> bool {
        self.declaration().workers == Workers::OnePerCpu
    }

    /// Whether it can listen on a Unix socket.
    #[must_use]
    pub fn serves_unix(self) -> bool {
        self.declaration().serves_unix
    }

    /// Whether `--accept-threads` says how many threads accept at each listener and hand each connection on.
    #[must_use]
    pub fn takes_accept_threads(self) -> bool {
        self.declaration().takes_accept_threads
    }

    /// Whether `--hand-over` says how a message comes from the thread that has read it to those that write it.
    #[must_use]
    pub fn takes_hand_over(self) -> bool {
        self == Self::TwoThreadsPerConnection
    }

    /// Whether it serves the broadcast workload: what one connection says goes to all.
    #[must_use]
    pub fn broadcasts(self) -> bool {
        self.declaration().broadcasts
    }

    /// Whether each of its loops has a descriptor table of its own, so that more workers hold more connections than `ulimit -n`.
    #[must_use]
    pub fn has_private_tables(self) -> bool {
        self == Self::EpollShared
    }

    /// Whether a connection has a thread or process of its own for as long as it is served, so that a delay occupies that
    /// and nobody else.
    #[must_use]
    pub fn blocks(self) -> bool {
        matches!(self.family(), Family::Threads | Family::Processes)
    }

    /// Workers it has when that many are asked for (none: its own number), `None` where threads follow connections.
    #[must_use]
    pub fn workers(self, asked: Option<NonZeroU32>) -> Option<NonZeroU32> {
        let own = match self.declaration().workers {
            Workers::One => NonZeroU32::MIN,
            Workers::OnePerConnection => return None,
            Workers::OnePerCpu => {
                let cpus = throng_sys::affinity::allowed_cpus().len();
                NonZeroU32::new(cpus as u32).unwrap_or(NonZeroU32::MIN)
            }
            Workers::Pool(usual) => usual,
        };
        Some(asked.unwrap_or(own))
    }

    /// Threads of all its processes with so many workers, accept threads, such a hand-over (as asked for) and so many open
    /// connections at one listener: what an observer must find for the server to be what it says it is. Where it serves fewer at once, count
    /// those served.
    #[must_use]
    pub fn expected_threads(
        self,
        workers: Option<NonZeroU32>,
        accept_threads: Option<NonZeroU32>,
        hand_over: Option<HandOver>,
        connections: u64,
    ) -> u64 {
        let accepting = if self.takes_accept_threads() {
            accept_threads.unwrap_or(NonZeroU32::MIN).get()
        } else {
            0
        };
        let handing_over = if self.takes_hand_over() {
            hand_over.unwrap_or_default().threads()
        } else {
            0
        };
        self.declaration().threads.at(workers, connections) + u64::from(accepting) + handing_over
    }

    /// Its processes, counted in the same way.
    #[must_use]
    pub fn expected_processes(self, workers: Option<NonZeroU32>, connections: u64) -> u64 {
        self.declaration().processes.at(workers, connections)
    }

    /// Whether its design sets no bound on the connections that it serves at once.
    #[must_use]
    pub fn serves_any_number(self) -> bool {
        self.declaration().serves_at_once == ServesAtOnce::Unbounded
    }

    /// Whether `--workers` may be this.
    #[must_use]
    pub fn takes_workers(self, asked: NonZeroU32) -> bool {
        match self.declaration().workers {
            Workers::One => asked.get() == 1,
            Workers::OnePerConnection => false,
            Workers::OnePerCpu | Workers::Pool(_) => true,
        }
    }
}

impl Family {
    /// The words for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Processes => "processes",
            Self::EventLoop => "event loop",
            Self::EventLoops => "event loops",
            Self::Completions => "completions",
            Self::Tasks => "tasks",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl fmt::Display for Family {
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
