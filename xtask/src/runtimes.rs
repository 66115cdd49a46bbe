//! `cargo xtask runtimes`: installs what the servers of the catalogue need, on Debian 12.
//!
//! Three sources: the distribution's packages; language packages at locked versions, in virtual environments; and, where Debian 12's are too
//! old, the next release's source packages, built, and its JDK, unpacked. All but the first goes into the user's cache and is found there
//! by throng itself. What is there is left as it is; what was interrupted goes on; where one fails, the others are installed.
//!
//! Left out on purpose: other distributions. There `--list` tells what is there and what is not, and throng takes what is in `PATH`.

mod build;
mod environment;
mod jdk;
mod known;
mod log;
mod newer;
mod packages;
mod place;
mod program;

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::time::Instant;

use build::Build;
use environment::Environment;
use known::RUNTIMES;
use log::Log;
use place::Place;
use program::{Found, Program};

/// Flags of `cargo xtask runtimes`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RuntimesArguments {
    /// Only the runtimes named so, with their variants (ruby: ruby-3.3, too); `--list` shows them.
    names: Vec<String>,
    /// Shows each runtime, its version and place or what installs it, and installs nothing.
    #[arg(long)]
    list: bool,
}

/// What servers of one kind need.
#[derive(Debug)]
struct Runtime {
    name: &'static str,
    /// What tells that it is there, and its version.
    program: Program,
    /// Packages of the distribution: itself, or what its installation needs.
    packages: &'static [&'static str],
    /// Whether any such program in `PATH` will do.
    elsewhere: bool,
    /// What is installed in the cache.
    own: Option<Own>,
}

/// A runtime that is installed in the cache.
#[derive(Debug)]
enum Own {
    Environment(Environment),
    Build(Build),
    Jdk,
}

/// Whether a runtime is there.
#[derive(Debug)]
enum State {
    Present(Found),
    /// What installs it.
    Missing(String),
}

/// Installs all runtimes, or those named: afterwards they are there, or this has failed.
///
/// # Errors
/// Where one is missing in the end, or a name is unknown.
pub(crate) fn run(arguments: &RuntimesArguments) -> Result<(), Box<dyn Error>> {
    let asked = asked(&arguments.names)?;
    let place = Place::of_user()?;
    if arguments.list {
        for runtime in asked {
            println!("{}", runtime.line(&place)?);
        }
        return Ok(());
    }
    let _lock = place.lock()?;
    install_packages(&asked, &place)?;
    let mut failed = Vec::new();
    for runtime in &asked {
        let begun = Instant::now();
        if let State::Missing(_) = runtime.state(&place)? {
            println!("── {}", runtime.name);
            match runtime.install(&place) {
                Ok(()) => println!("installed in {:.0} s", begun.elapsed().as_secs_f64()),
                Err(error) => {
                    println!("error: {error}");
                    failed.push(runtime.name);
                }
            }
        }
    }
    println!();
    for runtime in &asked {
        println!("{}", runtime.line(&place)?);
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!(
        "missing: {}\nhint: what failed stands above; `cargo xtask runtimes {}` tries again",
        failed.join(", "),
        failed.join(" ")
    )
    .into())
}

/// All, or those named. A name stands for its variants, too: `ruby` for `ruby` and `ruby-3.3`.
fn asked(names: &[String]) -> Result<Vec<&'static Runtime>, Box<dyn Error>> {
    let is_meant = |runtime: &Runtime, name: &str| {
        runtime
            .name
            .strip_prefix(name)
            .is_some_and(|variant| variant.is_empty() || variant.starts_with('-'))
    };
    for name in names {
        if !RUNTIMES.iter().any(|runtime| is_meant(runtime, name)) {
            let names = RUNTIMES.each_ref().map(|runtime| runtime.name).join(", ");
            return Err(format!("there is no runtime '{name}': {names}").into());
        }
    }
    let is_asked =
        |runtime: &&Runtime| names.is_empty() || names.iter().any(|name| is_meant(runtime, name));
    Ok(RUNTIMES.iter().filter(is_asked).collect())
}

/// Installs the packages of all that is missing at once, which is faster than one by one. Where that fails, each runtime tries its own.
fn install_packages(asked: &[&Runtime], place: &Place) -> Result<(), Box<dyn Error>> {
    let mut missing = BTreeSet::new();
    for runtime in asked {
        if let State::Missing(_) = runtime.state(place)? {
            missing.extend(packages::missing(runtime.packages));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let begun = Instant::now();
    println!("── packages of the distribution");
    match packages::install(&missing, &Log::begin(place.log("packages"))?) {
        Ok(()) => println!("installed in {:.0} s", begun.elapsed().as_secs_f64()),
        Err(error) => println!("error: {error}"),
    }
    Ok(())
}

impl Runtime {
    /// Whether it is there, its version and place, or what installs it.
    fn line(&self, place: &Place) -> Result<String, Box<dyn Error>> {
        Ok(match self.state(place)? {
            State::Present(found) => format!(
                "present  {:<21} {:<9} {}",
                self.name,
                found.version,
                found.path.display()
            ),
            State::Missing(how) => format!("missing  {:<21} {how}", self.name),
        })
    }

    fn state(&self, place: &Place) -> Result<State, Box<dyn Error>> {
        let found = self
            .program
            .found(place)
            .filter(|found| self.program.is_enough(&found.version));
        let is_installed = match self.own {
            Some(_) => self.is_current(place)?,
            None => packages::missing(self.packages).is_empty(),
        };
        Ok(match found {
            Some(found) if is_installed || self.elsewhere => State::Present(found),
            _ => State::Missing(self.how()),
        })
    }

    /// What installs it, as a person would type it.
    fn how(&self) -> String {
        let what = match &self.own {
            None => return packages::command_line(self.packages),
            Some(Own::Environment(environment)) => {
                format!("installs {}", environment.modules)
            }
            Some(Own::Build(build)) => {
                format!("builds Debian 13's {}, some minutes", build.source)
            }
            Some(Own::Jdk) => "unpacks Debian 13's JDK".to_owned(),
        };
        format!("cargo xtask runtimes {} ({what})", self.name)
    }

    fn install(&self, place: &Place) -> Result<(), Box<dyn Error>> {
        let log = Log::begin(place.log(self.name))?;
        let missing = packages::missing(self.packages);
        if !missing.is_empty() {
            packages::install(&missing, &log)?;
        }
        let program = self.program.name;
        match &self.own {
            None => {}
            Some(Own::Environment(own)) => own.install(self.name, program, place, &log)?,
            Some(Own::Build(own)) => own.install(self.name, program, place, &log)?,
            Some(Own::Jdk) => jdk::install(self.name, place, &log)?,
        }
        if self.own.is_some() {
            fs::write(place.recipe(self.name), self.recipe()?)?;
        }
        match self.state(place)? {
            State::Present(_) => Ok(()),
            State::Missing(_) => Err(format!(
                "everything is installed, and {program} {} or later is not there; what comes first in PATH?",
                self.program.least
            )
            .into()),
        }
    }

    /// Whether what is in the cache was installed by today's recipe, wholly.
    fn is_current(&self, place: &Place) -> Result<bool, Box<dyn Error>> {
        let recipe = self.recipe()?;
        Ok(place.program(self.program.name).exists()
            && fs::read_to_string(place.recipe(self.name)).is_ok_and(|found| found == recipe))
    }

    /// What determines the outcome of an installation in the cache. It is kept beside it, written when all is done.
    fn recipe(&self) -> Result<String, Box<dyn Error>> {
        match &self.own {
            None => Ok(String::new()),
            Some(Own::Environment(environment)) => environment.recipe(),
            Some(Own::Build(build)) => Ok(build.recipe()),
            Some(Own::Jdk) => Ok(jdk::recipe()),
        }
    }
}

#[cfg(test)]
mod tests;
