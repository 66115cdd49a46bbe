//! Where a clause is tried: the server's starts, the clause's time, and what the server said last.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use super::is_declared;
use super::subject::Subject;
use throng_record::format::tail_in_words;
use throng_record::{ContractException, Workload};

/// How long a client waits for the next byte, or for room to send one.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same where the server has declared that it will not come.
const PATIENCE_IF_DECLARED: Duration = Duration::from_secs(3);
/// How long a clause may take: a thousand connections of a slow runtime on a busy machine took a minute.
const CLAUSE: Duration = Duration::from_secs(180);
/// How long a server may take to be ready, the first time that it is not, and from then on.
const READY: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(3)];

/// What was seen in place of what is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure(pub(super) String);

impl Failure {
    pub(super) fn of<T>(text: impl Into<String>) -> Result<T, Self> {
        Err(Self(text.into()))
    }

    /// The same, with what had been going on.
    pub(super) fn after(self, what: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {}", self.0))
    }
}

/// One clause being tried.
pub(super) struct Stage<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) workload: Workload,
    pub(super) patience: Duration,
    pub(super) deadline: Instant,
    was_never_ready: Cell<bool>,
    /// How the last server of this clause ended by itself, and the last of its output.
    last_words: RefCell<String>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(subject: &'a Subject<'a>) -> Self {
        Self {
            subject,
            workload: subject.usual_workload(),
            patience: PATIENCE,
            deadline: Instant::now(),
            was_never_ready: Cell::new(false),
            last_words: RefCell::default(),
        }
    }

    /// The next clause begins.
    pub(super) fn begin(&mut self, workload: Workload, is_declared_to_fail: bool) {
        self.workload = workload;
        self.patience = if is_declared_to_fail {
            PATIENCE_IF_DECLARED
        } else {
            PATIENCE
        };
        self.deadline = Instant::now() + CLAUSE;
        self.last_words.take();
    }

    /// Whether a connection is there for more than one request.
    pub(super) fn connections_last(&self) -> bool {
        self.workload != Workload::Oneshot
            && !is_declared(self.subject, ContractException::OneRequest)
    }

    /// `--listen ADDRESS … --workload NAME`.
    pub(super) fn words(&self, listen: &[&str]) -> Vec<String> {
        let addresses = listen.iter().flat_map(|&address| ["--listen", address]);
        let words = addresses.chain(["--workload", self.workload.name()]);
        words.map(str::to_owned).collect()
    }

    pub(super) fn ready_timeout(&self) -> Duration {
        READY[usize::from(self.was_never_ready.get())]
    }

    /// Whoever did not get ready once is not waited for so long again.
    pub(super) fn was_not_ready(&self) {
        self.was_never_ready.set(true);
    }

    pub(super) fn keep_last_words(&self, how_it_ended: Option<String>, tail: &[String]) {
        let ended = how_it_ended.map_or(String::new(), |how| {
            format!("\nthe server ended meanwhile ({how})")
        });
        *self.last_words.borrow_mut() = format!("{ended}{}", tail_in_words(tail));
    }

    pub(super) fn last_words(&self) -> String {
        self.last_words.borrow().clone()
    }
}
