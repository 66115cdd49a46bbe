//! What is exchanged: protocol, pacing, warm-up, stop.

use std::time::Duration;

use throng_record::{Amount, Arrivals, Expect, Pacing, Protocol, Stop};

use crate::plan::escape::unescape;
use crate::plan::{PlanDraft, PlanError, nanoseconds};

/// Bytes of a message where none are asked for: those of the published echo measurements.
const SIZE_BYTES: u32 = 6;
/// The largest message, 1 MiB.
const SIZE_BYTES_MAX: u64 = 1 << 20;
/// Length of the warm-up where none is asked for.
const WARMUP: Duration = Duration::from_millis(300);
/// Length of the measurement where none is asked for.
const DURATION: Duration = Duration::from_secs(2);
/// How long a stop by confidence is waited for.
const MAX_DURATION: Duration = Duration::from_secs(30);

pub(super) fn protocol(draft: &PlanDraft) -> Result<Protocol, PlanError> {
    match (&draft.send, &draft.expect) {
        (None, None) => echo(draft.size),
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
        (Some(_), Some(_)) if draft.size.is_some() => Err(PlanError::Conflict {
            key: "size",
            other: "send",
            why: "the first measures an echo of that many bytes, the second sends a fixed request",
        }),
        (Some(send), Some(expect)) => request(send, expect),
    }
}

fn echo(size: Option<u64>) -> Result<Protocol, PlanError> {
    match size.unwrap_or(u64::from(SIZE_BYTES)) {
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

fn request(send: &str, expect: &str) -> Result<Protocol, PlanError> {
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
    let expect = if let Some(delimiter) = expect.strip_prefix("until ") {
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

pub(super) fn pacing(draft: &PlanDraft) -> Result<Pacing, PlanError> {
    if draft.outstanding == Some(0) {
        return Err(PlanError::Zero {
            key: "outstanding",
            why: "no connection could ever send",
            example: "1",
        });
    }
    if let Some(group) = draft.lockstep {
        return lockstep(draft, group);
    }
    let Some(rate) = draft.rate else {
        return match needs_rate(draft) {
            Some(error) => Err(error),
            None => Ok(Pacing::Closed {
                outstanding: draft.outstanding.unwrap_or(1),
            }),
        };
    };
    if !(rate.is_finite() && rate > 0.0) {
        return Err(PlanError::Rate(rate));
    }
    Ok(Pacing::Open {
        rate_per_second: rate,
        arrivals: draft.arrivals.unwrap_or(Arrivals::Constant),
        outstanding: draft.outstanding.unwrap_or(1),
        spin: draft.spin.unwrap_or(true),
    })
}

fn lockstep(draft: &PlanDraft, group: u32) -> Result<Pacing, PlanError> {
    let conflict = |other, why| PlanError::Conflict {
        key: "lockstep",
        other,
        why,
    };
    if draft.outstanding.is_some() {
        return Err(conflict(
            "outstanding",
            "in step, each connection has exactly one message unanswered",
        ));
    }
    if draft.rate.is_some() {
        return Err(conflict(
            "rate",
            "the one waits for replies before it sends on, the other does not",
        ));
    }
    if let Some(error) = needs_rate(draft) {
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
fn needs_rate(draft: &PlanDraft) -> Option<PlanError> {
    let needs = |key| PlanError::Needs {
        key,
        needed: "rate",
        why: "only an open loop sends by a schedule",
    };
    if draft.arrivals.is_some() {
        Some(needs("arrivals"))
    } else {
        draft.spin.is_some().then(|| needs("spin"))
    }
}

pub(super) fn warmup(draft: &PlanDraft) -> Amount {
    draft
        .warmup
        .unwrap_or(Amount::DurationNs(nanoseconds(WARMUP)))
}

pub(super) fn stop(draft: &PlanDraft) -> Result<Stop, PlanError> {
    only_one_stop(draft)?;
    if draft.messages == Some(0) {
        return Err(zero_length("messages", "100000"));
    }
    for (key, duration) in [
        ("duration", draft.duration),
        ("max-duration", draft.max_duration),
    ] {
        if duration == Some(Duration::ZERO) {
            return Err(zero_length(key, "\"2s\""));
        }
    }
    Ok(match (draft.messages, draft.confidence) {
        (Some(messages), _) => Stop::Messages(messages),
        (None, Some(width)) if width > 0.0 && width < 1.0 => Stop::Confidence {
            relative_half_width: width,
            max_duration_ns: nanoseconds(draft.max_duration.unwrap_or(MAX_DURATION)),
        },
        (None, Some(width)) => return Err(PlanError::Confidence(width)),
        (None, None) => Stop::DurationNs(nanoseconds(draft.duration.unwrap_or(DURATION))),
    })
}

fn zero_length(key: &'static str, example: &'static str) -> PlanError {
    PlanError::Zero {
        key,
        why: "nothing would be measured",
        example,
    }
}

fn only_one_stop(draft: &PlanDraft) -> Result<(), PlanError> {
    let given = [
        ("messages", draft.messages.is_some()),
        ("duration", draft.duration.is_some()),
        ("confidence", draft.confidence.is_some()),
    ];
    let given: Vec<&'static str> = given
        .into_iter()
        .filter_map(|(key, is_given)| is_given.then_some(key))
        .collect();
    if let [key, other, ..] = given[..] {
        let why = "each says when the measurement ends";
        return Err(PlanError::Conflict { key, other, why });
    }
    if draft.max_duration.is_some() && draft.confidence.is_none() {
        return Err(PlanError::Needs {
            key: "max-duration",
            needed: "confidence",
            why: "it bounds how long that is waited for",
        });
    }
    Ok(())
}
