//! The settings of a network namespace: which there are, which are its own.
//!
//! The kernel shows in a new namespace the settings that it has of its own, and some of the whole machine's, which it makes
//! read-only there (`ensure_safe_net_sysctl` in net/sysctl_net.c, Linux 5.13). Directories of network interfaces other than
//! `lo` are left out: a new namespace has none of them. So are those that can only be written: they are commands.

use std::fs::DirEntry;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::path_of;

const NET: &str = "/proc/sys/net";
/// The interfaces' folders that every namespace has.
const EVERYWHERE: [&str; 3] = ["all", "default", "lo"];

/// What may be done with a setting, by its file's mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It can be set here.
    Writable,
    /// It can only be read here.
    ReadOnly,
    /// There is none of this name here.
    Absent,
}

/// The names of the network settings of the calling thread's namespace, in no order.
pub fn names() -> Vec<String> {
    let mut names = Vec::new();
    let _ = walk(Path::new(NET), "net", &mut names);
    names
}

/// Interfaces come and go: a folder that cannot be listed is passed over.
fn walk(folder: &Path, prefix: &str, names: &mut Vec<String>) -> io::Result<()> {
    let holds_interfaces = prefix.ends_with(".conf") || prefix.ends_with(".neigh");
    for entry in std::fs::read_dir(folder)?.flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = format!("{prefix}.{name}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && holds_interfaces && !EVERYWHERE.contains(&&*name) => {}
            Ok(kind) if kind.is_dir() => drop(walk(&entry.path(), &path, names)),
            Ok(_) if is_readable(&entry) => names.push(path),
            _ => {}
        }
    }
    Ok(())
}

fn is_readable(entry: &DirEntry) -> bool {
    entry
        .metadata()
        .is_ok_and(|metadata| metadata.permissions().mode() & 0o400 != 0)
}

/// Whether not everybody may read a setting, as `net.ipv4.tcp_fastopen_key`: such a value belongs in no record.
pub fn is_secret(name: &str) -> bool {
    let mode = checked_path(name).and_then(std::fs::metadata);
    mode.is_ok_and(|file| file.permissions().mode() & 0o004 == 0)
}

/// What may be done with a setting in the calling thread's namespace.
///
/// # Errors
/// `InvalidInput` if `name` is not a dotted name below `net.`.
pub fn access(name: &str) -> io::Result<Access> {
    Ok(match std::fs::metadata(checked_path(name)?) {
        Ok(file) if !file.is_file() => Access::Absent,
        Ok(file) if file.permissions().mode() & 0o222 == 0 => Access::ReadOnly,
        Ok(_) => Access::Writable,
        Err(_) => Access::Absent,
    })
}

/// Puts back the value that a setting of this machine had, should one that was meant for a new namespace have reached it.
/// The only writing of the machine's own settings.
///
/// # Errors
/// What the kernel answers.
pub fn put_back(name: &str, value: &str) -> io::Result<()> {
    write(name, value)
}

pub(crate) fn write(name: &str, value: &str) -> io::Result<()> {
    let path = checked_path(name)?;
    // Not created where it is missing: the error shall be that it is.
    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|mut file| io::Write::write_all(&mut file, format!("{value}\n").as_bytes()))
}

fn checked_path(name: &str) -> io::Result<String> {
    if name.starts_with("net.") {
        return path_of(name);
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("`{name}` is no network setting"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_this_namespace_are_listed_without_interfaces_and_commands() {
        let names = names();
        for name in [
            "net.core.somaxconn",
            "net.ipv4.tcp_syncookies",
            "net.ipv4.conf.lo.rp_filter",
        ] {
            assert!(names.iter().any(|listed| listed == name), "{name}");
        }
        assert!(!names.iter().any(|name| name == "net.ipv4.route.flush"));
        assert!(is_secret("net.ipv4.tcp_fastopen_key"));
        assert!(!is_secret("net.core.somaxconn"));
        let is_of_another_interface = |name: &String| {
            name.split_once(".conf.").is_some_and(|(_, rest)| {
                !["all.", "default.", "lo."]
                    .iter()
                    .any(|known| rest.starts_with(known))
            })
        };
        assert!(!names.iter().any(is_of_another_interface));
    }

    #[test]
    fn access_is_told_by_the_mode() {
        assert_eq!(access("net.core.somaxconn").unwrap(), Access::Writable);
        let listing = "net.ipv4.tcp_available_congestion_control";
        assert_eq!(access(listing).unwrap(), Access::ReadOnly);
        assert_eq!(access("net.core.no_such").unwrap(), Access::Absent);
        assert_eq!(access("net.core").unwrap(), Access::Absent, "a folder");
        assert!(access("kernel.pid_max").is_err());
    }
}
