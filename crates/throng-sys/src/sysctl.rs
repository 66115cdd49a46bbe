//! The kernel's settings by their dotted names, as in `sysctl(8)`: `net.core.somaxconn`.
//!
//! Read from `/proc/sys`. Network settings are those of the calling thread's network namespace. As in
//! `sysctl(8)`, a `/` stands for a dot inside a component, which names of network interfaces may have
//! (`net.ipv4.conf.eth0/100.forwarding`). Writing is for a new network namespace only, see
//! [`crate::namespace::Entered::set`]: throng never changes a machine.

use std::io;
use std::str::FromStr;

use crate::kernel_file;

pub mod network;

/// The setting's value as the kernel prints it, without the final newline. Several values stay separated by
/// tabs.
///
/// # Errors
/// `InvalidInput` if `name` is not a dotted name; `NotFound` if this kernel has no such setting (or hides it in
/// this namespace); `PermissionDenied` if only root may read it.
pub fn read(name: &str) -> io::Result<String> {
    let path = path_of(name)?;
    match kernel_file::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("this kernel has no setting {name} here ({path} does not exist)"),
        )),
        other => other,
    }
}

/// The setting's value as one number (or anything else that parses).
///
/// # Errors
/// As [`read`], and `InvalidData` if the value is not a `T`.
pub fn read_value<T: FromStr>(name: &str) -> io::Result<T> {
    let text = read(name)?;
    text.parse().map_err(|_| {
        kernel_file::unexpected_content(name, format_args!("unexpected value `{text}`"))
    })
}

/// The setting's values, of a setting that has several (`net.ipv4.tcp_mem`).
///
/// # Errors
/// As [`read`], and `InvalidData` if one of the values is not a `T`.
pub fn read_values<T: FromStr>(name: &str) -> io::Result<Vec<T>> {
    let text = read(name)?;
    let values: Result<Vec<T>, _> = text.split_whitespace().map(str::parse).collect();
    values.map_err(|_| {
        kernel_file::unexpected_content(name, format_args!("unexpected values `{text}`"))
    })
}

/// The name's file. A component cannot become `.` or `..`: it neither starts nor ends with a slash.
fn path_of(name: &str) -> io::Result<String> {
    let component_is_plain = |component: &str| {
        !component.is_empty() && !component.starts_with('/') && !component.ends_with('/')
    };
    if !name.split('.').all(component_is_plain) || name.contains('\0') {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "`{name}` is not the dotted name of a kernel setting; write for example net.core.somaxconn"
            ),
        ));
    }
    let swap = |letter| match letter {
        '.' => '/',
        '/' => '.',
        other => other,
    };
    let relative: String = name.chars().map(swap).collect();
    Ok(format!("/proc/sys/{relative}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_number() {
        assert!(read_value::<u32>("net.core.somaxconn").unwrap() > 0);
        assert_eq!(
            read_values::<u16>("net.ipv4.ip_local_port_range")
                .unwrap()
                .len(),
            2
        );
    }

    #[test]
    fn a_value_that_is_not_a_number_is_named() {
        let error = read_value::<u32>("kernel.ostype").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().contains("Linux"), "{error}");
    }

    #[test]
    fn a_slash_stands_for_a_dot_within_a_component() {
        assert_eq!(
            path_of("net.ipv4.conf.eth0/100.forwarding").unwrap(),
            "/proc/sys/net/ipv4/conf/eth0.100/forwarding"
        );
    }

    #[test]
    fn an_unknown_setting_is_not_found_and_named() {
        let error = read("net.core.no_such_setting").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(
            error.to_string().contains("net.core.no_such_setting"),
            "{error}"
        );
    }

    #[test]
    fn names_that_are_not_dotted_are_refused() {
        for name in [
            "",
            ".",
            "net..core",
            "/etc/passwd",
            "net.//.version",
            "net.core.",
        ] {
            assert_eq!(
                read(name).unwrap_err().kind(),
                io::ErrorKind::InvalidInput,
                "{name}"
            );
        }
    }
}
