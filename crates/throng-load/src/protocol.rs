//! Reading replies: where one ends, and whether its bytes are the expected ones.
//!
//! A reader keeps no state of its own. What it must remember of a half-read reply is one number in the connection. Where a
//! connection has one message only, its [`Reply`] may remember more and be ended by the peer's end of output.

mod frame;
mod http;
mod reply;
mod right;

use std::cell::RefCell;
use std::collections::HashMap;

use throng_record::{ErrorKind, Expect, Protocol};

use crate::messages::Messages;
use crate::quote;
use frame::FrameReply;
use http::HttpResponse;
use right::Right;

pub(crate) use reply::{Reply, Verdict};

/// What came of a reply, of how much: as far as the protocol knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) came_bytes: Option<u64>,
    pub(crate) whole_bytes: Option<u64>,
}

/// What the next bytes of a connection were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// All of them belong to a reply that goes on; the number to remember.
    Partial(u32),
    /// A reply ended after so many of them.
    Complete(usize),
    /// They are not what was expected.
    Wrong,
}

/// The bit of what is remembered that says that a reply has begun, where the other bits do not tell.
const BEGUN: u32 = 1 << 31;
const WITHOUT_END: &str = "a response of no told length, which only the connection's end would end";
pub(crate) const CLOSES: &str = "with its response the server said that it closes the connection, which was to be kept (Connection: close, or HTTP/1.0)";

/// How replies are recognised.
#[derive(Clone, Debug)]
pub(crate) struct Replies {
    rule: Rule,
    verify: bool,
}

#[derive(Clone, Debug)]
enum Rule {
    /// The message itself.
    Echo(Messages),
    /// These bytes; remembered is how many have come.
    Text(Vec<u8>),
    /// So many bytes; remembered is how many have come.
    Bytes(u32),
    /// Up to and including these; remembered is how many of them the end of the input matches (Knuth, Morris, Pratt), and [`BEGUN`].
    Until {
        delimiter: Vec<u8>,
        fallback: Vec<u32>,
    },
    /// Up to the end of input; remembered is whether anything has come.
    End,
    /// What a reader of its own finds the end of; remembered is whether one has begun.
    Parsed(RefCell<Parsed>),
}

/// Replies that were cut, by connection, and what was wrong with the last wrong one.
#[derive(Clone, Debug)]
struct Parsed {
    new: Parser,
    begun: HashMap<u32, Parser>,
    wrong: (ErrorKind, String),
    /// The HTTP response that was read last.
    response: Option<Response>,
}

/// What a whole HTTP response was, beside its latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Responses with a status of 1xx that came before it.
    pub(crate) interims: u32,
    /// Whether it ends its connection.
    pub(crate) closes: bool,
    /// Whether it is not the right one.
    pub(crate) is_refused: bool,
}

#[derive(Clone, Debug)]
enum Parser {
    Frame(FrameReply),
    Http(HttpResponse),
}

impl Parsed {
    fn of(new: Parser) -> Rule {
        Rule::Parsed(RefCell::new(Self {
            new,
            begun: HashMap::new(),
            wrong: (ErrorKind::WrongBytes, String::new()),
            response: None,
        }))
    }

    fn read(&mut self, connection: u32, remembered: u32, bytes: &[u8]) -> Reading {
        let begun = (remembered > 0).then(|| self.begun.remove(&connection));
        let mut parser = begun.flatten().unwrap_or_else(|| self.new.clone());
        match parser.read(bytes) {
            Ok(Some(used)) => {
                if let Parser::Http(response) = &mut parser {
                    let refusal = response.take_refusal();
                    self.response = Some(response.ended(refusal.is_some()));
                    if let Some(words) = refusal {
                        self.wrong = (ErrorKind::HttpStatus, words);
                    }
                }
                Reading::Complete(used)
            }
            Ok(None) => {
                self.begun.insert(connection, parser);
                Reading::Partial(BEGUN)
            }
            Err(wrong) => {
                self.wrong = wrong;
                Reading::Wrong
            }
        }
    }
}

impl Parser {
    /// Of how many of the bytes the reply has its end; `None` where it goes on.
    fn read(&mut self, bytes: &[u8]) -> Result<Option<usize>, (ErrorKind, String)> {
        let wrong = |words| (ErrorKind::WrongBytes, words);
        match self {
            Self::Frame(frame) => frame.read(bytes).map_err(wrong),
            Self::Http(response) => match response.read(bytes) {
                Verdict::Complete(used) => Ok(Some(used)),
                Verdict::Unfinished if response.is_complete_at_end() => {
                    Err(match response.take_refusal() {
                        Some(words) => (ErrorKind::HttpStatus, words),
                        None => (ErrorKind::ClosedEarly, WITHOUT_END.to_owned()),
                    })
                }
                Verdict::Unfinished => Ok(None),
                Verdict::Wrong(words) => Err(wrong(words.into_owned())),
                Verdict::Status(words) => Err((ErrorKind::HttpStatus, words)),
            },
        }
    }
}

impl Replies {
    pub(crate) fn of(protocol: &Protocol, messages: &Messages, verify: bool) -> Self {
        let rule = match protocol {
            Protocol::Echo { .. } => Rule::Echo(messages.clone()),
            Protocol::Request {
                expect: Expect::Text(text),
                ..
            } => Rule::Text(text.clone()),
            Protocol::Request {
                expect: Expect::Bytes(count),
                ..
            } => Rule::Bytes(u32::try_from(*count).unwrap_or(u32::MAX)),
            Protocol::Request {
                expect: Expect::Until(delimiter),
                ..
            } => Rule::Until {
                fallback: fallback(delimiter),
                delimiter: delimiter.clone(),
            },
            Protocol::Request {
                expect: Expect::End,
                ..
            } => Rule::End,
            Protocol::Request {
                expect: Expect::Frame,
                ..
            } => Parsed::of(Parser::Frame(FrameReply::new(verify))),
            Protocol::Request {
                expect: Expect::HttpResponse,
                ..
            } => Parsed::of(Parser::Http(HttpResponse::new(Right::usual(verify)))),
            Protocol::Pages(pages) => {
                let right = Right::of(&pages.statuses, verify);
                Parsed::of(Parser::Http(HttpResponse::new(right)))
            }
        };
        Self { rule, verify }
    }

    /// Reads on in the reply to a connection's n-th message, of which `remembered` is known. `bytes` is not empty.
    #[inline]
    pub(crate) fn read(&self, connection: u32, n: u32, remembered: u32, bytes: &[u8]) -> Reading {
        match &self.rule {
            Rule::Echo(messages) => self.compare(messages.bytes(connection, n), remembered, bytes),
            Rule::Text(text) => self.compare(text, remembered, bytes),
            Rule::Bytes(count) => progress(*count as usize, remembered, bytes.len()),
            Rule::Until {
                delimiter,
                fallback,
            } => search(delimiter, fallback, remembered, bytes),
            Rule::End => Reading::Partial(1),
            Rule::Parsed(parsed) => parsed.borrow_mut().read(connection, remembered, bytes),
        }
    }

    /// The reply that has just been read whole, where it is an HTTP response.
    #[inline]
    pub(crate) fn response(&self) -> Option<Response> {
        match &self.rule {
            Rule::Parsed(parsed) => parsed.borrow().response,
            _ => None,
        }
    }

    /// What was not right about it.
    #[cold]
    pub(crate) fn refusal(&self) -> (ErrorKind, String) {
        match &self.rule {
            Rule::Parsed(parsed) => parsed.borrow().wrong.clone(),
            _ => (ErrorKind::Other, String::new()),
        }
    }

    /// Whether they are HTTP responses, on connections that a server may end in order.
    pub(crate) fn are_pages(&self) -> bool {
        matches!(&self.rule, Rule::Parsed(parsed) if matches!(parsed.borrow().new, Parser::Http(_)))
    }

    /// The length of each reply; absent where only its end tells.
    pub(crate) fn whole_bytes(&self) -> Option<u64> {
        match &self.rule {
            Rule::Echo(messages) => Some(messages.size() as u64),
            Rule::Text(text) => Some(text.len() as u64),
            Rule::Bytes(count) => Some((*count).into()),
            Rule::Until { .. } | Rule::End | Rule::Parsed(_) => None,
        }
    }

    /// How far a reply has come of which `remembered` is known.
    pub(crate) fn part(&self, remembered: u32) -> Part {
        let whole_bytes = self.whole_bytes();
        Part {
            came_bytes: whole_bytes.map(|_| remembered.into()),
            whole_bytes,
        }
    }

    /// What came in the place of the rest of such a reply, and of which kind that is.
    #[cold]
    pub(crate) fn instead(
        &self,
        connection: u32,
        n: u32,
        remembered: u32,
        bytes: &[u8],
    ) -> (ErrorKind, String) {
        let whole = match &self.rule {
            Rule::Echo(messages) => messages.bytes(connection, n),
            Rule::Text(text) => text,
            Rule::Bytes(_) | Rule::Until { .. } | Rule::End => &[],
            Rule::Parsed(parsed) => return parsed.borrow().wrong.clone(),
        };
        let (begun, _) = whole.split_at(whole.len().min(remembered as usize));
        let mut came = begun.to_vec();
        came.extend(bytes);
        (ErrorKind::WrongBytes, quote::came_instead(&came, whole))
    }

    /// Whether the end of input completes a reply of which `remembered` is known.
    fn is_complete_at_end(&self, remembered: u32) -> bool {
        matches!(self.rule, Rule::End) && remembered > 0
    }

    #[inline]
    fn compare(&self, expected: &[u8], remembered: u32, bytes: &[u8]) -> Reading {
        let rest = &expected[remembered as usize..];
        let length = rest.len().min(bytes.len());
        if self.verify && rest[..length] != bytes[..length] {
            return Reading::Wrong;
        }
        progress(expected.len(), remembered, bytes.len())
    }
}

/// The size of a reply, guessed where the protocol does not tell it.
pub(crate) fn usual_reply_bytes(protocol: &Protocol) -> usize {
    const LINE_BYTES: usize = 2048;
    match protocol {
        Protocol::Echo { size_bytes } => *size_bytes as usize,
        Protocol::Request {
            expect: Expect::Text(text),
            ..
        } => text.len(),
        Protocol::Request {
            expect: Expect::Bytes(count),
            ..
        } => usize::try_from(*count).unwrap_or(usize::MAX / 2),
        Protocol::Request {
            expect: Expect::Until(_) | Expect::End | Expect::Frame | Expect::HttpResponse,
            ..
        }
        | Protocol::Pages(_) => LINE_BYTES,
    }
}

#[inline]
fn progress(whole: usize, remembered: u32, available: usize) -> Reading {
    let missing = whole - remembered as usize;
    if available >= missing {
        Reading::Complete(missing)
    } else {
        Reading::Partial(remembered + available as u32)
    }
}

fn search(delimiter: &[u8], fallback: &[u32], remembered: u32, bytes: &[u8]) -> Reading {
    let mut matched = (remembered & !BEGUN) as usize;
    for (position, &byte) in bytes.iter().enumerate() {
        while matched > 0 && delimiter[matched] != byte {
            matched = fallback[matched - 1] as usize;
        }
        matched += usize::from(delimiter[matched] == byte);
        if matched == delimiter.len() {
            return Reading::Complete(position + 1);
        }
    }
    Reading::Partial(matched as u32 | BEGUN)
}

/// For each prefix of the delimiter, the length of its longest proper suffix that is a prefix too.
fn fallback(delimiter: &[u8]) -> Vec<u32> {
    let mut table = vec![0_u32; delimiter.len()];
    for end in 1..delimiter.len() {
        let mut length = table[end - 1] as usize;
        while length > 0 && delimiter[length] != delimiter[end] {
            length = table[length - 1] as usize;
        }
        table[end] = (length + usize::from(delimiter[length] == delimiter[end])) as u32;
    }
    table
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(expect: Expect) -> Replies {
        let protocol = Protocol::Request {
            send: b"?".to_vec(),
            expect,
        };
        Replies::of(&protocol, &Messages::of(&protocol, 1), true)
    }

    /// Feeds `bytes` in pieces of `piece` and returns where the first reply ended, or `None` where it was wrong or unfinished.
    fn end_of_first(replies: &Replies, bytes: &[u8], piece: usize) -> Option<usize> {
        let (mut remembered, mut position) = (0, 0);
        for chunk in bytes.chunks(piece) {
            match replies.read(0, 0, remembered, chunk) {
                Reading::Partial(now) => remembered = now,
                Reading::Complete(used) => return Some(position + used),
                Reading::Wrong => return None,
            }
            position += chunk.len();
        }
        None
    }

    #[test]
    fn a_text_must_match_to_the_byte() {
        let replies = request(Expect::Text(b"+PONG\r\n".to_vec()));
        assert_eq!(end_of_first(&replies, b"+PONG\r\n+P", 3), Some(7));
        assert_eq!(end_of_first(&replies, b"+PANG\r\n", 3), None);
    }

    #[test]
    fn bytes_without_a_trace_of_the_delimiter_begin_a_reply() {
        let replies = request(Expect::Until(b"\r\n".to_vec()));
        let Reading::Partial(remembered) = replies.read(0, 0, 0, b"ab") else {
            panic!("it has no end");
        };
        assert!(remembered > 0);
        assert_eq!(replies.part(remembered), Part::default());
        let text = request(Expect::Text(b"+PONG\r\n".to_vec()));
        let part = text.part(5);
        assert_eq!((part.came_bytes, part.whole_bytes), (Some(5), Some(7)));
    }

    #[test]
    fn a_count_takes_any_bytes() {
        assert_eq!(
            end_of_first(&request(Expect::Bytes(5)), b"abcdefg", 2),
            Some(5)
        );
        assert_eq!(end_of_first(&request(Expect::Bytes(5)), b"abcd", 2), None);
    }

    #[test]
    fn without_verification_only_the_length_counts() {
        let protocol = Protocol::Echo { size_bytes: 4 };
        let replies = Replies::of(&protocol, &Messages::of(&protocol, 1), false);
        assert_eq!(end_of_first(&replies, b"\0\0\0\0", 3), Some(4));
    }

    proptest! {
        #[test]
        fn a_delimiter_is_found_where_a_plain_search_finds_it(
            delimiter in "[ab]{1,5}", text in "[ab]{0,40}", piece in 1_usize..8,
        ) {
            let plain = text.find(&delimiter).map(|start| start + delimiter.len());
            let replies = request(Expect::Until(delimiter.into_bytes()));
            prop_assert_eq!(end_of_first(&replies, text.as_bytes(), piece), plain);
        }
    }
}
