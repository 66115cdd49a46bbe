//! The limits that bound the number of connections: of this process and of its user.
//!
//! Each limit that a kernel or a container may lack or hide is an `Option`: `None` means "unknown here", except
//! where its documentation says otherwise. Only the process's own soft limit on open files is ever changed.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::kernel_file::with_context;

/// `RLIMIT_NOFILE` (`getrlimit(2)`): one more than the highest descriptor number of a descriptor table.
/// `u64::MAX` stands for "unlimited".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFiles {
    /// What is enforced.
    pub soft: u64,
    /// How far the soft limit can be raised without privilege.
    pub hard: u64,
}

/// This process's limits on open files.
pub fn open_files() -> OpenFiles {
    let limit = getrlimit(Resource::Nofile);
    OpenFiles {
        soft: limit.current.unwrap_or(u64::MAX),
        hard: limit.maximum.unwrap_or(u64::MAX),
    }
}

/// Raises the soft limit on open files to the hard one, for this process and those that it starts, and returns
/// it. Programs that use `select(2)` cannot be given descriptors above 1023, whatever this says.
///
/// # Errors
/// What `setrlimit(2)` answers; the limit is then as before.
pub fn raise_open_files() -> io::Result<u64> {
    let before = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: before.maximum,
        maximum: before.maximum,
    };
    setrlimit(Resource::Nofile, raised).map_err(|error| {
        let hard = open_files().hard;
        with_context(
            &error.into(),
            format_args!("cannot raise the limit on open files to {hard}"),
        )
    })?;
    Ok(open_files().soft)
}

/// `RLIMIT_NPROC`: threads of this user; `None` for root, on whom it is not enforced (`setrlimit(2)`), and where it is unlimited.
pub fn user_threads_max() -> Option<u64> {
    let is_bounded = !rustix::process::getuid().is_root();
    getrlimit(Resource::Nproc).current.filter(|_| is_bounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_rises_to_the_hard_one() {
        let before = open_files();
        assert!(before.soft <= before.hard);
        assert_eq!(raise_open_files().unwrap(), before.hard);
        assert_eq!(
            open_files(),
            OpenFiles {
                soft: before.hard,
                hard: before.hard
            }
        );
    }
}
