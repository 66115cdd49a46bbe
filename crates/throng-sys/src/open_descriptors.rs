//! How many descriptors another process has open, and how many it may have: `/proc/PID/fd` and `/proc/PID/limits` (`proc(5)`).
//!
//! Of a process whose threads have descriptor tables of their own it is the first thread's table that shows there.

use std::io;

use crate::kernel_file::{self, unexpected_content};
use crate::process;

/// One descriptor table's filling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenDescriptors {
    /// Descriptors that are open.
    pub open: u64,
    /// The soft `RLIMIT_NOFILE`. `u64::MAX` stands for "unlimited".
    pub limit: u64,
}

/// The descriptors of process `pid`.
///
/// # Errors
/// `NotFound` if there is no such process (any more); `PermissionDenied` for one that the caller could not trace (`ptrace(2)`).
pub fn of(pid: u32) -> io::Result<OpenDescriptors> {
    let path = format!("/proc/{pid}/limits");
    let limit = soft_limit(&kernel_file::read(&path)?)
        .ok_or_else(|| unexpected_content(&path, "no soft limit on open files"))?;
    let path = format!("/proc/{pid}/fd");
    // Since Linux 6.2 its size is the number of its entries; before that it is 0, and they are counted one by one.
    let size = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    let open = match size {
        0 => process::numbers_in(&path)?.len() as u64,
        size => size,
    };
    Ok(OpenDescriptors { open, limit })
}

/// From `Max open files   1024   1048576   files`: the first number.
fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    match line.split_ascii_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::open_files;

    #[test]
    fn the_soft_limit_is_the_first_number() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max processes             31000                31000                processes \n\
            Max open files            1024                 1048576              files     \n";
        assert_eq!(soft_limit(text), Some(1_024));
        let unlimited = text.replace("1024 ", "unlimited ");
        assert_eq!(soft_limit(&unlimited), Some(u64::MAX));
        assert_eq!(soft_limit("Max processes 1 1 processes"), None);
    }

    #[test]
    fn own_descriptors_are_counted() {
        let files: Vec<std::fs::File> = (0..37)
            .map(|_| std::fs::File::open("/dev/null").expect("always there"))
            .collect();
        let seen = of(std::process::id()).expect("we run");
        assert!(seen.open >= files.len() as u64, "{seen:?}");
        assert!(seen.limit <= open_files().hard);
        assert_eq!(of(u32::MAX).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
