//! Finding and reading stored runs, by folder, name or label.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use throng_record::{RunRecord, schema};

use crate::failure::Failure;

/// The file in a run's folder that holds its label.
pub(crate) const LABEL: &str = "label";

/// The `run.json` that is meant: a folder's, the file itself, that of a name or label below `runs_directory`, or the one written last there.
pub(crate) fn find(run: &Path, runs_directory: &Path) -> Result<PathBuf, Failure> {
    if run.is_dir() {
        return Ok(run.join("run.json"));
    }
    if run.is_file() {
        return Ok(run.to_owned());
    }
    if run.as_os_str() == "latest" {
        return latest(runs_directory).ok_or_else(|| {
            Failure::usage(format_args!(
                "there is no run in {}",
                runs_directory.display()
            ))
            .hint("make one with `throng run`, or say where they are with --runs-dir")
        });
    }
    let named = runs_directory.join(run);
    let labelled = || labelled(run.to_str()?, runs_directory);
    if let Some(folder) = Some(named).filter(|path| path.is_dir()).or_else(labelled) {
        return Ok(folder.join("run.json"));
    }
    Ok(run.to_owned())
}

/// A run's label.
pub(crate) fn label(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(LABEL)).ok()?;
    Some(text.trim().to_owned()).filter(|label| !label.is_empty())
}

/// The folder of the run with this label.
pub(crate) fn labelled(wanted: &str, runs_directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(runs_directory).ok()?.flatten();
    let mut folders = entries.map(|entry| entry.path());
    folders.find(|folder| label(folder).is_some_and(|label| label == wanted))
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
            .hint("RUN is a folder in throng-runs, its run.json, a label, or `latest`; `throng runs` lists them")
    })?;
    schema::read(&text).map_err(|error| {
        Failure::usage(format_args!("cannot read the run {}", path.display())).cause(error)
    })
}
