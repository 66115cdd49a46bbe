//! What a server is, as one number: while it stays the same, so does what was made from the server or found out about it.
//!
//! It goes over the files of the server's directory, those of its language's servers, since they may share some, those elsewhere that
//! its commands name, the version of what runs or compiles it, and where all this is. (It tells changes, and protects against nothing;
//! another release of the standard library may compute another number, and then a server is built and checked once more.)

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::Server;

/// What CPython leaves beside sources that it has imported: no change of them.
const COMPILED: &str = "__pycache__";

/// The digest, and a newline. `version`: of what runs it. `place`: where it is built.
///
/// # Errors
/// What reading its files answers.
pub(super) fn of(server: &Server, version: &str, place: &Path) -> io::Result<String> {
    let directory = std::path::absolute(&server.directory)?;
    let mut hasher = DefaultHasher::new();
    (version, &directory, place).hash(&mut hasher);
    let mut files = Vec::new();
    if let Some(language) = directory.parent() {
        below(language, &mut files)?;
    }
    // It may be a link, which the language's directory is not searched behind.
    below(&directory, &mut files)?;
    for path in named_elsewhere(server) {
        below(&directory.join(path), &mut files)?;
    }
    files.sort();
    files.dedup();
    for file in files {
        file.hash(&mut hasher);
        fs::read(&file)?.hash(&mut hasher);
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

/// Paths outside of its directory, as its commands have them.
fn named_elsewhere(server: &Server) -> impl Iterator<Item = &String> {
    let manifest = server.manifest.as_ref().ok();
    let words = manifest.into_iter().flat_map(|manifest| {
        let build = manifest.build.iter().flat_map(|build| &build.command);
        build.chain(&manifest.run)
    });
    words.filter(|word| word.contains("../"))
}

/// The file, or the files of the directory and those below it; nothing where nothing is.
fn below(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
    } else if path.is_dir() && path.file_name() != Some(OsStr::new(COMPILED)) {
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            // A link to a directory could lead round in a circle.
            if !path.is_symlink() || path.is_file() {
                below(&path, files)?;
            }
        }
    }
    Ok(())
}
