//! The closed vocabulary of concurrency models, the same in file names, flags, records and charts. It is listed once; whatever
//! goes through all models is made from that list.

use std::fmt;
use std::num::NonZeroU32;
use std::os::fd::BorrowedFd;
use std::str::FromStr;

use throng_record::HandOver;

use crate::declaration::{Declaration, ServesAtOnce, Workers};
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::Session;

/// The list of models: each with the file that declares and serves it.
macro_rules! models {
    ($($model:ident: $($file:ident)::+,)+) => {
        /// How a server shares its attention between connections. Each is what its file declares it to be.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Model {
            $(#[doc = concat!("Declared in `models::", stringify!($($file)::+), "`.")] $model,)+
        }

        impl Model {
            /// Every model, from the oldest idea to the newest.
            pub const ALL: [Self; [$(Self::$model),+].len()] = [$(Self::$model),+];

            pub(crate) fn declaration(self) -> &'static Declaration {
                match self {
                    $(Self::$model => &crate::models::$($file)::+::DECLARATION,)+
                }
            }

            /// Serves until `stop` becomes readable.
            pub(crate) fn run<S: Session>(
                self,
                opening: &mut Opening<'_>,
                settings: &S::Settings,
                stop: BorrowedFd<'_>,
            ) -> Result<Served, ModelError> {
                match self {
                    $(Self::$model => {
                        crate::models::$($file)::+::serve::<S>(opening, settings, stop)
                    })+
                }
            }
        }
    };
}

models! {
    Iterative: iterative,
    ForkPerConnection: fork_per_connection,
    Prefork: prefork,
    ThreadPerConnection: thread_per_connection,
    TwoThreadsPerConnection: two_threads_per_connection,
    ThreadPool: thread_pool,
    Select: select,
    Poll: poll,
    EpollLevel: epoll_level,
    EpollEdge: epoll_edge,
    EpollShared: epoll_shared,
    EpollReuseport: epoll_reuseport,
    IoUring: io_uring,
    Mio: mio,
    TokioCurrentThread: tokio::current_thread,
    Tokio: tokio::work_stealing,
    Smol: smol,
    May: may,
    Compio: compio,
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
