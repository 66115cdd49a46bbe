//! HTTP/1.1 (RFC 9112): each request is answered with `ok`, after the delay and the counting that it asks for.
//!
//! *Method.* A request is parsed where it lies, in what the read brought; only what is left of it after the last whole
//! request is kept. Pipelined requests are answered one after another, so one that waits holds the later ones back.
//!
//! *Counting is work,* and a model cannot interrupt it. So after each counted answer the session asks for a wait of no
//! length where further requests have come already: others have their turn in between.
//!
//! *Left out on purpose.* `Host` is not asked for, what stands before the `?` is not looked at, bodies of requests are
//! dropped, and there is neither a date nor a server's name in an answer: none of it would change what is measured.

mod request;

use std::time::Duration;

use super::{Session, Then, count};
use request::{Method, Parsed, Refusal, Request};

const OK: &str = "200 OK";
const BODY: &str = "ok\n";
const ALLOW: &str = "Allow: GET, HEAD\r\n";
const CLOSE: &str = "Connection: close\r\n";

/// A connection's requests.
#[derive(Debug)]
pub(crate) struct Http {
    /// What a request waits that does not say itself.
    delay: Duration,
    /// What has come and is not answered, but for `waiting`.
    rest: Vec<u8>,
    waiting: Option<Request>,
}

impl Session for Http {
    /// What a request without `delay=` waits.
    type Settings = Duration;

    fn begin(delay: &Duration) -> Self {
        Self {
            delay: *delay,
            rest: Vec::new(),
            waiting: None,
        }
    }

    fn input(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Then {
        if self.rest.is_empty() {
            let (used, then) = self.serve(bytes, output);
            self.rest.extend_from_slice(&bytes[used..]);
            then
        } else {
            self.rest.extend_from_slice(bytes);
            self.serve_rest(output)
        }
    }

    fn end_of_input(&mut self, output: &mut Vec<u8>) -> Then {
        if !self.rest.is_empty() {
            refuse(&Refusal::CutOff, output);
        }
        Then::Close
    }

    fn resume(&mut self, output: &mut Vec<u8>) -> Then {
        if let Some(request) = self.waiting.take()
            && let Some(then) = self.answer(&request, !self.rest.is_empty(), output)
        {
            return then;
        }
        self.serve_rest(output)
    }
}

impl Http {
    fn serve_rest(&mut self, output: &mut Vec<u8>) -> Then {
        let mut rest = std::mem::take(&mut self.rest);
        let (used, then) = self.serve(&rest, output);
        if used < rest.len() {
            rest.drain(..used);
            self.rest = rest;
        }
        then
    }

    /// Answers whole requests until one has to wait. How many bytes they took, and what comes next.
    fn serve(&mut self, input: &[u8], output: &mut Vec<u8>) -> (usize, Then) {
        let mut used = 0;
        while used < input.len() {
            let request = match request::parse(&input[used..]) {
                Ok(Parsed::Incomplete) => break,
                Ok(Parsed::Whole { request, length }) => {
                    used += length;
                    request
                }
                Err(refusal) => {
                    refuse(&refusal, output);
                    return (input.len(), Then::Linger);
                }
            };
            let delay = request.delay.unwrap_or(self.delay);
            if request.method != Method::Other && !delay.is_zero() {
                self.waiting = Some(request);
                return (used, Then::Wait(delay));
            }
            if let Some(then) = self.answer(&request, used < input.len(), output) {
                return (used, then);
            }
        }
        (used, Then::Read)
    }

    /// Answers one whose wait is over; what comes next if it is not the next request.
    fn answer(&self, request: &Request, others_wait: bool, output: &mut Vec<u8>) -> Option<Then> {
        let close = if request.closes { CLOSE } else { "" };
        match request.method {
            Method::Other => {
                let body = "only GET and HEAD are answered here\n";
                append(
                    output,
                    "405 Method Not Allowed",
                    &[ALLOW, close],
                    body,
                    true,
                );
            }
            Method::Get | Method::Head => {
                count::to(request.count);
                append(output, OK, &[close], BODY, request.method == Method::Get);
            }
        }
        if request.closes {
            return Some(Then::Linger);
        }
        (request.count > 0 && others_wait).then_some(Then::Wait(Duration::ZERO))
    }
}

fn refuse(refusal: &Refusal, output: &mut Vec<u8>) {
    append(
        output,
        "400 Bad Request",
        &[CLOSE],
        &format!("{refusal}\n"),
        true,
    );
}

fn append(output: &mut Vec<u8>, status: &str, fields: &[&str], body: &str, with_body: bool) {
    let length = body.len().to_string();
    let head = [
        "HTTP/1.1 ",
        status,
        "\r\nContent-Type: text/plain\r\nContent-Length: ",
        &length,
        "\r\n",
    ];
    let body = if with_body { body } else { "" };
    for text in head.iter().chain(fields).chain(&["\r\n", body]) {
        output.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests;
