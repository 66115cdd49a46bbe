//! Whether a server keeps the contract of the catalogue (`catalogue/CONTRACT.md`), clause by clause, before its figures
//! stand beside others'.
//!
//! *Method.* Each clause is tried on a server of its own, started for it alone, so that one that dies, hangs or is spoilt
//! fails the clause that did it and no other. What is seen is compared with what is due: bytes, ends of output,
//! exit statuses, the kernel's own account of listeners, processes and threads. Every wait ends: a client waits for the next
//! byte, the clause for its end.
//!
//! What a server declares that it cannot do is tried all the same. If none of the clauses under an exception fails, the
//! exception is wrong.
//!
//! *Left out on purpose.* Speed is compared with nothing. Where time matters (delays, leaving), bounds are so wide that a
//! busy machine does not pass them, and a server that is merely slow is not accused.

mod broadcast;
mod clause;
mod client;
mod counting;
mod crowd;
mod echo;
mod ending;
mod framed;
mod http;
mod http_text;
mod listening;
mod malformed;
mod observed;
mod oneshot;
mod planned;
mod refusals;
mod resets;
mod server;
mod slow_reader;
mod stage;
mod subject;
mod waiting;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use throng_record::{ClauseRecord, ClauseResult, ContractException, ContractReport};

use clause::{Clause, Verdict};
use stage::{Failure, Stage};
pub use subject::{MakeCommand, Subject};
use throng_record::Workload;

/// What is being tried, for whoever shows the progress.
#[derive(Clone, Copy, Debug)]
pub struct Trying<'a> {
    /// The clause.
    pub clause: &'a str,
    /// What the server is asked to serve.
    pub workload: Workload,
    /// How many were tried before it.
    pub done: usize,
    /// How many there are.
    pub total: usize,
}

/// Tries every clause that has a meaning for the server. It starts children that are bound to the calling thread. A clause that
/// has begun is carried to its end when the check is interrupted, and the report says that it is not complete.
pub fn check(
    subject: &Subject<'_>,
    interrupted: &AtomicBool,
    tell: &mut dyn FnMut(Trying<'_>),
) -> ContractReport {
    let planned = planned::clauses(subject);
    let mut stage = Stage::new(subject);
    let mut clauses = Vec::new();
    for (workload, clause) in &planned {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        tell(Trying {
            clause: clause.name,
            workload: *workload,
            done: clauses.len(),
            total: planned.len(),
        });
        clauses.push(attempt(&mut stage, *workload, clause));
    }
    let complete = clauses.len() == planned.len();
    if complete {
        expose_needless_exceptions(subject, &mut clauses);
    }
    ContractReport {
        server: subject.name.clone(),
        model: subject.model,
        complete,
        clauses,
    }
}

fn attempt(stage: &mut Stage<'_>, workload: Workload, clause: &Clause) -> ClauseRecord {
    let begin = Instant::now();
    let declared = clause
        .exception
        .and_then(|exception| stage.subject.exceptions.get(&exception));
    stage.begin(workload, declared.is_some());
    let outcome = (clause.run)(stage);
    let result = match (outcome, declared) {
        (Ok(Verdict::Holds), _) => ClauseResult::Held,
        (Ok(Verdict::Moot(because)), _) => ClauseResult::NotApplicable { because },
        (Err(Failure(seen)), Some(reason)) => ClauseResult::DeclaredAndFails {
            reason: reason.clone(),
            seen,
        },
        (Err(Failure(seen)), None) => ClauseResult::Failed {
            seen: format!("{seen}{}", stage.last_words()),
            due: clause.due.to_owned(),
        },
    };
    ClauseRecord {
        name: clause.name.to_owned(),
        workload: workload.name().to_owned(),
        exception: clause.exception,
        took_ns: begin.elapsed().as_nanos() as u64,
        result,
    }
}

/// Several clauses stand under one exception, and a runtime need not fail all of them. Where it fails none, the exception
/// is not true.
fn expose_needless_exceptions(subject: &Subject<'_>, clauses: &mut [ClauseRecord]) {
    for (&exception, reason) in &subject.exceptions {
        let mut under: Vec<&mut ClauseRecord> = clauses
            .iter_mut()
            .filter(|clause| clause.exception == Some(exception))
            .collect();
        if under.iter().any(|clause| is_as_declared(clause)) {
            continue;
        }
        for clause in &mut under {
            if clause.result == ClauseResult::Held {
                clause.result = ClauseResult::DeclaredButHolds {
                    reason: reason.clone(),
                };
            }
        }
    }
}

fn is_as_declared(clause: &ClauseRecord) -> bool {
    matches!(clause.result, ClauseResult::DeclaredAndFails { .. })
}

/// Whether a clause stands under an exception that the server declares.
fn is_declared(subject: &Subject<'_>, exception: ContractException) -> bool {
    subject.exceptions.contains_key(&exception)
}
