//! Whether a server keeps the contract of the catalogue (`catalogue/CONTRACT.md`): one result for each of its clauses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What serves a connection: the vocabulary in which a server declares its model.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DeclaredModel {
    /// One thread that is told of readiness.
    EventLoop,
    /// Several such threads.
    EventLoops,
    /// Several processes with a loop each.
    EventLoopProcesses,
    /// A thread of the kernel's.
    ThreadPerConnection,
    /// Two threads of the kernel's.
    TwoThreadsPerConnection,
    /// One of a fixed number of threads.
    ThreadPool,
    /// One of a fixed number of processes.
    ProcessPool,
    /// A process of the kernel's.
    ProcessPerConnection,
    /// A light task; all of them on one thread.
    Tasks,
    /// A light task; tasks share several threads.
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
}

/// What a server may declare that its runtime cannot do.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ContractException {
    /// The end of input is not answered by the rest of the output and its end.
    HalfClose,
    /// A client that does not read holds up others, or what is kept for it grows without bound.
    SlowReader,
    /// `--backlog` is accepted, and has no effect.
    Backlog,
    /// `--listen unix:…` is refused.
    Unix,
    /// Requests that came together are not answered in order.
    Pipelining,
    /// Malformed requests are not answered by 400.
    Malformed,
}

impl ContractException {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::HalfClose,
        Self::SlowReader,
        Self::Backlog,
        Self::Unix,
        Self::Pipelining,
        Self::Malformed,
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
        }
    }
}

/// What one server made of every clause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractReport {
    /// Its name.
    pub server: String,
    /// What it says that it is.
    pub model: DeclaredModel,
    /// Whether every clause was tried, and not left out because the check was ended early.
    pub complete: bool,
    /// In the order in which they were tried.
    pub clauses: Vec<ClauseRecord>,
}

/// One clause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClauseRecord {
    /// The clause, for example `half-close-large`.
    pub name: String,
    /// What the server was asked to serve.
    pub workload: String,
    /// The exception under which it may fail, where there is one.
    pub exception: Option<ContractException>,
    /// How long trying it took, the server's start included.
    pub took_ns: u64,
    /// What came of it.
    #[serde(flatten)]
    pub result: ClauseResult,
}

/// What came of a clause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum ClauseResult {
    /// The server keeps it.
    Held,
    /// It does not, and has not declared so.
    Failed {
        /// What was seen, with the last of the server's output.
        seen: String,
        /// What the contract asks for.
        due: String,
    },
    /// It fails, as declared.
    DeclaredAndFails {
        /// The server's reason.
        reason: String,
        /// What was seen.
        seen: String,
    },
    /// An exception is declared and none of the clauses under it fails: the exception must go.
    DeclaredButHolds {
        /// The server's reason.
        reason: String,
    },
    /// It has no meaning for this server, or cannot be tried here.
    NotApplicable {
        /// Why.
        because: String,
    },
}

impl ClauseResult {
    /// Whether it speaks against the server, or against what that declares.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::DeclaredButHolds { .. })
    }
}

impl ContractReport {
    /// Whether every clause was tried and none failed that was to hold, or held that was to fail.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.complete && self.failures().next().is_none()
    }

    /// The clauses that speak against the server.
    pub fn failures(&self) -> impl Iterator<Item = &ClauseRecord> {
        self.clauses
            .iter()
            .filter(|clause| clause.result.is_failure())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(results: &[ClauseResult]) -> ContractReport {
        let clause = |result: &ClauseResult| ClauseRecord {
            name: "a-clause".to_owned(),
            workload: "echo".to_owned(),
            exception: None,
            took_ns: 1,
            result: result.clone(),
        };
        ContractReport {
            server: "poll".to_owned(),
            model: DeclaredModel::EventLoop,
            complete: true,
            clauses: results.iter().map(clause).collect(),
        }
    }

    #[test]
    fn what_is_declared_must_fail_and_what_is_not_must_hold() {
        let (reason, seen) = ("it cannot".to_owned(), "nothing".to_owned());
        let fails = ClauseResult::DeclaredAndFails {
            reason: reason.clone(),
            seen: seen.clone(),
        };
        assert!(report(&[ClauseResult::Held, fails]).is_kept());
        let holds = ClauseResult::DeclaredButHolds { reason };
        assert!(!report(&[ClauseResult::Held, holds]).is_kept());
        let due = "bytes".to_owned();
        let failed = report(&[ClauseResult::Failed { seen, due }, ClauseResult::Held]);
        assert_eq!(failed.failures().count(), 1);
        assert!(!failed.is_kept());
    }

    #[test]
    fn one_that_was_ended_early_is_not_kept() {
        let mut report = report(&[ClauseResult::Held]);
        report.complete = false;
        assert!(!report.is_kept());
    }

    #[test]
    fn names_are_what_is_written_in_json() {
        for exception in ContractException::ALL {
            let json = serde_json::to_value(exception).expect("JSON");
            assert_eq!(json, exception.name());
        }
        let text = serde_json::to_string(&report(&[ClauseResult::Held])).expect("JSON");
        assert!(text.contains(r#""result":"held""#), "{text}");
        let read: ContractReport = serde_json::from_str(&text).expect("a report");
        assert_eq!(read, report(&[ClauseResult::Held]));
    }
}
