//! The catalogue: servers in many languages, one directory each, that keep the contract of `catalogue/CONTRACT.md`.
//!
//! A directory `LANGUAGE/SERVER` with a `server.toml` is a server. What is wrong with one stays with it: the others are there all the
//! same. Nothing is run here before it is asked for: reading the catalogue starts no program.

mod build;
mod cache;
mod digest;
mod found;
mod manifest;
mod prepare;
mod program;
mod runtime;
mod standing;
mod version;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

pub use cache::{Cache, NoCache};
pub use found::CatalogueError;
pub use manifest::{Build, Manifest, OptionValues, Runtime};
pub use prepare::{Prepared, Recipe, Unprepared, prepare_plan};
pub use runtime::{RuntimeFound, Versions};
pub use version::Version;

use crate::suggest::nearest;
use crate::toml_file::FileError;

/// Stands for every server of the catalogue.
pub const ALL: &str = "catalogue";

/// A server's declaration.
const MANIFEST: &str = "server.toml";

/// The servers that there are, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// In the order of their names.
    pub servers: Vec<Server>,
    /// Why there are none to be had, where that is so.
    pub obstacle: Option<String>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The name of its language's directory.
    pub language: String,
    /// The name of its own.
    pub name: String,
    /// Where its files are.
    pub directory: PathBuf,
    /// What it declares, or what is wrong with that.
    pub manifest: Result<Manifest, FileError>,
}

impl Catalogue {
    /// The catalogue at `named`, or the one that belongs to this program. `program`: `std::env::current_exe()`.
    ///
    /// # Errors
    /// [`CatalogueError`] where there is none.
    pub fn find(named: Option<&Path>, program: &Path) -> Result<Self, CatalogueError> {
        let directory = found::directory(named, program)?;
        Self::read(&directory).map_err(|error| CatalogueError::Named {
            path: directory,
            problem: error.to_string(),
        })
    }

    /// The catalogue in a directory.
    ///
    /// # Errors
    /// What listing it answers.
    pub fn read(directory: &Path) -> std::io::Result<Self> {
        let mut servers = Vec::new();
        for (language, folder) in folders(directory)? {
            for (name, folder) in folders(&folder)? {
                if folder.join(MANIFEST).exists() {
                    servers.push(Server::read(&language, &name, folder));
                }
            }
        }
        Ok(Self {
            servers,
            obstacle: None,
        })
    }

    /// None, for that reason.
    #[must_use]
    pub fn unavailable(reason: String) -> Self {
        Self {
            servers: vec![],
            obstacle: Some(reason),
        }
    }

    /// The server `LANGUAGE/SERVER`.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&Server> {
        let (language, name) = name.split_once('/')?;
        let mut servers = self.servers.iter();
        servers.find(|server| server.language == language && server.name == name)
    }

    /// What a word stands for: all servers, those of a language, or one. Nothing where it is none of these.
    #[must_use]
    pub fn meant_by(&self, word: &str) -> Vec<&Server> {
        let is_meant =
            |server: &&Server| word == ALL || word == server.language || server.full_name() == word;
        self.servers.iter().filter(is_meant).collect()
    }

    /// Whether the word stands for several servers.
    #[must_use]
    pub fn is_group(&self, word: &str) -> bool {
        word == ALL || self.servers.iter().any(|server| server.language == word)
    }

    /// The server or language that was probably meant.
    #[must_use]
    pub fn nearest(&self, written: &str) -> Option<String> {
        let names = self.servers.iter().map(Server::full_name);
        let languages = self.servers.iter().map(|server| server.language.clone());
        let words: Vec<String> = match written.contains('/') {
            true => names.collect(),
            false => languages.chain([ALL.to_owned()]).collect(),
        };
        nearest(written, words.iter().map(String::as_str)).map(str::to_owned)
    }
}

impl Server {
    fn read(language: &str, name: &str, directory: PathBuf) -> Self {
        let origin = format!("{language}/{name}/{MANIFEST}");
        let manifest = match fs::read_to_string(directory.join(MANIFEST)) {
            Ok(text) => Manifest::parse(&text, &origin)
                .and_then(|manifest| manifest.with_its_programs(&directory, &text, &origin)),
            Err(error) => Err(FileError::at(
                "",
                &origin,
                0,
                format!("cannot be read: {error}"),
            )),
        };
        Self {
            language: language.to_owned(),
            name: name.to_owned(),
            directory,
            manifest,
        }
    }

    /// `LANGUAGE/SERVER`.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.language, self.name)
    }

    /// Whether what it needs is on this machine; `None` where its `server.toml` cannot be used, or when interrupted. Starts programs
    /// that print their version.
    #[must_use]
    pub fn runtime(
        &self,
        cache: &Cache,
        versions: &Versions,
        interrupted: &AtomicBool,
    ) -> Option<RuntimeFound> {
        let manifest = self.manifest.as_ref().ok()?;
        runtime::look(self, manifest, cache, versions, interrupted)
    }
}

/// The directories in a directory, by name; hidden ones are left out.
fn folders(directory: &Path) -> std::io::Result<Vec<(String, PathBuf)>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && entry.path().is_dir() {
            folders.push((name, entry.path()));
        }
    }
    folders.sort();
    Ok(folders)
}

#[cfg(test)]
mod tests;
