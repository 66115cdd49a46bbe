//! What a model says of itself: the words of `throng servers`, and what an observer must find.
//!
//! Each model file holds its own declaration beside the code that makes it true; the conformance tests hold it to that.

use std::num::NonZeroU32;

use crate::model::Family;

/// A model's statement of what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declaration {
    /// The word for it, in file names, flags, records and charts.
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    /// How it works, in a line.
    pub(crate) summary: &'static str,
    pub(crate) workers: Workers,
    pub(crate) serves_at_once: ServesAtOnce,
    /// Threads of all its processes together: in the first place a fixed number, then for each worker, then for each
    /// open connection. Threads that do nothing but accept are not among them.
    pub(crate) threads: Count,
    /// Processes, counted in the same way.
    pub(crate) processes: Count,
    /// Whether it can serve a Unix socket. Models whose loops share a TCP port cannot share a path.
    pub(crate) serves_unix: bool,
    /// Whether it has threads that do nothing but accept at a listener and hand each connection on: one, or as many as
    /// `--accept-threads` asks for.
    pub(crate) takes_accept_threads: bool,
    /// Whether what one connection says can go to all.
    pub(crate) broadcasts: bool,
}

/// Who serves, and whether `--workers` changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workers {
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
pub(crate) enum ServesAtOnce {
    /// As many as the machine has descriptors, memory, threads or processes for.
    Unbounded,
    /// One for each worker.
    OnePerWorker,
    /// As many as have descriptors below `FD_SETSIZE`, beside those that the server itself needs.
    WithinFdSetSize,
}

/// `fixed + workers × per_worker + connections × per_connection`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) fixed: u64,
    pub(crate) per_worker: u64,
    pub(crate) per_connection: u64,
}

impl Count {
    /// A single one, whatever happens.
    pub(crate) const ONE: Self = Self {
        fixed: 1,
        per_worker: 0,
        per_connection: 0,
    };

    pub(crate) fn at(self, workers: Option<NonZeroU32>, connections: u64) -> u64 {
        let workers = workers.map_or(0, |workers| u64::from(workers.get()));
        self.fixed + self.per_worker * workers + self.per_connection * connections
    }
}
