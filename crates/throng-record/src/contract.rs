//! Whether a server keeps the contract of the catalogue (`catalogue/CONTRACT.md`): one result for each of its clauses.

use serde::{Deserialize, Serialize};

use crate::{ContractException, DeclaredModel};

/// What one server made of every clause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

/// What a check found of a server, as far as a run has to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContractStanding {
    /// The clauses that speak against the server, each with its workload: `half-close (echo)`. None: it keeps the contract.
    pub broken: Vec<String>,
}

/// What came of a clause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

    /// What runs that come after the check have to know of it; nothing where it was ended before anything was found.
    #[must_use]
    pub fn standing(&self) -> Option<ContractStanding> {
        let named = |clause: &ClauseRecord| format!("{} ({})", clause.name, clause.workload);
        let broken: Vec<String> = self.failures().map(named).collect();
        (self.complete || !broken.is_empty()).then_some(ContractStanding { broken })
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
        assert_eq!(report.standing(), None);
    }

    #[test]
    fn what_failed_stands_with_its_workload_even_if_the_check_was_ended_early() {
        let failed = || ClauseResult::Failed {
            seen: "nothing".to_owned(),
            due: "bytes".to_owned(),
        };
        let mut report = report(&[ClauseResult::Held, failed()]);
        let standing = report.standing().expect("it is complete");
        assert_eq!(standing.broken, ["a-clause (echo)"]);
        report.complete = false;
        assert_eq!(report.standing(), Some(standing));
    }

    #[test]
    fn who_keeps_the_contract_stands_with_nothing_against_it() {
        let standing = report(&[ClauseResult::Held]).standing();
        assert_eq!(standing, Some(ContractStanding { broken: vec![] }));
    }

    #[test]
    fn what_is_written_in_json_is_what_is_read() {
        let text = serde_json::to_string(&report(&[ClauseResult::Held])).expect("JSON");
        assert!(text.contains(r#""result":"held""#), "{text}");
        let read: ContractReport = serde_json::from_str(&text).expect("a report");
        assert_eq!(read, report(&[ClauseResult::Held]));
    }
}
