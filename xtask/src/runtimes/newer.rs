//! Sources and packages of Debian 13, for a Debian 12 whose own settings stay as they are.
//!
//! apt is given a list of sources and directories of its own, in the cache, for these calls only. The mirror is the one of the system's own
//! sources. What is downloaded is checked by apt against the signed release file, with the keys that Debian ships.
//!
//! Nothing of it is installed: sources are built, and packages unpacked, below the cache.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::log::Log;
use super::packages::apt_get;
use super::place::Place;

const SUITE: &str = "trixie";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// The package that has the keys.
#[cfg(test)]
pub(super) const KEYS_PACKAGE: &str = "debian-archive-keyring";

/// The newer release's archive.
#[derive(Debug)]
pub(super) struct Archive {
    directory: PathBuf,
}

impl Archive {
    /// Fetches its lists.
    ///
    /// # Errors
    /// Where the system's mirror is not to be found, or does not answer.
    pub(super) fn open(place: &Place, log: &Log) -> Result<Self, Box<dyn Error>> {
        let archive = Self {
            directory: place.apt(),
        };
        for directory in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(archive.directory.join(directory))?;
        }
        fs::write(archive.sources(), sources(&mirror()?))?;
        log.run(archive.apt_get().arg("update"))?;
        Ok(archive)
    }

    /// Downloads a source package and unpacks it, Debian's patches applied, into `directory/source`.
    ///
    /// # Errors
    /// Where it cannot be had, or written.
    pub(super) fn source(
        &self,
        package: &str,
        directory: &Path,
        log: &Log,
    ) -> Result<(), Box<dyn Error>> {
        log.run(
            self.apt_get()
                .args(["--download-only", "source", &of_suite(package)])
                .current_dir(directory),
        )?;
        let description = with_extension(directory, "dsc")?
            .pop()
            .ok_or("apt-get downloaded no source description")?;
        // apt has checked it already, against the signed release file.
        log.run(
            Command::new("dpkg-source")
                .args(["--no-check", "--extract"])
                .args([&description, &directory.join("source")]),
        )
    }

    /// Downloads packages and unpacks them into one directory, as they would lie in `/`.
    ///
    /// # Errors
    /// Where they cannot be had, or written.
    pub(super) fn unpack(
        &self,
        packages: &[&str],
        downloads: &Path,
        into: &Path,
        log: &Log,
    ) -> Result<(), Box<dyn Error>> {
        log.run(
            self.apt_get()
                .arg("download")
                .args(packages.iter().copied().map(of_suite))
                .current_dir(downloads),
        )?;
        for package in with_extension(downloads, "deb")? {
            log.run(
                Command::new("dpkg-deb")
                    .arg("--extract")
                    .args([&package, into]),
            )?;
        }
        Ok(())
    }

    fn sources(&self) -> PathBuf {
        self.directory.join("debian.sources")
    }

    fn apt_get(&self) -> Command {
        let mut command = apt_get();
        let option = |key: &str, value: &Path| format!("Dir::{key}={}", value.display());
        for option in [
            option("Etc::SourceList", &self.sources()),
            option("Etc::SourceParts", Path::new("-")),
            option("State::Lists", &self.directory.join("lists")),
            option("Cache", &self.directory.join("cache")),
        ] {
            command.args(["--option", &option]);
        }
        command
    }
}

fn of_suite(package: &str) -> String {
    format!("{package}/{SUITE}")
}

fn with_extension(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// The list of sources, in the format of sources.list(5) that is called deb822.
fn sources(mirror: &str) -> String {
    format!(
        "Types: deb deb-src\nURIs: {mirror}\nSuites: {SUITE}\nComponents: main\nTargets: Packages Sources\nSigned-By: {KEYS}\n"
    )
}

/// The mirror from which the system has its own packages.
fn mirror() -> Result<String, Box<dyn Error>> {
    let told = Command::new("apt-get")
        .args(["indextargets", "--format"])
        .arg("$(REPO_URI)|$(ORIGIN)|$(LABEL)|$(COMPONENT)")
        .arg("Created-By: Packages")
        .stdin(Stdio::null())
        .output()?;
    mirror_of(&String::from_utf8_lossy(&told.stdout)).ok_or_else(|| {
        "apt knows no mirror of Debian yet\nhint: apt-get update, as root, then this command again"
            .into()
    })
}

/// The archive's mirror among the lines; that of security updates has a label of its own, and no other releases.
fn mirror_of(targets: &str) -> Option<String> {
    targets
        .lines()
        .find_map(|line| line.strip_suffix("|Debian|Debian|main"))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_that_of_the_archive_and_no_other() {
        let targets = "http://mirror/security/|Debian|Debian-Security|main\nhttp://elsewhere/|Node|Node|main\nhttp://mirror/debian/|Debian|Debian|main\nhttp://mirror/later/|Debian|Debian|main\n";
        assert_eq!(mirror_of(targets).as_deref(), Some("http://mirror/debian/"));
        assert_eq!(mirror_of("http://elsewhere/|Node|Node|main\n"), None);
        assert_eq!(mirror_of(""), None);
    }

    #[test]
    fn the_newer_release_is_fetched_with_debian_s_keys() {
        let text = sources("http://mirror/debian/");
        for line in [
            "URIs: http://mirror/debian/",
            "Suites: trixie",
            "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg",
        ] {
            assert!(text.lines().any(|found| found == line), "{text}");
        }
    }
}
