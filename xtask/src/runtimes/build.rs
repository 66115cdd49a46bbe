//! Runtimes that are newer than the distribution's, built from the next release's source packages.
//!
//! What was interrupted goes on where it was: a step that is done leaves a mark, and make knows what it has made. Left out: what no server
//! uses (TLS, readline, documentation, tests), and optimisation by profiles, which takes several times as long as the rest.

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use super::log::Log;
use super::newer::Archive;
use super::place::{self, Place};

/// A source package and what is made of it.
#[derive(Debug)]
pub(super) struct Build {
    /// The source package.
    pub(super) source: &'static str,
    /// Arguments of `configure`, besides `--prefix`.
    pub(super) configure: &'static [&'static str],
    /// What make is asked for after the program is made: what installs it.
    pub(super) install: &'static [&'static str],
    /// The program below the prefix, and the arguments that it is always started with.
    pub(super) program: &'static [&'static str],
    /// Arguments with which the program succeeds if it has what the servers need.
    pub(super) trial: &'static [&'static str],
}

impl Build {
    /// What determines the outcome; where this changes, it is built anew.
    pub(super) fn recipe(&self) -> String {
        format!(
            "{} {:?} {:?} {:?}",
            self.source, self.configure, self.install, self.program
        )
    }

    /// Downloads, builds and installs it, and puts the program into `bin/` under the name `wrapper`.
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
        let prefix = place.of(runtime);
        let directory = place.build(runtime);
        let source = directory.join("source");
        self.begin(&directory)?;
        once(&directory.join("unpacked"), || {
            place::remove(&source)?;
            Archive::open(place, log)?.source(self.source, &directory, log)?;
            outdate_nothing(&source)
        })?;
        once(&directory.join("configured"), || {
            log.run(
                Command::new("./configure")
                    .arg(format!("--prefix={}", prefix.display()))
                    .args(self.configure)
                    .current_dir(&source),
            )
        })?;
        log.run(make(&source).arg(format!("--jobs={}", std::thread::available_parallelism()?)))?;
        place::remove(&prefix)?;
        log.run(make(&source).args(self.install))?;
        let program = prefix.join(self.program[0]);
        let program = program.to_str().ok_or("the cache directory is not UTF-8")?;
        let words = [&[program][..], &self.program[1..]].concat();
        log.run(Command::new(program).args(&words[1..]).args(self.trial))?;
        place.wrap(wrapper, &words)?;
        place::remove(&directory)
    }

    /// Leaves what was begun as it is, unless it was begun by another recipe.
    fn begin(&self, directory: &Path) -> Result<(), Box<dyn Error>> {
        let mark = directory.join("recipe");
        if fs::read_to_string(&mark).is_ok_and(|begun| begun == self.recipe()) {
            return Ok(());
        }
        place::remove(directory)?;
        fs::create_dir_all(directory)?;
        fs::write(mark, self.recipe())?;
        Ok(())
    }
}

/// Has the `configure` that was released count as newer than what Debian's patches changed: make would else ask for autoconf, to make it anew.
fn outdate_nothing(source: &Path) -> Result<(), Box<dyn Error>> {
    let configure = File::options()
        .append(true)
        .open(source.join("configure"))?;
    Ok(configure.set_modified(SystemTime::now())?)
}

fn make(directory: &Path) -> Command {
    let mut command = Command::new("make");
    command.current_dir(directory);
    command
}

/// Does a step unless its mark is there, and then leaves the mark.
fn once(
    mark: &Path,
    step: impl FnOnce() -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    if !mark.exists() {
        step()?;
        fs::write(mark, "")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILD: Build = Build {
        source: "a",
        configure: &["--with-b"],
        install: &["install"],
        program: &["bin/a"],
        trial: &[],
    };

    #[test]
    fn a_step_is_done_again_only_where_it_failed() {
        let directory = tempfile::tempdir().expect("a directory");
        let mark = directory.path().join("step");
        assert!(once(&mark, || Err("no".into())).is_err());
        let mut done = 0;
        for _ in 0..2 {
            once(&mark, || {
                done += 1;
                Ok(())
            })
            .expect("it succeeds");
        }
        assert_eq!(done, 1);
    }

    #[test]
    fn what_was_begun_is_kept_by_the_same_recipe_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path().join("build");
        let made = directory.join("made");
        BUILD.begin(&directory).expect("a directory");
        fs::write(&made, "").expect("writable");
        BUILD.begin(&directory).expect("a directory");
        assert!(made.exists());
        let other = Build {
            configure: &["--without-b"],
            ..BUILD
        };
        other.begin(&directory).expect("a directory");
        assert!(!made.exists());
    }
}
