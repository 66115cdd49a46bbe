//! Where the catalogue is: at a directory that was named, beside the program, in the repository that the program was built in, or
//! unpacked from the program into the user's cache.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

use super::cache::{Cache, NoCache};

/// What every catalogue has, so that no other directory of that name is taken for one.
const CONTRACT: &str = "CONTRACT.md";
const NAME: &str = "catalogue";

/// The catalogue that this program was built with.
static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../catalogue");

/// There is no catalogue to be had.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The directory that was named.
    #[error(
        "{path} is no catalogue: {problem}; --catalogue takes a directory with a directory for each language in it",
        path = .path.display()
    )]
    Named {
        /// It.
        path: PathBuf,
        /// In a few words.
        problem: String,
    },
    /// No place to unpack it to.
    #[error(transparent)]
    NoCache(#[from] NoCache),
    /// It could not be unpacked.
    #[error(
        "cannot unpack the catalogue into {path}: {source}; make that place writable, set XDG_CACHE_HOME to another, or name a catalogue with --catalogue",
        path = .path.display()
    )]
    Unpack {
        /// Where to.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

/// The directory of the catalogue. `program`: this one, `std::env::current_exe()`.
pub(super) fn directory(named: Option<&Path>, program: &Path) -> Result<PathBuf, CatalogueError> {
    if let Some(path) = named {
        let wrong = |problem: String| CatalogueError::Named {
            path: path.to_owned(),
            problem,
        };
        // Servers are started elsewhere.
        let path = path
            .canonicalize()
            .map_err(|error| wrong(error.to_string()))?;
        return match path.is_dir() {
            true => Ok(path),
            false => Err(wrong("it is no directory".to_owned())),
        };
    }
    match near(program) {
        Some(path) => Ok(path),
        None => unpacked(&Cache::of_user()?),
    }
}

/// Beside the program, or in the repository whose `target` directory it is in. No other place above it is looked at: somebody else
/// might write there.
fn near(program: &Path) -> Option<PathBuf> {
    let program = program.canonicalize().ok()?;
    let beside = program.parent();
    let target = program
        .ancestors()
        .find(|place| place.file_name().is_some_and(|name| name == "target"));
    let repository = target.and_then(Path::parent);
    [beside, repository]
        .into_iter()
        .flatten()
        .map(|place| place.join(NAME))
        .find(|place| place.join(CONTRACT).is_file())
}

/// The one that this program was built with, as files. It is written once for each state of it, under another name first: what
/// stands under its own name is whole.
fn unpacked(cache: &Cache) -> Result<PathBuf, CatalogueError> {
    let mut hasher = DefaultHasher::new();
    hash(&EMBEDDED, &mut hasher);
    let all = cache.catalogues();
    let version = env!("CARGO_PKG_VERSION");
    let place = all.join(format!("{version}-{:016x}", hasher.finish()));
    if place.join(CONTRACT).is_file() {
        return Ok(place);
    }
    let unpack = || -> io::Result<()> {
        fs::create_dir_all(&all)?;
        let beside = tempfile::Builder::new().prefix(".new-").tempdir_in(&all)?;
        EMBEDDED.extract(beside.path())?;
        let beside = beside.keep();
        let renamed = fs::rename(&beside, &place);
        if renamed.is_err() {
            fs::remove_dir_all(&beside)?;
        }
        // Another throng may have been quicker.
        renamed.or_else(|error| place.join(CONTRACT).is_file().then_some(()).ok_or(error))
    };
    match unpack() {
        Ok(()) => Ok(place),
        Err(source) => Err(CatalogueError::Unpack {
            path: place,
            source,
        }),
    }
}

fn hash(folder: &Dir<'_>, hasher: &mut DefaultHasher) {
    for file in folder.files() {
        (file.path(), file.contents()).hash(hasher);
    }
    for folder in folder.dirs() {
        hash(folder, hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_found_beside_a_program_and_in_its_repository() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        let program = root.join("target/debug/throng");
        fs::create_dir_all(program.parent().expect("one")).expect("made");
        fs::write(&program, "").expect("written");
        assert_eq!(near(&program), None);
        let make = |place: &Path| {
            fs::create_dir_all(place).expect("made");
            fs::write(place.join(CONTRACT), "").expect("written");
        };
        let above = root.join("target/catalogue");
        make(&above);
        assert_eq!(near(&program), None, "it is neither");
        let repository = root.join("catalogue");
        make(&repository);
        assert_eq!(near(&program), Some(repository));
        let beside = root.join("target/debug/catalogue");
        make(&beside);
        assert_eq!(near(&program), Some(beside));
    }

    #[test]
    fn the_catalogue_of_the_program_is_unpacked_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path().join("throng"));
        let place = unpacked(&cache).expect("unpacked");
        let contract = fs::read_to_string(place.join(CONTRACT)).expect("there");
        assert_eq!(contract, include_str!("../../../../catalogue/CONTRACT.md"));
        fs::write(place.join("mark"), "").expect("written");
        assert_eq!(unpacked(&cache).expect("there"), place);
        assert!(place.join("mark").exists(), "it was not written again");
        let left = fs::read_dir(cache.catalogues()).expect("there").count();
        assert_eq!(left, 1);
    }

    #[test]
    fn a_named_directory_must_be_there() {
        let error = directory(Some(Path::new("/nowhere")), Path::new("/x")).expect_err("none");
        let text = error.to_string();
        assert!(
            text.contains("/nowhere") && text.contains("--catalogue"),
            "{text}"
        );
    }
}
