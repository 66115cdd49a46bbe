//! `server.toml`: what a server of the catalogue declares of itself. `catalogue/CONTRACT.md` documents its keys.
//!
//! Every word that belongs to a closed vocabulary is an enumeration, so that a slip is found when the file is read.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Deserializer, de};
use throng_record::{ContractException, DeclaredModel, Workload};

use super::version::Version;
use crate::toml_file::{self, FileError};

/// Stands for the directory that belongs to a server, in `run` and in the command of `[build]`.
pub(super) const BUILD_PLACEHOLDER: &str = "{build}";

/// A `server.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// What lists show.
    #[serde(deserialize_with = "text")]
    pub title: String,
    /// The language as it is written.
    #[serde(deserialize_with = "text")]
    pub language: String,
    /// What serves a connection.
    pub model: DeclaredModel,
    /// What it answers.
    #[serde(deserialize_with = "some")]
    pub workloads: Vec<Workload>,
    /// Where the idea comes from, in a sentence.
    #[serde(deserialize_with = "text")]
    pub source: String,
    /// How it is started: a program and its arguments.
    #[serde(deserialize_with = "some")]
    pub run: Vec<String>,
    /// What runs or compiles it.
    pub runtime: Runtime,
    /// How it is made, where there is something to make.
    pub build: Option<Build>,
    /// Variables of its environment beyond the user's.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Flags of its own, without their hyphens, and the values that each takes.
    #[serde(default)]
    pub options: BTreeMap<String, OptionValues>,
    /// What it cannot do, and why.
    #[serde(default)]
    pub exceptions: BTreeMap<ContractException, String>,
}

/// What an option of a server takes: one of these words, or where it is `"N"` a whole number.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum OptionValues {
    /// One of these.
    Words(#[serde(deserialize_with = "some")] Vec<String>),
    /// A number from 1.
    Number(#[serde(deserialize_with = "number")] ()),
}

impl OptionValues {
    /// As help has it: `all|single`, `N`.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Self::Words(words) => words.join("|"),
            Self::Number(()) => NUMBER.to_owned(),
        }
    }

    /// Whether it takes that.
    #[must_use]
    pub fn take(&self, value: &str) -> bool {
        match self {
            Self::Words(words) => words.iter().any(|word| word == value),
            Self::Number(()) => value.parse::<u32>().is_ok_and(|number| number > 0),
        }
    }
}

/// Stands for any number.
const NUMBER: &str = "N";

/// What a server needs to be on the machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    /// What lists show.
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// A command that prints its version.
    #[serde(deserialize_with = "some")]
    pub version: Vec<String>,
    /// The least that will do.
    pub least: Version,
    /// What a person types who has none.
    #[serde(deserialize_with = "text")]
    pub install: String,
}

/// How a server is made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// A program and its arguments, in the server's directory.
    #[serde(deserialize_with = "some")]
    pub command: Vec<String>,
}

impl Manifest {
    /// Reads a `server.toml`; `origin` is its name for messages.
    ///
    /// # Errors
    /// [`FileError`]: the first thing that is wrong with it.
    pub fn parse(text: &str, origin: &str) -> Result<Self, FileError> {
        let manifest: Self = toml_file::parse(text, origin)?;
        let wrong = |key, problem| Err(at_key(text, origin, key, problem));
        let needs_build = |word: &String| word.contains(BUILD_PLACEHOLDER);
        if manifest.build.is_none() && manifest.run.iter().any(needs_build) {
            let problem = format!(
                "`run` names {BUILD_PLACEHOLDER}, and nothing is built there; add a table [build] with a command"
            );
            return wrong("run", problem);
        }
        for (exception, reason) in &manifest.exceptions {
            if reason.trim().is_empty() {
                let problem = format!("the exception `{exception}` has no reason; write one");
                return wrong(exception.name(), problem);
            }
        }
        Ok(manifest)
    }

    /// The same, if the programs are there that it has in `directory`, its own. (One that is looked up in `PATH` is the machine's to have.)
    ///
    /// # Errors
    /// [`FileError`] with the path that leads to nothing.
    pub(super) fn with_its_programs(
        self,
        directory: &Path,
        text: &str,
        origin: &str,
    ) -> Result<Self, FileError> {
        let build = self.build.as_ref().map(|build| ("command", &build.command));
        for (key, words) in [("run", &self.run)].into_iter().chain(build) {
            let word = &words[0];
            let is_its_own = word.contains('/')
                && Path::new(word).is_relative()
                && !word.contains(BUILD_PLACEHOLDER);
            if is_its_own && !directory.join(word).exists() {
                let problem = format!(
                    "there is no file `{word}` in the server's directory; correct the path, or add the file"
                );
                return Err(at_key(text, origin, key, problem));
            }
        }
        Ok(self)
    }

    /// Whether it answers that workload, by its word.
    #[must_use]
    pub fn serves(&self, workload: &str) -> bool {
        self.workloads.iter().any(|one| one.name() == workload)
    }
}

/// A fault in the line of that key.
fn at_key(text: &str, origin: &str, key: &str, problem: String) -> FileError {
    let is_it = |line: &&str| line.trim_start().starts_with(key);
    let start = text.lines().find(is_it).and_then(|line| text.find(line));
    FileError::at(text, origin, start.unwrap_or(0), problem)
}

/// The word for a number.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        NUMBER => Ok(()),
        _ => Err(de::Error::custom(
            "an option takes a list of words, or \"N\" for a number",
        )),
    }
}

/// A text with something in it.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(de::Error::custom("this is empty; write what it is"));
    }
    Ok(text)
}

/// A list with something in it.
fn some<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let list = Vec::deserialize(deserializer)?;
    if list.is_empty() {
        return Err(de::Error::custom("this list is empty; write at least one"));
    }
    Ok(list)
}

#[cfg(test)]
mod tests;
