//! Where throng keeps what it has made or unpacked for this user: `$XDG_CACHE_HOME/throng`, usually `~/.cache/throng`; without a home, a folder of the
//! user's own among the temporary files.
//!
//! Nothing in it is of value: it can be removed at any time. (The XDG base directory specification: a relative path does not count.)

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// The user's cache directory for throng; it need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

/// There is no place for a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no place for what is built: neither HOME nor XDG_CACHE_HOME is an absolute path, and no folder of one's own can be made among the temporary files; set XDG_CACHE_HOME to a directory that can be written"
)]
pub struct NoCache;

impl Cache {
    /// This user's.
    ///
    /// # Errors
    /// [`NoCache`] where the environment names none.
    pub fn of_user() -> Result<Self, NoCache> {
        Self::from_variables(std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME"))
            .or_else(|NoCache| Self::among_temporary_files(&std::env::temp_dir()))
    }

    /// What somebody else has made there by this name is not used: programs are started from it.
    fn among_temporary_files(folder: &Path) -> Result<Self, NoCache> {
        let user = fs::metadata("/proc/self").map_err(|_| NoCache)?.uid();
        let root = folder.join(format!("throng-{user}"));
        match DirBuilder::new().mode(0o700).create(&root) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => return Err(NoCache),
        }
        let made = fs::symlink_metadata(&root).map_err(|_| NoCache)?;
        let is_ours = made.is_dir() && made.uid() == user && made.mode() & 0o077 == 0;
        if is_ours {
            Ok(Self::at(root))
        } else {
            Err(NoCache)
        }
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
    use std::os::unix::fs::PermissionsExt as _;

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

    #[test]
    fn without_a_home_it_is_a_folder_of_ones_own_or_nowhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = || Cache::among_temporary_files(folder.path());
        let cache = of().expect("made");
        assert_eq!(of().as_ref(), Ok(&cache), "it is found again");
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(cache.root(), open).expect("ours");
        assert_eq!(of(), Err(NoCache), "others may write there");
        assert_eq!(
            Cache::among_temporary_files(Path::new("/nowhere")),
            Err(NoCache)
        );
    }
}
