//! Requests that failed, by what became of them.

use throng_record::{ErrorCounts, ErrorKind};

use crate::format::exact;
use crate::row::Row;

/// Requests that failed, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failures {
    /// The connect was answered by RST.
    pub(crate) refused: u64,
    /// Reset once connected.
    pub(crate) reset: u64,
    /// Closed by the server without a whole answer.
    pub(crate) closed: u64,
    /// No connection, or no answer, within its time.
    pub(crate) timed_out: u64,
    /// No local port was left for the connect.
    pub(crate) no_port: u64,
    /// Answered, and not rightly: wrong or excess bytes, another HTTP status.
    pub(crate) wrong: u64,
    /// Anything else.
    pub(crate) other: u64,
}

impl Failures {
    /// All of them.
    #[must_use]
    pub(crate) fn total(&self) -> u64 {
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
pub(crate) fn of_row(row: &Row) -> Failures {
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

fn by_kind(counts: impl Iterator<Item = (ErrorKind, u64)>) -> Failures {
    let mut failures = Failures::default();
    for (kind, count) in counts {
        *match kind {
            ErrorKind::ConnectRefused => &mut failures.refused,
            ErrorKind::Reset => &mut failures.reset,
            ErrorKind::ClosedEarly | ErrorKind::Truncated => &mut failures.closed,
            ErrorKind::ConnectTimedOut
            | ErrorKind::HandshakeTimedOut
            | ErrorKind::ReplyTimedOut
            | ErrorKind::ReplyStalled
            | ErrorKind::NotAcknowledged
            | ErrorKind::CloseTimedOut => &mut failures.timed_out,
            ErrorKind::PortsExhausted => &mut failures.no_port,
            ErrorKind::WrongBytes | ErrorKind::HttpStatus | ErrorKind::ExcessBytes => {
                &mut failures.wrong
            }
            ErrorKind::ConnectUnreachable
            | ErrorKind::CertificateRefused
            | ErrorKind::HandshakeFailed
            | ErrorKind::DescriptorsExhausted
            | ErrorKind::NotDelivered
            | ErrorKind::DeliveredTwice
            | ErrorKind::Other => &mut failures.other,
        } += count;
    }
    failures
}
