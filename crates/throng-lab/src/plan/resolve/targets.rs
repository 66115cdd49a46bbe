//! Which servers are measured.

use throng_record::TargetRecord;
use throng_record::plan::ListenFamily;

use crate::plan::{Environment, PlanDraft, PlanError};
use crate::target::TargetDraft;

/// Stands for every built-in model, in the vocabulary's order.
const ALL: &str = "all";

/// The targets as they stand in the record, each possible in every family that launched servers are to listen on.
pub(super) fn resolve(
    draft: &PlanDraft,
    environment: &Environment,
) -> Result<Vec<TargetRecord>, PlanError> {
    let families = draft
        .family
        .as_ref()
        .map_or(&[ListenFamily::Ipv4][..], |sweep| sweep.values());
    let mut targets: Vec<TargetRecord> = Vec::new();
    for target in written(draft, environment) {
        for (index, &family) in families.iter().enumerate() {
            let record = target.resolve(&environment.models, family)?;
            if index > 0 {
                continue;
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

/// The targets one by one.
fn written(draft: &PlanDraft, environment: &Environment) -> Vec<TargetDraft> {
    let targets = draft.targets.iter().flatten();
    targets
        .flat_map(|target| match target {
            TargetDraft::Text(text) if text == ALL => environment
                .models
                .iter()
                .map(|model| model.name.as_str().into())
                .collect(),
            single => vec![single.clone()],
        })
        .collect()
}
