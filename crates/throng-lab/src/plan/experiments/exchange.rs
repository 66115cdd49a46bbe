//! What is exchanged: protocol, pacing, warm-up, stop.

use std::time::Duration;

use throng_record::{
    Amount, Arrivals, ConnectionUse, ExchangeSpec, Expect, Pacing, Protocol, Stop,
};

use crate::plan::draft::Point;
use crate::plan::error::{is_rate, not_zero};
use crate::plan::escape::unescape;
use crate::plan::{PlanError, nanoseconds};

/// The largest message, 1 MiB.
const SIZE_BYTES_MAX: u64 = 1 << 20;

/// Echoes, or requests of the user's, on connections that are kept.
pub(super) fn on_kept(point: &Point) -> Result<ExchangeSpec, PlanError> {
    kept(point, protocol(point, ConnectionUse::Kept)?)
}

/// These messages on connections that are kept.
pub(super) fn kept(point: &Point, protocol: Protocol) -> Result<ExchangeSpec, PlanError> {
    Ok(ExchangeSpec {
        protocol,
        verify: verify(point),
        connection: ConnectionUse::Kept,
        pacing: pacing(point)?,
        warmup: warmup(point),
        stop: stop(point)?,
    })
}

/// How many are opened.
pub(super) fn connections(
    point: &Point,
    why: &'static str,
    example: &'static str,
) -> Result<u32, PlanError> {
    let usual = point.usual("connections");
    not_zero("connections", point.connections, usual, why, example)
}

/// Whether returned bytes are compared.
pub(super) fn verify(point: &Point) -> bool {
    point.verify.unwrap_or_else(|| point.usual("verify"))
}

/// An echo, or a request of the user's.
pub(super) fn protocol(point: &Point, connection: ConnectionUse) -> Result<Protocol, PlanError> {
    match (&point.send, &point.expect) {
        (None, None) => echo(point.size.unwrap_or_else(|| point.usual("size"))),
        (Some(_), None) => Err(PlanError::Needs {
            key: "send",
            needed: "expect",
            why: "without it the end of a reply cannot be known",
        }),
        (None, Some(_)) => Err(PlanError::Needs {
            key: "expect",
            needed: "send",
            why: "without it there is no request to be answered",
        }),
        (Some(_), Some(_)) if point.size.is_some() => Err(PlanError::Conflict {
            key: "size",
            other: "send",
            why: "the first measures an echo of that many bytes, the second sends a fixed request",
        }),
        (Some(send), Some(expect)) => request(send, expect, connection),
    }
}

fn echo(size: u64) -> Result<Protocol, PlanError> {
    match size {
        0 => Err(PlanError::Zero {
            key: "size",
            why: "there would be nothing to send back",
            example: "6",
        }),
        size @ ..=SIZE_BYTES_MAX => Ok(Protocol::Echo {
            size_bytes: size as u32,
        }),
        size => Err(PlanError::SizeTooLarge(size)),
    }
}

fn request(send: &str, expect: &str, connection: ConnectionUse) -> Result<Protocol, PlanError> {
    let bytes = |key, text: &str| {
        let refuse = |why: String| PlanError::Text {
            key,
            text: text.to_owned(),
            why,
        };
        match unescape(text) {
            Ok(bytes) if bytes.is_empty() => {
                Err(refuse("it is empty; write at least one byte".into()))
            }
            Ok(bytes) => Ok(bytes),
            Err(why) => Err(refuse(why)),
        }
    };
    let expect = if expect == "end" {
        if connection == ConnectionUse::Kept {
            return Err(PlanError::Text {
                key: "expect",
                text: "end".to_owned(),
                why: "the end of the server's output is the end of a connection, and here they are kept; write text end for a reply of these letters".to_owned(),
            });
        }
        Expect::End
    } else if let Some(delimiter) = expect.strip_prefix("until ") {
        Expect::Until(bytes("expect", delimiter)?)
    } else if let Some(count) = byte_count(expect) {
        match count {
            0 => {
                return Err(PlanError::Zero {
                    key: "expect",
                    why: "a reply of no bytes could not be seen",
                    example: "\"7 bytes\"",
                });
            }
            count => Expect::Bytes(count),
        }
    } else {
        Expect::Text(bytes(
            "expect",
            expect.strip_prefix("text ").unwrap_or(expect),
        )?)
    };
    let send = bytes("send", send)?;
    if send.len() as u64 > SIZE_BYTES_MAX {
        return Err(PlanError::SizeTooLarge(send.len() as u64));
    }
    Ok(Protocol::Request { send, expect })
}

/// `N bytes`, `1 byte`.
fn byte_count(text: &str) -> Option<u64> {
    let count = text
        .strip_suffix(" bytes")
        .or_else(|| text.strip_suffix(" byte"))?;
    count.trim().parse().ok()
}

pub(super) fn pacing(point: &Point) -> Result<Pacing, PlanError> {
    if point.outstanding == Some(0) {
        return Err(PlanError::Zero {
            key: "outstanding",
            why: "no connection could ever send",
            example: "1",
        });
    }
    if let Some(group) = point.lockstep {
        return lockstep(point, group);
    }
    let outstanding = || point.usual("outstanding");
    let outstanding = point.outstanding.unwrap_or_else(outstanding);
    let Some(rate) = point.rate else {
        return match needs_rate(point) {
            Some(error) => Err(error),
            None => Ok(Pacing::Closed { outstanding }),
        };
    };
    if !is_rate(rate) {
        return Err(PlanError::Rate {
            key: "rate",
            rate,
            of_what: "messages",
            example: 20_000,
        });
    }
    Ok(Pacing::Open {
        rate_per_second: rate,
        arrivals: arrivals(point),
        outstanding,
        spin: point.spin.unwrap_or_else(|| point.usual("spin")),
    })
}

pub(super) fn arrivals(point: &Point) -> Arrivals {
    point.arrivals.unwrap_or_else(|| point.usual("arrivals"))
}

/// For how long it is measured.
pub(super) fn duration(point: &Point) -> Duration {
    point.duration.unwrap_or_else(|| point.usual("duration"))
}

fn lockstep(point: &Point, group: u32) -> Result<Pacing, PlanError> {
    let conflict = |other, why| PlanError::Conflict {
        key: "lockstep",
        other,
        why,
    };
    if point.outstanding.is_some() {
        return Err(conflict(
            "outstanding",
            "in step, each connection has exactly one message unanswered",
        ));
    }
    if point.rate.is_some() {
        return Err(conflict(
            "rate",
            "the one waits for replies before it sends on, the other does not",
        ));
    }
    if let Some(error) = needs_rate(point) {
        return Err(error);
    }
    match group {
        0 => Err(PlanError::Zero {
            key: "lockstep",
            why: "no connection would be in a group",
            example: "10",
        }),
        group => Ok(Pacing::Lockstep { group }),
    }
}

/// `arrivals` and `spin` say how an open loop keeps its schedule, and only that has one.
fn needs_rate(point: &Point) -> Option<PlanError> {
    let needs = |key| PlanError::Needs {
        key,
        needed: "rate",
        why: "only an open loop sends by a schedule",
    };
    if point.arrivals.is_some() {
        Some(needs("arrivals"))
    } else {
        point.spin.is_some().then(|| needs("spin"))
    }
}

pub(super) fn warmup(point: &Point) -> Amount {
    point.warmup.unwrap_or_else(|| point.usual("warmup"))
}

pub(super) fn stop(point: &Point) -> Result<Stop, PlanError> {
    only_one_stop(point)?;
    if point.messages == Some(0) {
        return Err(zero_length("messages", "100000"));
    }
    for (key, duration) in [
        ("duration", point.duration),
        ("max-duration", point.max_duration),
    ] {
        if duration == Some(Duration::ZERO) {
            return Err(zero_length(key, "\"2s\""));
        }
    }
    Ok(match (point.messages, point.confidence) {
        (Some(messages), _) => Stop::Messages(messages),
        (None, Some(width)) if width > 0.0 && width < 1.0 => Stop::Confidence {
            relative_half_width: width,
            max_duration_ns: nanoseconds(
                point
                    .max_duration
                    .unwrap_or_else(|| point.usual("max-duration")),
            ),
        },
        (None, Some(width)) => return Err(PlanError::Confidence(width)),
        (None, None) => Stop::DurationNs(nanoseconds(duration(point))),
    })
}

pub(super) fn zero_length(key: &'static str, example: &'static str) -> PlanError {
    PlanError::Zero {
        key,
        why: "nothing would be measured",
        example,
    }
}

fn only_one_stop(point: &Point) -> Result<(), PlanError> {
    let given = [
        ("messages", point.messages.is_some()),
        ("duration", point.duration.is_some()),
        ("confidence", point.confidence.is_some()),
    ];
    let given: Vec<&'static str> = given
        .into_iter()
        .filter_map(|(key, is_given)| is_given.then_some(key))
        .collect();
    if let [key, other, ..] = given[..] {
        let why = "each says when the measurement ends";
        return Err(PlanError::Conflict { key, other, why });
    }
    if point.max_duration.is_some() && point.confidence.is_none() {
        return Err(PlanError::Needs {
            key: "max-duration",
            needed: "confidence",
            why: "it bounds how long that is waited for",
        });
    }
    Ok(())
}
