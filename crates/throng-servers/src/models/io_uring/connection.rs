//! A connection's side of the `io-uring` model: what comes may come at the wrong time, because a receive in force
//! goes on until its cancellation takes effect.

use std::os::fd::OwnedFd;
use std::time::Duration;

use throng_sys::socket;

use crate::workload::{Audience, Echo, Session, Then, UNSENT_BYTES_MAX};

/// An open one. What is with the kernel is the server's to ask for; what came is handled here.
pub(super) struct Connection<S> {
    pub(super) socket: OwnedFd,
    session: S,
    pub(super) unsent: Vec<u8>,
    pub(super) stage: Stage,
    /// The receive, and the send, are with the kernel.
    pub(super) receiving: bool,
    pub(super) sending: bool,
    /// The receive is being cancelled.
    pub(super) cancelling: bool,
    pub(super) input_ended: bool,
}

/// What a connection is about.
pub(super) enum Stage {
    /// What comes is its session's at once, and its input has not ended.
    Reading,
    /// Something else comes first, when all is sent.
    Detour(Box<Detour>),
    /// It is closed when all is sent.
    Closing,
    /// Reset: there is nobody left to tell.
    Broken,
}

/// What a connection does that does not read on.
pub(super) struct Detour {
    pub(super) act: Act,
    /// What came before the receive was cancelled.
    held: Vec<u8>,
    /// And then its end came.
    end_is_held: bool,
}

/// Which comes first, and whether it has begun.
pub(super) enum Act {
    Wait(Duration),
    /// Nothing happens before that time of the monotonic clock.
    Waiting {
        until_ns: u64,
    },
    Linger,
    /// Its output is ended, and so many bytes of its input are dropped, until then at most.
    Lingering {
        until_ns: u64,
        left: usize,
    },
}

// An idle connection owns no buffer, only this (and the slab's growth, at most as much again).
const _: () = assert!(size_of::<Connection<Echo>>() <= 48);

impl<S: Session> Connection<S> {
    /// One whose first receive has just been asked for.
    pub(super) fn new(socket: OwnedFd, session: S) -> Self {
        Self {
            socket,
            session,
            unsent: Vec::new(),
            stage: Stage::Reading,
            receiving: true,
            sending: false,
            cancelling: false,
            input_ended: false,
        }
    }

    /// Greets it; whether there is something to send for that.
    pub(super) fn greet(&mut self) -> bool {
        self.session.greet(&mut self.unsent);
        !self.unsent.is_empty()
    }

    /// Bytes came. What goes to everyone is added to `said`.
    #[inline]
    pub(super) fn take(&mut self, bytes: &[u8], said: &mut Vec<u8>) {
        match &mut self.stage {
            Stage::Reading => {
                let output = match S::AUDIENCE {
                    Audience::Sender => &mut self.unsent,
                    Audience::Everyone => said,
                };
                let then = self.session.input(bytes, output);
                if then != Then::Read {
                    self.stage = Stage::after(then, None);
                }
            }
            Stage::Detour(detour) => match &mut detour.act {
                Act::Lingering { left, .. } if *left <= bytes.len() => self.stage = Stage::Closing,
                Act::Lingering { left, .. } => *left -= bytes.len(),
                _ => detour.held.extend_from_slice(bytes),
            },
            Stage::Closing | Stage::Broken => {}
        }
    }

    /// Adds what somebody has said to what is to be sent, within bounds: whoever exceeds them is shut down, which ends
    /// what is with the kernel.
    pub(super) fn deliver(&mut self, said: &[u8]) {
        if !matches!(self.stage, Stage::Reading) {
            return;
        }
        self.unsent.extend_from_slice(said);
        if self.unsent.len() > UNSENT_BYTES_MAX {
            self.unsent = Vec::new();
            self.stage = Stage::Broken;
            // They fail on a connection that is already reset, whose operations end as well.
            let _ = socket::end_input(&self.socket);
            let _ = socket::end_output(&self.socket);
        }
    }

    /// The input has ended.
    pub(super) fn end(&mut self) {
        self.input_ended = true;
        match &mut self.stage {
            Stage::Reading => {
                let then = self.session.end_of_input(&mut self.unsent);
                self.stage = Stage::after(then.settled(true), None);
            }
            Stage::Detour(detour) => match detour.act {
                Act::Lingering { .. } => self.stage = Stage::Closing,
                _ => detour.end_is_held = true,
            },
            Stage::Closing | Stage::Broken => {}
        }
    }

    /// The receive failed: a reset. Whatever else is under way goes on, and finds that out when it sends.
    pub(super) fn fail(&mut self) {
        match self.stage {
            Stage::Detour(_) => self.end(),
            _ => self.stage = Stage::Broken,
        }
    }

    /// The wait is over. What came meanwhile is the session's now, unless it asks for something else again.
    pub(super) fn resume(&mut self) {
        let Stage::Detour(mut detour) = std::mem::replace(&mut self.stage, Stage::Reading) else {
            return;
        };
        let mut then = self.session.resume(&mut self.unsent);
        if then == Then::Read && !detour.held.is_empty() {
            let held = std::mem::take(&mut detour.held);
            then = self.session.input(&held, &mut self.unsent);
        }
        if then == Then::Read && detour.end_is_held {
            detour.end_is_held = false;
            then = self.session.end_of_input(&mut self.unsent);
        }
        let end_is_told = self.input_ended && !detour.end_is_held;
        self.stage = Stage::after(then.settled(end_is_told), Some(detour));
    }
}

impl Stage {
    /// What a connection is about once its session has said so; `held` has what it has not been told yet.
    #[inline]
    fn after(then: Then, held: Option<Box<Detour>>) -> Self {
        let act = match then {
            Then::Read => return Self::Reading,
            Then::Close => return Self::Closing,
            Then::Wait(delay) => Act::Wait(delay),
            Then::Linger => Act::Linger,
        };
        Self::Detour(match held {
            Some(mut detour) => {
                detour.act = act;
                detour
            }
            None => Box::new(Detour {
                act,
                held: Vec::new(),
                end_is_held: false,
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::workload::Http;

    const PLAIN: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
    const DELAYED: &[u8] = b"GET /?delay=1 HTTP/1.1\r\n\r\n";
    const LAST: &[u8] = b"GET / HTTP/1.0\r\n\r\n";

    fn connection() -> Connection<Http> {
        let (socket, _other) = UnixStream::pair().expect("a pair");
        Connection::new(socket.into(), Http::begin(&Duration::ZERO))
    }

    fn answers(connection: &Connection<Http>) -> usize {
        let text = std::str::from_utf8(&connection.unsent).expect("text");
        text.matches("200 OK").count()
    }

    fn waits(connection: &Connection<Http>) -> bool {
        matches!(&connection.stage, Stage::Detour(detour) if matches!(detour.act, Act::Wait(_)))
    }

    #[test]
    fn what_comes_during_a_wait_is_answered_after_it() {
        let mut connection = connection();
        connection.take(DELAYED, &mut Vec::new());
        connection.take(PLAIN, &mut Vec::new());
        connection.take(DELAYED, &mut Vec::new());
        connection.take(PLAIN, &mut Vec::new());
        connection.end();
        assert!(waits(&connection));
        assert_eq!(answers(&connection), 0);
        connection.resume();
        assert!(waits(&connection), "the second one");
        assert_eq!(answers(&connection), 2);
        connection.resume();
        assert!(matches!(connection.stage, Stage::Closing), "its end too");
        assert_eq!(answers(&connection), 4);
    }

    #[test]
    fn without_an_end_it_reads_on_after_the_wait() {
        let mut connection = connection();
        connection.take(DELAYED, &mut Vec::new());
        connection.take(&PLAIN[..5], &mut Vec::new());
        connection.resume();
        assert!(matches!(connection.stage, Stage::Reading));
        connection.take(&PLAIN[5..], &mut Vec::new());
        assert_eq!(answers(&connection), 2);
    }

    #[test]
    fn a_reset_does_not_cut_a_wait_short() {
        let mut connection = connection();
        connection.take(DELAYED, &mut Vec::new());
        connection.fail();
        assert!(waits(&connection));
        connection.resume();
        assert!(matches!(connection.stage, Stage::Closing));
        assert_eq!(answers(&connection), 1);
    }

    #[test]
    fn one_that_lingers_drops_what_comes_within_bounds() {
        let mut connection = connection();
        connection.take(LAST, &mut Vec::new());
        let Stage::Detour(detour) = &mut connection.stage else {
            panic!("it is not to linger");
        };
        detour.act = Act::Lingering {
            until_ns: 0,
            left: 7,
        };
        connection.take(&[b'x'; 6], &mut Vec::new());
        assert!(matches!(connection.stage, Stage::Detour(_)));
        connection.take(b"x", &mut Vec::new());
        assert!(matches!(connection.stage, Stage::Closing));
        assert_eq!(answers(&connection), 1);
    }
}
