//! A JDK with virtual threads, which Debian 12 does not have: Debian 13's packages, unpacked into the cache.
//!
//! Debian 13's JVM asks for a newer C library than Debian 12's, so that one is unpacked with it, and the JDK's programs are told to use it;
//! nothing else does. Building a JDK from source would take most of an hour.

use std::error::Error;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::log::Log;
use super::newer::Archive;
use super::place::{self, Place};

const PACKAGES: [&str; 3] = [
    "libc6",
    "openjdk-25-jre-headless",
    "openjdk-25-jdk-headless",
];
const PROGRAMS: [&str; 2] = ["java", "javac"];

/// What determines the outcome.
pub(super) fn recipe() -> String {
    format!("{PACKAGES:?} {PROGRAMS:?}")
}

/// Unpacks it, and puts its programs into `bin/`.
///
/// # Errors
/// Where a step fails.
pub(super) fn install(runtime: &str, place: &Place, log: &Log) -> Result<(), Box<dyn Error>> {
    let root = place.of(runtime);
    let downloads = place.build(runtime);
    place::remove(&root)?;
    fs::create_dir_all(&root)?;
    fs::create_dir_all(&downloads)?;
    Archive::open(place, log)?.unpack(&PACKAGES, &downloads, &root, log)?;
    let home = only_entry(&root.join("usr/lib/jvm"), |path| {
        path.join("bin/java").exists() && !path.is_symlink()
    })?;
    let libraries = only_entry(&root.join("usr/lib"), |path| {
        path.join("libc.so.6").exists()
    })?;
    bring_home(&home, &root)?;
    for name in PROGRAMS {
        let program = home.join("bin").join(name);
        use_libraries(&program, &libraries, log)?;
        log.run(Command::new(&program).arg("--version"))?;
        let program = program.to_str().ok_or("the cache directory is not UTF-8")?;
        place.wrap(name, &[program])?;
    }
    place::remove(&downloads)
}

/// The one entry of a directory that is meant; its name differs between architectures.
fn only_entry(
    directory: &Path,
    is_meant: impl Fn(&Path) -> bool,
) -> Result<PathBuf, Box<dyn Error>> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if is_meant(&path) {
            return Ok(path);
        }
    }
    Err(format!("nothing of what was unpacked is in {}", directory.display()).into())
}

/// Links of the package that lead into `/etc` lead to what was unpacked beside it.
fn bring_home(directory: &Path, root: &Path) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_symlink() {
            let target = fs::read_link(&path)?;
            if let Ok(below) = target.strip_prefix("/")
                && root.join(below).exists()
            {
                fs::remove_file(&path)?;
                symlink(root.join(below), &path)?;
            }
        } else if path.is_dir() {
            bring_home(&path, root)?;
        }
    }
    Ok(())
}

/// Has a program started by the C library's own loader, and its libraries looked for beside it first.
///
/// The search path is of the kind (`DT_RPATH`) that holds for libraries that are loaded later, too: the JVM is one.
fn use_libraries(program: &Path, libraries: &Path, log: &Log) -> Result<(), Box<dyn Error>> {
    let told = Command::new("patchelf")
        .arg("--print-interpreter")
        .arg(program)
        .stdin(Stdio::null())
        .output()?;
    let loader = PathBuf::from(String::from_utf8(told.stdout)?.trim());
    let loader = loader
        .file_name()
        .ok_or("patchelf told no loader of the JDK's program")?;
    log.run(
        Command::new("patchelf")
            .arg("--set-interpreter")
            .arg(libraries.join(loader))
            .args(["--force-rpath", "--set-rpath"])
            .arg(format!("$ORIGIN/../lib:{}", libraries.display()))
            .arg(program),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_into_the_system_lead_to_what_was_unpacked_and_others_stay() {
        let root = tempfile::tempdir().expect("a directory");
        let root = root.path();
        fs::create_dir_all(root.join("etc/jdk")).expect("writable");
        fs::create_dir_all(root.join("home/conf")).expect("writable");
        fs::write(root.join("etc/jdk/settings"), "ours").expect("writable");
        let link = |name: &str, target: &str| {
            let path = root.join("home/conf").join(name);
            symlink(target, &path).expect("a link");
            path
        };
        let settings = link("settings", "/etc/jdk/settings");
        let others = link("others", "/etc/hosts");
        let beside = link("beside", "../jdk");
        bring_home(&root.join("home"), root).expect("it succeeds");
        assert_eq!(fs::read_to_string(settings).expect("a file"), "ours");
        let target = |path: &Path| fs::read_link(path).expect("a link");
        assert_eq!(target(&others), Path::new("/etc/hosts"));
        assert_eq!(target(&beside), Path::new("../jdk"));
    }
}
