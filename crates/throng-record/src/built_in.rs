//! A built-in model as it declares itself: the words of lists and help, what a plan is resolved against, and what an observer
//! must find.
//!
//! The servers hold each declaration beside the code that makes it true, and the conformance tests hold them to it. The lab
//! launches servers and does not contain them: it is handed these.

use std::num::NonZeroU32;

use crate::DeclaredModel;

/// A model's statement of what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltInModel {
    /// The word for it, in file names, flags, records and charts.
    pub name: &'static str,
    /// What kind of model it is.
    pub family: Family,
    /// How it works, in a line.
    pub summary: &'static str,
    /// Who serves.
    pub workers: Workers,
    /// How many connections are served at the same time.
    pub serves_at_once: ServesAtOnce,
    /// Threads of all its processes together. Threads that do nothing but accept are not among them.
    pub threads: Count,
    /// Processes, counted in the same way.
    pub processes: Count,
    /// Whether it can listen on a Unix socket. Models whose loops share a TCP port cannot share a path.
    pub serves_unix: bool,
    /// Whether it has threads that do nothing but accept at a listener and hand each connection on: one, or as many as
    /// `--accept-threads` asks for.
    pub takes_accept_threads: bool,
    /// Whether `--hand-over` says how a message comes from the thread that has read it to those that write it.
    pub takes_hand_over: bool,
    /// Whether it serves the broadcast workload: what one connection says goes to all.
    pub broadcasts: bool,
    /// Whether each of its loops has a descriptor table of its own, so that more workers hold more connections than `ulimit -n`.
    pub has_private_tables: bool,
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

/// Who serves, and whether `--workers` changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// One loop, or one thread: `--workers 1` says nothing new, and anything else is refused.
    One,
    /// As many as there are connections: no fixed number is true.
    OnePerConnection,
    /// A loop for each CPU that the process may use, or as many as asked.
    OnePerCpu,
    /// A pool of this size, or as asked.
    Pool(NonZeroU32),
}

/// How many connections are served at the same time, where the design bounds that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServesAtOnce {
    /// As many as the machine has descriptors, memory, threads or processes for.
    Unbounded,
    /// One for each worker.
    OnePerWorker,
    /// As many as have descriptors below `FD_SETSIZE`, beside those that the server itself needs: about
    /// [`ServesAtOnce::BELOW_FD_SETSIZE`].
    WithinFdSetSize,
}

/// `fixed + workers × per_worker + connections × per_connection`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Whatever happens.
    pub fixed: u64,
    /// For each worker.
    pub per_worker: u64,
    /// For each open connection.
    pub per_connection: u64,
}

impl BuiltInModel {
    /// What most models have in common, so that each says how it differs: one thread serves any number of connections, in every
    /// workload and on every kind of address, and has no options. The words are each model's own.
    pub const ONE_THREAD: Self = Self {
        name: "",
        family: Family::EventLoop,
        summary: "",
        workers: Workers::One,
        serves_at_once: ServesAtOnce::Unbounded,
        threads: Count::ONE,
        processes: Count::ONE,
        serves_unix: true,
        takes_accept_threads: false,
        takes_hand_over: false,
        broadcasts: true,
        has_private_tables: false,
    };

    /// How many connections it serves at once, in words: the rule, before a number of workers is known.
    #[must_use]
    pub fn serves_at_once_in_words(&self) -> String {
        match (self.serves_at_once, self.workers) {
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
    pub fn uses_every_cpu(&self) -> bool {
        self.workers == Workers::OnePerCpu
    }

    /// Whether a connection has a thread or process of its own for as long as it is served, so that a delay occupies that
    /// and nobody else.
    #[must_use]
    pub fn blocks(&self) -> bool {
        matches!(self.family, Family::Threads | Family::Processes)
    }

    /// What it is called among servers of all languages.
    #[must_use]
    pub fn kind(&self) -> DeclaredModel {
        match (self.family, self.workers) {
            (Family::EventLoop | Family::Completions, _) => DeclaredModel::EventLoop,
            (Family::EventLoops, _) => DeclaredModel::EventLoops,
            (Family::Processes, Workers::OnePerConnection) => DeclaredModel::ProcessPerConnection,
            (Family::Processes, _) => DeclaredModel::ProcessPool,
            (Family::Threads, Workers::OnePerConnection) if self.threads.per_connection > 1 => {
                DeclaredModel::TwoThreadsPerConnection
            }
            (Family::Threads, Workers::OnePerConnection) => DeclaredModel::ThreadPerConnection,
            (Family::Threads, _) => DeclaredModel::ThreadPool,
            (Family::Tasks, Workers::One) => DeclaredModel::Tasks,
            (Family::Tasks, _) => DeclaredModel::TasksOnThreads,
        }
    }
}

impl AsRef<str> for BuiltInModel {
    fn as_ref(&self) -> &str {
        self.name
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

impl Workers {
    /// How many there are unless others are asked for, with so many CPUs; `None` where they follow connections.
    #[must_use]
    pub fn usual(self, cpus: u32) -> Option<u32> {
        match self {
            Self::One => Some(1),
            Self::OnePerConnection => None,
            Self::OnePerCpu => Some(cpus.max(1)),
            Self::Pool(usual) => Some(usual.get()),
        }
    }

    /// Whether `--workers` may be this.
    #[must_use]
    pub fn take(self, asked: u32) -> bool {
        match self {
            Self::One => asked == 1,
            Self::OnePerConnection => false,
            Self::OnePerCpu | Self::Pool(_) => true,
        }
    }
}

impl ServesAtOnce {
    /// `FD_SETSIZE`, less what the server itself needs.
    pub const BELOW_FD_SETSIZE: u32 = 1_020;
}

impl Count {
    /// A single one, whatever happens.
    pub const ONE: Self = Self {
        fixed: 1,
        per_worker: 0,
        per_connection: 0,
    };

    /// With so many workers and open connections.
    #[must_use]
    pub fn at(self, workers: Option<NonZeroU32>, connections: u64) -> u64 {
        let workers = workers.map_or(0, |workers| u64::from(workers.get()));
        self.fixed + self.per_worker * workers + self.per_connection * connections
    }
}
