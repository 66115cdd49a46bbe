//! The workloads that answer requests, as one session: HTTP, one-shot or frames, the waits of the first two as the model has them or slept out inline.
//!
//! *Why one.* A model is compiled once for each session type, and with four of them for what differs in a few lines, most of a build would be copies. Which one
//! it is, is looked up at each step; a system call takes a hundred times as long. Echo and broadcast are types of their own: of them it is asked what
//! an idle connection takes, and who is sent an answer.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use super::{Framed, Http, Inline, Oneshot, Session, Then};

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// HTTP/1.1.
    Http,
    /// One answer, then the end.
    Oneshot,
    /// Frames of JSON, which never wait.
    Framed,
}

/// What the sessions of a server share.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) answer: Answer,
    pub(crate) delay: Duration,
    /// Where waits are slept out inline: what becomes readable when the server is told to stop.
    pub(crate) inline: Option<Arc<OwnedFd>>,
}

/// A session of one of them. What is only there to show a careless handler is kept apart, so that it costs the others no memory.
#[derive(Debug)]
pub(crate) enum Answered {
    Http(Http),
    Oneshot(Oneshot),
    Framed(Framed),
    InlineHttp(Box<Inline<Http>>),
    InlineOneshot(Box<Inline<Oneshot>>),
}

macro_rules! of_any {
    ($answered:expr, $session:ident => $act:expr) => {
        match $answered {
            Answered::Http($session) => $act,
            Answered::Oneshot($session) => $act,
            Answered::Framed($session) => $act,
            Answered::InlineHttp($session) => $act,
            Answered::InlineOneshot($session) => $act,
        }
    };
}

impl Session for Answered {
    type Settings = Settings;

    fn descriptor(settings: &Settings) -> Option<BorrowedFd<'_>> {
        settings.inline.as_ref().map(|stop| stop.as_fd())
    }

    fn begin(settings: &Settings) -> Self {
        let delay = settings.delay;
        match (settings.answer, &settings.inline) {
            (Answer::Framed, _) => Self::Framed(Framed::begin(&())),
            (Answer::Http, None) => Self::Http(Http::begin(&delay)),
            (Answer::Oneshot, None) => Self::Oneshot(Oneshot::begin(&delay)),
            (Answer::Http, Some(stop)) => {
                let session = Inline::begin(&(delay, Arc::clone(stop)));
                Self::InlineHttp(Box::new(session))
            }
            (Answer::Oneshot, Some(stop)) => {
                let session = Inline::begin(&(delay, Arc::clone(stop)));
                Self::InlineOneshot(Box::new(session))
            }
        }
    }

    fn input(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Then {
        of_any!(self, session => session.input(bytes, output))
    }

    fn end_of_input(&mut self, output: &mut Vec<u8>) -> Then {
        of_any!(self, session => session.end_of_input(output))
    }

    fn resume(&mut self, output: &mut Vec<u8>) -> Then {
        of_any!(self, session => session.resume(output))
    }
}
