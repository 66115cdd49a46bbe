//! A server of the catalogue, as its `server.toml` declares it: the words of `catalogue/CONTRACT.md`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ContractStanding;

/// What serves a connection: the closed vocabulary of models, observed by the contract's check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DeclaredModel {
    /// One thread that is told of readiness.
    EventLoop,
    /// Several such threads.
    EventLoops,
    /// Several processes with a loop each.
    EventLoopProcesses,
    /// A thread of the kernel's for each connection.
    ThreadPerConnection,
    /// Two of them.
    TwoThreadsPerConnection,
    /// One of a fixed number of threads.
    ThreadPool,
    /// One of a fixed number of processes.
    ProcessPool,
    /// A process of the kernel's for each connection.
    ProcessPerConnection,
    /// A light task for each connection; all of them on one thread.
    Tasks,
    /// A light task for each connection; tasks share several threads (M:N).
    TasksOnThreads,
}

impl DeclaredModel {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::EventLoop => "event-loop",
            Self::EventLoops => "event-loops",
            Self::EventLoopProcesses => "event-loop-processes",
            Self::ThreadPerConnection => "thread-per-connection",
            Self::TwoThreadsPerConnection => "two-threads-per-connection",
            Self::ThreadPool => "thread-pool",
            Self::ProcessPool => "process-pool",
            Self::ProcessPerConnection => "process-per-connection",
            Self::Tasks => "tasks",
            Self::TasksOnThreads => "tasks-on-threads",
        }
    }

    /// Whether several threads or processes serve, whose number does not follow the connections: then it may be asked for.
    #[must_use]
    pub fn has_workers(self) -> bool {
        matches!(
            self,
            Self::EventLoops
                | Self::EventLoopProcesses
                | Self::ThreadPool
                | Self::ProcessPool
                | Self::TasksOnThreads
        )
    }
}

/// What a runtime cannot do, so that its server need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContractException {
    /// The end of input is not answered by the rest of the output and its end.
    HalfClose,
    /// A client that does not read holds up others, or what is kept for it grows without bound.
    SlowReader,
    /// The length asked of the accept queue has no effect.
    Backlog,
    /// A Unix socket is refused.
    Unix,
    /// Requests of HTTP that came together are not answered in order.
    Pipelining,
    /// Malformed input of HTTP is not answered by 400.
    Malformed,
    /// A connection is closed after its first reply.
    OneRequest,
}

impl ContractException {
    /// Every one.
    pub const ALL: [Self; 7] = [
        Self::HalfClose,
        Self::SlowReader,
        Self::Backlog,
        Self::Unix,
        Self::Pipelining,
        Self::Malformed,
        Self::OneRequest,
    ];

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::HalfClose => "half-close",
            Self::SlowReader => "slow-reader",
            Self::Backlog => "backlog",
            Self::Unix => "unix",
            Self::Pipelining => "pipelining",
            Self::Malformed => "malformed",
            Self::OneRequest => "one-request",
        }
    }
}

impl fmt::Display for DeclaredModel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl fmt::Display for ContractException {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A server of the catalogue as a target. What its `server.toml` says is absent where that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CatalogueRecord {
    /// The directory of its language, for example `cpp`.
    pub language: String,
    /// Its own directory, for example `epoll`.
    pub server: String,
    /// What lists call it.
    pub title: Option<String>,
    /// What serves a connection, as declared.
    pub model: Option<DeclaredModel>,
    /// What runs it, for example `CPython`.
    pub runtime: Option<String>,
    /// The version of that as found before the first trial.
    pub runtime_version: Option<String>,
    /// Flags of its own that it is started with, without their hyphens, and their values.
    pub options: BTreeMap<String, String>,
    /// Whether the length asked of its accept queue has no effect, as it declares.
    pub ignores_backlog: bool,
    /// What the last check of the contract found; absent where it was not checked, or has changed since.
    pub contract: Option<ContractStanding>,
}

impl CatalogueRecord {
    /// `LANGUAGE/SERVER`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.language, self.server)
    }
}

/// A target that was asked for and is not measured here, since nothing on this machine can run it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// As the user wrote it.
    pub name: String,
    /// What is missing, and how to install it.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_are_read() {
        for model in [
            DeclaredModel::EventLoop,
            DeclaredModel::EventLoops,
            DeclaredModel::EventLoopProcesses,
            DeclaredModel::ThreadPerConnection,
            DeclaredModel::TwoThreadsPerConnection,
            DeclaredModel::ThreadPool,
            DeclaredModel::ProcessPool,
            DeclaredModel::ProcessPerConnection,
            DeclaredModel::Tasks,
            DeclaredModel::TasksOnThreads,
        ] {
            let word = serde_json::to_value(model).expect("a word");
            assert_eq!(word, model.name());
        }
        for exception in ContractException::ALL {
            let word = serde_json::to_value(exception).expect("a word");
            assert_eq!(word, exception.name());
        }
    }
}
