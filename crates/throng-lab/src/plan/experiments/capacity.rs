//! What is the greatest rate at which bounds on latency hold, and how does latency grow up to it?
//!
//! One point of the sweep is an exchange whose rate is not known: the search gives each of its probes one (`crate::search`). All else of it is that of the
//! echo experiment, or, with a connection for each request, of the churn experiment.

use std::time::Duration;

use throng_record::plan::Experiment::{Backlog, Churn, Echo, Hold};
use throng_record::{
    ConnectionUse, ExchangeSpec, Pacing, Protocol, SearchSpec, Sequence, Stop, TargetRecord,
    Workload,
};

use super::requests::{self, TRIALS_APART};
use super::{Asked, Asking, Asks, exchange};
use crate::plan::draft::Point;
use crate::plan::keys::instead::Instead::{LeaveOut, Take, Write};
use crate::plan::keys::own::{OwnKeys, Usual};
use crate::plan::value::{Share, TlsChoice};
use crate::plan::{PlanDraft, PlanError, keys, nanoseconds};

/// The experiment.
pub(super) struct Capacity;

const WITHIN_SHORT: f64 = 0.1;
const CURVE_SHORT: u32 = 5;
const REPEATS_SHORT: u32 = 2;
const PROBE_SHORT: Duration = Duration::from_millis(300);
/// More points than a chart has room for.
const CURVE_MAX: u32 = 100;

const SOUGHT: &str = "the rate is what it looks for";
const AT_ONCE: &str = "its requests are answered as soon as they can be";
const BY_TIME: &str = "a probe lasts as long as its quantiles need";

const KEYS: OwnKeys = OwnKeys {
    uses: &[
        "bound",
        "within",
        "time-limit",
        "curve",
        "reuse",
        "workload",
        "closing",
        "observe",
        "method",
        "header",
        "body",
        "body-file",
        "status",
        "tls",
        "tls-resumption",
        "ca",
        "sni",
        "insecure",
    ],
    usual: &[
        ("workload", Usual::Value("echo")),
        ("observe", Usual::Value("false")),
        ("arrivals", Usual::Value("exponential")),
        ("duration", Usual::Value("1s")),
        ("max-duration", Usual::Value("10s")),
    ],
    help: &[
        (
            "connections",
            "Connections; with --reuse false, clients with one at a time",
        ),
        (
            "reuse",
            "Whether connections are kept; false: each request makes one, which is part of its latency",
        ),
        ("duration", "How long a probe lasts at the least"),
        (
            "max-duration",
            "How long a probe lasts at the most, however many replies its quantiles need",
        ),
        (
            "repeats",
            "Repeats of the search for each target and setting, at the least",
        ),
    ],
    refuses: &[
        (&["rate"], SOUGHT, Take(Echo)),
        (&["lockstep"], SOUGHT, Take(Echo)),
        (
            &["messages", "requests", "requests-total"],
            BY_TIME,
            Write("duration = \"2s\""),
        ),
        (&["confidence"], BY_TIME, Write("within = \"5%\"")),
        (
            &["clients"],
            "its clients are its connections",
            Write("connections = 100"),
        ),
        (&["service-time", "delay-inline"], AT_ONCE, Take(Backlog)),
        (
            &["connect-concurrency", "connect-rate"],
            "connects are not what it measures",
            Take(Churn),
        ),
        (
            &["hold", "pings"],
            "its connections are at work until the end",
            Take(Hold),
        ),
        (&["server"], TRIALS_APART, LeaveOut),
    ],
    ..OwnKeys::NONE
};

impl Asks for Capacity {
    fn keys(&self) -> &'static OwnKeys {
        &KEYS
    }

    fn asked(&self, asking: &Asking<'_>, _notes: &mut Vec<String>) -> Result<Asked, PlanError> {
        let point = asking.point;
        let connections = exchange::connections(point, "nothing would be sent", "100")?;
        refuse_tls_for_each(asking)?;
        let is_kept = point.reuse.unwrap_or_else(|| point.usual("reuse"));
        let (workload, protocol) = match is_kept {
            true => kept(asking)?,
            false => each_its_own(asking)?,
        };
        let phases = Sequence::of_exchange(ExchangeSpec {
            protocol,
            verify: exchange::verify(point),
            connection: match is_kept {
                true => ConnectionUse::Kept,
                false => ConnectionUse::PerMessage {
                    slow_first_byte_ns: u64::MAX,
                    tells_every_request: false,
                },
            },
            pacing: pacing(point)?,
            warmup: exchange::warmup(point),
            stop: Stop::DurationNs(least(point)?),
        });
        Ok(Asked {
            workload,
            service_time_ns: workload.takes_delay().then_some(0),
            ..Asked::echoed(connections, phases)
        })
    }

    fn takes_tls(&self) -> bool {
        true
    }

    fn search(&self, draft: &PlanDraft) -> Result<Option<SearchSpec>, PlanError> {
        let Some(bounds) = draft.bound.clone().filter(|bounds| !bounds.is_empty()) else {
            return Err(PlanError::NoBound);
        };
        let Share(within) = draft.within.unwrap_or_else(|| keys::usual("within", &KEYS));
        if !(0.001..=0.5).contains(&within) {
            return Err(PlanError::Within(within));
        }
        let time_limit = draft
            .time_limit
            .unwrap_or_else(|| keys::usual("time-limit", &KEYS));
        let usual = || keys::usual("max-duration", &KEYS);
        let longest = draft.max_duration.clone().unwrap_or_else(usual);
        for (key, length) in [
            ("time-limit", time_limit),
            ("max-duration", longest.values()[0]),
        ] {
            if length.is_zero() {
                return Err(exchange::zero_length(key, "\"10s\""));
            }
        }
        let curve_points = draft.curve.unwrap_or_else(|| keys::usual("curve", &KEYS));
        if curve_points == 1 || curve_points > CURVE_MAX {
            return Err(PlanError::CurvePoints {
                points: curve_points,
                most: CURVE_MAX,
            });
        }
        Ok(Some(SearchSpec {
            bounds,
            within,
            time_limit_ns: nanoseconds(time_limit),
            curve_points,
            duration_max_ns: nanoseconds(longest.values()[0]),
        }))
    }

    fn short(&self, draft: &PlanDraft) -> PlanDraft {
        let usual = || keys::usual("within", &KEYS);
        let Share(within) = draft.within.unwrap_or_else(usual);
        let shorter = |lengths: Option<&crate::plan::Sweep<Duration>>, most: Duration| {
            let lengths = lengths.cloned().unwrap_or(most.into());
            lengths.map(|length| length.min(most))
        };
        PlanDraft {
            repeats: Some(draft.repeats.unwrap_or(REPEATS_SHORT).min(REPEATS_SHORT)),
            within: Some(Share(within.max(WITHIN_SHORT))),
            curve: Some(draft.curve.unwrap_or(CURVE_SHORT).min(CURVE_SHORT)),
            duration: Some(shorter(draft.duration.as_ref(), PROBE_SHORT)),
            max_duration: Some(shorter(draft.max_duration.as_ref(), 4 * PROBE_SHORT)),
            ..PlanDraft::default()
        }
    }

    fn check_targets(&self, draft: &PlanDraft, targets: &[TargetRecord]) -> Result<(), PlanError> {
        requests::check_launched(draft, targets)
    }

    fn workloads(&self, draft: &PlanDraft) -> Vec<Workload> {
        requests::workloads(draft, Workload::Echo)
    }

    fn keeps_connections_to_pages(&self) -> bool {
        true
    }
}

/// A handshake is measured by itself, before messages; with one for each of them it would be in their latency, and in no figure of its own.
fn refuse_tls_for_each(asking: &Asking<'_>) -> Result<(), PlanError> {
    let point = asking.point;
    let is_kept = point.reuse.unwrap_or_else(|| point.usual("reuse"));
    let is_asked = point.tls.unwrap_or_else(|| point.usual("tls")) == TlsChoice::On;
    let is_spoken = asking.targets.iter().any(|one| one.tls.is_some());
    match !is_kept && (is_asked || is_spoken) {
        true => Err(PlanError::Conflict {
            key: "reuse",
            other: "tls",
            why: "over TLS connections are kept: a handshake for each request is not measured",
        }),
        false => Ok(()),
    }
}

fn kept(asking: &Asking<'_>) -> Result<(Workload, Protocol), PlanError> {
    Ok(match requests::page_on_kept(asking)? {
        Some(page) => (Workload::Http, page),
        None => (
            Workload::Echo,
            exchange::protocol(asking.point, ConnectionUse::Kept)?,
        ),
    })
}

fn each_its_own(asking: &Asking<'_>) -> Result<(Workload, Protocol), PlanError> {
    let workload = requests::workload(asking)?;
    Ok((
        workload,
        requests::protocol(asking, workload, Some(Duration::ZERO))?,
    ))
}

/// An open loop; its rate is each probe's.
fn pacing(point: &Point) -> Result<Pacing, PlanError> {
    if point.outstanding == Some(0) {
        return exchange::pacing(point);
    }
    Ok(Pacing::Open {
        rate_per_second: 0.0,
        arrivals: exchange::arrivals(point),
        outstanding: point
            .outstanding
            .unwrap_or_else(|| point.usual("outstanding")),
        spin: point.spin.unwrap_or_else(|| point.usual("spin")),
    })
}

fn least(point: &Point) -> Result<u64, PlanError> {
    match exchange::duration(point) {
        Duration::ZERO => Err(exchange::zero_length("duration", "\"1s\"")),
        length => Ok(nanoseconds(length)),
    }
}
