//! N connect, all are greeted, one speaks, all hear: how long is each phase?

use throng_record::built_in::{Family, ServesAtOnce};
use throng_record::plan::Experiment::Hold;
use throng_record::{
    BuiltInModel, PhaseSpec, PutSpec, Sequence, SustainSpec, TargetRecord, Workload,
};

use super::exchange::{arrivals, connections, duration, zero_length};
use super::{Asked, Asking, Asks, quick};
use crate::plan::draft::Point;
use crate::plan::error::is_rate;
use crate::plan::escape::unescape;
use crate::plan::keys::instead::Instead::{Both, LeaveOut, Take, Write};
use crate::plan::keys::instead::{DURATION, REPEATS};
use crate::plan::keys::own::OwnKeys;
use crate::plan::keys::{self, Usual};
use crate::plan::{Environment, PlanDraft, PlanError, nanoseconds};
use throng_catalogue::suggest::or_list;

/// The experiment.
pub(super) struct Fanout;

/// What servers greet with that keep the contract.
const GREETING: &str = "connected";
/// Built-in servers give a connection up whose line is longer than 64 KiB.
const LINE_BYTES_MAX: usize = 32 * 1024;

const ONE_LINE: &str = "one line is put, and comes out of every connection";
const HELLO: &str = "line = \"hello\"";
const LINES_AT_A_RATE: &str = "rate = 10";

const KEYS: OwnKeys = OwnKeys {
    uses: &["line", "greeting", "connect-concurrency", "connect-rate"],
    usual: &[
        // As published.
        ("connections", Usual::Value("1000")),
        ("connect-concurrency", Usual::Value("1")),
        // The published ones are single runs; a range of three shows what one of them is worth.
        ("repeats", Usual::Value("3")),
        // A server that wakes a thread for each of many thousand connections was published with 43 s for the last greeting.
        ("timeout", Usual::Value("60s")),
    ],
    help: &[
        ("duration", "How long lines are sent at --rate"),
        ("rate", "After the single line, send lines at this rate"),
        ("arrivals", "Gaps between lines at --rate"),
    ],
    refuses: &[
        (&["workload"], "its servers broadcast", LeaveOut),
        (
            &["requests", "requests-total", "messages", "max-duration"],
            ONE_LINE,
            Both([LINES_AT_A_RATE, DURATION]),
        ),
        (&["warmup"], "what it measures is the first time", LeaveOut),
        (&["confidence"], ONE_LINE, Write(REPEATS)),
        (
            &["hold"],
            "it goes on as soon as all are connected",
            Take(Hold),
        ),
        (&["pings"], ONE_LINE, Take(Hold)),
        (&["size", "send"], ONE_LINE, Write(HELLO)),
        (
            &["expect"],
            ONE_LINE,
            Both([HELLO, "greeting = \"connected\""]),
        ),
        (
            &["verify"],
            "a line that comes out wrong was not delivered",
            LeaveOut,
        ),
        (
            &["outstanding", "lockstep"],
            ONE_LINE,
            Write(LINES_AT_A_RATE),
        ),
        (&["spin"], ONE_LINE, LeaveOut),
    ],
    ..OwnKeys::NONE
};

impl Asks for Fanout {
    fn keys(&self) -> &'static OwnKeys {
        &KEYS
    }

    /// Its lines, who speaks, and for how long.
    fn asked(&self, asking: &Asking<'_>, _notes: &mut Vec<String>) -> Result<Asked, PlanError> {
        let point = asking.point;
        let why = "nobody would speak, and nobody hear";
        let connections = connections(point, why, "1000")?;
        let text = |key, given: &Option<String>| given.clone().unwrap_or_else(|| point.usual(key));
        let greeting = match text("greeting", &point.greeting).as_str() {
            "" => None,
            greeting => Some(line("greeting", greeting)?),
        };
        let put = PutSpec {
            line: line("line", &text("line", &point.line))?,
            speaker: speaker(connections),
        };
        let sustain = sustain(point, &put)?.map(PhaseSpec::Sustain);
        let greeted = greeting.map(|greeting| PhaseSpec::Acknowledge { greeting });
        let phases = greeted.into_iter().chain([PhaseSpec::Get(put)]);
        let phases = Sequence::on_open_connections(phases.chain(sustain));
        Ok(Asked {
            // The only one in which connections hear of one another, so that there is no choice.
            workload: Workload::Broadcast,
            ..Asked::echoed(connections, phases)
        })
    }

    fn short(&self, draft: &PlanDraft) -> PlanDraft {
        let usual = || keys::usual("connections", &KEYS);
        let connections = draft.connections.clone().unwrap_or_else(usual);
        let has_length = draft.duration.is_some() || draft.rate.is_some();
        PlanDraft {
            duration: has_length.then(|| quick::at_most(draft.duration.as_ref())),
            ..quick::with_fewer(connections, 7_000)
        }
    }

    fn workloads(&self, _draft: &PlanDraft) -> Vec<Workload> {
        vec![Workload::Broadcast]
    }

    fn instead_of_a_page(&self) -> (&'static str, &'static str) {
        (
            "passes every line on to all of its connections",
            "write tcp://HOST:PORT of one that does",
        )
    }

    fn cannot_measure(&self, model: &BuiltInModel) -> Option<&'static str> {
        (!model.broadcasts).then_some("cannot pass a line on to all connections")
    }

    fn check_server(
        &self,
        target: &TargetRecord,
        draft: &PlanDraft,
        environment: &Environment,
    ) -> Result<(), PlanError> {
        let model = environment.model_of(target);
        if let Some(model) = model.filter(|model| !model.broadcasts) {
            let can = environment.models.iter().filter(|model| model.broadcasts);
            return Err(PlanError::NoBroadcast {
                model: model.name.to_owned(),
                why: no_broadcast(model),
                known: or_list(&can.collect::<Vec<_>>()),
            });
        }
        match greets_otherwise(draft) && target.kind.keeps_contract() {
            false => Ok(()),
            true => Err(PlanError::Greeting {
                model: target.name.clone(),
            }),
        }
    }
}

fn no_broadcast(model: &BuiltInModel) -> &'static str {
    match (model.serves_at_once, model.family) {
        (ServesAtOnce::OnePerWorker, _) => {
            "each of its workers serves one connection until it ends"
        }
        (_, Family::Processes) => "its processes share nothing",
        _ => "it knows one connection at a time",
    }
}

/// Whether another greeting than that of the contract is awaited.
fn greets_otherwise(draft: &PlanDraft) -> bool {
    // One that cannot be read is refused as such.
    let is_another =
        |greeting: &String| unescape(greeting).is_ok_and(|bytes| bytes != GREETING.as_bytes());
    let greetings = draft.greeting.as_ref();
    greetings.is_some_and(|sweep| sweep.values().iter().any(is_another))
}

/// The one in the middle, as published.
pub(in crate::plan) fn speaker(connections: u32) -> u32 {
    connections / 2
}

fn line(key: &'static str, text: &str) -> Result<Vec<u8>, PlanError> {
    let refuse = |why: &str| PlanError::Text {
        key,
        text: text.to_owned(),
        why: why.to_owned(),
    };
    let mut bytes = unescape(text).map_err(|why| refuse(&why))?;
    if bytes.is_empty() {
        return Err(refuse("it is empty; write at least one byte"));
    }
    if bytes.contains(&b'\n') {
        return Err(refuse(
            "a line ends where its newline is, and that is added; leave the newline out",
        ));
    }
    if bytes.len() > LINE_BYTES_MAX {
        return Err(PlanError::Text {
            key,
            text: format!("{} bytes", bytes.len()),
            why: format!("it is too long to be a line; write {LINE_BYTES_MAX} bytes or less"),
        });
    }
    bytes.push(b'\n');
    Ok(bytes)
}

/// Lines at a rate, where one is asked for.
fn sustain(point: &Point, put: &PutSpec) -> Result<Option<SustainSpec>, PlanError> {
    let Some(rate) = point.rate else {
        let needs = |key, is_there, why| match is_there {
            true => Err(PlanError::Needs {
                key,
                needed: "rate",
                why,
            }),
            false => Ok(None),
        };
        needs(
            "duration",
            point.duration.is_some(),
            "it says how long lines are put at that rate, and without one a single line is put",
        )?;
        return needs(
            "arrivals",
            point.arrivals.is_some(),
            "only lines at a rate have gaps between them",
        );
    };
    if !is_rate(rate) {
        return Err(PlanError::Rate {
            key: "rate",
            rate,
            of_what: "lines",
            example: 10,
        });
    }
    let duration = duration(point);
    if duration.is_zero() {
        return Err(zero_length("duration", "\"2s\""));
    }
    Ok(Some(SustainSpec {
        put: put.clone(),
        rate_per_second: rate,
        arrivals: arrivals(point),
        duration_ns: nanoseconds(duration),
    }))
}
