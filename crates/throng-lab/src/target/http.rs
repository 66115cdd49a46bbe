//! `http://HOST:PORT/PATH`: where to connect, and what to ask for.
//!
//! As much of RFC 3986 as the address of a page on a server of one's own needs. Left out on purpose: names and passwords in it,
//! and any change of what is written, such as percent encoding.

use throng_record::{Expect, HttpTarget, Protocol};

use crate::plan::PlanError;

const SCHEME: &str = "http://";

/// What is asked for, and the address `HOST:PORT`; without a port it is 80, without a path `/`.
pub(super) fn read(text: &str) -> Result<(HttpTarget, String), PlanError> {
    let refuse = |why| PlanError::HttpAddress {
        text: text.to_owned(),
        why,
    };
    let rest = text.strip_prefix(SCHEME).unwrap_or(text);
    // What follows `#` is for the reader of a page, and is not sent.
    let rest = rest.split('#').next().unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_graphic();
    if !rest.chars().all(is_plain) {
        return Err(refuse(
            "it holds blanks or letters that must be percent-encoded",
        ));
    }
    let (host, path) = match rest.find(['/', '?']) {
        Some(end) => rest.split_at(end),
        None => (rest, ""),
    };
    if host.contains('@') {
        return Err(refuse("a name and password are not sent"));
    }
    if host.is_empty() || host.starts_with(':') {
        return Err(refuse("it names no host"));
    }
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    let target = HttpTarget {
        host: host.to_owned(),
        path,
    };
    Ok((target, with_port(host)))
}

/// The request for a page on a connection of its own.
pub(crate) fn get(target: &HttpTarget) -> Protocol {
    request(target, "Connection: close\r\n")
}

/// The same on a connection that is kept.
pub(crate) fn get_on_kept(target: &HttpTarget) -> Protocol {
    request(target, "")
}

fn request(HttpTarget { host, path }: &HttpTarget, header: &str) -> Protocol {
    Protocol::Request {
        send: format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{header}\r\n").into(),
        expect: Expect::HttpResponse,
    }
}

/// An IPv6 address has colons of its own, in brackets.
fn with_port(host: &str) -> String {
    let after_address = host.rsplit(']').next().unwrap_or(host);
    if after_address.contains(':') {
        host.to_owned()
    } else {
        format!("{host}:80")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_host_a_port_and_a_path() {
        for (text, host, path, address) in [
            ("http://127.0.0.1", "127.0.0.1", "/", "127.0.0.1:80"),
            ("http://a:8080/", "a:8080", "/", "a:8080"),
            ("http://a/b/c?d=/e#f", "a", "/b/c?d=/e", "a:80"),
            ("http://a:81?delay=40", "a:81", "/?delay=40", "a:81"),
            ("http://[::1]/x", "[::1]", "/x", "[::1]:80"),
            ("http://[::1]:8080", "[::1]:8080", "/", "[::1]:8080"),
        ] {
            let (target, connected) = read(text).expect(text);
            assert_eq!(
                (target.host.as_str(), target.path.as_str(), &connected[..]),
                (host, path, address),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_page_is_refused_with_what_to_write() {
        for (text, part) in [
            ("http://", "no host"),
            ("http://:80/", "no host"),
            ("http:///x", "no host"),
            ("http://me:secret@a/", "password"),
            ("http://a/b c", "blanks"),
            ("http://a/\r\nx", "blanks"),
            ("http://a/ä", "percent"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(
                error.contains(part) && error.contains("http://HOST:PORT/PATH"),
                "{error}"
            );
        }
    }
}
