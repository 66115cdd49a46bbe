//! Which servers are measured.

use std::collections::BTreeMap;

use throng_record::TargetRecord;
use throng_record::plan::{Experiment, ListenFamily};

use super::{accept, experiment};
use crate::plan::{BuiltInModel, Environment, PlanDraft, PlanError};
use crate::target::TargetDraft;

/// Stands for every built-in model, in the vocabulary's order.
pub(super) const ALL: &str = "all";

/// The targets as they stand in the record, each possible in every family that launched servers are to listen on.
pub(super) fn resolve(
    draft: &PlanDraft,
    experiment: Experiment,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Vec<TargetRecord>, PlanError> {
    if experiment == Experiment::Accept {
        return accept::targets(draft, environment, notes);
    }
    let families = draft
        .family
        .as_ref()
        .map_or(&[ListenFamily::Ipv4][..], |sweep| sweep.values());
    if experiment != Experiment::Echo && families.contains(&ListenFamily::Unix) {
        return Err(PlanError::NoHandshake("`family = unix`".to_owned()));
    }
    let mut targets: Vec<TargetRecord> = Vec::new();
    for target in written(draft, environment, notes) {
        for (index, &family) in families.iter().enumerate() {
            let record = target.resolve(&environment.models, family)?;
            if index > 0 {
                continue;
            }
            check(&record, draft, experiment, environment)?;
            if targets.iter().any(|other| other.name == record.name) {
                return Err(PlanError::DuplicateTarget(record.name));
            }
            targets.push(record);
        }
    }
    if targets.is_empty() {
        return Err(PlanError::NoTarget {
            others: match experiment {
                Experiment::Backlog | Experiment::Churn => "http://HOST:PORT/PATH",
                _ => "unix:PATH",
            },
        });
    }
    Ok(targets)
}

/// Refuses a target that the experiment cannot measure, or a model of which something is asked that it cannot do.
fn check(
    target: &TargetRecord,
    draft: &PlanDraft,
    experiment: Experiment,
    environment: &Environment,
) -> Result<(), PlanError> {
    let address = target.address.as_deref().unwrap_or_default();
    match experiment {
        Experiment::Echo if target.http.is_some() => {
            return Err(PlanError::HttpTarget(target.name.clone()));
        }
        Experiment::Echo if target.options.delay_inline => {
            return Err(experiment::refusal("delay-inline", experiment));
        }
        Experiment::Backlog | Experiment::Churn if address.starts_with("unix:") => {
            return Err(PlanError::NoHandshake(format!("target `{}`", target.name)));
        }
        Experiment::Churn if target.options.delay_inline => {
            return Err(experiment::refusal("delay-inline", experiment));
        }
        _ => {}
    }
    let own = Asked {
        workers: target.options.workers.as_slice(),
        accept_threads: target.options.accept_threads.is_some(),
        hand_over: target.options.hand_over.is_some(),
        families: &[],
    };
    let refusal = environment
        .model_of(target)
        .and_then(|model| refusal(model, Asked::of(draft)).or_else(|| refusal(model, own)));
    refusal.map_or(Ok(()), Err)
}

/// The targets one by one. Of `all`, those that the plan's other keys leave possible.
fn written(
    draft: &PlanDraft,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Vec<TargetDraft> {
    let mut targets = Vec::new();
    let mut left_out: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for target in draft.targets.iter().flatten() {
        match target {
            TargetDraft::Text(text) if text == ALL => {
                for model in &environment.models {
                    match refusal(model, Asked::of(draft)) {
                        None => targets.push(model.name.as_str().into()),
                        Some(PlanError::ModelCannot { model, why, .. }) => {
                            left_out.entry(why).or_default().push(model);
                        }
                        Some(_) => {}
                    }
                }
            }
            single => targets.push(single.clone()),
        }
    }
    notes.extend(left_out.into_iter().map(|(why, models)| {
        format!("left out of `all`, since each {why}: {}", models.join(", "))
    }));
    targets
}

/// What is asked of a model that not every one can do.
#[derive(Clone, Copy)]
struct Asked<'a> {
    workers: &'a [u32],
    accept_threads: bool,
    hand_over: bool,
    families: &'a [ListenFamily],
}

impl<'a> Asked<'a> {
    fn of(draft: &'a PlanDraft) -> Self {
        Self {
            workers: draft.workers.as_ref().map_or(&[], |sweep| sweep.values()),
            accept_threads: draft.accept_threads.is_some(),
            // A model's own option only.
            hand_over: false,
            families: draft.family.as_ref().map_or(&[], |sweep| sweep.values()),
        }
    }
}

/// The first of it that this model cannot do.
fn refusal(model: &BuiltInModel, asked: Asked<'_>) -> Option<PlanError> {
    let cannot = |key, why| {
        Some(PlanError::ModelCannot {
            model: model.name.clone(),
            key,
            why,
        })
    };
    if asked
        .workers
        .iter()
        .any(|&workers| !model.workers.takes(workers))
    {
        return cannot(
            "workers",
            "has no choice of workers: their number is its design",
        );
    }
    if asked.accept_threads && !model.takes_accept_threads {
        return cannot(
            "accept-threads",
            "has no threads that do nothing but accept",
        );
    }
    if asked.hand_over && !model.takes_hand_over {
        return cannot("hand-over", "hands nothing over from one thread to others");
    }
    if !model.serves_unix && asked.families.contains(&ListenFamily::Unix) {
        return cannot(
            "family = \"unix\"",
            "serves no Unix sockets: its loops share a port, and paths cannot be shared",
        );
    }
    None
}
