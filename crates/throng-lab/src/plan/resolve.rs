//! From a draft to a plan: defaults filled in, everything validated, in one place.
//!
//! The defaults stand as constants at the head of this file and of those in its folder; `docs/plans.md` lists them for users.

mod exchange;
mod fleet;
mod network;
mod quick;

use throng_record::Plan;
use throng_record::TargetRecord;
use throng_record::plan::{Experiment, ListenFamily};

pub use network::KernelNameError;

use super::{Environment, PlanDraft, PlanError};
use crate::suggest::or_list;

/// Repeats where none are asked for: the fewest of which the median has a 95 % interval.
const REPEATS: u32 = 6;
/// Connections where none are asked for.
const CONNECTIONS: u32 = 100;
/// Accept queue asked of launched servers: more than the generator's connects in flight, below every `somaxconn`.
const BACKLOG: u32 = 1024;

/// A plan, and what a user should know about how it came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The plan.
    pub plan: Plan,
    /// Whole sentences, for standard error.
    pub notes: Vec<String>,
}

/// Fills in what the draft leaves open, and refuses what cannot be carried out here.
///
/// # Errors
/// [`PlanError`]: the first thing that is wrong.
pub fn resolve(draft: PlanDraft, environment: &Environment) -> Result<Resolved, PlanError> {
    if draft
        .quick
        .as_ref()
        .is_some_and(|quick| quick.quick.is_some())
    {
        return Err(PlanError::NestedQuick);
    }
    let mut notes = Vec::new();
    let family = draft.family.unwrap_or(ListenFamily::Ipv4);
    let targets = targets(&draft, environment, family)?;
    let connections = connections(&draft)?;
    let source = fleet::source(&draft, &targets, family)?;
    let cpus = fleet::cpus(&draft, environment, &targets, &mut notes)?;
    let shards = fleet::shards(&draft, &connections, &cpus.generator)?;
    let timeouts = fleet::timeouts(&draft)?;
    let (net, kernel) = network::network(&draft, environment, &targets)?;
    let mut plan = Plan {
        name: name(&draft)?,
        title: draft
            .title
            .clone()
            .unwrap_or_else(|| "How many messages a second, at what latency?".to_owned()),
        experiment: draft.experiment.unwrap_or(Experiment::Echo),
        baseline: baseline(&draft, &targets)?,
        targets,
        connections,
        repeats: not_zero(
            "repeats",
            draft.repeats,
            REPEATS,
            "there would be no trial",
            "6",
        )?,
        quick: draft.is_shortened,
        seed: draft.seed.unwrap_or(1),
        protocol: exchange::protocol(&draft)?,
        verify: draft.verify.unwrap_or(true),
        pacing: exchange::pacing(&draft)?,
        warmup: exchange::warmup(&draft),
        stop: exchange::stop(&draft)?,
        backend: fleet::backend(&draft, environment)?,
        shards,
        source,
        nodelay: draft.nodelay.unwrap_or(true),
        connect_timeout_ns: timeouts.connect_ns,
        reply_timeout_ns: timeouts.reply_ns,
        ready_timeout_ns: timeouts.ready_ns,
        server_cpus: cpus.server,
        generator_cpus: cpus.generator,
        listen: family,
        backlog: not_zero(
            "backlog",
            draft.backlog,
            BACKLOG,
            "no connection could wait",
            "1024",
        )?,
        net,
        kernel,
        workers: draft
            .workers
            .map(|workers| not_zero("workers", Some(workers), 1, "nobody would serve", "4"))
            .transpose()?,
    };
    if plan.quick {
        notes.extend(quick::fit(&mut plan));
    }
    Ok(Resolved { plan, notes })
}

/// A count that must be at least 1.
fn not_zero(
    key: &'static str,
    value: Option<u32>,
    default: u32,
    why: &'static str,
    example: &'static str,
) -> Result<u32, PlanError> {
    match value.unwrap_or(default) {
        0 => Err(PlanError::Zero { key, why, example }),
        count => Ok(count),
    }
}

fn name(draft: &PlanDraft) -> Result<String, PlanError> {
    let name = draft.name.clone().unwrap_or_else(|| "echo".to_owned());
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let starts_well = name.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    if starts_well && name.chars().all(is_plain) && name.len() <= 100 {
        Ok(name)
    } else {
        Err(PlanError::Name(name))
    }
}

fn targets(
    draft: &PlanDraft,
    environment: &Environment,
    family: ListenFamily,
) -> Result<Vec<TargetRecord>, PlanError> {
    let mut targets: Vec<TargetRecord> = Vec::new();
    for target in draft.targets.as_deref().unwrap_or_default() {
        let target = target.resolve(&environment.models, family)?;
        if targets.iter().any(|other| other.name == target.name) {
            return Err(PlanError::DuplicateTarget(target.name));
        }
        targets.push(target);
    }
    if targets.is_empty() {
        return Err(PlanError::NoTarget);
    }
    Ok(targets)
}

fn baseline(draft: &PlanDraft, targets: &[TargetRecord]) -> Result<u32, PlanError> {
    let Some(baseline) = &draft.baseline else {
        return Ok(0);
    };
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    names
        .iter()
        .position(|name| name == baseline)
        .map(|index| index as u32)
        .ok_or_else(|| PlanError::UnknownBaseline {
            baseline: baseline.clone(),
            targets: or_list(&names),
        })
}

fn connections(draft: &PlanDraft) -> Result<Vec<u32>, PlanError> {
    let mut connections = draft
        .connections
        .clone()
        .unwrap_or_else(|| vec![CONNECTIONS]);
    if connections.is_empty() {
        return Err(PlanError::NoConnections);
    }
    if connections.contains(&0) {
        return Err(PlanError::Zero {
            key: "connections",
            why: "nothing would be sent",
            example: "100",
        });
    }
    connections.sort_unstable();
    connections.dedup();
    Ok(connections)
}
