//! Why an experiment has no use for a key, and what to do instead, as one types it: `write --hold 1s (in a plan: hold = "1s")`.
//!
//! A refusal does not know whether a flag or a plan file was read, so both forms stand in it. Here are the reasons and the examples that
//! several groups of keys share.

use throng_record::plan::Experiment;

use super::find;

pub(super) const HELD: &str = "its connections are held, and each is pinged once at most";
pub(super) const NO_MESSAGES: &str =
    "its connections sit idle, but for one byte on one of them at a time";
pub(super) const NO_SERVER: &str =
    "there is no server, only a process that waits for its own connections";
pub(super) const ONE_LINE: &str = "one line is put, and comes out of every connection";
pub(super) const ONE_PROCESS: &str =
    "one process is client and server, one connection after the other";

pub(super) const CLIENTS: &str = "clients = 32";
pub(super) const CONNECTIONS: &str = "connections = 1000";
pub(super) const DURATION: &str = "duration = \"2s\"";
pub(super) const MESSAGES: &str = "messages = 10000";
pub(super) const RATE: &str = "rate = 1000";
pub(super) const RATE_OF_LINES: &str = "rate = 10";
pub(super) const REPEATS: &str = "repeats = 6";
pub(super) const SERVICE_TIME: &str = "service-time = \"40ms\"";

/// What to do instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instead {
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
    pub(super) fn text(self, experiment: Experiment) -> String {
        match self {
            Self::LeaveOut => "leave it out".to_owned(),
            Self::Take(other) => {
                let command = other.name();
                let name = match other {
                    Experiment::Fanout => "fan-out",
                    _ => command,
                };
                format!("leave it out, or take the {name} experiment (throng {command})")
            }
            Self::Words(words) => words.to_owned(),
            Self::Write(example) => {
                format!(
                    "write {} (in a plan: {example})",
                    typed(example, experiment)
                )
            }
            Self::Either(examples) => joined(examples, "or", experiment),
            Self::Both(examples) => joined(examples, "and", experiment),
        }
    }

    /// What it says to write.
    #[cfg(test)]
    pub(super) fn examples(&self) -> Vec<&'static str> {
        match self {
            Self::LeaveOut | Self::Take(_) | Self::Words(_) => vec![],
            Self::Write(one) => vec![*one],
            Self::Either(two) | Self::Both(two) => two.to_vec(),
        }
    }
}

fn joined([one, other]: [&str; 2], join: &str, experiment: Experiment) -> String {
    let [typed_one, typed_other] = [one, other].map(|example| typed(example, experiment));
    format!("write {typed_one} {join} {typed_other} (in a plan: {one} {join} {other})")
}

/// `hold = "1s"` as it is typed: `--hold 1s`, or as the first word of the experiment's command.
pub(super) fn typed(example: &str, experiment: Experiment) -> String {
    let plain = example.replace('"', "");
    let (name, value) = plain.split_once(" = ").expect("a key and its value");
    match find(name).is_some_and(|key| key.has_flags(experiment)) {
        true => format!("--{name} {value}"),
        false => format!("throng {} {value}", experiment.name()),
    }
}
