//! What a failed accept means, and the pause that a full machine calls for (`accept(2)`, "Error handling").

use std::io;

use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use crate::note::Note;

/// Connections that a loop accepts before it looks at the others again.
pub(crate) const BATCH: usize = 64;

/// How long accepting rests after running out, unless a connection closes before: the waiting connection keeps the
/// listener readable, so without a rest the loop would spin.
const PAUSE_NS: u64 = 50 * MILLISECOND_NS;

/// What to do after a failed accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// No connection waits: go back to waiting.
    NoneWaits,
    /// That connection is gone (its peer gave up, a firewall refused it): the next one may be well.
    ThisOneOnly,
    /// No descriptor or memory is left, or something unknown happened: pause.
    Exhausted,
}

/// Classifies an accept's error. Whatever is not known to be harmless pauses, since it may come again at once.
pub(crate) fn failure(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::WouldBlock => Failure::NoneWaits,
        // Linux hands network errors of the new connection to accept.
        io::ErrorKind::ConnectionAborted
        | io::ErrorKind::Interrupted
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::NetworkDown
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::HostUnreachable => Failure::ThisOneOnly,
        _ => Failure::Exhausted,
    }
}

/// Whether accepting rests, and how often it had to.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    until_ns: Option<u64>,
    times: u64,
    cause: Option<io::Error>,
}

impl Pause {
    pub(crate) fn begin(&mut self, cause: io::Error) {
        self.until_ns = Some(monotonic_ns() + PAUSE_NS);
        self.count(cause);
    }

    /// Counts one that lasts until a connection closes, of which the loop itself keeps account.
    pub(crate) fn count(&mut self, cause: io::Error) {
        self.times += 1;
        self.cause.get_or_insert(cause);
    }

    /// Whether accepting rests now.
    pub(crate) fn is_on(&self) -> bool {
        self.until_ns.is_some()
    }

    /// What is left of it, 0 when it is over; `None` where accepting does not rest.
    pub(crate) fn remaining_ns(&self) -> Option<u64> {
        self.until_ns
            .map(|until_ns| until_ns.saturating_sub(monotonic_ns()))
    }

    /// Ends it; whether accepting did rest and is to be taken up again.
    pub(crate) fn end(&mut self) -> bool {
        self.until_ns.take().is_some()
    }

    pub(crate) fn into_note(self) -> Option<Note> {
        let times = self.times;
        self.cause.map(|cause| Note::AcceptPaused { times, cause })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_out_pauses_and_a_lost_peer_does_not() {
        const EMFILE: i32 = 24;
        const ENFILE: i32 = 23;
        const ENOBUFS: i32 = 105;
        const ECONNABORTED: i32 = 103;
        const EAGAIN: i32 = 11;
        for (error, expected) in [
            (EMFILE, Failure::Exhausted),
            (ENFILE, Failure::Exhausted),
            (ENOBUFS, Failure::Exhausted),
            (ECONNABORTED, Failure::ThisOneOnly),
            (EAGAIN, Failure::NoneWaits),
        ] {
            let error = io::Error::from_raw_os_error(error);
            assert_eq!(failure(&error), expected, "{error}");
        }
    }

    #[test]
    fn a_pause_is_counted_and_keeps_its_first_cause() {
        let mut pause = Pause::default();
        assert!(!pause.end(), "nothing to take up again");
        pause.begin(io::Error::other("first"));
        assert!(pause.remaining_ns().is_some_and(|left| left <= PAUSE_NS));
        assert!(pause.end());
        pause.begin(io::Error::other("second"));
        let Some(Note::AcceptPaused { times: 2, cause }) = pause.into_note() else {
            panic!("two pauses");
        };
        assert_eq!(cause.to_string(), "first");
    }
}
