//! One HTTP/1.1 response, cut anywhere: its head, and a body by Content-Length, by chunks or to the end (RFC 9112, section 6.3).
//!
//! `httparse` reads the head and the chunks' sizes. What it is shown again from the start, until it is whole, is kept in a small
//! buffer; a body is counted and not kept. Interim responses (1xx) are skipped. Left out: answers to HEAD, which have no body
//! whatever their head says, other transfer codings than chunked, and a change of protocol (101).

use std::mem::MaybeUninit;

use super::right::Right;
use super::{Response, Verdict};

/// A larger head, or line within a chunked body, is no sensible response.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// More header lines than servers send.
const HEADERS_MAX: usize = 128;

/// [`Verdict::Wrong`].
type Complaint = Verdict;

fn wrong(complaint: impl Into<String>) -> Complaint {
    Verdict::Wrong(complaint.into().into())
}

/// A reader of responses, one after another of [`HttpResponse::restart`].
#[derive(Clone, Debug)]
pub(super) struct HttpResponse {
    right: Right,
    part: Part,
    status: u16,
    /// Responses with a status of 1xx before it.
    interims: u32,
    /// What is not right about it, in words.
    refusal: Option<String>,
    /// Whether the server said that it closes the connection after it (RFC 9112, section 9.6).
    closes: bool,
    /// What has come of a head or a line that is not whole.
    partial: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Head,
    /// So many bytes of the body are still to come.
    Length(u64),
    ChunkSize,
    ChunkData(u64),
    /// The line end after a chunk's data.
    ChunkEnd,
    /// Lines after the last chunk, up to an empty one.
    Trailer,
    ToEnd,
    Done,
}

impl HttpResponse {
    pub(super) fn new(right: Right) -> Self {
        Self {
            right,
            part: Part::Head,
            status: 0,
            interims: 0,
            refusal: None,
            closes: false,
            partial: Vec::new(),
        }
    }

    /// The response that was read whole.
    pub(super) fn ended(&self, is_refused: bool) -> Response {
        Response {
            status: self.status,
            interims: self.interims,
            closes: self.closes,
            is_refused,
        }
    }

    /// What is not right about it, once its head is there.
    #[inline]
    pub(super) fn take_refusal(&mut self) -> Option<String> {
        self.refusal.take()
    }

    pub(super) fn restart(&mut self) {
        (self.part, self.interims, self.refusal) = (Part::Head, 0, None);
        self.partial.clear();
    }

    pub(super) fn read(&mut self, bytes: &[u8]) -> Verdict {
        let mut used = 0;
        while self.part != Part::Done {
            if used == bytes.len() {
                return Verdict::Unfinished;
            }
            match self.advance(&bytes[used..]) {
                Ok(more) => used += more,
                Err(complaint) => return complaint,
            }
        }
        Verdict::Complete(used)
    }

    pub(super) fn is_complete_at_end(&self) -> bool {
        self.part == Part::ToEnd
    }

    /// Reads within one part; how many of the bytes belong to it.
    fn advance(&mut self, bytes: &[u8]) -> Result<usize, Complaint> {
        match self.part {
            Part::Head => self.head(bytes),
            Part::Length(left) => {
                let (used, left) = count(left, bytes);
                self.part = if left == 0 {
                    Part::Done
                } else {
                    Part::Length(left)
                };
                Ok(used)
            }
            Part::ChunkData(left) => {
                let (used, left) = count(left, bytes);
                self.part = if left == 0 {
                    Part::ChunkEnd
                } else {
                    Part::ChunkData(left)
                };
                Ok(used)
            }
            Part::ChunkSize | Part::ChunkEnd | Part::Trailer => self.line(bytes),
            Part::ToEnd => Ok(bytes.len()),
            Part::Done => Ok(0),
        }
    }

    /// A head that lies whole in what a read brought, as nearly all do, is looked at there.
    fn head(&mut self, bytes: &[u8]) -> Result<usize, Complaint> {
        let before = self.partial.len();
        if before > 0 {
            self.partial.extend_from_slice(bytes);
        }
        let all = if before > 0 { &self.partial } else { bytes };
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut []);
        let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
            &mut response,
            all,
            &mut headers,
        );
        let end = match parsed {
            Ok(httparse::Status::Complete(end)) => end,
            Ok(httparse::Status::Partial) if all.len() <= HEAD_BYTES_MAX => {
                if before == 0 {
                    self.partial.extend_from_slice(bytes);
                }
                return Ok(bytes.len());
            }
            Ok(httparse::Status::Partial) => {
                return Err(wrong(format!(
                    "a response's head is longer than {HEAD_BYTES_MAX} bytes"
                )));
            }
            Err(error) => return Err(wrong(format!("no HTTP response: {error}"))),
        };
        let status = response.code.unwrap_or(0);
        let part = after_head(&response)?;
        let is_refused = part != Part::Head && !self.right.has(status);
        let refusal = is_refused.then(|| Right::refusal(&response, shown(part, &all[end..])));
        let closes = closes(&response);
        self.interims += u32::from(part == Part::Head);
        (self.part, self.closes, self.status) = (part, closes, status);
        self.refusal = refusal;
        self.partial.clear();
        Ok(end - before)
    }

    /// Reads a line of a chunked body.
    fn line(&mut self, bytes: &[u8]) -> Result<usize, Complaint> {
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(bytes.len(), |end| end + 1);
        self.partial.extend_from_slice(&bytes[..used]);
        if self.partial.len() > HEAD_BYTES_MAX {
            return Err(wrong(format!(
                "a chunk's line is longer than {HEAD_BYTES_MAX} bytes"
            )));
        }
        if end.is_some() {
            self.part = self.after_line()?;
            self.partial.clear();
        }
        Ok(used)
    }

    /// What follows the line that is now whole.
    fn after_line(&self) -> Result<Part, Complaint> {
        let is_empty = matches!(self.partial.as_slice(), b"\r\n" | b"\n");
        match self.part {
            Part::ChunkSize => match httparse::parse_chunk_size(&self.partial) {
                Ok(httparse::Status::Complete((_, 0))) => Ok(Part::Trailer),
                Ok(httparse::Status::Complete((_, size))) => Ok(Part::ChunkData(size)),
                _ => Err(wrong(format!(
                    "no size of a chunk: {}",
                    self.partial.escape_ascii()
                ))),
            },
            Part::ChunkEnd if is_empty => Ok(Part::ChunkSize),
            Part::ChunkEnd => Err(wrong("a chunk is longer than it said")),
            _ if is_empty => Ok(Part::Done),
            _ => Ok(Part::Trailer),
        }
    }
}

/// What follows this head.
fn after_head(response: &httparse::Response<'_, '_>) -> Result<Part, Complaint> {
    match response.code.unwrap_or(0) {
        100 | 102..=199 => Ok(Part::Head),
        204 | 304 => Ok(Part::Done),
        _ => body(response.headers),
    }
}

/// The begin of the body, as far as it came with the head.
fn shown(part: Part, behind: &[u8]) -> &[u8] {
    match part {
        Part::Length(length) => &behind[..count(length, behind).0],
        Part::ToEnd => behind,
        // Behind the line with the first chunk's size.
        Part::ChunkSize => {
            let end = behind.iter().position(|&byte| byte == b'\n');
            end.map_or(&[], |end| &behind[end + 1..])
        }
        _ => &[],
    }
}

/// How many of the bytes are among the `left` ones, and how many are then left.
fn count(left: u64, bytes: &[u8]) -> (usize, u64) {
    let used = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
    (used, left - used as u64)
}

/// Whether the response ends its connection: it says so, or is of HTTP/1.0 and does not say otherwise.
fn closes(response: &httparse::Response<'_, '_>) -> bool {
    let mut words = response
        .headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case("connection"))
        .flat_map(|header| header.value.split(|&byte| byte == b','))
        .map(<[u8]>::trim_ascii);
    match response.version {
        Some(0) => !words.any(|word| word.eq_ignore_ascii_case(b"keep-alive")),
        _ => words.any(|word| word.eq_ignore_ascii_case(b"close")),
    }
}

/// How the body's end is known. A transfer coding goes before a length.
fn body(headers: &[httparse::Header<'_>]) -> Result<Part, Complaint> {
    let named = |name: &'static str| {
        headers
            .iter()
            .filter(move |header| header.name.eq_ignore_ascii_case(name))
            .map(|header| header.value.trim_ascii())
    };
    if let Some(codings) = named("transfer-encoding").next_back() {
        let last = codings
            .rsplit(|&byte| byte == b',')
            .next()
            .unwrap_or(codings);
        let is_chunked = last.trim_ascii().eq_ignore_ascii_case(b"chunked");
        return Ok(if is_chunked {
            Part::ChunkSize
        } else {
            Part::ToEnd
        });
    }
    let mut lengths = named("content-length");
    let Some(length) = lengths.next() else {
        return Ok(Part::ToEnd);
    };
    let number = std::str::from_utf8(length)
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse::<u64>().ok());
    match number {
        Some(_) if lengths.any(|other| other != length) => {
            Err(wrong("a response has two different lengths"))
        }
        Some(0) => Ok(Part::Done),
        Some(number) => Ok(Part::Length(number)),
        None => Err(wrong(format!(
            "no length of a response: {}",
            length.escape_ascii()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use throng_record::StatusRange;

    use super::*;

    /// Where the response ends, fed in pieces; at the end of input where that completes it.
    fn end_of(bytes: &[u8], piece: usize) -> Result<Option<usize>, String> {
        let mut response = HttpResponse::new(Right::usual(true));
        let mut position = 0;
        for chunk in bytes.chunks(piece) {
            let verdict = response.read(chunk);
            if let Some(words) = response.take_refusal() {
                return Err(words);
            }
            match verdict {
                Verdict::Unfinished => position += chunk.len(),
                Verdict::Complete(used) => return Ok(Some(position + used)),
                Verdict::Wrong(complaint) => return Err(complaint.into_owned()),
                Verdict::Status(line) => return Err(line),
            }
        }
        Ok(response.is_complete_at_end().then_some(position))
    }

    #[test]
    fn a_refusal_is_told_by_its_status_line() {
        let bytes = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
        for piece in [1, 7, 1000] {
            let complaint = end_of(bytes, piece).expect_err("no success");
            assert!(complaint.contains("HTTP/1.1 503 Service Unavailable"));
        }
        let mut any = HttpResponse::new(Right::usual(false));
        assert_eq!(any.read(bytes), Verdict::Complete(bytes.len()));
    }

    #[test]
    fn a_status_that_was_not_asked_for_is_told_with_its_body_and_read_to_its_end() {
        let right = Right::of(&[StatusRange { from: 404, to: 404 }], true);
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
        let mut response = HttpResponse::new(right);
        assert_eq!(response.read(bytes), Verdict::Complete(43));
        let words = "the response was HTTP/1.1 200 OK, with the body \"hello\"";
        assert_eq!(response.take_refusal().as_deref(), Some(words));
        response.restart();
        assert_eq!(
            response.read(&bytes[43..]),
            Verdict::Complete(bytes.len() - 43)
        );
        assert_eq!(response.take_refusal(), None);
        assert_eq!(response.ended(false).status, 404);
    }

    #[test]
    fn what_is_no_response_is_wrong() {
        for bytes in [
            &b"connected\n"[..],
            b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
            b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        ] {
            assert!(end_of(bytes, 3).is_err(), "{}", bytes.escape_ascii());
        }
        let endless = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'x'; 70_000]].concat();
        assert!(end_of(&endless, 20_000).is_err());
    }

    #[test]
    fn a_response_cut_short_is_not_complete() {
        for bytes in [
            &b"HTTP/1.1 200 OK\r\n"[..],
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcd",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n",
        ] {
            assert_eq!(end_of(bytes, 2), Ok(None), "{}", bytes.escape_ascii());
        }
    }

    fn chunked(pieces: &[Vec<u8>], trailer: &str) -> Vec<u8> {
        let mut bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n".to_vec();
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            bytes.extend(format!("{:x};name=value\r\n", piece.len()).bytes());
            bytes.extend_from_slice(piece);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend(format!("0\r\n{trailer}\r\n").bytes());
        bytes
    }

    proptest! {
        #[test]
        fn a_length_ends_it_wherever_it_is_cut(body in prop::collection::vec(any::<u8>(), 0..300), piece in 1_usize..400) {
            let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
            let head = format!("{interim}HTTP/1.0 200 OK\r\nServer: x\r\ncontent-length: {}\r\n\r\n", body.len());
            let mut bytes = [head.as_bytes(), &body].concat();
            let whole = bytes.len();
            bytes.extend_from_slice(b"HTTP/1.1 200 OK");
            prop_assert_eq!(end_of(&bytes, piece), Ok(Some(whole)));
        }

        #[test]
        fn chunks_end_it_wherever_it_is_cut(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8),
            trailer in prop::sample::select(vec!["", "Expires: never\r\nX: y\r\n"]),
            piece in 1_usize..200,
        ) {
            let mut bytes = chunked(&pieces, trailer);
            let whole = bytes.len();
            bytes.extend_from_slice(b"more");
            prop_assert_eq!(end_of(&bytes, piece), Ok(Some(whole)));
        }

        #[test]
        fn without_either_the_end_of_input_ends_it(body in prop::collection::vec(any::<u8>(), 0..99), piece in 1_usize..99) {
            let bytes = [&b"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n"[..], &body].concat();
            prop_assert_eq!(end_of(&bytes, piece), Ok(Some(bytes.len())));
        }
    }
}
