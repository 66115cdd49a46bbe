//! What the last check of a server against the contract found, kept in the cache for the runs that come after it.
//!
//! It counts for as long as the server's digest is the same: one that was mended is not held to what it once did.

use std::{fs, io};

use serde::{Deserialize, Serialize};
use throng_record::ContractStanding;

use super::{Cache, Server, digest};

/// As it is kept.
#[derive(Serialize, Deserialize)]
struct StoredStanding {
    digest: String,
    standing: ContractStanding,
}

impl Server {
    /// What the last check found; `None` where there was none since the server last changed. `version`: of what runs it.
    #[must_use]
    pub fn standing(&self, cache: &Cache, version: &str) -> Option<ContractStanding> {
        let text = fs::read_to_string(cache.standing(&self.language, &self.name)).ok()?;
        let kept: StoredStanding = serde_json::from_str(&text).ok()?;
        (kept.digest == self.digest(cache, version).ok()?).then_some(kept.standing)
    }

    /// Keeps what a check has found.
    ///
    /// # Errors
    /// What reading the server's files or writing into the cache answers.
    pub fn keep_standing(
        &self,
        cache: &Cache,
        version: &str,
        standing: ContractStanding,
    ) -> io::Result<()> {
        let path = cache.standing(&self.language, &self.name);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        let digest = self.digest(cache, version)?;
        let kept = StoredStanding { digest, standing };
        // Whoever reads meanwhile sees the old or the new.
        let written = path.with_added_extension(format!("{}.new", std::process::id()));
        fs::write(&written, serde_json::to_string_pretty(&kept)?)?;
        fs::rename(&written, &path)
    }

    fn digest(&self, cache: &Cache, version: &str) -> io::Result<String> {
        digest::of(self, version, &cache.build(&self.language, &self.name))
    }
}
