//! The limits that bound the number of connections: of this process, of its cgroup and of the machine.
//!
//! Each limit that a kernel or a container may lack or hide is an `Option`: `None` means "unknown here", except
//! where its documentation says otherwise. Only the process's own soft limit on open files is ever changed.

use std::io;
use std::path::{Path, PathBuf};

use procfs::ProcessCGroups;
use procfs::prelude::*;
use procfs::process::{MountInfo, MountInfos};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::kernel_file::{self, with_context};

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

/// The lowest `pids.max` on the way from this process's cgroup to the root, of either cgroup version
/// (`cgroups(7)`, Documentation/admin-guide/cgroup-v2.rst). `None` where nothing is limited.
pub fn cgroup_pids_max() -> Option<u64> {
    let cgroups = ProcessCGroups::from_file("/proc/self/cgroup").ok()?;
    let mounts = MountInfos::from_file("/proc/self/mountinfo").ok()?;
    let governing = |controllers: &[String]| {
        controllers.is_empty() || controllers.iter().any(|controller| controller == "pids")
    };
    cgroups
        .0
        .iter()
        .filter(|cgroup| governing(&cgroup.controllers))
        .filter_map(|cgroup| {
            let is_version_two = cgroup.controllers.is_empty();
            let mount = mounts
                .0
                .iter()
                .find(|mount| holds_pids_limits(mount, is_version_two))?;
            let below_mount = Path::new(&cgroup.pathname)
                .strip_prefix(&mount.root)
                .unwrap_or(Path::new(""));
            lowest_pids_max(&mount.mount_point, below_mount)
        })
        .min()
}

fn holds_pids_limits(mount: &MountInfo, is_version_two: bool) -> bool {
    if is_version_two {
        mount.fs_type == "cgroup2"
    } else {
        mount.fs_type == "cgroup" && mount.super_options.contains_key("pids")
    }
}

/// The lowest number in the `pids.max` files of `mount_point/below_mount` and the directories above it, up to
/// the mount point. The word `max` and a missing file (always so in the root cgroup) are no limit.
fn lowest_pids_max(mount_point: &Path, below_mount: &Path) -> Option<u64> {
    let directory: PathBuf = mount_point.join(below_mount.strip_prefix("/").unwrap_or(below_mount));
    directory
        .ancestors()
        .take_while(|ancestor| ancestor.starts_with(mount_point))
        .filter_map(|ancestor| {
            kernel_file::read_if_present(ancestor.join("pids.max"))?
                .parse()
                .ok()
        })
        .min()
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

    #[test]
    fn the_lowest_limit_on_the_way_up_counts() {
        let mount = std::env::temp_dir().join(format!("throng-sys-cgroup-{}", std::process::id()));
        let inner = mount.join("slice/service");
        std::fs::create_dir_all(&inner).unwrap();
        let limit_of = |below: &str| lowest_pids_max(&mount, Path::new(below));

        assert_eq!(limit_of("/slice/service"), None);
        std::fs::write(inner.join("pids.max"), "500\n").unwrap();
        std::fs::write(mount.join("slice/pids.max"), "max\n").unwrap();
        assert_eq!(limit_of("/slice/service"), Some(500));
        assert_eq!(limit_of("/slice"), None);
        std::fs::write(mount.join("slice/pids.max"), "100\n").unwrap();
        assert_eq!(limit_of("slice/service"), Some(100));
        std::fs::remove_dir_all(&mount).unwrap();
    }
}
