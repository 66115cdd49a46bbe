//! The keys of a plan, each described once.
//!
//! One [`Key`] holds all that is said of a key: its name, its flag, its help, its default, and which experiments have no use for it, why,
//! and what to write instead. Made from that are the flags of every command, their help, the defaults of [`super::resolve()`], its
//! refusals, and `docs/keys.md`. A key's type and its place in a sweep stand in [`PlanDraft`].

use throng_record::plan::Experiment;

use self::key::{Foreign, flag, key, switch};
pub use self::key::{Key, Switch, Usual};
use super::flag::FromFlag;
use super::{PlanDraft, PlanError};

mod foreign;
mod generator;
mod key;
mod load;
mod message;
mod pacing;
mod plan;
mod servers;
#[cfg(test)]
mod tests;

/// The words of a yes or no.
pub const BOOL: &[&str] = &["true", "false"];

/// All keys by the headings of help, in its order.
pub const GROUPS: [(&str, &[Key]); 8] = [
    ("The plan", plan::KEYS),
    ("Load", load::KEYS),
    ("Pacing", pacing::KEYS),
    ("Line", message::LINE),
    ("Message", message::KEYS),
    ("Generator", generator::KEYS),
    ("Surroundings", servers::SURROUNDINGS),
    ("Launched servers", servers::KEYS),
];

/// Each of them, in the order of help.
pub fn all() -> impl Iterator<Item = &'static Key> {
    GROUPS.into_iter().flat_map(|(_, keys)| keys)
}

/// The key of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Key> {
    all().find(|key| key.name == name)
}

/// The value that a key has in an experiment where it is not mentioned.
pub(super) fn usual<T: FromFlag>(name: &str, experiment: Experiment) -> T {
    match find(name).map(|key| key.usual(experiment)) {
        Some(Usual::Value(text)) => T::from_flag(text).expect("a test reads every default"),
        other => unreachable!("{name} has no value in {experiment:?}: {other:?}"),
    }
}

/// Refuses what the experiment has no use for.
pub(super) fn check(draft: &PlanDraft, experiment: Experiment) -> Result<(), PlanError> {
    let mentioned = draft.mentioned();
    let mut refusals = mentioned
        .iter()
        .filter_map(|key| find(key)?.refusal(experiment));
    refusals.next().map_or(Ok(()), Err)
}
