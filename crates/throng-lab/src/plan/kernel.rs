//! The `[kernel]` table: settings of the private network, as people write them.
//!
//! A name is dotted (`net.ipv4.tcp_syncookies`, quoted or not: TOML reads it as tables in tables) or short (`somaxconn`); a
//! value is a number or a text. Which setting is meant is found out by [`super::resolve()`].

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

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

/// One setting. On the command line `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSetting {
    /// Dotted or short.
    pub name: String,
    /// As it is written to the kernel.
    pub value: String,
}

impl FromStr for KernelSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => Ok(Self {
                name: name.trim().to_owned(),
                value: value.trim().to_owned(),
            }),
            _ => Err(format!(
                "`{text}` is no setting; write NAME=VALUE, for example somaxconn=4096"
            )),
        }
    }
}

impl<'de> Deserialize<'de> for KernelDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Node::deserialize(deserializer)? {
            Node::Value(_) => return Err(de::Error::custom("expected a table of settings")),
            Node::Table(settings) => settings,
        })
    }
}

/// A value, or a table with its names put together.
enum Node {
    Value(String),
    Table(KernelDraft),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Node;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a number, a text such as \"1024 65535\", or a table of settings")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Node, E> {
                Ok(Node::Value(value.to_string()))
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<Node, E> {
                Ok(Node::Value(value.trim().to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
                let mut settings = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    match map.next_value()? {
                        Node::Value(value) => settings.push(KernelSetting { name, value }),
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
