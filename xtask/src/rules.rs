//! Rules of this project that neither the compiler nor clippy knows, cheap enough to be checked every time.
//!
//! They read text, not syntax: a rule that needs a parser does not belong here.

mod dependencies;
mod length;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::cargo;

/// Checks every rule, and prints each place where one is broken.
///
/// # Errors
/// Where a rule is broken or a file cannot be read.
pub(crate) fn check() -> Result<(), Box<dyn Error>> {
    let workspace = cargo::workspace();
    let sources = sources(workspace)?;
    let mut violations = dependencies::check(workspace)?;
    violations.extend(in_sources(&sources));
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => Ok(()),
        count => Err(format!("a rule of the project is broken in {count} places").into()),
    }
}

fn in_sources(sources: &[Source]) -> Vec<String> {
    sources.iter().flat_map(length::check).collect()
}

/// A Rust file of the workspace.
#[derive(Debug)]
struct Source {
    /// Relative to the workspace.
    path: PathBuf,
    text: String,
}

impl Source {
    /// Whether it holds nothing but tests.
    fn is_test(&self) -> bool {
        self.path.file_name().is_some_and(|name| name == "tests.rs")
            || self
                .path
                .components()
                .any(|part| part.as_os_str() == "tests")
    }
}

/// All Rust files of the crates and of this program, in a fixed order.
fn sources(workspace: &Path) -> Result<Vec<Source>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for folder in ["crates", "xtask"] {
        collect(&workspace.join(folder), &mut paths)?;
    }
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = read(&path)?;
            let path = path.strip_prefix(workspace)?.to_owned();
            Ok(Source { path, text })
        })
        .collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

/// A file's text; the error names the file.
fn read(path: &Path) -> Result<String, Box<dyn Error>> {
    fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_keeps_the_rules() {
        let sources = sources(cargo::workspace()).expect("readable");
        assert_eq!(in_sources(&sources), Vec::<String>::new());
    }

    #[test]
    fn sources_are_found_and_told_apart() {
        let sources = sources(cargo::workspace()).expect("readable");
        let find = |path: &str| sources.iter().find(|source| source.path == Path::new(path));
        let this = find("xtask/src/rules.rs").expect("this file");
        assert!(!this.is_test());
        let apart = find("crates/throng-sys/src/uring/tests.rs")
            .expect("unit tests in a file of their own");
        assert!(apart.is_test());
    }
}
