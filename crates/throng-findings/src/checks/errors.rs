//! Unexpected errors: no connection may fail, while connecting, exchanging or closing.

use throng_record::{Check, CheckKind, CheckResult, ErrorCounts, ErrorKind};

use super::{Kind, made};

pub(super) const KIND: Kind = Kind {
    name: "unexpected-errors",
    title: "unexpected errors",
    heading: "Unexpected errors",
    is_the_servers_fault: true,
};

pub(super) fn check(errors: &ErrorCounts) -> Check {
    let kind = CheckKind::UnexpectedErrors;
    if errors.total() == 0 {
        return made(
            kind,
            CheckResult::Passed,
            0.0,
            0.0,
            "no connection failed".to_owned(),
        );
    }
    made(
        kind,
        CheckResult::Failed,
        errors.total() as f64,
        0.0,
        in_words(errors),
    )
}

/// Whether nothing worse happened than replies that did not come in time.
pub(super) fn only_timeouts(errors: &ErrorCounts) -> bool {
    let happened = errors.counts.iter().filter(|(_, count)| **count > 0);
    let mut kinds = happened.map(|(kind, _)| *kind);
    kinds.all(|kind| matches!(kind, ErrorKind::ReplyTimedOut | ErrorKind::NotAcknowledged))
}

/// A line for each kind, with its count, its first example, its cause and its remedy.
#[must_use]
pub fn in_words(errors: &ErrorCounts) -> String {
    let details: Vec<String> = errors
        .counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(&kind, count)| {
            let example = errors.first_examples.get(&kind);
            let advice = match example {
                Some(example) if example.contains(NO_SUCH_FILE) => NO_SOCKET,
                _ => cause_and_remedy(kind),
            };
            let example =
                example.map_or_else(String::new, |example| format!(" (the first: {example})"));
            format!("{count} × {}{example}: {advice}", kind.words())
        })
        .collect();
    details.join("\n")
}

/// ENOENT, which only a Unix socket's path can give.
const NO_SUCH_FILE: &str = "(os error 2)";
const NO_SOCKET: &str =
    "there is no socket at this path; see whether the server runs (ss -xl), and check the path";

/// Why this happens, and what to do about it.
fn cause_and_remedy(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ConnectRefused => {
            "nobody listens at the address, or a firewall or load balancer refuses in the server's name; a full accept queue is no reason, Linux lets connects wait there; see whether the server runs, and on this address"
        }
        ErrorKind::ConnectTimedOut => {
            "the accept queue was full for longer than the connect timeout, or packets are filtered; raise the server's backlog and net.core.somaxconn"
        }
        ErrorKind::ConnectUnreachable => {
            "there is no way to the address from here (route, source address, permission); try it with `ip route get`, and check --source"
        }
        ErrorKind::NotDelivered => {
            "a line that was due (the greeting, or the one that is passed on) did not come within the reply timeout; does the server greet as --greeting says (--no-greeting if not at all)? see whether it dropped any, and raise --timeout if it is merely slow"
        }
        ErrorKind::DeliveredTwice => {
            "the server passed one line on twice to the same connection: it may have registered it twice"
        }
        ErrorKind::PortsExhausted => {
            "every local port to this destination is taken; leave --addresses kernel out, or name more --source addresses"
        }
        ErrorKind::DescriptorsExhausted => {
            "a shard ran out of descriptors; raise the limit (ulimit -n), or use more shards, each has a table of its own"
        }
        ErrorKind::CertificateRefused => {
            "what the server calls itself by is not good here; pass the certificate of whoever has signed it (--ca FILE), the name that it is for (--sni NAME), or take any (--insecure)"
        }
        ErrorKind::HandshakeFailed => {
            "the two sides did not agree on TLS; see what the server speaks on this port (`openssl s_client -connect HOST:PORT`), and where that is no TLS write tcp:// or http://"
        }
        ErrorKind::HandshakeTimedOut => {
            "the server did not answer the TLS handshake: it hangs, speaks no TLS on this port, serves fewer connections at once, or has more handshakes to make than it can; write tcp:// or http:// where it speaks plainly, open fewer connections, or raise --connect-timeout"
        }
        ErrorKind::Reset => {
            "the server ended connections abruptly: it crashed, ran out of something, or closed with input unread; look at its own log"
        }
        ErrorKind::ClosedEarly => {
            "the server closed before the exchange was over: it has a limit (requests, connections, time) or failed; look at its own log, raise the limit (nginx: keepalive_requests), and where it keeps no connection at all, or for a few requests, ask with throng churn"
        }
        ErrorKind::Truncated => {
            "the server closed in the middle of a reply: it loses what it has not written yet; look at how it closes"
        }
        ErrorKind::WrongBytes => {
            "what came back is not what was sent or expected: the server corrupts or reorders, or does not speak this protocol; check the target, or what it is asked for (--send and --expect; in a fan-out --greeting, --no-greeting and --line)"
        }
        ErrorKind::HttpStatus => {
            "the server speaks HTTP and does not give this page; check the address and its path, and the server's own log"
        }
        ErrorKind::ExcessBytes => {
            "the server sent more than it was asked for: it greets, duplicates or broadcasts, or its reply ends elsewhere than it is said to; check the target, or what it is asked for (--send and --expect; in a fan-out --greeting, --no-greeting and --line)"
        }
        ErrorKind::ReplyTimedOut => {
            "the server did not answer: it hangs, leaves the connection in its accept queue, starves some, or waits for more input; if it is only slow, raise --timeout"
        }
        ErrorKind::ReplyStalled => {
            "the server sent a part of the reply and not the rest: it hangs, loses what a partial write left over, or the reply ends elsewhere than it is said to; check --expect, and if the server is only slow, raise --timeout"
        }
        ErrorKind::NotAcknowledged => {
            "the server's kernel does not have the connection, so the server cannot answer: the handshake's last ACK found the accept queue full and was dropped (ListenOverflows), or packets are lost; raise the server's backlog and net.core.somaxconn, or open fewer at once (--connect-concurrency)"
        }
        ErrorKind::CloseTimedOut => {
            "the server did not close after our end of input; it misses half-close, or is still busy"
        }
        ErrorKind::Other => "an error of the operating system that has no remedy of its own",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_error_fails_with_example_cause_and_remedy() {
        let mut errors = ErrorCounts::default();
        assert_eq!(check(&errors).result, CheckResult::Passed);
        errors.count(ErrorKind::ReplyTimedOut, || {
            "connection 7 waited 10 s".to_owned()
        });
        let check = check(&errors);
        assert_eq!(check.result, CheckResult::Failed);
        for part in [
            "1 × reply timed out",
            "connection 7 waited 10 s",
            "hangs",
            "--timeout",
        ] {
            assert!(check.detail.contains(part), "{part} in {}", check.detail);
        }
    }

    #[test]
    fn a_socket_that_is_not_there_needs_no_route() {
        let mut errors = ErrorCounts::default();
        errors.count(ErrorKind::ConnectUnreachable, || {
            "connection 0: No such file or directory (os error 2)".to_owned()
        });
        let detail = check(&errors).detail;
        assert!(detail.contains("no socket at this path"), "{detail}");
        assert!(!detail.contains("ip route"), "{detail}");
    }

    #[test]
    fn kinds_are_listed_side_by_side_and_summed() {
        let mut errors = ErrorCounts::default();
        errors.count(ErrorKind::ConnectRefused, || "a".to_owned());
        for _ in 0..2 {
            errors.count(ErrorKind::Reset, || "b".to_owned());
        }
        let check = check(&errors);
        assert_eq!(check.measured, Some(3.0));
        assert!(
            check.detail.contains("1 × connect refused"),
            "{}",
            check.detail
        );
        assert!(check.detail.contains("2 × reset"), "{}", check.detail);
    }

    #[test]
    fn a_refused_connect_is_not_blamed_on_the_queue_nor_a_status_on_the_bytes() {
        let mut errors = ErrorCounts::default();
        errors.count(ErrorKind::ConnectRefused, String::new);
        let words = in_words(&errors);
        assert!(words.contains("accept queue is no reason"), "{words}");
        assert!(!words.contains("backlog"), "{words}");
        let mut errors = ErrorCounts::default();
        errors.count(ErrorKind::HttpStatus, || {
            "HTTP/1.1 404 Not Found".to_owned()
        });
        let words = in_words(&errors);
        assert!(words.contains("404 Not Found"), "{words}");
        assert!(!words.contains("corrupts"), "{words}");
    }

    #[test]
    fn a_late_reply_is_told_from_a_wrong_one() {
        let mut errors = ErrorCounts::default();
        assert!(only_timeouts(&errors));
        errors.count(ErrorKind::ReplyTimedOut, || "late".to_owned());
        assert!(only_timeouts(&errors));
        errors.count(ErrorKind::WrongBytes, || "wrong".to_owned());
        assert!(!only_timeouts(&errors));
    }
}
