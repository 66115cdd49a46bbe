//! A program that a runtime consists of: where it is, and its version.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::place::Place;

/// How a program is asked for its version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    /// The first number in what it prints then is its version.
    pub(super) asked: &'static [&'static str],
    /// The least version that the catalogue's servers run with.
    pub(super) least: &'static str,
}

/// A program that is there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) version: String,
}

impl Program {
    /// Looks in throng's own runtimes first, as throng does, then in `PATH`.
    pub(super) fn found(&self, place: &Place) -> Option<Found> {
        let own = self.at(&place.program(self.name));
        own.or_else(|| self.in_path())
    }

    /// Looks in `PATH`.
    fn in_path(&self) -> Option<Found> {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find_map(|directory| self.at(&directory.join(self.name)))
    }

    /// What this very file says.
    pub(super) fn at(&self, path: &Path) -> Option<Found> {
        let said = Command::new(path)
            .args(self.asked)
            .stdin(Stdio::null())
            .output()
            .ok()?;
        let text = [said.stdout, said.stderr].concat();
        Some(Found {
            path: path.to_owned(),
            version: first_number(&String::from_utf8_lossy(&text))?.to_owned(),
        })
    }

    /// Whether this version will do.
    pub(super) fn is_enough(&self, version: &str) -> bool {
        numbers(version) >= numbers(self.least)
    }
}

/// The first number of a text, with its further parts: `3.11.2` of `Python 3.11.2+`.
fn first_number(text: &str) -> Option<&str> {
    let begin = text.find(|letter: char| letter.is_ascii_digit())?;
    let number = &text[begin..];
    let end = number
        .find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))
        .unwrap_or(number.len());
    Some(number[..end].trim_end_matches('.'))
}

fn numbers(version: &str) -> Vec<u64> {
    version
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_is_the_version() {
        for (said, version) in [
            ("Python 3.11.2\n", "3.11.2"),
            ("go version go1.19.8 linux/amd64", "1.19.8"),
            ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
            ("v18.20.4", "18.20.4"),
            ("25", "25"),
        ] {
            assert_eq!(first_number(said), Some(version));
        }
        assert_eq!(first_number("none"), None);
    }

    #[test]
    fn versions_are_compared_by_number() {
        let program = Program {
            name: "a",
            asked: &[],
            least: "3.9",
        };
        assert!(program.is_enough("3.11.2") && program.is_enough("3.9") && program.is_enough("10"));
        assert!(!program.is_enough("3.8.20") && !program.is_enough("3"));
    }

    #[test]
    fn a_program_among_the_own_runtimes_comes_before_one_in_the_path() {
        let cache = tempfile::tempdir().expect("a directory");
        let place = Place::in_cache(cache.path());
        let shell = Program {
            name: "sh",
            asked: &["-c", "echo version 0.1"],
            least: "0",
        };
        let elsewhere = shell.found(&place).expect("sh is everywhere");
        assert_eq!(elsewhere.version, "0.1");
        place
            .wrap("sh", &["/bin/sh", "-c", "echo version 7.2", "it's"])
            .expect("writable");
        let own = Found {
            path: place.program("sh"),
            version: "7.2".to_owned(),
        };
        assert_eq!(shell.found(&place), Some(own));
    }
}
