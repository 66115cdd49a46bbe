//! How long do all clients' requests take, against the least possible? The backlog experiment: a table for each target and each of whatever is swept
//! beside clients and requests, a row for each number of clients × requests.
//!
//! Times are medians over the trials, latencies those of all their connections together. The kernel's counts are medians, since they belong to a run as a
//! whole; failed and slow requests are sums, since one in a thousand counts. What was not seen is absent, and never 0.

pub(crate) mod notes;
pub mod published;
mod tables;

use serde::Serialize;
use throng_record::{ErrorCounts, ErrorKind, Setting, Stop, Trial};

use crate::figure::OneTrial;
use crate::format::{ABSENT, exact};
use crate::row::Row;

pub(crate) use tables::{Table, blocks, tables, times};

/// Requests that failed, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failures {
    /// The connect was answered by RST.
    pub refused: u64,
    /// Reset once connected.
    pub reset: u64,
    /// Closed by the server without a whole answer.
    pub closed: u64,
    /// No connection, or no answer, within its time.
    pub timed_out: u64,
    /// No local port was left for the connect.
    pub no_port: u64,
    /// Answered, and not rightly: wrong or excess bytes, another HTTP status.
    pub wrong: u64,
    /// Anything else.
    pub other: u64,
}

impl Failures {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.named().iter().map(|(number, _)| number).sum()
    }

    /// `8 closed, 2 refused`; 0 where none did.
    pub(crate) fn words(&self) -> String {
        let some: Vec<String> = self
            .named()
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, word)| format!("{} {word}", exact(number)))
            .collect();
        if some.is_empty() {
            "0".to_owned()
        } else {
            some.join(", ")
        }
    }

    /// Each kind with its word, the order of the tables.
    pub(crate) fn named(&self) -> [(u64, &'static str); 7] {
        [
            (self.refused, "refused"),
            (self.reset, "reset"),
            (self.closed, "closed"),
            (self.timed_out, "timed out"),
            (self.no_port, "without a port"),
            (self.wrong, "answered wrongly"),
            (self.other, "other"),
        ]
    }
}

/// Failures of one or more trials, by kind.
pub(crate) fn of_errors(errors: &ErrorCounts) -> Failures {
    by_kind(errors.counts.iter().map(|(&kind, &count)| (kind, count)))
}

/// Those of a row: of the trials that it stands on, without any those of all its trials.
pub(crate) fn failures(row: &Row) -> Failures {
    if row.figures.is_empty() {
        return by_kind(
            row.errors
                .iter()
                .map(|(&kind, failed)| (kind, failed.count)),
        );
    }
    let number = |key| row.value(key).unwrap_or_default() as u64;
    Failures {
        refused: number("refused"),
        reset: number("reset"),
        closed: number("closed"),
        timed_out: number("timed_out"),
        no_port: number("ports_exhausted"),
        wrong: number("wrong_answers"),
        other: number("other_errors"),
    }
}

pub(crate) fn by_kind(counts: impl Iterator<Item = (ErrorKind, u64)>) -> Failures {
    let mut failures = Failures::default();
    for (kind, count) in counts {
        *match kind {
            ErrorKind::ConnectRefused => &mut failures.refused,
            ErrorKind::Reset => &mut failures.reset,
            ErrorKind::ClosedEarly | ErrorKind::Truncated => &mut failures.closed,
            ErrorKind::ConnectTimedOut
            | ErrorKind::ReplyTimedOut
            | ErrorKind::ReplyStalled
            | ErrorKind::NotAcknowledged
            | ErrorKind::CloseTimedOut => &mut failures.timed_out,
            ErrorKind::PortsExhausted => &mut failures.no_port,
            ErrorKind::WrongBytes | ErrorKind::HttpStatus | ErrorKind::ExcessBytes => {
                &mut failures.wrong
            }
            ErrorKind::ConnectUnreachable
            | ErrorKind::DescriptorsExhausted
            | ErrorKind::NotDelivered
            | ErrorKind::DeliveredTwice
            | ErrorKind::Other => &mut failures.other,
        } += count;
    }
    failures
}

pub(crate) fn clients_by_requests(clients: u32, requests_each: Option<u64>) -> String {
    let each = requests_each.map_or_else(|| ABSENT.to_owned(), |each| each.to_string());
    format!("{clients} × {each}")
}

/// Whether the key is told by the rows, and not by the tables.
pub(crate) fn is_of_rows(key: &str) -> bool {
    matches!(key, "clients" | "connections") || is_requests(key)
}

/// Whether the key says how many requests there are.
pub(crate) fn is_requests(key: &str) -> bool {
    matches!(key, "requests" | "requests-total")
}

/// Requests of each client.
pub(crate) fn requests_each(setting: &Setting) -> Option<u64> {
    match setting.phases.exchange()?.stop {
        Stop::MessagesEach(each) => Some(each),
        Stop::Messages(_) | Stop::DurationNs(_) | Stop::Confidence { .. } => None,
    }
}

/// The backlog in force, as found: of which worth the trial is does not matter for it.
pub(crate) fn backlog_in_force(trial: &Trial) -> Option<u32> {
    let listeners = &trial.accept_queue.as_ref()?.listeners;
    listeners.first().map(|listener| listener.backlog)
}

/// Whether no trial is known to have had another backlog than was asked for.
pub(crate) fn is_as_asked(trials: &[&Trial], asked: u32) -> bool {
    let mut found = trials.iter().filter_map(|trial| backlog_in_force(trial));
    found.all(|found| found == asked)
}

/// All listeners of the port together where there are several.
pub(crate) fn accept_queue_max(one: &OneTrial<'_>) -> Option<f64> {
    let queue = one.trial.accept_queue.as_ref()?;
    let together = queue.depths.iter().map(|sample| sample.depth).max();
    let longest = queue
        .listeners
        .iter()
        .map(|listener| listener.depth_max)
        .max();
    together.max(longest).map(f64::from)
}
