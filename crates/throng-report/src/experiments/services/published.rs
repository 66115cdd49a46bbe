//! The published comparison of services (`reference/services.toml`), and what of it stands beside a row: the same system, asked the same by as many.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use throng_record::{Protocol, Setting, TargetRecord};

use crate::reference::{Origin, built_in};

/// All that is published of this experiment.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Where it comes from.
    pub origin: Origin,
    /// Services.
    pub services: u32,
    /// Clients.
    pub clients: u32,
    /// Requests of each client to each service.
    pub requests: u64,
    /// How far a service counts for each.
    pub count: u64,
    /// Times.
    #[serde(rename = "result")]
    pub results: Vec<Published>,
}

/// What is published of one system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The target that is it.
    pub target: String,
    /// Whether connections were kept; absent where the source does not tell.
    pub reuse: Option<bool>,
    /// Listeners of each service; absent where it has one.
    pub listeners: Option<u32>,
    /// Which of several listeners was asked.
    pub choice: Option<Choice>,
    /// Seconds that a client took.
    pub seconds: f64,
}

/// Which listener of a service was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// One by chance for each request.
    Random,
    /// One for all requests of a client.
    Bound,
}

/// The reference, parsed once.
#[must_use]
pub fn reference() -> &'static Reference {
    static REFERENCE: LazyLock<Reference> =
        LazyLock::new(|| built_in(include_str!("../../../../../reference/services.toml")));
    &REFERENCE
}

/// What is published of this target at this setting.
#[must_use]
pub fn beside(target: &TargetRecord, asked: &Setting) -> Option<Published> {
    let reference = reference();
    let (tasks, is_kept) = super::tasks(asked)?;
    let is_as_many = tasks.services == reference.services
        && super::clients(asked) == reference.clients
        && super::requests(asked) == reference.requests
        && count(asked) == Some(reference.count);
    // With one listener there is no choice.
    let choice = match (asked.listeners, tasks.choices) {
        (1, _) => None,
        (_, 1) => Some(Choice::Bound),
        _ => Some(Choice::Random),
    };
    let is_it = |result: &&Published| {
        let listeners = result.listeners.unwrap_or(1);
        result.target == target.name
            && result.reuse.is_none_or(|reuse| reuse == is_kept)
            && listeners == asked.listeners
            && (listeners == 1 || result.choice == choice)
    };
    let results = reference.results.iter();
    results.filter(|_| is_as_many).find(is_it).cloned()
}

/// How far its requests ask a service to count.
pub(super) fn count(asked: &Setting) -> Option<u64> {
    let Some(Protocol::Request { send, .. }) = asked.phases.protocol() else {
        return None;
    };
    let text = String::from_utf8_lossy(send);
    let number = text.split("count").nth(1).unwrap_or_default();
    let digits = number.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let end = digits.find(|letter: char| !letter.is_ascii_digit());
    digits[..end.unwrap_or(digits.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_published_time_once() {
        let results = &reference().results;
        assert_eq!(results.len(), 13);
        for (place, one) in results.iter().enumerate() {
            let is_same = |other: &Published| {
                (&other.target, other.reuse, other.listeners, other.choice)
                    == (&one.target, one.reuse, one.listeners, one.choice)
            };
            assert_eq!(results.iter().position(is_same), Some(place), "{one:?}");
        }
    }
}
