//! The keys of a plan, each described once.
//!
//! One [`Key`] holds all that is said of a key: its name, its flag, its help, its default. What is another in one experiment, and what that
//! has no use for, the experiment says itself (`experiments`). Made from both are the flags of every command, their help, the defaults of [`super::resolve()`], its
//! refusals, and `docs/keys.md` (`keys_in`). A key's type and its place in a sweep stand in [`super::PlanDraft`].

pub use self::key::{Key, Switch};
use self::key::{flag, key, switch};
use self::own::OwnKeys;
pub use self::own::Usual;
use super::flag::FromFlag;

mod generator;
pub(super) mod instead;
mod key;
mod load;
mod message;
pub(super) mod own;
mod pacing;
mod plan;
mod search;
mod servers;
mod services;
#[cfg(test)]
mod tests;
mod tls;

/// The words of a yes or no.
pub const BOOL: &[&str] = &["true", "false"];

/// All keys by the headings of help, in its order.
pub const GROUPS: [(&str, &[Key]); 11] = [
    ("The plan", plan::KEYS),
    ("Load", load::KEYS),
    ("Services", services::KEYS),
    ("Pacing", pacing::KEYS),
    ("Search", search::KEYS),
    ("Line", message::LINE),
    ("Message", message::KEYS),
    ("TLS", tls::KEYS),
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

/// The value that a key has where it is not mentioned, in an experiment with these words of its own.
pub(super) fn usual<T: FromFlag>(name: &str, own: &OwnKeys) -> T {
    match find(name).map(|key| key.usual_with(own)) {
        Some(Usual::Value(text)) => T::from_flag(text).expect("a test reads every default"),
        other => unreachable!("{name} has no value: {other:?}"),
    }
}
