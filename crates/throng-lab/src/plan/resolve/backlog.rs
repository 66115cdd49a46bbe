//! What the clients of the backlog experiment ask, how often, and how long a server is to take for it.
//!
//! Every client makes its requests one after the other, each on a connection of its own. What it asks follows from the workload, from
//! a page's address, or from a request of the user's.

use std::time::Duration;

use throng_record::connections::SLOW_FIRST_BYTE_SPARE_NS;
use throng_record::plan::Experiment;
use throng_record::{
    Amount, ConnectionUse, ExchangeSpec, Expect, HttpTarget, Pacing, Protocol, Sequence, Setting,
    Stop, TargetKind, TargetRecord, Workload,
};

use super::exchange::{self, Asked};
use super::{not_zero, tell};
use crate::plan::draft::Point;
use crate::plan::{PlanDraft, PlanError, keys, nanoseconds};
use crate::target::http;

/// As far as a client's requests are counted.
const REQUESTS_MAX: u64 = u32::MAX as u64;
/// The longest that a server can be asked to take.
const SERVICE_TIME_MAX: Duration = Duration::from_secs(3600);
/// The published request, of 14 bytes without a line's end, and its reply of 23.
const QUESTION: &[u8; 14] = b"GET / HTTP/1.1";
const ANSWER: &[u8; 23] = b"HTTP/1.1 200 OK\r\n\r\nok\r\n";
const REQUESTS_TWICE: PlanError = PlanError::Conflict {
    key: "requests",
    other: "requests-total",
    why: "each says how many requests a client makes",
};

/// Refuses what launched servers would be asked for where none is launched.
pub(super) fn check_asked(draft: &PlanDraft, targets: &[TargetRecord]) -> Result<(), PlanError> {
    let is_there = |is: fn(&TargetRecord) -> bool| targets.iter().any(is);
    let is_launched = is_there(|target| target.kind != TargetKind::Running);
    let is_built_in = is_there(|target| target.kind == TargetKind::BuiltIn);
    let takes_flags = is_there(|target| target.kind.keeps_contract());
    let built_in = " and that are built in";
    let ours = " and that are built in or catalogued";
    for (key, is_given, is_possible, of_which) in [
        ("backlog", draft.backlog.is_some(), is_launched, ""),
        ("workers", draft.workers.is_some(), takes_flags, ours),
        (
            "accept-threads",
            draft.accept_threads.is_some(),
            is_built_in,
            built_in,
        ),
        (
            "delay-inline",
            draft.delay_inline.is_some(),
            is_built_in,
            built_in,
        ),
    ] {
        if is_given && !is_possible {
            return Err(PlanError::NothingToAsk { key, of_which });
        }
    }
    Ok(())
}

/// Refuses a number of requests that some numbers of clients cannot share, and names those.
pub(super) fn check_total(draft: &PlanDraft) -> Result<(), PlanError> {
    let Some(totals) = &draft.requests_total else {
        return Ok(());
    };
    if draft.requests.is_some() {
        return Err(REQUESTS_TWICE);
    }
    let usual = || keys::usual("clients", Experiment::Backlog);
    let all = draft.clients.clone().unwrap_or_else(usual);
    let all = all.values();
    for &total in totals.values() {
        let odd: Vec<u64> = all
            .iter()
            .map(|&clients| u64::from(clients))
            .filter(|&clients| clients > 0 && !total.is_multiple_of(clients))
            .collect();
        if !odd.is_empty() {
            let names: Vec<String> = odd.iter().map(u64::to_string).collect();
            let every = all.iter().map(|&clients| u64::from(clients));
            let shared = every.filter(|&clients| clients > 0).fold(1, least_multiple);
            return Err(PlanError::Indivisible {
                total,
                clients: throng_catalogue::suggest::or_list(&names),
                nearest: total.div_ceil(shared).saturating_mul(shared),
            });
        }
    }
    Ok(())
}

/// The least common multiple.
fn least_multiple(one: u64, other: u64) -> u64 {
    let (mut divisor, mut rest) = (one, other);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (one / divisor).saturating_mul(other)
}

/// What is exchanged at one point of the sweep.
pub(super) fn asked(
    point: &Point,
    targets: &[TargetRecord],
    notes: &mut Vec<String>,
) -> Result<Asked, PlanError> {
    let why = "nobody would ask";
    let clients = clients(point, why, "32")?;
    let pages: Vec<&HttpTarget> = targets.iter().filter_map(|one| one.http.as_ref()).collect();
    let workload = workload(point, &pages)?;
    let service_time = service_time(point, targets, workload)?;
    if let Some(length) = service_time {
        believe(targets, length, notes);
    }
    let service_time_ns = service_time.map(nanoseconds);
    Ok(Asked {
        connections: clients,
        phases: Sequence::of_exchange(ExchangeSpec {
            protocol: protocol(point, targets, &pages, workload, service_time)?,
            verify: exchange::verify(point),
            connection: ConnectionUse::PerMessage {
                slow_first_byte_ns: service_time_ns
                    .unwrap_or(0)
                    .saturating_add(SLOW_FIRST_BYTE_SPARE_NS),
                tells_every_request: true,
            },
            pacing: Pacing::Closed { outstanding: 1 },
            warmup: Amount::Messages(0),
            stop: Stop::MessagesEach(requests(point, clients)?),
        }),
        workload,
        service_time_ns,
    })
}

/// How many ask.
pub(super) fn clients(
    point: &Point,
    why: &'static str,
    example: &'static str,
) -> Result<u32, PlanError> {
    not_zero(
        "clients",
        point.clients,
        point.usual("clients"),
        why,
        example,
    )
}

/// The usual one where nothing else is asked for and no page is there.
pub(super) fn workload(point: &Point, pages: &[&HttpTarget]) -> Result<Workload, PlanError> {
    let conflict = |key, why| {
        Err(PlanError::Conflict {
            key,
            other: "http://",
            why,
        })
    };
    match point.workload {
        Some(Workload::Broadcast) => Err(PlanError::Text {
            key: "workload",
            text: Workload::Broadcast.name().to_owned(),
            why: "its clients hear no one else; write oneshot, http or echo, or take the fan-out experiment (throng fanout)".to_owned(),
        }),
        _ if pages.is_empty() => Ok(point.workload.unwrap_or_else(|| point.usual("workload"))),
        Some(Workload::Echo | Workload::Oneshot) => conflict(
            "workload",
            "all targets are asked alike, and a page is asked for by HTTP",
        ),
        _ if point.send.is_some() || point.expect.is_some() => conflict(
            "send",
            "the address of a page says itself what is asked for; a request of your own goes to tcp://HOST:PORT",
        ),
        _ => Ok(Workload::Http),
    }
}

/// Known where a server can be asked for it, or is said to take so long.
fn service_time(
    point: &Point,
    targets: &[TargetRecord],
    workload: Workload,
) -> Result<Option<Duration>, PlanError> {
    let mut asked = targets.iter().filter(|target| target.kind.keeps_contract());
    let is_inline =
        point.delay_inline == Some(true) || asked.clone().any(|target| target.options.delay_inline);
    if workload == Workload::Echo {
        let given = [
            (
                "service-time",
                point.service_time.is_some() && asked.next().is_some(),
            ),
            ("delay-inline", is_inline),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(point.service_time),
            Some((key, _)) => Err(PlanError::Conflict {
                key,
                other: "workload = \"echo\"",
                why: "an echo is sent back at once",
            }),
        };
    }
    if let Some(length) = point.service_time {
        return if length > SERVICE_TIME_MAX {
            Err(PlanError::Text {
                key: "service-time",
                text: humantime::format_duration(length).to_string(),
                why: "a request may take at most an hour; write 40ms, for example".to_owned(),
            })
        } else {
            Ok(Some(length))
        };
    }
    let pages = targets.iter().filter(|target| target.http.is_some());
    match pages.count() {
        0 if point.send.is_some() && asked.next().is_none() => Ok(None),
        0 => Ok(Some(point.usual("service-time"))),
        pages if pages == targets.len() => Ok(None),
        _ => Err(PlanError::Needs {
            key: "http://",
            needed: "service-time",
            why: "the other targets are asked for one, and how long the server of a page takes is not known",
        }),
    }
}

/// Says of which servers the service time is only said.
fn believe(targets: &[TargetRecord], length: Duration, notes: &mut Vec<String>) {
    let length = humantime::format_duration(length);
    let others = targets
        .iter()
        .filter(|target| !target.kind.keeps_contract());
    for target in others {
        tell(
            notes,
            format!(
                "{} is taken to need {length} for each request, since it cannot be asked to: what is said by service-time is believed",
                target.name
            ),
        );
    }
}

/// What every request asks, and what answers it.
pub(super) fn protocol(
    point: &Point,
    targets: &[TargetRecord],
    pages: &[&HttpTarget],
    workload: Workload,
    service_time: Option<Duration>,
) -> Result<Protocol, PlanError> {
    if point.send.is_some() || point.expect.is_some() || workload == Workload::Echo {
        return exchange::protocol(
            point,
            ConnectionUse::PerMessage {
                slow_first_byte_ns: 0,
                tells_every_request: true,
            },
        );
    }
    if point.size.is_some() {
        return Err(PlanError::Needs {
            key: "size",
            needed: "workload = \"echo\"",
            why: "the requests of the other workloads have a length of their own",
        });
    }
    Ok(match (workload, pages) {
        (Workload::Http, [page, ..]) if pages.len() == targets.len() => http::get(page),
        _ => usual(workload, service_time),
    })
}

/// What built-in servers are asked, and take the service time for.
fn usual(workload: Workload, service_time: Option<Duration>) -> Protocol {
    match workload {
        Workload::Http => http::get(&delayed(service_time.unwrap_or_default())),
        Workload::Oneshot | Workload::Echo | Workload::Broadcast => Protocol::Request {
            send: QUESTION.to_vec(),
            expect: Expect::Text(ANSWER.to_vec()),
        },
    }
}

/// Whether built-in servers are asked what takes the service time, and not a request of the user's own.
pub(crate) fn asks_for_service_time(setting: &Setting) -> bool {
    let service_time = setting.service_time_ns.map(Duration::from_nanos);
    [Workload::Oneshot, Workload::Http]
        .into_iter()
        .filter(|&workload| workload == setting.workload)
        .any(|workload| setting.phases.protocol() == Some(&usual(workload, service_time)))
}

/// The page that takes so long, of any server with the `http` workload.
fn delayed(length: Duration) -> HttpTarget {
    let milliseconds = length.as_secs_f64() * 1e3;
    HttpTarget {
        host: "localhost".to_owned(),
        path: format!("/?delay={milliseconds}"),
    }
}

fn requests(point: &Point, clients: u32) -> Result<u64, PlanError> {
    let zero = |key, example| PlanError::Zero {
        key,
        why: "nothing would be asked",
        example,
    };
    match (point.requests, point.requests_total) {
        (Some(_), Some(_)) => Err(REQUESTS_TWICE),
        (Some(0), None) => Err(zero("requests", "5")),
        (None, Some(0)) => Err(zero("requests-total", "160")),
        (each, None) => not_too_many(each.unwrap_or_else(|| point.usual("requests"))),
        // Every total is known to be shared evenly.
        (None, Some(total)) => not_too_many(total / u64::from(clients)),
    }
}

fn not_too_many(each: u64) -> Result<u64, PlanError> {
    if each <= REQUESTS_MAX {
        return Ok(each);
    }
    Err(PlanError::Text {
        key: "requests",
        text: each.to_string(),
        why: format!("a client makes at most {REQUESTS_MAX}; write fewer"),
    })
}
