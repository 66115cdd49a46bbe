//! How long do all clients' requests take, against the least possible? P clients × R requests at service time S against backlog B.
//!
//! Every client makes its requests one after the other, each on a connection of its own.

use std::time::Duration;

use throng_record::connections::SLOW_FIRST_BYTE_SPARE_NS;
use throng_record::plan::Experiment::{Churn, Hold};
use throng_record::{
    Amount, ConnectionUse, ExchangeSpec, Pacing, Sequence, Stop, TargetRecord, Workload,
};

use super::requests::{self, EACH_ITS_OWN, GONE, ONE_AT_A_TIME, TRIALS_APART};
use super::{Asked, Asking, Asks, exchange, quick};
use crate::plan::draft::Point;
use crate::plan::keys::instead::Instead::{Both, Either, LeaveOut, Take, Write};
use crate::plan::keys::instead::{CLIENTS, REPEATS};
use crate::plan::keys::own::OwnKeys;
use crate::plan::keys::{self, Usual};
use crate::plan::notes::tell;
use crate::plan::{PlanDraft, PlanError, nanoseconds};
use throng_catalogue::suggest::or_list;

/// The experiment.
pub(super) struct Backlog;

/// As far as a client's requests are counted.
const REQUESTS_MAX: u64 = u32::MAX as u64;
/// The longest that a server can be asked to take.
const SERVICE_TIME_MAX: Duration = Duration::from_secs(3600);
const REQUESTS_TWICE: PlanError = PlanError::Conflict {
    key: "requests",
    other: "requests-total",
    why: "each says how many requests a client makes",
};

const COUNTED: &str = "it ends when every client has made its requests";
const PACED: &str = "each client asks again as soon as it is answered, on a connection of its own";
const OF_CLIENTS: [&str; 2] = ["requests = 5", "requests-total = 160"];
const BUSIER: [&str; 2] = [CLIENTS, "service-time = \"40ms\""];

const KEYS: OwnKeys = OwnKeys {
    uses: &[
        "clients",
        "workload",
        "requests",
        "requests-total",
        "service-time",
        "delay-inline",
        "observe",
        "method",
        "header",
        "body",
        "body-file",
    ],
    usual: &[
        // As published.
        ("backlog", Usual::Value("5")),
        // What retransmission timers do with the same load differs by seconds, which two runs may hide and a range of three
        // shows; six of the cells that take minutes are too long to wait for unasked.
        ("repeats", Usual::Value("3")),
        // The kernel gives a SYN up after 127 s, or about 131 s with four linear timeouts: its own error is to be seen.
        ("connect-timeout", Usual::Value("140s")),
        ("timeout", Usual::Value("120s")),
    ],
    refuses: &[
        (&["connections"], EACH_ITS_OWN, Write(CLIENTS)),
        (
            &["messages", "duration", "max-duration"],
            COUNTED,
            Either(OF_CLIENTS),
        ),
        (
            &["warmup"],
            "the first burst of connects is what it measures",
            LeaveOut,
        ),
        (&["confidence"], COUNTED, Write(REPEATS)),
        (
            &["closing"],
            "its servers close first, and what it measures is how connections begin",
            Take(Churn),
        ),
        (&["hold", "pings"], GONE, Take(Hold)),
        (&["connect-concurrency"], ONE_AT_A_TIME, Write(CLIENTS)),
        (&["connect-rate"], ONE_AT_A_TIME, Both(BUSIER)),
        (&["outstanding", "lockstep"], PACED, Write(CLIENTS)),
        (&["rate"], PACED, Both(BUSIER)),
        (&["arrivals", "spin"], PACED, LeaveOut),
        (&["server"], TRIALS_APART, LeaveOut),
    ],
    ..OwnKeys::NONE
};

impl Asks for Backlog {
    fn keys(&self) -> &'static OwnKeys {
        &KEYS
    }

    fn asked(&self, asking: &Asking<'_>, notes: &mut Vec<String>) -> Result<Asked, PlanError> {
        let point = asking.point;
        let clients = requests::clients(point, "32")?;
        let workload = requests::workload(asking)?;
        if workload == Workload::Framed {
            return Err(PlanError::Text {
                key: "workload",
                text: workload.name().to_owned(),
                why: "its requests cannot ask for a service time; write oneshot or http, or take the churn experiment (throng churn)".to_owned(),
            });
        }
        let service_time = service_time(asking, workload)?;
        if let Some(length) = service_time {
            believe(asking.targets, length, notes);
        }
        let service_time_ns = service_time.map(nanoseconds);
        let phases = Sequence::of_exchange(ExchangeSpec {
            protocol: requests::protocol(asking, workload, service_time)?,
            verify: exchange::verify(point),
            connection: ConnectionUse::PerMessage {
                slow_first_byte_ns: service_time_ns
                    .unwrap_or(0)
                    .saturating_add(SLOW_FIRST_BYTE_SPARE_NS),
                tells_every_request: true,
            },
            pacing: Pacing::Closed { outstanding: 1 },
            warmup: Amount::Messages(0),
            stop: Stop::MessagesEach(requests_each(point, clients)?),
        });
        Ok(Asked {
            workload,
            service_time_ns,
            ..Asked::echoed(clients, phases)
        })
    }

    fn check(&self, draft: &PlanDraft) -> Result<(), PlanError> {
        check_total(draft)
    }

    fn check_targets(&self, draft: &PlanDraft, targets: &[TargetRecord]) -> Result<(), PlanError> {
        requests::check_launched(draft, targets)
    }

    fn short(&self, _draft: &PlanDraft) -> PlanDraft {
        quick::once()
    }

    fn workloads(&self, draft: &PlanDraft) -> Vec<Workload> {
        requests::workloads(draft, Workload::Oneshot)
    }

    fn connects_for_each_request(&self) -> bool {
        true
    }

    fn is_about_the_accept_queue(&self) -> bool {
        true
    }
}

/// Refuses a number of requests that some numbers of clients cannot share, and names those.
fn check_total(draft: &PlanDraft) -> Result<(), PlanError> {
    let Some(totals) = &draft.requests_total else {
        return Ok(());
    };
    if draft.requests.is_some() {
        return Err(REQUESTS_TWICE);
    }
    let usual = || keys::usual("clients", &KEYS);
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
                clients: or_list(&names),
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

/// Known where a server can be asked for it, or is said to take so long.
fn service_time(asking: &Asking<'_>, workload: Workload) -> Result<Option<Duration>, PlanError> {
    let (point, targets) = (asking.point, asking.targets);
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

fn requests_each(point: &Point, clients: u32) -> Result<u64, PlanError> {
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
