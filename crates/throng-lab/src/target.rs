//! Targets: which server is measured, as a person names it.
//!
//! A built-in model by its name, a running server by its address, a command of the user's by its command line. The list of
//! models is a parameter: the lab launches servers, it does not contain them.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use throng_record::plan::ListenFamily;
use throng_record::{BuiltInModel, TargetKind, TargetRecord, TlsTarget, Trust};
use throng_sys::address::Address;

use crate::plan::PlanError;
use throng_catalogue::catalogue::Catalogue;
use throng_catalogue::suggest::{nearest, or_list};

mod catalogued;
pub(crate) mod http;
pub mod multiplexer;
mod options;
mod tls;

/// Stands for every built-in model, or every multiplexer, in the vocabulary's order.
pub(crate) const ALL: &str = "all";

/// A target as written. In a plan file a text is a model or an address, and a table `{ command = "…", name = "…" }` is a
/// command; on the command line TARGET is a text and `--command` a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetDraft {
    /// A model's name or a catalogued server's (`python/asyncio`), perhaps with options of its own (`prefork --workers 8`),
    /// `tcp://HOST:PORT`, `tls://HOST:PORT`, `unix:PATH`, `http://HOST:PORT/PATH` or
    /// `https://HOST:PORT/PATH`.
    Text(String),
    /// A command line with `{port}`, `{address}` or `{path}` where the server is told where to listen.
    Command {
        /// The command line, split as a POSIX shell splits words; no shell runs it.
        command: String,
        /// The row's name in reports; the command line where absent.
        name: Option<String>,
    },
}

impl TargetDraft {
    /// A command of the user's, as the command line has it: `./mine {port}`, or with a name for its row `mine=./mine {port}`.
    #[must_use]
    pub fn command(text: &str) -> Self {
        let is_name = |name: &str| {
            let is_of_name = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
            !name.is_empty() && name.chars().all(is_of_name)
        };
        let named = text.split_once('=').filter(|(name, _)| is_name(name));
        let (name, command) = match named {
            Some((name, command)) => (Some(name.to_owned()), command),
            None => (None, text),
        };
        Self::Command {
            command: command.to_owned(),
            name,
        }
    }

    /// Whether it may be a server of the catalogue, or several: whatever is neither a built-in model nor an address.
    #[must_use]
    pub fn may_be_catalogued(&self, models: &[BuiltInModel]) -> bool {
        let Self::Text(text) = self else {
            return false;
        };
        let word = text.split_whitespace().next().unwrap_or_default();
        let is_known = word == ALL || models.iter().any(|model| model.name == word);
        !(is_known || word.contains("://") || word.starts_with("unix:"))
    }

    /// The target as it stands in the record.
    ///
    /// # Errors
    /// [`PlanError`] for an unknown model, a text that is no address, a command that cannot be told where to listen.
    pub fn resolve(
        &self,
        models: &[BuiltInModel],
        catalogue: &Catalogue,
        family: ListenFamily,
    ) -> Result<TargetRecord, PlanError> {
        match self {
            Self::Text(text) => resolve_text(text, models, catalogue),
            Self::Command { command, name } => resolve_command(command, name.as_deref(), family),
        }
    }
}

impl From<&str> for TargetDraft {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl FromStr for TargetDraft {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.into())
    }
}

fn resolve_text(
    text: &str,
    models: &[BuiltInModel],
    catalogue: &Catalogue,
) -> Result<TargetRecord, PlanError> {
    if text.starts_with("http://") || text.starts_with("https://") {
        let (target, address) = http::read(text)?;
        return Ok(TargetRecord {
            tls: text.starts_with("https").then(|| over_tls(&target.host)),
            http: Some(target),
            ..running(text, &address)?
        });
    }
    if let Some(address) = tls::read(text) {
        return Ok(TargetRecord {
            tls: Some(over_tls(address)),
            ..running(text, address)?
        });
    }
    if text.starts_with("tcp://") || text.starts_with("unix:") {
        return running(text, text);
    }
    let model = text.split_whitespace().next().unwrap_or_default();
    if let Some(model) = models.iter().find(|one| one.name == model) {
        return Ok(TargetRecord {
            model: Some(model.name.to_owned()),
            uses_every_cpu: model.uses_every_cpu(),
            options: options::read(text)?,
            ..TargetRecord::named(&in_one_line(text), TargetKind::BuiltIn)
        });
    }
    if let Some(found) = catalogued::resolve(text, catalogue) {
        return found;
    }
    if text.contains(char::is_whitespace) || text.contains('{') {
        return Err(PlanError::CommandAsTarget(text.to_owned()));
    }
    if let Some((_, rest)) = text.split_once("://") {
        return Err(PlanError::UnknownScheme {
            target: text.to_owned(),
            rest: rest.split('/').next().unwrap_or(rest).to_owned(),
        });
    }
    if text.contains(':') {
        return Err(PlanError::AddressWithoutScheme(text.to_owned()));
    }
    Err(PlanError::UnknownModel {
        model: text.to_owned(),
        nearest: nearest(text, models.iter().map(AsRef::as_ref))
            .map(str::to_owned)
            .or_else(|| catalogue.nearest(text))
            .map_or_else(
                || ".".to_owned(),
                |model| format!("; did you mean `{model}`?"),
            ),
        known: or_list(models),
    })
}

/// By the host of this address, trusting whom the system trusts: the plan's keys may say otherwise.
fn over_tls(address: &str) -> TlsTarget {
    TlsTarget {
        server_name: tls::host(address).to_owned(),
        trust: Trust::System,
    }
}

/// A server that runs at an address, by the name under which it was written.
fn running(name: &str, address: &str) -> Result<TargetRecord, PlanError> {
    let address: Address = address.parse().map_err(|error| PlanError::Address {
        text: name.to_owned(),
        error,
    })?;
    if matches!(&address, Address::Tcp(tcp) if tcp.port() == 0) {
        return Err(PlanError::PortZero(name.to_owned()));
    }
    Ok(TargetRecord {
        addresses: vec![address.connectable().to_string()],
        ..TargetRecord::named(name, TargetKind::Running)
    })
}

fn resolve_command(
    command: &str,
    name: Option<&str>,
    family: ListenFamily,
) -> Result<TargetRecord, PlanError> {
    let words = shlex::split(command).ok_or_else(|| PlanError::CommandQuoting {
        command: command.to_owned(),
    })?;
    if words.is_empty() {
        return Err(PlanError::CommandEmpty);
    }
    let (placeholder, family_name) = match family {
        ListenFamily::Unix => ("{path}", "unix"),
        ListenFamily::Ipv4 => ("{port}", "ipv4"),
        ListenFamily::Ipv6 => ("{port}", "ipv6"),
    };
    if !command.contains(placeholder) && !command.contains("{address}") {
        return Err(PlanError::CommandWithoutPlaceholder {
            command: command.to_owned(),
            placeholder,
            family_name,
        });
    }
    let name = name.map_or_else(|| in_one_line(command), str::to_owned);
    Ok(TargetRecord {
        command: Some(command.to_owned()),
        ..TargetRecord::named(&name, TargetKind::Command)
    })
}

/// A script of many lines as the name of a row.
fn in_one_line(command: &str) -> String {
    command.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl<'de> Deserialize<'de> for TargetDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Command {
            command: String,
            name: Option<String>,
        }
        struct Target;
        impl<'de> Visitor<'de> for Target {
            type Value = TargetDraft;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a model, an address, or a table { command = \"…\" }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<TargetDraft, E> {
                Ok(text.into())
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<TargetDraft, A::Error> {
                let Command { command, name } =
                    Command::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(TargetDraft::Command { command, name })
            }
        }
        deserializer.deserialize_any(Target)
    }
}

#[cfg(test)]
mod tests;
