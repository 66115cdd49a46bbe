//! The forms of single values: `2s`, `1000 messages`, `0:1`. The same functions read a plan file's values and a flag's.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use throng_record::Amount;
use throng_sys::affinity::CpuList;

use super::sweep::{Swept, one_or_many};

mod count;
mod share;

pub(super) use count::of_file;
pub use count::{connections, count, counts, pings};
pub use share::Share;

/// Which kernel interface the generator uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendChoice {
    /// `io-uring` where the kernel allows it, else `epoll`.
    Auto,
    /// Edge-triggered epoll.
    Epoll,
    /// `io_uring`.
    IoUring,
}

/// Which local addresses connections come from, where none are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addresses {
    /// Spread over 127.0.0.0/8 on IPv4 loopback.
    Spread,
    /// The kernel's own choice.
    Kernel,
}

/// Whether launched servers speak TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TlsChoice {
    /// What is sent is plain.
    Off,
    /// With a certificate that is made for the run.
    On,
}

/// Which of a service's listeners a client's requests go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListenerChoice {
    /// Each request to one by chance.
    Random,
    /// All of a client's to the one whose number is the client's, modulo theirs.
    Bound,
}

/// How many connections are pinged: in a plan file a number or `"all"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pings {
    /// Every one.
    All,
    /// So many, spread evenly.
    Count(u32),
}

/// The CPUs of the two sides. Written `any`, or `SERVER:GENERATOR` as in `0:1` and `0-3:4-7`; in a plan file also as a
/// table `[cpus]` with `server` and `generator`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuChoice {
    /// Wherever the kernel puts them.
    Any,
    /// Pinned; a side that is `None` gets the CPUs that the other leaves.
    Pinned {
        /// CPUs of launched servers.
        server: Option<Vec<u32>>,
        /// CPUs of the generator.
        generator: Option<Vec<u32>>,
    },
}

/// A length of time: `2s`, `300ms`, `1m 30s`.
///
/// # Errors
/// Says how a length of time is written.
pub fn duration(text: &str) -> Result<Duration, String> {
    if text.trim().starts_with('-') {
        return Err(format!(
            "{text} is below 0, and this is a length of time; write for example 2s, 300ms or 1m 30s"
        ));
    }
    humantime::parse_duration(text).map_err(|error| {
        format!("`{text}` is no length of time ({error}); write for example 2s, 300ms or 1m 30s")
    })
}

/// A length of time or a number of messages: `300ms`, `1000 messages`.
///
/// # Errors
/// Says how either is written.
pub fn amount(text: &str) -> Result<Amount, String> {
    let count = text
        .strip_suffix("messages")
        .or_else(|| text.strip_suffix("message"));
    if let Some(count) = count {
        return self::count(count).map(Amount::Messages).map_err(|_| {
            format!("`{text}` is no number of messages; write for example 1000 messages")
        });
    }
    let duration = duration(text).map_err(|error| format!("{error}, or 1000 messages"))?;
    Ok(Amount::DurationNs(super::nanoseconds(duration)))
}

impl FromStr for Pings {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "all" => Ok(Self::All),
            word if word.starts_with(|first: char| first.is_alphabetic()) => Err(format!(
                "`{word}` is neither a number nor all; write for example 1000, 5k or all"
            )),
            number => count(number).map(Self::Count),
        }
    }
}

impl fmt::Display for Pings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => out.write_str("all"),
            Self::Count(count) => count.fmt(out),
        }
    }
}

impl<'de> Deserialize<'de> for Pings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Pings;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a number or \"all\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Pings, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Pings, E> {
                self.visit_str(&number.to_string())
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl FromStr for CpuChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "any" {
            return Ok(Self::Any);
        }
        let (server, generator) = text.split_once(':').ok_or_else(|| {
            format!("`{text}` names no two sides; write SERVER:GENERATOR, for example 0:1, or any")
        })?;
        Ok(Self::Pinned {
            server: cpus_of_side(server)?,
            generator: cpus_of_side(generator)?,
        })
    }
}

impl fmt::Display for CpuChoice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Pinned { server, generator } = self else {
            return out.write_str("any");
        };
        let side = |cpus: &Option<Vec<u32>>| {
            let cpus = cpus.clone().unwrap_or_default();
            CpuList::from(cpus).to_string()
        };
        write!(out, "{}:{}", side(server), side(generator))
    }
}

fn cpus_of_side(text: &str) -> Result<Option<Vec<u32>>, String> {
    let list = CpuList::parse(text).map_err(|error| error.to_string())?;
    Ok((!list.cpus.is_empty()).then_some(list.cpus))
}

/// For serde: one side's CPUs, where the error gets its line.
fn side<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u32>>, D::Error> {
    cpus_of_side(&String::deserialize(deserializer)?).map_err(de::Error::custom)
}

impl<'de> Deserialize<'de> for CpuChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        struct Sides {
            #[serde(deserialize_with = "side")]
            server: Option<Vec<u32>>,
            #[serde(deserialize_with = "side")]
            generator: Option<Vec<u32>>,
        }
        struct Choice;
        impl<'de> Visitor<'de> for Choice {
            type Value = CpuChoice;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(
                    "\"any\", \"SERVER:GENERATOR\" or a table with `server` and `generator`",
                )
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<CpuChoice, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<CpuChoice, A::Error> {
                let Sides { server, generator } =
                    Sides::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(CpuChoice::Pinned { server, generator })
            }
        }
        deserializer.deserialize_any(Choice)
    }
}

/// For serde: one value, or a list of them that belong together.
/// A key that is one length of time.
pub(super) fn some_duration<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    <Duration as Swept>::read(deserializer).map(Some)
}

/// A key that is a list.
pub(crate) fn some_or_many<'de, D: Deserializer<'de>, T: Swept>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    one_or_many(deserializer).map(Some)
}
