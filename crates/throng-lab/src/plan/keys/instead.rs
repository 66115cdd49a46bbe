//! What to do instead of a key that an experiment has no use for: as data, and the examples that several experiments give.
//!
//! How it is typed depends on the flags that the experiment's command has, so [`super::super::keys_in`] says it.

use throng_record::plan::Experiment;

pub(in crate::plan) const CLIENTS: &str = "clients = 32";
pub(in crate::plan) const CONNECTIONS: &str = "connections = 1000";
pub(in crate::plan) const DURATION: &str = "duration = \"2s\"";
pub(in crate::plan) const MESSAGES: &str = "messages = 10000";
pub(in crate::plan) const RATE: &str = "rate = 1000";
pub(in crate::plan) const REPEATS: &str = "repeats = 6";

/// What to do instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plan) enum Instead {
    LeaveOut,
    /// Leave it out, or take the experiment that has it.
    Take(Experiment),
    /// In words.
    Words(&'static str),
    /// Write this, which stands as in a plan file.
    Write(&'static str),
    /// Write one of these.
    Either([&'static str; 2]),
    /// Write both.
    Both([&'static str; 2]),
}

impl Instead {
    /// What it says to write.
    #[cfg(test)]
    pub(in crate::plan) fn examples(&self) -> Vec<&'static str> {
        match self {
            Self::LeaveOut | Self::Take(_) | Self::Words(_) => vec![],
            Self::Write(one) => vec![*one],
            Self::Either(two) | Self::Both(two) => two.to_vec(),
        }
    }
}
