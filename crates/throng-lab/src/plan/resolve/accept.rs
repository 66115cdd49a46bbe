//! What the accept experiment measures: multiplexers in a process of their own, where no server is and nothing is exchanged.

use throng_record::{AcceptSpec, Multiplexer, PhaseSpec, Sequence, TargetRecord, Workload};

use super::exchange::{self, Asked};
use super::fleet::{self, Cpus};
use super::{ALL, tell};
use crate::plan::draft::Point;
use crate::plan::value::CpuChoice;
use crate::plan::{Environment, PlanDraft, PlanError};
use crate::target::{TargetDraft, multiplexer};
use throng_catalogue::suggest::or_list;

/// With fewer there is no slope worth the name: it is fitted through ten slices at least.
const CONNECTIONS_FOR_SLOPE: u32 = 20;

/// The multiplexers that are timed; without a word about it every one that there is here.
pub(super) fn targets(
    draft: &PlanDraft,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Vec<TargetRecord>, PlanError> {
    let published = draft.published == Some(true);
    let written = match &draft.targets {
        None => all(environment, notes),
        Some(targets) => {
            let is_all =
                |target: &&TargetDraft| matches!(target, TargetDraft::Text(text) if text == ALL);
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

/// Connections that do nothing. Each target puts its own multiplexer in the place of this one.
pub(super) fn asked(point: &Point, notes: &mut Vec<String>) -> Result<Asked, PlanError> {
    let why = "there would be nothing to accept";
    let connections = exchange::connections(point, why, "10000")?;
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
    Ok(Asked {
        connections,
        phases: Sequence(vec![timed]),
        workload: Workload::Echo,
        service_time_ns: None,
    })
}

/// One CPU, since client and server take turns: moved between two, a wait would cost what moving costs.
pub(super) fn cpus(point: &Point, environment: &Environment) -> Result<Cpus, PlanError> {
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
            fleet::explicit("generator", generator.as_deref(), allowed)?.unwrap_or_default()
        }
        None if allowed.len() < 2 => vec![],
        None => allowed.last().copied().into_iter().collect(),
    };
    Ok(Cpus {
        server: vec![],
        generator,
    })
}
