//! The limits that bound the number of connections: of this process, of its cgroup and of the machine.
//!
//! Each limit that a kernel or a container may lack or hide is an `Option`: `None` means "unknown here", except
//! where its documentation says otherwise. Only the process's own soft limit on open files is ever changed.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use procfs::ProcessCGroups;
use procfs::prelude::*;
use procfs::process::{MountInfo, MountInfos};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::kernel_file::{self, with_context};
use crate::sysctl;

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

/// Whether `RLIMIT_NPROC` binds this process: on root it is not enforced (`setrlimit(2)`).
#[must_use]
pub fn user_threads_are_bounded() -> bool {
    !rustix::process::geteuid().is_root()
}

/// The machine-wide limits, and those of this network namespace, user and cgroup, that decide how many
/// connections, threads and processes there can be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MachineLimits {
    /// `kernel.pid_max`: process and thread ids are below it, so it bounds threads too.
    pub pid_max: Option<u64>,
    /// `kernel.threads-max`: threads on the whole machine.
    pub threads_max: Option<u64>,
    /// `RLIMIT_NPROC`: threads of this user; not enforced on root. `u64::MAX` stands for "unlimited".
    pub user_threads_max: u64,
    /// The lowest `pids.max` of this process's cgroup and those above it: threads. `None`: no such limit.
    pub cgroup_pids_max: Option<u64>,
    /// `vm.max_map_count`: memory mappings of a process; a thread's stack takes two.
    pub max_map_count: Option<u64>,
    /// `fs.file-max`: open files on the whole machine.
    pub file_max: Option<u64>,
    /// `fs.nr_open`: the highest value to which `RLIMIT_NOFILE` can be set.
    pub nr_open: Option<u64>,
    /// `net.core.somaxconn`: `listen(2)` silently lowers a backlog to it.
    pub somaxconn: Option<u64>,
    /// `net.core.netdev_max_backlog`: packets queued per CPU before the network stack.
    pub netdev_max_backlog: Option<u64>,
    /// `net.ipv4.ip_local_port_range`: the first and the last ephemeral port.
    pub ip_local_port_range: Option<(u16, u16)>,
    /// `net.ipv4.tcp_max_syn_backlog`: half-open connections per listener, where SYN cookies are off.
    pub tcp_max_syn_backlog: Option<u64>,
    /// `net.ipv4.tcp_syncookies`: 0 never, 1 when the queue overflows, 2 always.
    pub tcp_syncookies: Option<u64>,
    /// `net.ipv4.tcp_syn_linear_timeouts` (Linux 6.5): SYN retransmissions one second apart before the interval
    /// starts to double.
    pub tcp_syn_linear_timeouts: Option<u64>,
    /// `net.ipv4.tcp_max_orphans`: closed connections that no process holds any more.
    pub tcp_max_orphans: Option<u64>,
    /// `net.ipv4.tcp_max_tw_buckets`: connections in TIME_WAIT.
    pub tcp_max_tw_buckets: Option<u64>,
    /// `net.ipv4.tcp_mem`: low, pressure and high mark of all TCP buffers together, in pages.
    pub tcp_mem_pages: Option<[u64; 3]>,
}

impl MachineLimits {
    /// Reads them as they are now, for the calling thread's network namespace.
    pub fn read() -> Self {
        Self {
            pid_max: setting("kernel.pid_max"),
            threads_max: setting("kernel.threads-max"),
            user_threads_max: getrlimit(Resource::Nproc).current.unwrap_or(u64::MAX),
            cgroup_pids_max: cgroup_pids_max(),
            max_map_count: setting("vm.max_map_count"),
            file_max: setting("fs.file-max"),
            nr_open: setting("fs.nr_open"),
            somaxconn: setting("net.core.somaxconn"),
            netdev_max_backlog: setting("net.core.netdev_max_backlog"),
            ip_local_port_range: settings("net.ipv4.ip_local_port_range")
                .map(|[first, last]| (first, last)),
            tcp_max_syn_backlog: setting("net.ipv4.tcp_max_syn_backlog"),
            tcp_syncookies: setting("net.ipv4.tcp_syncookies"),
            tcp_syn_linear_timeouts: setting("net.ipv4.tcp_syn_linear_timeouts"),
            tcp_max_orphans: setting("net.ipv4.tcp_max_orphans"),
            tcp_max_tw_buckets: setting("net.ipv4.tcp_max_tw_buckets"),
            tcp_mem_pages: settings("net.ipv4.tcp_mem"),
        }
    }
}

/// Whether [`MachineLimits::user_threads_max`] binds this process: not if it is root's.
pub fn binds_user_threads() -> bool {
    !rustix::process::getuid().is_root()
}

fn setting(name: &str) -> Option<u64> {
    sysctl::read_value(name).ok()
}

fn settings<T: FromStr, const COUNT: usize>(name: &str) -> Option<[T; COUNT]> {
    sysctl::read_values(name).ok()?.try_into().ok()
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
    fn the_machine_has_limits() {
        let limits = MachineLimits::read();
        assert!(limits.pid_max.unwrap() > 300);
        assert!(limits.nr_open.unwrap() >= 1024);
        assert!(limits.somaxconn.unwrap() > 0);
        let (first, last) = limits.ip_local_port_range.unwrap();
        assert!(first < last);
        let [low, pressure, high] = limits.tcp_mem_pages.unwrap();
        assert!(low <= pressure && pressure <= high);
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
