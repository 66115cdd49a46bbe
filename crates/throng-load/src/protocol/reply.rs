//! The one reply of a connection: it may remember more than a number, and the peer's end of output may complete it.

use std::borrow::Cow;
use std::rc::Rc;

use throng_record::{Expect, Protocol};

use super::http::HttpResponse;
use super::right::Right;
use super::{Reading, Replies};
use crate::messages::Messages;

/// What the bytes so far are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The reply goes on.
    Unfinished,
    /// It ended after so many of the bytes.
    Complete(usize),
    /// It is not what was expected; in words.
    Wrong(Cow<'static, str>),
    /// It is an HTTP response of a status that is not right; in words.
    Status(String),
}

/// A reader of one reply, and again of the next connection's.
#[derive(Clone, Debug)]
pub(crate) struct Reply(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Plain {
        replies: Rc<Replies>,
        remembered: u32,
    },
    Http(HttpResponse),
}

impl Reply {
    pub(crate) fn of(protocol: &Protocol, messages: &Messages, verify: bool) -> Self {
        Self(match protocol {
            Protocol::Request {
                expect: Expect::HttpResponse,
                ..
            } => Kind::Http(HttpResponse::new(Right::usual(verify))),
            _ => Kind::Plain {
                replies: Rc::new(Replies::of(protocol, messages, verify)),
                remembered: 0,
            },
        })
    }

    /// Forgets what was read: the next bytes are those of another connection.
    pub(crate) fn restart(&mut self) {
        match &mut self.0 {
            Kind::Plain { remembered, .. } => *remembered = 0,
            Kind::Http(response) => response.restart(),
        }
    }

    /// Reads on in the reply to a client's n-th message. `bytes` is not empty.
    pub(crate) fn read(&mut self, client: u32, n: u32, bytes: &[u8]) -> Verdict {
        match &mut self.0 {
            Kind::Plain {
                replies,
                remembered,
            } => match replies.read(client, n, *remembered, bytes) {
                Reading::Partial(now) => {
                    *remembered = now;
                    Verdict::Unfinished
                }
                Reading::Complete(used) => Verdict::Complete(used),
                Reading::Wrong => {
                    Verdict::Wrong(replies.instead(client, n, *remembered, bytes).1.into())
                }
            },
            Kind::Http(response) => {
                let verdict = response.read(bytes);
                response.take_refusal().map_or(verdict, Verdict::Status)
            }
        }
    }

    /// The length of the reply; absent where only its end tells.
    pub(crate) fn whole_bytes(&self) -> Option<u64> {
        match &self.0 {
            Kind::Plain { replies, .. } => replies.whole_bytes(),
            Kind::Http(_) => None,
        }
    }

    /// Whether the reply is complete when the peer ends its output now.
    pub(crate) fn is_complete_at_end(&self) -> bool {
        match &self.0 {
            Kind::Plain {
                replies,
                remembered,
            } => replies.is_complete_at_end(*remembered),
            Kind::Http(response) => response.is_complete_at_end(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(expect: Expect) -> Reply {
        let protocol = Protocol::Request {
            send: b"?".to_vec(),
            expect,
        };
        Reply::of(&protocol, &Messages::of(&protocol, 1), true)
    }

    #[test]
    fn a_reply_to_the_end_is_complete_at_the_end_and_not_before_a_byte() {
        let mut reply = reply(Expect::End);
        assert!(!reply.is_complete_at_end());
        assert_eq!(reply.read(0, 0, b"anything"), Verdict::Unfinished);
        assert!(reply.is_complete_at_end());
        reply.restart();
        assert!(!reply.is_complete_at_end());
    }

    #[test]
    fn a_wrong_reply_is_shown_beside_the_one_that_was_due() {
        let mut reply = reply(Expect::Text(b"+PONG\r\n".to_vec()));
        assert_eq!(reply.read(0, 0, b"+PO"), Verdict::Unfinished);
        let words = r#""+PO-ERR\r\n" where "+PONG\r\n" was due"#;
        assert_eq!(reply.read(0, 0, b"-ERR\r\n"), Verdict::Wrong(words.into()));
    }

    #[test]
    fn a_text_starts_anew_on_the_next_connection() {
        let mut reply = reply(Expect::Text(b"hello".to_vec()));
        assert_eq!(reply.read(0, 0, b"hel"), Verdict::Unfinished);
        assert!(!reply.is_complete_at_end());
        reply.restart();
        assert_eq!(reply.read(0, 1, b"hello!"), Verdict::Complete(5));
    }
}
