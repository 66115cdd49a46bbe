//! What to write instead of a key that the experiment has no use for, as one types it: `write --hold 1s (in a plan: hold = "1s")`.
//!
//! A refusal does not know whether a flag or a plan file was read, so both forms stand in it.

use std::fmt;

/// A key of a plan file with a usual value, and what is typed on the command line for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Example {
    flag: &'static str,
    key: &'static str,
}

const fn example(flag: &'static str, key: &'static str) -> Example {
    Example { flag, key }
}

pub(super) const CLIENTS: Example = example("--clients 32", "clients = 32");
pub(super) const CONNECTIONS: Example = example("--connections 1000", "connections = 1000");
/// The command of that experiment has it as its first word.
pub(super) const CONNECTIONS_OF_HOLD: Example = example("throng hold 1000", "connections = 1000");
pub(super) const DURATION: Example = example("--duration 2s", "duration = \"2s\"");
pub(super) const GREETING: Example = example("--greeting connected", "greeting = \"connected\"");
pub(super) const HOLD: Example = example("--hold 1s", "hold = \"1s\"");
pub(super) const LINE: Example = example("--line hello", "line = \"hello\"");
pub(super) const MESSAGES: Example = example("--messages 10000", "messages = 10000");
pub(super) const PINGS: Example = example("--pings 100", "pings = 100");
pub(super) const RATE: Example = example("--rate 1000", "rate = 1000");
pub(super) const RATE_OF_LINES: Example = example("--rate 10", "rate = 10");
pub(super) const REPEATS: Example = example("--repeats 6", "repeats = 6");
pub(super) const REQUESTS: Example = example("--requests 5", "requests = 5");
pub(super) const REQUESTS_TOTAL: Example = example("--requests-total 160", "requests-total = 160");
pub(super) const SERVICE_TIME: Example = example("--service-time 40ms", "service-time = \"40ms\"");

/// What to do instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    /// In words.
    Words(&'static str),
    /// Write this.
    Write(Example),
    /// Write one of these.
    Either([Example; 2]),
    /// Write both.
    Both([Example; 2]),
}

impl fmt::Display for Instead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (one, join, other) = match self {
            Self::Words(words) => return out.write_str(words),
            Self::Write(Example { flag, key }) => {
                return write!(out, "write {flag} (in a plan: {key})");
            }
            Self::Either([one, other]) => (one, " or ", other),
            Self::Both([one, other]) => (one, " and ", other),
        };
        let Example { flag, key } = one;
        write!(
            out,
            "write {flag}{join}{} (in a plan: {key}{join}{})",
            other.flag, other.key
        )
    }
}

impl Instead {
    /// What it says to write.
    #[cfg(test)]
    pub(super) fn examples(&self) -> Vec<(&'static str, &'static str)> {
        let examples = match self {
            Self::Words(_) => vec![],
            Self::Write(one) => vec![*one],
            Self::Either(two) | Self::Both(two) => two.to_vec(),
        };
        let parts = |one: &Example| (one.flag, one.key);
        examples.iter().map(parts).collect()
    }
}
