//! Where throng keeps what it has made or unpacked for this user: `$XDG_CACHE_HOME/throng`, usually `~/.cache/throng`.
//!
//! Nothing in it is of value: it can be removed at any time. (The XDG base directory specification: a relative path does not count.)

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The user's cache directory for throng; it need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

/// There is no place for a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no place for what is built: neither HOME nor XDG_CACHE_HOME is an absolute path; set XDG_CACHE_HOME to a directory that can be written"
)]
pub struct NoCache;

impl Cache {
    /// This user's.
    ///
    /// # Errors
    /// [`NoCache`] where the environment names none.
    pub fn of_user() -> Result<Self, NoCache> {
        Self::from_variables(std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME"))
    }

    /// One at a path.
    #[must_use]
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    fn from_variables(cache: Option<OsString>, home: Option<OsString>) -> Result<Self, NoCache> {
        let absolute = |path: PathBuf| path.is_absolute().then_some(path);
        let cache = cache.map(PathBuf::from).and_then(absolute);
        let home = home.map(PathBuf::from).and_then(absolute);
        let base = cache.or_else(|| home.map(|home| home.join(".cache")));
        Ok(Self::at(base.ok_or(NoCache)?.join("throng")))
    }

    /// Programs of the runtimes that throng's own development tools install.
    #[must_use]
    pub fn runtimes(&self) -> PathBuf {
        self.root.join("runtimes/bin")
    }

    /// What one server is built into.
    pub(super) fn build(&self, language: &str, server: &str) -> PathBuf {
        self.root.join("build").join(format!("{language}-{server}"))
    }

    /// What the last check of a server found.
    pub(super) fn standing(&self, language: &str, server: &str) -> PathBuf {
        let file = format!("{language}-{server}.json");
        self.root.join("contract").join(file)
    }

    /// Catalogues unpacked from the program.
    pub(super) fn catalogues(&self) -> PathBuf {
        self.root.join("catalogue")
    }

    /// All of it.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_the_environment_says() {
        let of = |cache: Option<&str>, home: Option<&str>| {
            let found = Cache::from_variables(cache.map(Into::into), home.map(Into::into));
            found.map(|cache| cache.root().to_string_lossy().into_owned())
        };
        assert_eq!(of(Some("/c"), Some("/h")).as_deref(), Ok("/c/throng"));
        assert_eq!(of(Some("c"), Some("/h")).as_deref(), Ok("/h/.cache/throng"));
        assert_eq!(of(None, Some("/h")).as_deref(), Ok("/h/.cache/throng"));
        assert_eq!(of(Some(""), None), Err(NoCache));
    }
}
