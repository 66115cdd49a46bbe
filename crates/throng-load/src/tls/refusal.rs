//! Why a handshake failed, in words. What to do about it stands with the kinds of errors, where the report is made.

use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};
use throng_record::ErrorKind;

use crate::quote::quoted;

/// A handshake that failed, at once or as the peer said later: in TLS 1.3 it may refuse a client that has begun to send.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub(crate) struct Refusal {
    pub(crate) kind: ErrorKind,
    pub(crate) words: String,
}

/// The two names of a certificate, as far as they are there: whom it is of, and who has signed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    subject: Option<String>,
    issuer: Option<String>,
}

impl Refusal {
    /// `unread` is what came and was not understood; `refused` whose certificate was not good, where one was not.
    pub(super) fn of(error: &Error, unread: &[u8], refused: Option<Named>) -> Self {
        let failed = |words| Self {
            kind: ErrorKind::HandshakeFailed,
            words,
        };
        match error {
            Error::InvalidCertificate(why) => Self {
                kind: ErrorKind::CertificateRefused,
                words: certificate(why, &refused.unwrap_or_default()),
            },
            Error::AlertReceived(alert) => failed(sent(*alert)),
            _ if speaks_no_tls(unread) => failed(format!(
                "the server does not speak TLS on this port: it answered {}",
                quoted(unread, 0)
            )),
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
                failed("what came is no TLS".to_owned())
            }
            other => failed(other.to_string()),
        }
    }

    /// The connection ended before the handshake did.
    pub(crate) fn closed() -> Self {
        Self {
            kind: ErrorKind::HandshakeFailed,
            words: "the server closed during the handshake".to_owned(),
        }
    }
}

/// Records begin with their type, 20 to 23 (RFC 8446, 5.1).
fn speaks_no_tls(unread: &[u8]) -> bool {
    let first = unread.first();
    first.is_some_and(|first| !(20..=23).contains(first))
}

fn sent(alert: AlertDescription) -> String {
    let name = format!("{alert:?}");
    let why = match alert {
        AlertDescription::ProtocolVersion => ": it speaks none of TLS 1.2 and 1.3",
        AlertDescription::HandshakeFailure => ": it has no cipher or group in common with throng",
        AlertDescription::UnrecognisedName => ": it has no such host",
        AlertDescription::CertificateRequired | AlertDescription::AccessDenied => {
            ": it asks for a certificate of the client, and throng has none"
        }
        _ => "",
    };
    format!("the server ended the handshake with the alert {name}{why}")
}

fn certificate(why: &CertificateError, named: &Named) -> String {
    let of = match &named.subject {
        Some(subject) => format!("the certificate of `{subject}`"),
        None => "its certificate".to_owned(),
    };
    match why {
        CertificateError::UnknownIssuer => {
            let signed = match (&named.subject, &named.issuer) {
                (subject, Some(issuer)) if subject.as_ref() == Some(issuer) => {
                    "has signed itself, and is not among what is trusted".to_owned()
                }
                (_, Some(issuer)) => format!("is signed by `{issuer}`, who is not trusted"),
                (_, None) => "is signed by somebody who is not trusted".to_owned(),
            };
            format!("{of} {signed}")
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => {
            let expected = expected.to_str();
            match &presented[..] {
                [] => format!("{of} names no host, and `{expected}` was asked for"),
                names => format!(
                    "{of} is for {}, and not for `{expected}`",
                    names
                        .iter()
                        .map(|name| plain(name))
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
            }
        }
        CertificateError::NotValidForName => format!("{of} is for another host"),
        CertificateError::ExpiredContext { time, not_after } => {
            format!("{of} expired {} ago", length(*not_after, *time))
        }
        CertificateError::NotValidYetContext { time, not_before } => {
            format!("{of} becomes valid in {} only", length(*time, *not_before))
        }
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            format!(
                "{of} is that of an authority which has signed itself, and is not among what is trusted"
            )
        }
        other => format!("{of} is not good: {other}"),
    }
}

/// rustls writes them as `DnsName("one.test")` and `IpAddress(127.0.0.1)`.
fn plain(presented: &str) -> String {
    let within = presented
        .split_once('(')
        .map_or(presented, |(_, name)| name);
    format!("`{}`", within.trim_end_matches(')').trim_matches('"'))
}

/// In the greatest unit that is full.
fn length(from: UnixTime, to: UnixTime) -> String {
    let seconds = to.as_secs().saturating_sub(from.as_secs());
    let (number, unit) = match seconds {
        ..120 => (seconds, "second"),
        120..7_200 => (seconds / 60, "minute"),
        7_200..172_800 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// The attribute `commonName` (2.5.4.3) in DER, before its value's type and length.
const COMMON_NAME: [u8; 5] = [6, 3, 0x55, 4, 3];
/// The beginnings of what follows the issuer: the two times of a certificate's validity.
const TIMES: [u8; 2] = [0x17, 0x18];

impl Named {
    /// The common names, found by their type: the issuer's stands before the times of validity, the subject's behind them (RFC 5280, 4.1). A certificate without
    /// any has its names elsewhere, and rustls tells of those.
    pub(super) fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let bytes: &[u8] = certificate;
        let is_time = |window: &[u8]| {
            TIMES.contains(&window[0])
                && matches!(window[1], 13 | 15)
                && window[2..].iter().all(u8::is_ascii_digit)
        };
        let validity = bytes.windows(8).position(is_time)?;
        let (before, behind) = bytes.split_at(validity);
        Some(Self {
            subject: common_name(behind),
            issuer: common_name(before),
        })
    }
}

fn common_name(bytes: &[u8]) -> Option<String> {
    let found = bytes
        .windows(COMMON_NAME.len())
        .position(|window| window == COMMON_NAME)?;
    let [_, length, value @ ..] = &bytes[found + COMMON_NAME.len()..] else {
        return None;
    };
    // A longer one has its length in several bytes, and is no name.
    let value = value
        .get(..usize::from(*length))
        .filter(|_| *length < 128)?;
    Some(String::from_utf8_lossy(value).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(error: Error, unread: &[u8]) -> Refusal {
        let named = Named {
            subject: Some("server".to_owned()),
            issuer: Some("somebody".to_owned()),
        };
        Refusal::of(&error, unread, Some(named))
    }

    #[test]
    fn a_certificate_is_refused_with_whose_it_is_and_why() {
        let day =
            |day: u64| UnixTime::since_unix_epoch(std::time::Duration::from_secs(day * 86_400));
        for (why, part) in [
            (
                CertificateError::UnknownIssuer,
                "of `server` is signed by `somebody`",
            ),
            (
                CertificateError::ExpiredContext {
                    time: day(20),
                    not_after: day(13),
                },
                "expired 7 days ago",
            ),
            (
                CertificateError::NotValidYetContext {
                    time: day(2),
                    not_before: day(3),
                },
                "in 24 hours only",
            ),
            (
                CertificateError::NotValidForNameContext {
                    expected: "asked.test".try_into().expect("a name"),
                    presented: vec![
                        "DnsName(\"one.test\")".to_owned(),
                        "IpAddress(127.0.0.1)".to_owned(),
                    ],
                },
                "is for `one.test`, `127.0.0.1`, and not for `asked.test`",
            ),
        ] {
            let refusal = of(Error::InvalidCertificate(why), b"");
            assert_eq!(refusal.kind, ErrorKind::CertificateRefused);
            assert!(refusal.words.contains(part), "{part} in {}", refusal.words);
        }
    }

    #[test]
    fn a_server_that_speaks_plainly_is_quoted() {
        let plain = Error::InvalidMessage(InvalidMessage::InvalidContentType);
        let refusal = of(plain, b"HTTP/1.1 400 Bad Request\r\n");
        assert_eq!(refusal.kind, ErrorKind::HandshakeFailed);
        assert!(refusal.words.contains("HTTP/1.1 400"), "{}", refusal.words);
    }

    #[test]
    fn an_alert_is_named() {
        let refusal = of(Error::AlertReceived(AlertDescription::ProtocolVersion), b"");
        assert!(
            refusal
                .words
                .contains("alert ProtocolVersion: it speaks none"),
            "{}",
            refusal.words
        );
    }
}
