//! What the backlog and churn experiments share: clients that make requests, each on a connection of its own.
//!
//! What a client asks follows from the workload, from a page's address, or from a request of the user's.

use std::time::Duration;

use throng_record::{
    ConnectionUse, Expect, HttpTarget, Protocol, Setting, TargetKind, TargetRecord, Workload,
};

use super::{Asking, exchange};
use crate::plan::draft::Point;
use crate::plan::error::not_zero;
use crate::plan::{PlanDraft, PlanError};
use crate::target::{TargetDraft, http};

pub(super) const EACH_ITS_OWN: &str = "each request has a connection of its own";
pub(super) const GONE: &str = "none of its connections is kept";
pub(super) const ONE_AT_A_TIME: &str =
    "each client has one connection at a time, and connects as soon as it is answered";
/// What is left behind by one trial is not to be in the way of the next.
pub(super) const TRIALS_APART: &str = "each trial has a server and a network of its own, so that none counts what another left behind";

/// The published request, of 14 bytes without a line's end, and its reply of 23.
const QUESTION: &[u8; 14] = b"GET / HTTP/1.1";
const ANSWER: &[u8; 23] = b"HTTP/1.1 200 OK\r\n\r\nok\r\n";

/// Refuses what launched servers would be asked for where none is launched.
pub(super) fn check_launched(draft: &PlanDraft, targets: &[TargetRecord]) -> Result<(), PlanError> {
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

/// What servers have to serve; `usual` where nothing is asked for and no target is a page.
pub(super) fn workloads(draft: &PlanDraft, usual: Workload) -> Vec<Workload> {
    let mut targets = draft.targets.iter().flatten();
    let is_page = |target: &TargetDraft| matches!(target, TargetDraft::Text(text) if text.starts_with("http://"));
    match &draft.workload {
        Some(sweep) => sweep.values().to_vec(),
        None if targets.any(is_page) => vec![Workload::Http],
        None => vec![usual],
    }
}

/// How many ask.
pub(super) fn clients(point: &Point, example: &'static str) -> Result<u32, PlanError> {
    let usual = point.usual("clients");
    not_zero("clients", point.clients, usual, "nobody would ask", example)
}

/// The pages among the targets.
fn pages<'a>(asking: &Asking<'a>) -> Vec<&'a HttpTarget> {
    let targets = asking.targets.iter();
    targets.filter_map(|one| one.http.as_ref()).collect()
}

/// The usual one where nothing else is asked for and no page is there.
pub(super) fn workload(asking: &Asking<'_>) -> Result<Workload, PlanError> {
    let (point, pages) = (asking.point, pages(asking));
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
            why: "its clients hear no one else; write oneshot, http, framed or echo, or take the fan-out experiment (throng fanout)".to_owned(),
        }),
        _ if pages.is_empty() => Ok(point.workload.unwrap_or_else(|| point.usual("workload"))),
        Some(Workload::Echo | Workload::Oneshot | Workload::Framed) => conflict(
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

/// What is asked for on connections that are kept, where that is a page: an address says so, or the workload. `None`: messages are sent back.
pub(super) fn page_on_kept(asking: &Asking<'_>) -> Result<Option<Protocol>, PlanError> {
    let (point, pages) = (asking.point, pages(asking));
    let is_page = match (point.workload, &pages[..]) {
        (None | Some(Workload::Echo), []) => false,
        (None | Some(Workload::Http), _) => true,
        (Some(Workload::Echo), _) => {
            return Err(PlanError::Conflict {
                key: "workload",
                other: "http://",
                why: "all targets are asked alike, and a page is asked for by HTTP",
            });
        }
        (Some(other), _) => {
            return Err(PlanError::Text {
                key: "workload",
                text: other.name().to_owned(),
                why: "connections that are kept carry echoes or pages; write echo or http, or take the churn experiment (throng churn)".to_owned(),
            });
        }
    };
    let draft = asking.draft;
    if !is_page {
        return asks_for_no_page(draft, "workload = \"http\"").map(|()| None);
    }
    let of_message = [
        ("send", point.send.is_some()),
        ("expect", point.expect.is_some()),
        ("size", point.size.is_some()),
    ];
    if let Some(key) = first_given(&of_message) {
        return Err(PlanError::Conflict {
            key,
            other: "http://",
            why: "the address of a page says itself what is asked for; a request of your own goes to tcp://HOST:PORT",
        });
    }
    let page = match &pages[..] {
        [page, ..] if pages.len() == asking.targets.len() => (*page).clone(),
        _ => own_page(draft)?,
    };
    http::pages(&page, draft).map(Some)
}

/// Refuses what is said of the request for a page, where none is asked for.
fn asks_for_no_page(draft: &PlanDraft, needed: &'static str) -> Result<(), PlanError> {
    let of_request = [
        ("method", draft.method.is_some()),
        ("header", draft.header.is_some()),
        ("body", draft.body.is_some()),
        ("body-file", draft.body_file.is_some()),
        ("status", draft.status.is_some()),
    ];
    match first_given(&of_request) {
        Some(key) => Err(PlanError::Needs {
            key,
            needed,
            why: "only a page is asked for in this way, such as http://HOST:PORT/PATH",
        }),
        None => Ok(()),
    }
}

fn first_given(keys: &[(&'static str, bool)]) -> Option<&'static str> {
    let mut given = keys.iter().filter(|(_, is_given)| *is_given);
    given.next().map(|(key, _)| *key)
}

/// What servers without an address of a page are asked for.
fn own_page(draft: &PlanDraft) -> Result<HttpTarget, PlanError> {
    let mut page = HttpTarget::get("localhost", "/");
    http::complete(&mut page, draft)?;
    Ok(page)
}

/// What every request asks, and what answers it.
pub(super) fn protocol(
    asking: &Asking<'_>,
    workload: Workload,
    service_time: Option<Duration>,
) -> Result<Protocol, PlanError> {
    let (point, pages) = (asking.point, pages(asking));
    if pages.len() != asking.targets.len() {
        // A built-in server is asked for what takes the service time, and for nothing else.
        asks_for_no_page(asking.draft, "targets that are pages")?;
    }
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
    Ok(match (workload, &pages[..]) {
        (Workload::Http, [page, ..]) if pages.len() == asking.targets.len() => http::get(page),
        _ => usual(workload, service_time),
    })
}

/// What built-in servers are asked, and take the service time for.
fn usual(workload: Workload, service_time: Option<Duration>) -> Protocol {
    match workload {
        Workload::Http => http::get(&delayed(service_time.unwrap_or_default())),
        Workload::Framed => frame("{}"),
        Workload::Oneshot | Workload::Echo | Workload::Broadcast => Protocol::Request {
            send: QUESTION.to_vec(),
            expect: Expect::Text(ANSWER.to_vec()),
        },
    }
}

/// A frame with this inside.
fn frame(inside: &str) -> Protocol {
    let length = u32::try_from(inside.len()).expect("a request is short");
    Protocol::Request {
        send: [&length.to_be_bytes(), inside.as_bytes()].concat(),
        expect: Expect::Frame,
    }
}

/// A frame that asks a server to count.
pub(super) fn counted_frame(count: u64) -> Protocol {
    frame(&format!("{{\"count\": {count}}}"))
}

/// A page that asks a server to count.
pub(super) fn counted_page(count: u64, is_kept: bool) -> Protocol {
    let page = HttpTarget::get("localhost", &format!("/?count={count}"));
    match is_kept {
        true => http::get_on_kept(&page),
        false => http::get(&page),
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
    HttpTarget::get("localhost", &format!("/?delay={milliseconds}"))
}
