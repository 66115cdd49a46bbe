//! How long does each client take for its requests to several services?
//!
//! S processes of a server are one target. Each of C clients has a task with every service: R requests, one after another, on a connection that is kept or
//! on one for each request. A service may have several listeners, of which each request takes one by chance, or each client its own.

use throng_catalogue::catalogue::Manifest;
use throng_record::built_in::ServesAtOnce;
use throng_record::plan::Experiment::{Churn, Echo};
use throng_record::plan::ListenFamily;
use throng_record::{
    Amount, BuiltInModel, ConnectionUse, ContractException, ExchangeSpec, Pacing, PhaseSpec,
    Protocol, Sequence, Stop, TargetRecord, TasksSpec, Workload,
};

use super::requests::{self, TRIALS_APART};
use super::{Asked, Asking, Asks, exchange, quick};
use crate::plan::draft::Point;
use crate::plan::error::not_zero;
use crate::plan::keys::instead::Instead::{Both, LeaveOut, Take, Write};
use crate::plan::keys::instead::{CLIENTS, REPEATS};
use crate::plan::keys::own::{OwnKeys, Usual};
use crate::plan::value::ListenerChoice;
use crate::plan::{Environment, PlanDraft, PlanError, Sweep, keys};

/// The experiment.
pub(super) struct Services;

/// As far as the ports of a private network go where each listener has its own.
const LISTENERS_MAX: u64 = 10_000;
/// As far as servers count (docs/workloads.md).
const COUNT_MAX: u64 = 1_000_000_000;
/// What is short for a server of any language.
const REQUESTS_SHORT: u64 = 50;
const SERVICES_SHORT: u32 = 5;
/// Between the connects and the first request.
const IDLE_NS: u64 = 200_000_000;

const COUNTED: &str = "it ends when every task has its replies";
const PACED: &str = "a task asks again as soon as it is answered";
const ITS_OWN: &str = "its requests ask a service to count (--workload says how)";

const KEYS: OwnKeys = OwnKeys {
    uses: &[
        "services",
        "clients",
        "tasks",
        "requests",
        "count",
        "reuse",
        "listeners",
        "choice",
        "workload",
    ],
    usual: &[
        ("clients", Usual::Value("20")),
        ("requests", Usual::Value("1000")),
        ("workload", Usual::Value("framed")),
        ("family", Usual::Value("unix")),
        // As multiprocessing.connection has it.
        ("backlog", Usual::Words("1 on Unix sockets, 1024 elsewhere")),
        // Each trial is a hundred thousands of requests.
        ("repeats", Usual::Value("3")),
    ],
    help: &[
        ("clients", "Clients, each with a task at every service"),
        ("requests", "Requests of each task, one after another"),
        (
            "workload",
            "What services are asked in: frames of JSON, or HTTP",
        ),
    ],
    refuses: &[
        (
            &["connections"],
            "every client has a connection for each service",
            Write(CLIENTS),
        ),
        (
            &["messages", "requests-total", "duration", "max-duration"],
            COUNTED,
            Write("requests = 100"),
        ),
        (&["confidence"], COUNTED, Write(REPEATS)),
        (&["warmup"], "the published clients had none", LeaveOut),
        (&["outstanding"], PACED, Write("tasks = 25")),
        (&["lockstep"], PACED, Take(Echo)),
        (&["rate"], PACED, Both([CLIENTS, "count = 10000"])),
        (&["arrivals", "spin"], PACED, LeaveOut),
        (&["size", "send", "expect"], ITS_OWN, Take(Churn)),
        (&["server"], TRIALS_APART, LeaveOut),
    ],
    of_target: &["reuse", "listeners", "choice", "workload", "family"],
    ..OwnKeys::NONE
};

impl Asks for Services {
    fn keys(&self) -> &'static OwnKeys {
        &KEYS
    }

    fn asked(&self, asking: &Asking<'_>, _notes: &mut Vec<String>) -> Result<Asked, PlanError> {
        let point = asking.point;
        let services = services(asking)?;
        let clients = requests::clients(point, "20")?;
        let listeners = number(point, "listeners", point.listeners, "nobody could connect")?;
        let workload = workload(point)?;
        within(services, clients, listeners)?;
        let is_kept = point.reuse.unwrap_or_else(|| point.usual("reuse"));
        let choice = point.choice.unwrap_or_else(|| point.usual("choice"));
        let choices = match choice {
            ListenerChoice::Random => listeners,
            ListenerChoice::Bound => 1,
        };
        let requests = requests_each(point)?;
        let exchange = ExchangeSpec {
            protocol: protocol(point, workload, is_kept)?,
            verify: exchange::verify(point),
            connection: match is_kept {
                true => ConnectionUse::Kept,
                false => ConnectionUse::PerMessage {
                    slow_first_byte_ns: u64::MAX,
                    tells_every_request: false,
                },
            },
            pacing: Pacing::Tasks(TasksSpec {
                services,
                choices,
                at_once: number(point, "tasks", point.tasks, "no task would begin")?,
            }),
            warmup: Amount::Messages(0),
            stop: Stop::MessagesEach(requests),
        };
        let phases = match is_kept {
            // What services use while nobody asks tells a scan that never rests.
            true => Sequence::on_open_connections([
                PhaseSpec::Hold {
                    duration_ns: IDLE_NS,
                },
                PhaseSpec::Exchange(exchange),
            ]),
            false => Sequence::of_exchange(exchange),
        };
        let connections = clients * phases.connections_of_client();
        Ok(Asked {
            workload,
            services,
            listeners,
            ..Asked::echoed(connections, phases)
        })
    }

    fn short(&self, draft: &PlanDraft) -> PlanDraft {
        let least = |sweep: Option<&Sweep<u32>>, most: u32| {
            sweep
                .cloned()
                .unwrap_or(most.into())
                .map(|own| own.min(most))
        };
        let requests = draft.requests.clone().unwrap_or(REQUESTS_SHORT.into());
        PlanDraft {
            services: Some(least(draft.services.as_ref(), SERVICES_SHORT)),
            clients: Some(least(draft.clients.as_ref(), SERVICES_SHORT)),
            requests: Some(requests.map(|own| own.min(REQUESTS_SHORT))),
            ..quick::once()
        }
    }

    fn workloads(&self, draft: &PlanDraft) -> Vec<Workload> {
        let asked = draft.workload.as_ref();
        asked.map_or(vec![Workload::Framed], |sweep| sweep.values().to_vec())
    }

    /// A server that closes after its first reply is not asked to keep connections, and one that knows no frames is asked in HTTP.
    fn fit(&self, server: &Manifest, draft: &mut PlanDraft) -> Result<(), String> {
        let keeps_none = server
            .exceptions
            .contains_key(&ContractException::OneRequest);
        if keeps_none {
            let asked = draft.reuse.as_ref().map_or(&[][..], Sweep::values);
            if asked == [true] {
                return Err("closes a connection after its first reply, so that none can be kept; write --reuse false".to_owned());
            }
            draft.reuse = Some(false.into());
        }
        let serves = |workload: Workload| server.serves(workload.name());
        if draft.workload.is_none() && !serves(Workload::Framed) && serves(Workload::Http) {
            draft.workload = Some(Workload::Http.into());
        }
        Ok(())
    }

    fn check_server(
        &self,
        target: &TargetRecord,
        draft: &PlanDraft,
        environment: &Environment,
    ) -> Result<(), PlanError> {
        let model = environment.model_of(target);
        let Some(model) = model.filter(|model| serves_few(model, target, draft)) else {
            return Ok(());
        };
        Err(PlanError::ModelCannot {
            model: model.name.to_owned(),
            key: "reuse = true",
            why: "serves fewer connections at once than clients keep: the others would wait for ever",
        })
    }

    fn instead_of_a_page(&self) -> (&'static str, &'static str) {
        (
            "counts",
            "to ask it in HTTP for /?count=1000, write tcp://HOST:PORT with --workload http",
        )
    }

    fn cannot_measure(&self, model: &BuiltInModel) -> Option<&'static str> {
        let is_bounded = model.serves_at_once == ServesAtOnce::OnePerWorker;
        is_bounded.then_some("serves fewer connections at once than clients keep")
    }

    fn usual_backlog(&self, listen: ListenFamily) -> Option<u32> {
        (listen == ListenFamily::Unix).then_some(1)
    }

    fn running_are_one(&self) -> bool {
        true
    }
}

/// Whether more connections are kept to each service than it serves at once.
fn serves_few(model: &BuiltInModel, target: &TargetRecord, draft: &PlanDraft) -> bool {
    let most = |sweep: Option<&Sweep<u32>>, usual: &str| {
        let own = sweep.cloned().unwrap_or_else(|| keys::usual(usual, &KEYS));
        own.values().iter().copied().max().unwrap_or(1)
    };
    let is_kept = draft
        .reuse
        .as_ref()
        .is_none_or(|sweep| sweep.values().contains(&true));
    let asked = draft
        .workers
        .as_ref()
        .and_then(|sweep| sweep.values().iter().min().copied());
    let workers = target.options.workers.or(asked).or(model.workers.usual(1));
    let kept =
        most(draft.clients.as_ref(), "clients") * most(draft.listeners.as_ref(), "listeners");
    is_kept
        && model.serves_at_once == ServesAtOnce::OnePerWorker
        && workers.is_some_and(|workers| workers < kept)
}

/// Of running servers so many as there are addresses, for which nothing is launched.
fn services(asking: &Asking<'_>) -> Result<u32, PlanError> {
    let point = asking.point;
    // The number of the short form is nobody's wish.
    let is_wish = |asked: &u32| !(asking.draft.is_shortened && *asked == SERVICES_SHORT);
    let wish = point.services.filter(is_wish);
    let running = asking
        .targets
        .iter()
        .map(|target| target.addresses.len() as u32);
    match running.max().unwrap_or(0) {
        0 => number(
            point,
            "services",
            point.services,
            "there would be nobody to ask",
        ),
        running => match wish.filter(|asked| *asked != running) {
            None => Ok(running),
            Some(asked) => Err(PlanError::RunningServices { running, asked }),
        },
    }
}

/// As many as are counted on a connection.
fn requests_each(point: &Point) -> Result<u64, PlanError> {
    match point.requests.unwrap_or_else(|| point.usual("requests")) {
        0 => Err(PlanError::Zero {
            key: "requests",
            why: "nobody would ask",
            example: "100",
        }),
        requests if requests > u32::MAX.into() => Err(PlanError::TooManyServices {
            what: "requests",
            number: requests,
            most: u32::MAX.into(),
        }),
        requests => Ok(requests),
    }
}

fn number(
    point: &Point,
    key: &'static str,
    value: Option<u32>,
    why: &'static str,
) -> Result<u32, PlanError> {
    not_zero(key, value, point.usual(key), why, "20")
}

/// Every connection has a number, and every listener a place.
fn within(services: u32, clients: u32, listeners: u32) -> Result<(), PlanError> {
    let places = u64::from(services) * u64::from(listeners);
    let connections = places * u64::from(clients);
    match () {
        () if places > LISTENERS_MAX => Err(PlanError::TooManyServices {
            what: "services × listeners",
            number: places,
            most: LISTENERS_MAX,
        }),
        () if connections > u32::MAX.into() => Err(PlanError::TooManyServices {
            what: "services × listeners × clients",
            number: connections,
            most: u32::MAX.into(),
        }),
        () => Ok(()),
    }
}

fn workload(point: &Point) -> Result<Workload, PlanError> {
    match point.workload.unwrap_or_else(|| point.usual("workload")) {
        one @ (Workload::Framed | Workload::Http) => Ok(one),
        other => Err(PlanError::Text {
            key: "workload",
            text: other.name().to_owned(),
            why: "its services are asked to count, which framed and http do; write one of these"
                .to_owned(),
        }),
    }
}

fn protocol(point: &Point, workload: Workload, is_kept: bool) -> Result<Protocol, PlanError> {
    let count = point.count.unwrap_or_else(|| point.usual("count"));
    if count > COUNT_MAX {
        return Err(PlanError::TooManyServices {
            what: "count",
            number: count,
            most: COUNT_MAX,
        });
    }
    Ok(match workload {
        Workload::Http => requests::counted_page(count, is_kept),
        _ => requests::counted_frame(count),
    })
}
