//! Where throng's own runtimes are: a directory in the user's cache, so that neither the system nor the tree is touched.
//!
//! `bin/` holds a small script for each program, under the name that a server's `run` line has: that is where throng looks first. A script
//! is needed because an interpreter finds its libraries by the path it is started with. `RUNTIME/` holds what was installed, `logs/` what
//! was said meanwhile, `build/` what is being built; `RUNTIME.recipe` tells by what it was.

use std::error::Error;
use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The directory of the runtimes.
#[derive(Debug)]
pub(super) struct Place {
    root: PathBuf,
}

impl Place {
    /// `throng/runtimes` below `$XDG_CACHE_HOME`, or below `~/.cache` where that is not set (XDG Base Directory Specification).
    ///
    /// # Errors
    /// Where neither it nor `HOME` is set.
    pub(super) fn of_user() -> Result<Self, Box<dyn Error>> {
        let absolute = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let cache = absolute("XDG_CACHE_HOME")
            .or_else(|| Some(absolute("HOME")?.join(".cache")))
            .ok_or("no cache directory: neither XDG_CACHE_HOME nor HOME is set; set one")?;
        Ok(Self::in_cache(&cache))
    }

    /// The same below any directory.
    pub(super) fn in_cache(cache: &Path) -> Self {
        Self {
            root: cache.join("throng/runtimes"),
        }
    }

    /// What a runtime is installed into.
    pub(super) fn of(&self, runtime: &str) -> PathBuf {
        self.root.join(runtime)
    }

    /// By what a runtime was installed; there once it is installed wholly.
    pub(super) fn recipe(&self, runtime: &str) -> PathBuf {
        self.root.join(format!("{runtime}.recipe"))
    }

    /// What a runtime is built in; gone when it is installed.
    pub(super) fn build(&self, runtime: &str) -> PathBuf {
        self.root.join("build").join(runtime)
    }

    /// What was said while a runtime was installed.
    pub(super) fn log(&self, runtime: &str) -> PathBuf {
        self.root.join("logs").join(format!("{runtime}.log"))
    }

    /// apt's own corner, for the one use of another release's sources.
    pub(super) fn apt(&self) -> PathBuf {
        self.root.join("apt")
    }

    /// A program of one of these runtimes.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.root.join("bin").join(name)
    }

    /// Puts a program into `bin/`: a script that becomes `words`, followed by its own arguments.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub(super) fn wrap(&self, name: &str, words: &[&str]) -> Result<(), Box<dyn Error>> {
        let command = shlex::try_join(words.iter().copied())?;
        let path = self.program(name);
        // Renamed into place: a server may be starting from the old one.
        let new = self.program(&format!(".{name}.new"));
        fs::create_dir_all(self.root.join("bin"))?;
        fs::write(&new, format!("#!/bin/sh\nexec {command} \"$@\"\n"))?;
        fs::set_permissions(&new, Permissions::from_mode(0o755))?;
        fs::rename(&new, &path)?;
        Ok(())
    }

    /// Keeps a second run out until the file is dropped; waits for the first where there is one.
    ///
    /// # Errors
    /// Where the directory cannot be made or locked.
    pub(super) fn lock(&self) -> Result<File, Box<dyn Error>> {
        let told = |error| format!("cannot lock {}: {error}", self.root.display());
        fs::create_dir_all(&self.root).map_err(told)?;
        let file = File::create(self.root.join("lock")).map_err(told)?;
        if file.try_lock().is_err() {
            println!("waiting for another `cargo xtask runtimes`");
            file.lock().map_err(told)?;
        }
        Ok(file)
    }
}

/// Removes a directory and all in it, if it is there.
///
/// # Errors
/// Where it is there and cannot be removed.
pub(super) fn remove(directory: &Path) -> Result<(), Box<dyn Error>> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", directory.display()).into())
        }
        _ => Ok(()),
    }
}
