//! A delay that the handler sleeps out itself, as a careless one does: to show what that does to an event loop, where
//! everybody else's messages wait behind it (head-of-line blocking).
//!
//! *Method.* It stands between a model and a workload's session, and sleeps where that asks for a wait, so no model
//! knows of it. What had been answered before is sent first: the session asks for a wait of no length, and sleeps when
//! that is over.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use super::{Audience, Session, Then};
use crate::delay;

/// A session whose waits occupy the thread.
#[derive(Debug)]
pub(crate) struct Inline<S> {
    session: S,
    stop: Arc<OwnedFd>,
    /// What is to be slept out when it is resumed.
    owed: Duration,
}

impl<S: Session> Inline<S> {
    fn sleep_out(&mut self, mut then: Then, output: &mut Vec<u8>) -> Then {
        while let Then::Wait(delay) = then {
            if !output.is_empty() {
                self.owed = delay;
                return Then::Wait(Duration::ZERO);
            }
            delay::sit_out(&self.stop, delay);
            then = self.session.resume(output);
        }
        then
    }
}

impl<S: Session> Session for Inline<S> {
    /// The session's own, and what becomes readable when the server is told to stop.
    type Settings = (S::Settings, Arc<OwnedFd>);

    const AUDIENCE: Audience = S::AUDIENCE;

    fn descriptor((_, stop): &Self::Settings) -> Option<BorrowedFd<'_>> {
        Some(stop.as_fd())
    }

    fn begin((settings, stop): &Self::Settings) -> Self {
        Self {
            session: S::begin(settings),
            stop: Arc::clone(stop),
            owed: Duration::ZERO,
        }
    }

    fn greet(&mut self, output: &mut Vec<u8>) {
        self.session.greet(output);
    }

    fn input(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Then {
        let then = self.session.input(bytes, output);
        self.sleep_out(then, output)
    }

    fn end_of_input(&mut self, output: &mut Vec<u8>) -> Then {
        let then = self.session.end_of_input(output);
        self.sleep_out(then, output)
    }

    fn resume(&mut self, output: &mut Vec<u8>) -> Then {
        delay::sit_out(&self.stop, std::mem::take(&mut self.owed));
        let then = self.session.resume(output);
        self.sleep_out(then, output)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    use super::*;
    use crate::workload::{Http, Oneshot};

    const DELAY: Duration = Duration::from_millis(20);

    fn stop() -> (UnixStream, Arc<OwnedFd>) {
        let (tell, told) = UnixStream::pair().expect("a pair");
        (tell, Arc::new(told.into()))
    }

    #[test]
    fn a_wait_is_slept_out_before_it_returns() {
        let (_tell, stop) = stop();
        let mut session = Inline::<Oneshot>::begin(&(DELAY, stop));
        let mut output = Vec::new();
        let begin = Instant::now();
        assert_eq!(session.input(b"x", &mut output), Then::Close);
        assert!(begin.elapsed() >= DELAY);
        assert_eq!(output.len(), 23);
    }

    #[test]
    fn what_is_answered_is_sent_before_the_next_sleep() {
        let (_tell, stop) = stop();
        let mut session = Inline::<Http>::begin(&(Duration::ZERO, stop));
        let mut output = Vec::new();
        let two = b"GET / HTTP/1.1\r\n\r\nGET /?delay=20 HTTP/1.1\r\n\r\n";
        assert_eq!(session.input(two, &mut output), Then::Wait(Duration::ZERO));
        assert!(!output.is_empty());
        output.clear();
        let begin = Instant::now();
        assert_eq!(session.resume(&mut output), Then::Read);
        assert!(begin.elapsed() >= DELAY && !output.is_empty());
    }

    #[test]
    fn being_told_to_stop_ends_the_sleep() {
        let (tell, stop) = stop();
        drop(tell);
        let hour = Duration::from_secs(3600);
        let mut session = Inline::<Oneshot>::begin(&(hour, stop));
        let mut output = Vec::new();
        assert_eq!(session.input(b"x", &mut output), Then::Close);
        assert_eq!(output.len(), 23);
    }
}
