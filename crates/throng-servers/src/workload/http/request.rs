//! One request: what of it is acted on, and why one is refused.

use std::str;
use std::time::Duration;

use crate::workload::count;

/// The longest head, and the longest body that is dropped.
pub(super) const HEAD_BYTES_MAX: usize = 16 * 1024;
pub(super) const BODY_BYTES_MAX: usize = 16 * 1024;
const FIELDS_MAX: usize = 64;
const DELAY_MS_MAX: f64 = 3_600_000.0;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: Method,
    /// Whether its answer is the last one.
    pub(super) closes: bool,
    pub(super) delay: Option<Duration>,
    pub(super) count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
    Other,
}

/// What the beginning of some input is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// The beginning of a request.
    Incomplete,
    /// A request, and how many bytes it takes, its body included.
    Whole { request: Request, length: usize },
}

/// Why a request is answered with 400, in a line for whoever sent it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("this is no HTTP/1 request: {0}")]
    Malformed(httparse::Error),
    #[error("the head of a request is longer than {HEAD_BYTES_MAX} bytes")]
    HeadTooLong,
    #[error("Transfer-Encoding is not understood here; send a body with Content-Length")]
    TransferEncoding,
    #[error("Content-Length is not one number")]
    ContentLength,
    #[error("a body may have {BODY_BYTES_MAX} bytes, which are dropped")]
    BodyTooLong,
    #[error("delay= is a number of milliseconds from 0 to {DELAY_MS_MAX}, such as 40 or 0.5")]
    Delay,
    #[error("count= is a whole number from 0 to {max}", max = count::MAX)]
    Count,
    #[error("the input ended within a request")]
    CutOff,
}

/// Looks at the beginning of `input`, which is not empty.
pub(super) fn parse(input: &[u8]) -> Result<Parsed, Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Request::new(&mut fields);
    let length = match head.parse(input).map_err(Refusal::Malformed)? {
        httparse::Status::Complete(length) if length <= HEAD_BYTES_MAX => length,
        httparse::Status::Partial if input.len() <= HEAD_BYTES_MAX => {
            return Ok(Parsed::Incomplete);
        }
        _ => return Err(Refusal::HeadTooLong),
    };
    let (body, says_close) = read_fields(head.headers)?;
    let length = length + body;
    if input.len() < length {
        return Ok(Parsed::Incomplete);
    }
    let (delay, count) = read_query(head.path.unwrap_or_default())?;
    let request = Request {
        method: match head.method {
            Some("GET") => Method::Get,
            Some("HEAD") => Method::Head,
            _ => Method::Other,
        },
        closes: says_close || head.version == Some(0),
        delay,
        count,
    };
    Ok(Parsed::Whole { request, length })
}

/// The length of the body, and whether the connection is to be closed.
fn read_fields(fields: &[httparse::Header<'_>]) -> Result<(usize, bool), Refusal> {
    let mut body = None;
    let mut says_close = false;
    for field in fields {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        if is("Transfer-Encoding") {
            return Err(Refusal::TransferEncoding);
        } else if is("Content-Length") {
            let length = digits(field.value).ok_or(Refusal::ContentLength)?;
            if body.replace(length).is_some_and(|other| other != length) {
                return Err(Refusal::ContentLength);
            }
        } else if is("Connection") {
            let mut options = field.value.split(|&byte| byte == b',');
            says_close |= options.any(|option| option.trim_ascii().eq_ignore_ascii_case(b"close"));
        }
    }
    match usize::try_from(body.unwrap_or(0)) {
        Ok(length) if length <= BODY_BYTES_MAX => Ok((length, says_close)),
        _ => Err(Refusal::BodyTooLong),
    }
}

/// The delay and the count. What else it asks for is not meant for us.
fn read_query(target: &str) -> Result<(Option<Duration>, u64), Refusal> {
    let (mut delay, mut count) = (None, 0);
    let query = target.split_once('?').map_or("", |(_, query)| query);
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("delay", text)) => delay = Some(milliseconds(text).ok_or(Refusal::Delay)?),
            Some(("count", text)) => {
                let number = digits(text.as_bytes()).ok_or(Refusal::Count)?;
                count = Some(number)
                    .filter(|&number| number <= count::MAX)
                    .ok_or(Refusal::Count)?;
            }
            _ => {}
        }
    }
    Ok((delay, count))
}

fn milliseconds(text: &str) -> Option<Duration> {
    // `f64` would read `inf`, `1e3` and `-0` as well.
    let is_decimal = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = text.parse().ok().filter(|_| is_decimal)?;
    (number <= DELAY_MS_MAX).then(|| Duration::from_secs_f64(number / 1000.0))
}

/// A number of nothing but digits; `parse` would take a sign as well.
fn digits(text: &[u8]) -> Option<u64> {
    let text = str::from_utf8(text).ok()?;
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}
