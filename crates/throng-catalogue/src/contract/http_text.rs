//! Requests and responses of HTTP/1.1, as far as the contract needs them.

use super::client::{Client, quoted};
use super::stage::Failure;

pub(super) const PLAIN: &[u8] = b"GET / HTTP/1.1\r\nHost: throng\r\n\r\n";

pub(super) fn get(query: &str) -> Vec<u8> {
    format!("GET /?{query} HTTP/1.1\r\nHost: throng\r\n\r\n").into_bytes()
}

/// A response with a Content-Length.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Reads one response, and nothing of the next.
pub(super) fn read(client: &mut Client) -> Result<Response, Failure> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client
            .expect_any(&mut byte)
            .map_err(|seen| seen.after(format_args!("a response, after {}", quoted(&head))))?;
        head.push(byte[0]);
        if head.len() > HEAD_BYTES_MAX {
            return Failure::of("a response whose head does not end");
        }
    }
    let (status, length) = parse(&head)?;
    let Some(length) = length else {
        return Failure::of(format!("no Content-Length in {}", quoted(&head)));
    };
    let mut body = vec![0; length];
    client.expect_any(&mut body)?;
    Ok(Response { status, body })
}

/// The status and the Content-Length.
fn parse(head: &[u8]) -> Result<(u16, Option<usize>), Failure> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split("\r\n");
    let status = status(lines.next().unwrap_or_default());
    let Some(status) = status else {
        return Failure::of(format!("{} is no response", quoted(head)));
    };
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let Some((_, length)) = length else {
        return Ok((status, None));
    };
    match length.trim().parse() {
        Ok(length) if length <= HEAD_BYTES_MAX => Ok((status, Some(length))),
        _ => Failure::of(format!("a Content-Length of `{}`", length.trim())),
    }
}

/// Of the first line of a response.
pub(super) fn status(line: &str) -> Option<u16> {
    let mut words = line.split(' ');
    words.next().filter(|word| word.starts_with("HTTP/1."))?;
    words.next()?.parse().ok()
}

/// Reads one, and that it is 200 with the body `ok`.
pub(super) fn expect_ok(client: &mut Client) -> Result<(), Failure> {
    let response = read(client)?;
    // A newline behind it is nobody's fault.
    let body = response.body.strip_suffix(b"\n").unwrap_or(&response.body);
    if response.status != 200 || body != b"ok" {
        return Failure::of(format!(
            "{} with the body {}",
            response.status,
            quoted(&response.body)
        ));
    }
    Ok(())
}

/// Sends a request, and reads 200 with the body `ok`.
pub(super) fn is_ok(client: &mut Client, request: &[u8]) -> Result<(), Failure> {
    client.send(request)?;
    expect_ok(client).map_err(|seen| seen.after(quoted(request)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_found_however_it_is_written() {
        for head in [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200\r\nServer: x\r\ncontent-length:2 \r\n\r\n",
        ] {
            assert_eq!(parse(head.as_bytes()), Ok((200, Some(2))), "{head}");
        }
        assert_eq!(parse(b"HTTP/1.0 400 Bad\r\n\r\n"), Ok((400, None)));
    }

    #[test]
    fn what_is_no_response_is_said_to_be_none() {
        for head in ["ok\r\n\r\n", "HTTP/1.1 fine\r\n\r\n", "\r\n\r\n"] {
            assert!(parse(head.as_bytes()).is_err(), "{head}");
        }
        assert!(parse(b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n").is_err());
    }
}
