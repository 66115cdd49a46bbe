//! Targets by their index.

use throng_record::Plan;

/// Name of the target at `index`, and a plain word where a damaged record has no such target.
pub(crate) fn name(plan: &Plan, index: u32) -> &str {
    plan.targets
        .get(index as usize)
        .map_or("unknown target", |target| target.name.as_str())
}
