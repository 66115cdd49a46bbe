//! Keeping the record: written anew after each trial, whole or not at all.
//!
//! A temporary file beside it, flushed to the disk, then a rename (`rename(2)` replaces atomically): a run that is cut
//! short, by whatever, leaves a readable `run.json` with the trials made until then.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use throng_record::RunRecord;

/// Where a run's record is kept.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
}

/// The record could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No folder for it.
    #[error("cannot make the folder {folder} for the run's record: {source}; choose another place with --runs-dir", folder = .folder.display())]
    Folder {
        /// The folder that was to be made.
        folder: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// No file in it.
    #[error("cannot write the run's record {path}: {source}; is the disk full (df -h)? The last complete state is kept", path = .path.display())]
    Write {
        /// The file that was to be written.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl Store {
    /// Makes a new folder `TIME-PLAN` in `runs_directory`, with a number behind where that exists already.
    pub(crate) fn create(
        runs_directory: &Path,
        time: &str,
        plan_name: &str,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(runs_directory).map_err(|source| StoreError::Folder {
            folder: runs_directory.to_owned(),
            source,
        })?;
        let mut count = 1_u32;
        loop {
            let suffix = if count == 1 {
                String::new()
            } else {
                format!("-{count}")
            };
            let folder = runs_directory.join(format!("{time}-{plan_name}{suffix}"));
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Self { folder }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => count += 1,
                Err(source) => return Err(StoreError::Folder { folder, source }),
            }
        }
    }

    /// The record's file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join("run.json")
    }

    /// Replaces what is stored.
    pub(crate) fn write(&self, record: &RunRecord) -> Result<(), StoreError> {
        let temporary = self.folder.join("run.json.partial");
        let write = || -> io::Result<()> {
            let mut file = io::BufWriter::new(File::create(&temporary)?);
            serde_json::to_writer(&mut file, record)?;
            file.write_all(b"\n")?;
            file.into_inner()?.sync_all()?;
            fs::rename(&temporary, self.path())
        };
        write().map_err(|source| {
            // Half a record helps nobody, and on a full disk its room does.
            let _ = fs::remove_file(&temporary);
            StoreError::Write {
                path: self.path(),
                source,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use throng_record::{SCHEMA_VERSION, schema};

    use super::*;
    use crate::plan::{PlanDraft, resolve, test_environment};

    fn record(duration_ns: u64) -> RunRecord {
        let draft = PlanDraft::parse("targets = ['poll']", "test").expect("a plan");
        RunRecord {
            schema_version: SCHEMA_VERSION,
            duration_ns,
            plan: resolve(draft, &test_environment(1)).expect("resolves").plan,
            ..RunRecord::default()
        }
    }

    #[test]
    fn a_record_is_replaced_whole_and_nothing_else_stays() {
        let runs = tempfile::tempdir().expect("a folder");
        let store = Store::create(&runs.path().join("throng-runs"), "T", "p").expect("made");
        for duration_ns in [1, 2] {
            store.write(&record(duration_ns)).expect("written");
            let text = fs::read_to_string(store.path()).expect("there");
            assert_eq!(schema::read(&text).expect("a record"), record(duration_ns));
        }
        assert_eq!(fs::read_dir(&store.folder).expect("there").count(), 1);
    }

    #[test]
    fn a_write_that_fails_leaves_the_last_record_as_it_was() {
        let runs = tempfile::tempdir().expect("a folder");
        let store = Store::create(runs.path(), "T", "p").expect("made");
        store.write(&record(1)).expect("written");
        // Not even root can create a file where a folder is.
        fs::create_dir(store.folder.join("run.json.partial")).expect("made");
        let error = store.write(&record(2)).expect_err("in the way");
        assert!(error.to_string().contains("run.json"), "{error}");
        let text = fs::read_to_string(store.path()).expect("there");
        assert_eq!(schema::read(&text).expect("a record"), record(1));
    }

    #[test]
    fn two_runs_of_one_second_do_not_share_a_folder() {
        let runs = tempfile::tempdir().expect("a folder");
        let first = Store::create(runs.path(), "T", "p").expect("made");
        let second = Store::create(runs.path(), "T", "p").expect("made");
        assert_ne!(first.path(), second.path());
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named_with_what_to_do() {
        let error = Store::create(Path::new("/proc/nowhere"), "T", "p").expect_err("read-only");
        assert!(error.to_string().contains("/proc/nowhere"), "{error}");
        assert!(error.to_string().contains("--runs-dir"), "{error}");
    }

    #[test]
    fn what_could_not_be_stored_leaves_nothing_half_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::create(folder.path(), "now", "tour").expect("made");
        // Nothing can be renamed to a folder that is not empty.
        fs::create_dir_all(store.path().join("in the way")).expect("made");
        let error = store.write(&record(1)).expect_err("in the way");
        assert!(matches!(error, StoreError::Write { .. }), "{error}");
        assert!(!store.folder.join("run.json.partial").exists());
    }
}
