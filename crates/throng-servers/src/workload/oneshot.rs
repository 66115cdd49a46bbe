//! One question, one answer, and the server closes first: the server of the published backlog experiment, which slept for
//! the time that a request was to take.
//!
//! *A question has no end mark.* Whatever the first read brings is the question; the published client sent 14 bytes.
//!
//! *The close is plain,* as the published server's was: what the client sends beside its question is not waited for, and
//! where it has come unread the kernel resets the connection.

use std::time::Duration;

use super::{Session, Then};

/// The published server's 23 bytes. It is no complete HTTP: neither was that one's.
const ANSWER: &[u8; 23] = b"HTTP/1.1 200 OK\r\n\r\nok\r\n";

/// A question that is not asked yet, or whose answer waits.
#[derive(Debug)]
pub(crate) struct Oneshot {
    delay: Duration,
}

impl Session for Oneshot {
    /// How long each answer waits.
    type Settings = Duration;

    fn begin(delay: &Duration) -> Self {
        Self { delay: *delay }
    }

    fn input(&mut self, _bytes: &[u8], output: &mut Vec<u8>) -> Then {
        if self.delay.is_zero() {
            self.resume(output)
        } else {
            Then::Wait(self.delay)
        }
    }

    /// Nothing was asked.
    fn end_of_input(&mut self, _output: &mut Vec<u8>) -> Then {
        Then::Close
    }

    fn resume(&mut self, output: &mut Vec<u8>) -> Then {
        output.extend_from_slice(ANSWER);
        Then::Close
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_are_answered_at_once_or_after_the_delay() {
        let mut output = Vec::new();
        let mut session = Oneshot::begin(&Duration::ZERO);
        assert_eq!(session.input(b"G", &mut output), Then::Close);
        assert_eq!(output, ANSWER);

        let delay = Duration::from_millis(40);
        let mut session = Oneshot::begin(&delay);
        output.clear();
        let then = session.input(b"GET / HTTP/1.1", &mut output);
        assert_eq!((then, output.len()), (Then::Wait(delay), 0));
        assert_eq!(session.resume(&mut output), Then::Close);
        assert_eq!(output, ANSWER);
    }

    #[test]
    fn silence_is_not_answered() {
        let mut output = Vec::new();
        let mut session = Oneshot::begin(&Duration::from_secs(1));
        assert_eq!(session.end_of_input(&mut output), Then::Close);
        assert!(output.is_empty());
    }
}
