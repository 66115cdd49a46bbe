//! What a server answers, apart from how it shares its attention: bytes in, bytes out, and what is to happen next.
//!
//! *Method.* A [`Session`] is one connection's side of a workload. It never waits, reads or sends: after each step it says
//! what it wants ([`Then`]), and the model does that in its own way. A delay is the plainest example: a model of threads
//! sleeps, an event loop sets a timer, a runtime suspends a task.

mod answered;
mod broadcast;
mod count;
mod echo;
mod framed;
mod http;
mod inline;
mod oneshot;
mod secure;

use std::os::fd::BorrowedFd;
use std::time::Duration;

pub(crate) use answered::{Answer, Answered, Settings as AnsweredSettings};
pub(crate) use broadcast::Broadcast;
pub(crate) use echo::Echo;
pub(crate) use framed::Framed;
pub(crate) use http::Http;
use inline::Inline;
pub(crate) use oneshot::Oneshot;
pub(crate) use secure::{Secure, Settings as SecureSettings};

/// What a session wants once all that it has appended is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a session is told of nothing else before this is done"]
pub(crate) enum Then {
    /// More input. After the end of input there is none: close.
    Read,
    /// Nothing for so long, then [`Session::resume`]. Until then no input is read (the kernel's buffers hold it back), and
    /// whatever becomes of the peer does not cut the wait short. Once the server is told to stop it is over at once.
    Wait(Duration),
    /// Close at once. For a session that owes its peer nothing more: if the peer has sent what nobody has read, the
    /// kernel resets the connection, and the answer may be lost with it.
    Close,
    /// Close, but first end the output, and read and drop what still comes until the peer ends its own (RFC 9112, 9.6), within
    /// [`crate::linger`]'s bounds. For a session whose peer may be sending more than it will read. After the end of
    /// input: close.
    Linger,
}

impl Then {
    /// What it comes to: where the input has ended, more of it and lingering are a close.
    #[inline]
    pub(crate) fn settled(self, input_ended: bool) -> Self {
        match self {
            Self::Read | Self::Linger if input_ended => Self::Close,
            _ => self,
        }
    }
}

/// Who is sent what a session has appended as the answer to its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// The connection that the input came from.
    Sender,
    /// Every open connection of the server, in whichever loop, thread or process, that one included. What a slow reader's socket does not
    /// take is kept for it up to [`UNSENT_BYTES_MAX`]; beyond that it is closed, so that it neither stops the others nor takes all memory.
    Everyone,
}

/// What is kept at most for a connection that does not read, beside what the kernel's buffers hold.
pub(crate) const UNSENT_BYTES_MAX: usize = 256 * 1024;

/// How much a loop gathers of what is said to everyone before it passes that on, at the latest. With a read and a line more it
/// is still less than [`UNSENT_BYTES_MAX`]: nobody who has kept up is closed for one delivery.
pub(crate) const GATHERED_BYTES: usize = 64 * 1024;

/// One connection's side of a workload. A model feeds it what came, sends what it appends, and does what it says then.
pub(crate) trait Session: Send + 'static {
    /// What all sessions of a server share: the workload's own settings, such as a delay.
    type Settings: Clone + Send + Sync + 'static;

    /// Who is sent what [`Session::input`] appends.
    const AUDIENCE: Audience = Audience::Sender;

    /// What its sessions use besides their connections, which a thread with a descriptor table of its own needs there.
    fn descriptor(_settings: &Self::Settings) -> Option<BorrowedFd<'_>> {
        None
    }

    /// The session of a connection that has just been accepted.
    fn begin(settings: &Self::Settings) -> Self;

    /// What a connection is sent, alone, as soon as it is accepted.
    #[inline]
    fn greet(&mut self, _output: &mut Vec<u8>) {}

    /// Bytes came, at least one, cut anywhere. What there is to answer is appended to `output`.
    fn input(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Then;

    /// Nothing more will come: said once. What was held back for want of its rest is answered now.
    fn end_of_input(&mut self, output: &mut Vec<u8>) -> Then;

    /// The wait that it asked for is over, before its time where the server is told to stop.
    fn resume(&mut self, output: &mut Vec<u8>) -> Then;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_end_of_input_only_a_wait_is_left() {
        let wait = Then::Wait(Duration::ZERO);
        let all = [Then::Read, wait, Then::Close, Then::Linger];
        assert_eq!(
            all.map(|then| then.settled(true)),
            [Then::Close, wait, Then::Close, Then::Close]
        );
        assert_eq!(all.map(|then| then.settled(false)), all);
    }
}
