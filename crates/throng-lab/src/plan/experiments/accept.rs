//! What does one accept, and one message, cost while connections sit idle? Multiplexers in a process of their own, where no server is and nothing is exchanged.

use throng_record::plan::Experiment::{Backlog, Echo, Fanout, Hold};
use throng_record::{AcceptSpec, Multiplexer, PhaseSpec, Sequence, TargetRecord};

use super::exchange::connections;
use super::{Asked, Asking, Asks, InOneProcess, quick};
use crate::plan::cpus::{self, Cpus};
use crate::plan::draft::Point;
use crate::plan::keys::Usual;
use crate::plan::keys::instead::Instead::{LeaveOut, Take, Words, Write};
use crate::plan::keys::instead::{CONNECTIONS, REPEATS};
use crate::plan::keys::own::OwnKeys;
use crate::plan::notes::tell;
use crate::plan::value::CpuChoice;
use crate::plan::{Environment, PlanDraft, PlanError};
use crate::target::{ALL, TargetDraft, multiplexer};
use throng_catalogue::suggest::or_list;

/// The experiment.
pub(super) struct Accept;

/// With fewer there is no slope worth the name: it is fitted through ten slices at least.
const CONNECTIONS_FOR_SLOPE: u32 = 20;

const COUNTED_OFF: &str = "it ends when all connections have been accepted";
const NO_MESSAGES: &str = "its connections sit idle, but for one byte on one of them at a time";
const NO_SERVER: &str = "there is no server, only a process that waits for its own connections";
const ONE_PROCESS: &str = "one process is client and server, one connection after the other";

const KEYS: OwnKeys = OwnKeys {
    uses: &["published"],
    usual: &[
        // As published.
        ("connections", Usual::Value("10000")),
        ("targets", Usual::Words("all")),
        ("cpus", Usual::Words("the last one")),
    ],
    help: &[
        (
            "connections",
            "Idle connections at the end; each number of a list is a measurement of its own",
        ),
        ("cpus", "CPU of the one process, such as :1, or any"),
    ],
    refuses: &[
        (&["clients"], ONE_PROCESS, Write(CONNECTIONS)),
        (
            &["workload", "service-time", "delay-inline", "observe"],
            NO_SERVER,
            Take(Backlog),
        ),
        (
            &["requests", "requests-total", "messages"],
            NO_MESSAGES,
            Write(CONNECTIONS),
        ),
        (
            &["duration", "max-duration"],
            COUNTED_OFF,
            Write(CONNECTIONS),
        ),
        (
            &["warmup"],
            "the first accept is the one with no idle connection",
            LeaveOut,
        ),
        (&["confidence"], COUNTED_OFF, Write(REPEATS)),
        (&["hold"], COUNTED_OFF, Take(Hold)),
        (&["pings"], NO_MESSAGES, Take(Hold)),
        (
            &[
                "connect-concurrency",
                "connect-rate",
                "shards",
                "source",
                "addresses",
            ],
            ONE_PROCESS,
            LeaveOut,
        ),
        (&["line", "greeting"], NO_MESSAGES, Take(Fanout)),
        (
            &[
                "size",
                "send",
                "expect",
                "verify",
                "nodelay",
                "outstanding",
                "lockstep",
                "rate",
                "arrivals",
                "spin",
            ],
            NO_MESSAGES,
            Take(Echo),
        ),
        (
            &["backend"],
            "each target is a kernel interface of its own",
            Words("name the targets: epoll-edge, io-uring"),
        ),
        (
            &["connect-timeout", "timeout"],
            "it waits for what is already there",
            LeaveOut,
        ),
        (
            &[
                "backlog",
                "workers",
                "accept-threads",
                "family",
                "ready-timeout",
                "server",
            ],
            NO_SERVER,
            LeaveOut,
        ),
    ],
    ..OwnKeys::NONE
};

impl Asks for Accept {
    fn keys(&self) -> &'static OwnKeys {
        &KEYS
    }

    /// Connections that do nothing. Each target puts its own multiplexer in the place of this one.
    fn asked(&self, asking: &Asking<'_>, notes: &mut Vec<String>) -> Result<Asked, PlanError> {
        let why = "there would be nothing to accept";
        let connections = connections(asking.point, why, "10000")?;
        if connections < CONNECTIONS_FOR_SLOPE {
            tell(
                notes,
                format!(
                    "a slope is fitted through ten slices or more, for which {connections} connections are too few: ask for {CONNECTIONS_FOR_SLOPE} at least"
                ),
            );
        }
        let timed = PhaseSpec::Multiplex(AcceptSpec {
            multiplexer: Multiplexer::Poll,
            published: false,
            connections,
        });
        Ok(Asked::echoed(connections, Sequence(vec![timed])))
    }

    fn short(&self, draft: &PlanDraft) -> PlanDraft {
        let most = 2_000;
        quick::with_fewer(draft.connections.clone().unwrap_or(most.into()), most)
    }

    fn in_one_process(&self) -> Option<&dyn InOneProcess> {
        Some(self)
    }
}

impl InOneProcess for Accept {
    /// The multiplexers; without a word about it every one that there is here.
    fn targets(
        &self,
        draft: &PlanDraft,
        environment: &Environment,
        notes: &mut Vec<String>,
    ) -> Result<Vec<TargetRecord>, PlanError> {
        let published = draft.published == Some(true);
        let written = match &draft.targets {
            None => all(environment, notes),
            Some(targets) => {
                let is_all = |target: &&TargetDraft| matches!(target, TargetDraft::Text(text) if text == ALL);
                let each = targets.iter().flat_map(|target| {
                    if is_all(&target) {
                        all(environment, notes)
                    } else {
                        vec![target.clone()]
                    }
                });
                each.collect()
            }
        };
        let has_published = written.contains(&multiplexer::POLL_PUBLISHED.into());
        let mut targets: Vec<TargetRecord> = Vec::new();
        for target in written {
            let target = if published && target == Multiplexer::Poll.name().into() {
                if has_published {
                    continue;
                }
                multiplexer::POLL_PUBLISHED.into()
            } else {
                target
            };
            let record = multiplexer::resolve(&target)?;
            if targets.iter().any(|other| other.name == record.name) {
                return Err(PlanError::DuplicateTarget(record.name));
            }
            targets.push(record);
        }
        let is_published = |target: &TargetRecord| target.name == multiplexer::POLL_PUBLISHED;
        if targets.is_empty() {
            return Err(PlanError::NoMultiplexer {
                known: or_list(&multiplexer::words()),
            });
        }
        if published && !targets.iter().any(is_published) {
            return Err(PlanError::Needs {
                key: "published",
                needed: "poll",
                why: "the published program calls poll, and no other, in a way of its own",
            });
        }
        Ok(targets)
    }

    /// One CPU, since client and server take turns: moved between two, a wait would cost what moving costs.
    fn cpus(&self, point: &Point, environment: &Environment) -> Result<Cpus, PlanError> {
        let allowed = &environment.cpus_allowed;
        let generator = match &point.cpus {
            Some(CpuChoice::Any) => vec![],
            Some(
                choice @ CpuChoice::Pinned {
                    server: Some(_), ..
                },
            ) => {
                return Err(PlanError::Text {
                    key: "cpus",
                    text: choice.to_string(),
                    why: "no server is there to be pinned, client and multiplexer are one process; write --cpus :1 (in a plan: cpus = \":1\"), for example".to_owned(),
                });
            }
            Some(CpuChoice::Pinned { generator, .. }) => {
                cpus::explicit("generator", generator.as_deref(), allowed)?.unwrap_or_default()
            }
            None if allowed.len() < 2 => vec![],
            None => allowed.last().copied().into_iter().collect(),
        };
        Ok(Cpus {
            server: vec![],
            generator,
        })
    }
}

/// Every multiplexer that can be used here, in the vocabulary's order.
fn all(environment: &Environment, notes: &mut Vec<String>) -> Vec<TargetDraft> {
    let is_there = |one: &Multiplexer| match (one, &environment.io_uring_obstacle) {
        (Multiplexer::IoUring, Some(obstacle)) => {
            tell(
                notes,
                format!("left out of `all`: io-uring, which cannot be used here: {obstacle}"),
            );
            false
        }
        _ => true,
    };
    let mut all = Multiplexer::ALL.to_vec();
    all.retain(is_there);
    all.into_iter().map(|one| one.name().into()).collect()
}
