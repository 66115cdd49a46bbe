//! Virtual environments of Python, with packages at the versions, and with the digests, that a requirements file lists.
//!
//! They are made of the distribution's own interpreter, whatever else is in `PATH`: the wheels that are listed are for that one.

use std::error::Error;
use std::fs;
use std::process::{Command, Stdio};

use super::log::Log;
use super::place::Place;
use crate::cargo;

/// A virtual environment.
#[derive(Debug)]
pub(super) struct Environment {
    /// The distribution's interpreter.
    pub(super) interpreter: &'static str,
    /// What is installed, below the workspace. It lists everything: pip adds nothing of its own accord.
    pub(super) requirements: &'static str,
    /// Installed before the others, where these are built from source: what builds them.
    pub(super) tools: Option<&'static str>,
    /// Modules that can be imported afterwards.
    pub(super) modules: &'static str,
}

impl Environment {
    /// What determines the outcome: the packages, and the interpreter for which they were installed.
    ///
    /// # Errors
    /// Where a requirements file cannot be read.
    pub(super) fn recipe(&self) -> Result<String, Box<dyn Error>> {
        let version = Command::new(self.interpreter)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_or(vec![], |said| said.stdout);
        let mut recipe = String::from_utf8_lossy(&version).into_owned();
        for path in self.tools.iter().chain([&self.requirements]) {
            let path = cargo::workspace().join(path);
            recipe += &fs::read_to_string(&path)
                .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        }
        Ok(recipe)
    }

    /// Makes it, installs the packages, and puts its interpreter into `bin/` under the name `wrapper`.
    ///
    /// # Errors
    /// Where a step fails.
    pub(super) fn install(
        &self,
        runtime: &str,
        wrapper: &str,
        place: &Place,
        log: &Log,
    ) -> Result<(), Box<dyn Error>> {
        let directory = place.of(runtime);
        log.run(
            Command::new(self.interpreter)
                .args(["-m", "venv", "--clear"])
                .arg(&directory),
        )?;
        let python = directory.join("bin/python");
        let python = python.to_str().ok_or("the cache directory is not UTF-8")?;
        for requirements in self.tools.iter().chain([&self.requirements]) {
            log.run(
                pip(python)
                    .arg("--requirement")
                    .arg(cargo::workspace().join(requirements)),
            )?;
        }
        log.run(Command::new(python).args(["-c", &format!("import {}", self.modules)]))?;
        place.wrap(wrapper, &[python])
    }
}

/// pip, which takes nothing that is not listed, and builds with what is installed rather than with what it would fetch.
fn pip(python: &str) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "--no-input", "install", "--no-deps"]);
    command.args(["--require-hashes", "--no-build-isolation"]);
    command
}
