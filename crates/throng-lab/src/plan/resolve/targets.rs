//! Which servers are measured.

use std::collections::BTreeMap;

use throng_record::TargetRecord;
use throng_record::plan::ListenFamily;

use crate::plan::{BuiltInModel, Environment, PlanDraft, PlanError};
use crate::target::TargetDraft;

/// Stands for every built-in model, in the vocabulary's order.
const ALL: &str = "all";

/// The targets as they stand in the record, each possible in every family that launched servers are to listen on.
pub(super) fn resolve(
    draft: &PlanDraft,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Vec<TargetRecord>, PlanError> {
    let families = draft
        .family
        .as_ref()
        .map_or(&[ListenFamily::Ipv4][..], |sweep| sweep.values());
    let mut targets: Vec<TargetRecord> = Vec::new();
    for target in written(draft, environment, notes) {
        for (index, &family) in families.iter().enumerate() {
            let record = target.resolve(&environment.models, family)?;
            if index > 0 {
                continue;
            }
            if let Some(model) = environment.model_of(&record)
                && let Some(refusal) = refusal(model, draft)
            {
                return Err(refusal);
            }
            if targets.iter().any(|other| other.name == record.name) {
                return Err(PlanError::DuplicateTarget(record.name));
            }
            targets.push(record);
        }
    }
    if targets.is_empty() {
        return Err(PlanError::NoTarget);
    }
    Ok(targets)
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
                    match refusal(model, draft) {
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

/// What the plan asks of a model that it cannot do.
fn refusal(model: &BuiltInModel, draft: &PlanDraft) -> Option<PlanError> {
    let cannot = |key, why| {
        Some(PlanError::ModelCannot {
            model: model.name.clone(),
            key,
            why,
        })
    };
    let workers = draft
        .workers
        .as_ref()
        .map_or(&[][..], |sweep| sweep.values());
    let families = draft
        .family
        .as_ref()
        .map_or(&[][..], |sweep| sweep.values());
    if workers.iter().any(|&asked| !model.workers.takes(asked)) {
        return cannot(
            "workers",
            "has no choice of workers: their number is its design",
        );
    }
    if !model.serves_unix && families.contains(&ListenFamily::Unix) {
        return cannot(
            "family = \"unix\"",
            "serves no Unix sockets: its loops share a port, and paths cannot be shared",
        );
    }
    None
}
