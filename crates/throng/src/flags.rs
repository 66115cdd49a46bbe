//! The flags of experiments, by the same names as the keys of a plan file.
//!
//! Each command flattens the groups that mean something to it, and `throng run` all of them. Where a value cannot hold a comma itself,
//! commas part the values of a sweep; counts are written in every form that [`value::counts`] reads.

mod accept;
mod backlog;
mod churn;
mod clients;
mod common;
mod connect;
mod echo;
mod fanout;
mod hold;
mod length;
mod message;
mod published;
mod repeats;
mod schedule;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as WordError, StrDeserializer};
use throng_lab::plan::{PlanError, Sweep, keys, multiplexer_instead};
use throng_record::plan::Experiment;

pub(crate) use accept::AcceptFlags;
pub(crate) use backlog::BacklogFlags;
pub(crate) use churn::ChurnFlags;
pub(crate) use clients::ClientFlags;
pub(crate) use common::CommonFlags;
pub(crate) use connect::ConnectFlags;
pub(crate) use echo::{EchoFlags, LifetimeFlag};
pub(crate) use fanout::{FanoutFlags, LineFlags};
pub(crate) use hold::HoldFlags;
pub(crate) use length::LengthFlags;
pub(crate) use message::MessageFlags;
pub(crate) use published::PublishedFlag;
pub(crate) use repeats::RepeatFlags;
pub(crate) use schedule::ScheduleFlags;

/// A closed vocabulary, read as a plan file reads it; listed here so that help and completions know it.
fn words<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: for<'text> serde::Deserialize<'text> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|text: String| word::<T>(&text))
}

fn word<'text, T: serde::Deserialize<'text>>(text: &'text str) -> Result<T, String> {
    let word: StrDeserializer<'text, WordError> = text.into_deserializer();
    T::deserialize(word).map_err(|error| error.to_string())
}

/// The values of a sweep.
fn list<T: PartialEq>(values: Option<Vec<T>>) -> Option<Sweep<T>> {
    values.and_then(Sweep::of)
}

/// The same where each value is a list already: commas in counts are read by the plan's reader of counts.
fn lists<T: PartialEq + Clone>(values: Option<Vec<Sweep<T>>>) -> Option<Sweep<T>> {
    let values = values?.into_iter();
    Sweep::of(values.flat_map(|some| some.values().to_vec()).collect())
}

/// Where a command was refused for a flag that only other experiments have: what to write instead.
pub(crate) fn of_other_experiment(error: &clap::Error, command: Option<&str>) -> Option<PlanError> {
    let experiment = match command? {
        "echo" => Experiment::Echo,
        "backlog" => Experiment::Backlog,
        "accept" => Experiment::Accept,
        "fanout" => Experiment::Fanout,
        "hold" => Experiment::Hold,
        "churn" => Experiment::Churn,
        _ => return None,
    };
    let ContextValue::String(flag) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let key = flag.strip_prefix("--")?.split('=').next()?;
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    if experiment == Experiment::Accept && key == "command" {
        return Some(multiplexer_instead("--command"));
    }
    keys::find(key.strip_prefix("no-").unwrap_or(key))?.refusal(experiment)
}

#[cfg(test)]
mod tests {
    use throng_lab::plan::PlanDraft;
    use throng_lab::plan::value::{Addresses, BackendChoice};
    use throng_record::plan::{ListenFamily, ServerLifetime};
    use throng_record::{Arrivals, Closing, Network, Workload};

    use super::*;

    #[test]
    fn the_words_of_flags_are_those_of_plan_files() {
        for word in ["auto", "epoll", "io-uring"] {
            assert!(super::word::<BackendChoice>(word).is_ok(), "{word}");
        }
        for word in ["constant", "exponential"] {
            assert!(super::word::<Arrivals>(word).is_ok(), "{word}");
        }
        for word in ["fin", "reset"] {
            assert!(super::word::<Closing>(word).is_ok(), "{word}");
        }
        for word in ["oneshot", "http", "echo"] {
            assert!(super::word::<Workload>(word).is_ok(), "{word}");
        }
        for word in ["private", "host"] {
            assert!(super::word::<Network>(word).is_ok(), "{word}");
        }
        for word in ["spread", "kernel"] {
            assert!(super::word::<Addresses>(word).is_ok(), "{word}");
        }
        for word in ["per-trial", "per-sweep"] {
            assert!(super::word::<ServerLifetime>(word).is_ok(), "{word}");
        }
        for word in ["ipv4", "ipv6", "unix"] {
            assert!(super::word::<ListenFamily>(word).is_ok(), "{word}");
        }
    }

    #[test]
    fn no_flag_mentions_nothing() {
        let mentioned = [
            EchoFlags::default().draft(),
            LifetimeFlag::default().draft(),
            BacklogFlags::default().draft(),
            ChurnFlags::default().draft(),
            CommonFlags::default().draft(),
            AcceptFlags::default().draft(),
            MessageFlags::default().draft(),
            FanoutFlags::default().draft(),
            LineFlags::default().draft(),
            HoldFlags::default().draft(),
            ConnectFlags::default().draft(),
        ];
        for draft in mentioned {
            assert_eq!(draft, PlanDraft::default());
        }
    }
}
