//! The `[kernel]` table: settings of the private network, as people write them.
//!
//! A name is dotted (`net.ipv4.tcp_syncookies`, quoted or not: TOML reads it as tables in tables) or short (`somaxconn`); a
//! value is a number or a text, and a list of them is a sweep. Which setting is meant is found out by [`super::resolve()`].

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

use super::sweep::{Sweep, Swept};

/// Settings, each of its own name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelDraft(pub Vec<KernelSetting>);

impl KernelDraft {
    /// These settings with those of `over` in their place, whether a name is dotted here and short there or not, or beside them.
    pub(super) fn overlay(&mut self, over: Self) {
        let is_same = |one: &str, other: &str| {
            let is_short_for = |short: &str, name: &str| {
                let folder = name.strip_suffix(short);
                folder.is_some_and(|folder| folder.is_empty() || folder.ends_with('.'))
            };
            is_short_for(one, other) || is_short_for(other, one)
        };
        let is_answered =
            |setting: &KernelSetting| over.0.iter().any(|by| is_same(&by.name, &setting.name));
        self.0.retain(|setting| !is_answered(setting));
        self.0.extend(over.0);
    }
}

/// One setting. On the command line `NAME=VALUE`, where commas part the values of a sweep: a value that holds commas itself is for
/// plan files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSetting {
    /// Dotted or short.
    pub name: String,
    /// As they are written to the kernel.
    pub values: Sweep<String>,
}

/// A setting that was found among those that there are.
pub(super) struct KernelSweep {
    /// Dotted.
    pub(super) name: String,
    /// Its shortest name, for headings.
    pub(super) key: String,
    pub(super) values: Sweep<String>,
}

impl FromStr for KernelSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (name, values) = text.split_once('=')?;
            let name = name.trim().to_owned();
            let values = KernelValue::read_flag(values).ok()?.map(|value| value.0);
            (!name.is_empty()).then_some(Self { name, values })
        };
        read().ok_or_else(|| {
            format!("`{text}` is no setting; write NAME=VALUE, for example somaxconn=4096")
        })
    }
}

impl<'de> Deserialize<'de> for KernelDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Node::deserialize(deserializer)? {
            Node::Values(_) => return Err(de::Error::custom("expected a table of settings")),
            Node::Table(settings) => settings,
        })
    }
}

/// One value or several, or a table with its names put together.
enum Node {
    Values(Sweep<String>),
    Table(KernelDraft),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Node;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a number, a text such as \"1024 65535\", a list of them, or a table of settings")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Node, E> {
                Ok(Node::Values(KernelValue::of(value).0.into()))
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<Node, E> {
                Ok(Node::Values(KernelValue::of(value).0.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<Node, A::Error> {
                let values = de::value::SeqAccessDeserializer::new(values);
                let values = Sweep::<KernelValue>::deserialize(values)?;
                Ok(Node::Values(values.map(|value| value.0)))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
                let mut settings = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    match map.next_value()? {
                        Node::Values(values) => settings.push(KernelSetting { name, values }),
                        Node::Table(inner) => {
                            settings.extend(inner.0.into_iter().map(|setting| KernelSetting {
                                name: format!("{name}.{}", setting.name),
                                ..setting
                            }));
                        }
                    }
                }
                Ok(Node::Table(KernelDraft(settings)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A value in a list: a number or a text.
#[derive(Clone, PartialEq)]
struct KernelValue(String);

impl KernelValue {
    fn of(value: impl ToString) -> Self {
        Self(value.to_string().trim().to_owned())
    }
}

impl Swept for KernelValue {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrText;
        impl Visitor<'_> for NumberOrText {
            type Value = KernelValue;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a number or a text such as \"1024 65535\"")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<KernelValue, E> {
                Ok(KernelValue::of(value))
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<KernelValue, E> {
                Ok(KernelValue::of(value))
            }
        }
        deserializer.deserialize_any(NumberOrText)
    }

    fn read_flag(text: &str) -> Result<Sweep<Self>, String> {
        let values = text.split(',').map(Self::of).collect();
        Ok(Sweep::of(values).expect("a text has one part at least"))
    }

    fn text(&self) -> String {
        self.0.clone()
    }
}
