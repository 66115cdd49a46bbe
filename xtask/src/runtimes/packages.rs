//! Packages of the distribution: which are missing, and installing them.
//!
//! Recommended packages are left out: they double what is downloaded, and no server needs them.

use std::collections::BTreeSet;
use std::error::Error;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};

use super::log::Log;

/// Those of the packages that are not installed: all, where there is no dpkg to ask.
pub(super) fn missing(packages: &[&'static str]) -> BTreeSet<&'static str> {
    // It exits with 1 where it knows one of them not at all, and tells of the others all the same.
    let told = Command::new("dpkg-query")
        .args([
            "--show",
            "--showformat",
            "${Package} ${db:Status-Status}\\n",
        ])
        .args(packages)
        .stdin(Stdio::null())
        .output()
        .map_or(vec![], |said| said.stdout);
    let installed = installed(&String::from_utf8_lossy(&told));
    packages
        .iter()
        .copied()
        .filter(|package| !installed.contains(*package))
        .collect()
}

/// The packages that are installed wholly, from `PACKAGE STATUS` lines.
fn installed(told: &str) -> BTreeSet<String> {
    told.lines()
        .filter_map(|line| line.strip_suffix(" installed"))
        .map(str::to_owned)
        .collect()
}

/// What a person types to have them.
pub(super) fn command_line<'a>(packages: impl IntoIterator<Item = &'a &'static str>) -> String {
    let mut line = "apt-get install --no-install-recommends".to_owned();
    for package in packages {
        line.push(' ');
        line.push_str(package);
    }
    line
}

/// Installs them.
///
/// # Errors
/// Where this is no Debian; where this is not root, which then is told what to type; where apt-get fails.
pub(super) fn install(packages: &BTreeSet<&'static str>, log: &Log) -> Result<(), Box<dyn Error>> {
    if apt_get().arg("--version").output().is_err() {
        return Err("there is no apt-get: runtimes are installed on Debian 12 only\nhint: `cargo xtask runtimes --list` shows what is there and what is not".into());
    }
    if !is_root()? {
        return Err(format!("this needs root; type: sudo {}", command_line(packages)).into());
    }
    // Old lists name files that the mirror no longer has. Where they cannot be renewed, the old ones may still do.
    let _stale = log.run(apt_get().arg("update"));
    log.run(
        apt_get()
            .args(["install", "--yes", "--no-install-recommends"])
            .args(packages),
    )
}

/// apt-get that asks nothing and waits for another one to end.
pub(super) fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command
        .args(["--quiet", "--option", "DPkg::Lock::Timeout=300"])
        .env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn is_root() -> Result<bool, Box<dyn Error>> {
    Ok(std::fs::metadata("/proc/self")?.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_is_removed_or_half_installed_is_missing() {
        let told = "gcc installed\nghc config-files\nruby half-configured\nlibev-dev installed\n";
        let expected = ["gcc", "libev-dev"].map(str::to_owned);
        assert_eq!(installed(told), BTreeSet::from(expected));
    }
}
