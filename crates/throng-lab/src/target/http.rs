//! `http://HOST:PORT/PATH`, `https://HOST:PORT/PATH`: where to connect, and what to ask for.
//!
//! As much of RFC 3986 as the address of a page on a server of one's own needs. Left out on purpose: names and passwords in it,
//! and any change of what is written, such as percent encoding.

use throng_record::{Expect, HttpTarget, PageRequest, PagesSpec, Protocol, StatusRange};

use crate::plan::escape::unescape;
use crate::plan::{PlanDraft, PlanError};

/// Each with the port where none is written.
const SCHEMES: [(&str, u16); 2] = [("http://", 80), ("https://", 443)];

/// What is asked for, and the address `HOST:PORT`; without a port it is that of the scheme, without a path `/`.
pub(super) fn read(text: &str) -> Result<(HttpTarget, String), PlanError> {
    let refuse = |why| PlanError::HttpAddress {
        text: text.to_owned(),
        why,
    };
    let mut schemes = SCHEMES.into_iter();
    let known = schemes.find_map(|(scheme, port)| Some((text.strip_prefix(scheme)?, port)));
    let (rest, port) = known.unwrap_or((text, 80));
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
    Ok((HttpTarget::get(host, &path), with_port(host, port)))
}

/// Adds what a plan says of the request beside the address: method, header lines, body.
///
/// # Errors
/// What of it cannot be sent.
pub(crate) fn complete(target: &mut HttpTarget, draft: &PlanDraft) -> Result<(), PlanError> {
    let refuse = |key, text: &str, why: &str| {
        Err(PlanError::Text {
            key,
            text: text.to_owned(),
            why: why.to_owned(),
        })
    };
    if let Some(method) = &draft.method {
        if !is_token(method) {
            return refuse(
                "method",
                method,
                "a method has letters, digits and - only; write for example POST",
            );
        }
        if ["HEAD", "CONNECT"].contains(&method.as_str()) {
            return refuse(
                "method",
                method,
                "what answers it has no body whatever its head says, so that its end cannot be known; write GET",
            );
        }
        target.method.clone_from(method);
    }
    for header in draft.header.iter().flatten() {
        let Some((name, value)) = header.split_once(':') else {
            return refuse("header", header, "it has no colon; write 'Name: value'");
        };
        if !is_token(name) {
            return refuse(
                "header",
                header,
                "a name has letters, digits and - only, and no blank before the colon; write 'Name: value'",
            );
        }
        if value.contains(|letter: char| letter.is_control() && letter != '\t') {
            return refuse(
                "header",
                header,
                "a value is one line; write another --header for another line",
            );
        }
        if ["content-length", "transfer-encoding", "connection"]
            .contains(&name.to_ascii_lowercase().as_str())
        {
            return refuse(
                "header",
                header,
                "that follows from the body and from the experiment; leave it out",
            );
        }
        target.headers.push(format!("{name}: {}", value.trim()));
    }
    target.body = body(draft)?;
    Ok(())
}

fn body(draft: &PlanDraft) -> Result<Vec<u8>, PlanError> {
    match (&draft.body, &draft.body_file) {
        (Some(_), Some(_)) => Err(PlanError::Conflict {
            key: "body",
            other: "body-file",
            why: "a request has one body",
        }),
        (Some(text), None) => unescape(text).map_err(|why| PlanError::Text {
            key: "body",
            text: text.clone(),
            why,
        }),
        (None, Some(file)) => std::fs::read(file).map_err(|error| PlanError::Text {
            key: "body-file",
            text: file.clone(),
            why: format!("it cannot be read ({error}); check the path"),
        }),
        (None, None) => Ok(vec![]),
    }
}

/// RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    let is_allowed =
        |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    !text.is_empty() && text.chars().all(is_allowed)
}

/// The request on a connection of its own.
pub(crate) fn get(target: &HttpTarget) -> Protocol {
    request(target, "Connection: close\r\n")
}

/// The same on a connection that is kept.
pub(crate) fn get_on_kept(target: &HttpTarget) -> Protocol {
    request(target, "")
}

/// Pages on connections that are kept, and the statuses that are right.
///
/// # Errors
/// A status that is none.
pub(crate) fn pages(target: &HttpTarget, draft: &PlanDraft) -> Result<Protocol, PlanError> {
    let statuses = draft.status.as_deref().map_or(Ok(vec![]), statuses)?;
    Ok(Protocol::Pages(PagesSpec {
        requests: vec![page(target)],
        statuses,
    }))
}

/// What is asked of one of several targets on connections that are kept: its own page, and which statuses are right as of all.
pub(crate) fn of_target(target: &HttpTarget, asked: &Protocol) -> Protocol {
    match asked {
        Protocol::Pages(pages) => Protocol::Pages(PagesSpec {
            requests: vec![page(target)],
            ..pages.clone()
        }),
        _ => get_on_kept(target),
    }
}

fn page(target: &HttpTarget) -> PageRequest {
    let (path, _) = target.path.split_once('?').unwrap_or((&target.path, ""));
    PageRequest {
        page: format!("{} {path}", target.method),
        head: head(target, ""),
        body: target.body.clone(),
    }
}

/// `200`, `2xx`, or several of them.
fn statuses(text: &str) -> Result<Vec<StatusRange>, PlanError> {
    let one = |word: &str| match word.trim().split_at_checked(1)? {
        (class, "xx") => {
            let from = class
                .parse::<u16>()
                .ok()
                .filter(|class| (1..=5).contains(class))?
                * 100;
            Some(StatusRange {
                from,
                to: from + 99,
            })
        }
        _ => {
            let status = word
                .trim()
                .parse()
                .ok()
                .filter(|status| (200..=599).contains(status))?;
            Some(StatusRange {
                from: status,
                to: status,
            })
        }
    };
    let ranges = text.split(',').map(one).collect::<Option<Vec<_>>>();
    ranges.ok_or_else(|| PlanError::Text {
        key: "status",
        text: text.to_owned(),
        why: "a status is a number such as 200, or a class such as 2xx; write several as 200,404"
            .to_owned(),
    })
}

fn request(target: &HttpTarget, connection: &str) -> Protocol {
    Protocol::Request {
        send: [head(target, connection).as_bytes(), &target.body].concat(),
        expect: Expect::HttpResponse,
    }
}

/// Up to and including the empty line.
fn head(target: &HttpTarget, connection: &str) -> String {
    let HttpTarget {
        host,
        path,
        method,
        headers,
        body,
    } = target;
    let is_host = |header: &&String| {
        let name = header.get(..5);
        name.is_some_and(|name| name.eq_ignore_ascii_case("host:"))
    };
    let host = match headers.iter().find(is_host) {
        Some(_) => String::new(),
        None => format!("Host: {host}\r\n"),
    };
    let own: String = headers.iter().map(|one| format!("{one}\r\n")).collect();
    // Of methods that usually have a body its length is due even where it is 0 (RFC 9110, section 8.6).
    let has_length = !body.is_empty() || ["POST", "PUT", "PATCH"].contains(&method.as_str());
    let length = match has_length {
        true => format!("Content-Length: {}\r\n", body.len()),
        false => String::new(),
    };
    format!("{method} {path} HTTP/1.1\r\n{host}{own}{length}{connection}\r\n")
}

/// An IPv6 address has colons of its own, in brackets.
fn with_port(host: &str, port: u16) -> String {
    let after_address = host.rsplit(']').next().unwrap_or(host);
    if after_address.contains(':') {
        host.to_owned()
    } else {
        format!("{host}:{port}")
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
            ("https://a/b", "a", "/b", "a:443"),
            ("https://a:8443", "a:8443", "/", "a:8443"),
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

    fn completed(plan: &str) -> Result<HttpTarget, String> {
        let draft = PlanDraft::parse(plan, "test").expect("a plan");
        let mut page = HttpTarget::get("a:81", "/x");
        complete(&mut page, &draft)
            .map(|()| page)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_request_has_the_method_the_header_lines_and_the_body_that_are_asked_for() {
        let sent = |plan: &str| {
            let page = completed(plan).expect(plan);
            let Protocol::Request { send, .. } = get_on_kept(&page) else {
                panic!("a request");
            };
            String::from_utf8(send).expect("text")
        };
        assert_eq!(sent(""), "GET /x HTTP/1.1\r\nHost: a:81\r\n\r\n");
        let plan = "method = 'POST'\nheader = ['Accept: a/b', 'X-Y:z ']\nbody = 'a\\nb'";
        assert_eq!(
            sent(plan),
            "POST /x HTTP/1.1\r\nHost: a:81\r\nAccept: a/b\r\nX-Y: z\r\nContent-Length: 3\r\n\r\na\nb"
        );
        let other_host = "header = 'host: example.org'\nmethod = 'PUT'";
        assert_eq!(
            sent(other_host),
            "PUT /x HTTP/1.1\r\nhost: example.org\r\nContent-Length: 0\r\n\r\n"
        );
    }

    #[test]
    fn a_request_that_cannot_be_sent_is_refused_with_what_to_write() {
        for (plan, part) in [
            ("method = 'GE T'", "write for example POST"),
            ("method = ''", "write for example POST"),
            ("method = 'HEAD'", "write GET"),
            ("header = 'Accept'", "no colon"),
            ("header = 'A b: c'", "Name: value"),
            ("header = [\"A: b\\r\\nC: d\"]", "one line"),
            ("header = 'Content-Length: 5'", "leave it out"),
            ("body = 'a'\nbody-file = 'b'", "one body"),
            ("body-file = '/nowhere/at/all'", "cannot be read"),
            ("body = '\\q'", "body"),
        ] {
            let message = completed(plan).expect_err(plan);
            assert!(message.contains(part), "{plan}: {message}");
        }
    }

    #[test]
    fn statuses_are_numbers_and_classes() {
        let read = |text: &str| {
            let ranges = statuses(text).map_err(|error| error.to_string())?;
            let words: Vec<String> = ranges.iter().map(ToString::to_string).collect();
            Ok::<_, String>(words.join(" "))
        };
        assert_eq!(read("200").as_deref(), Ok("200"));
        assert_eq!(read("2xx, 404").as_deref(), Ok("2xx 404"));
        for text in ["", "2x", "9xx", "ok", "200;404", "100", "600", "200,"] {
            let message = read(text).expect_err(text);
            assert!(message.contains("200,404"), "{text}: {message}");
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
