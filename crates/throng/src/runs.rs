//! Finding and reading stored runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use throng_record::{RunRecord, schema};

use crate::failure::Failure;

/// The `run.json` that is meant: a folder's, the file itself, or the one written last below `runs_directory`.
pub(crate) fn find(run: &Path, runs_directory: &Path) -> Result<PathBuf, Failure> {
    if run.is_dir() {
        return Ok(run.join("run.json"));
    }
    if run.as_os_str() == "latest" && !run.exists() {
        return latest(runs_directory).ok_or_else(|| {
            Failure::usage(format_args!(
                "there is no run in {}",
                runs_directory.display()
            ))
            .hint("make one with `throng run`, or say where they are with --runs-dir")
        });
    }
    Ok(run.to_owned())
}

fn latest(runs_directory: &Path) -> Option<PathBuf> {
    let written = |path: PathBuf| -> Option<(SystemTime, PathBuf)> {
        Some((fs::metadata(&path).ok()?.modified().ok()?, path))
    };
    fs::read_dir(runs_directory)
        .ok()?
        .filter_map(|entry| written(entry.ok()?.path().join("run.json")))
        .max()
        .map(|(_, path)| path)
}

/// Reads a record.
pub(crate) fn read(path: &Path) -> Result<RunRecord, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::usage(format_args!("cannot read the run {}", path.display()))
            .cause(error)
            .hint("RUN is a folder in throng-runs, its run.json, or `latest`")
    })?;
    schema::read(&text).map_err(|error| {
        Failure::usage(format_args!("cannot read the run {}", path.display())).cause(error)
    })
}
