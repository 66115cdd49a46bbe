//! The limits that bound a number of connections, as one plain struct.

use throng_sys::limits::{self, MachineLimits};
use throng_sys::{machine, sysctl};

/// What there is. `None`: no such limit here, or it cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// `RLIMIT_NOFILE`, hard: descriptors of one table; `u64::MAX`: any number.
    pub open_files_hard: u64,
    /// `MemAvailable` of `/proc/meminfo`. A cgroup's limit on memory is not looked at.
    pub memory_available_bytes: Option<u64>,
    /// `fs.file-max`: open files on the machine.
    pub file_max: Option<u64>,
    /// `fs.nr_open`: how far `RLIMIT_NOFILE` can be raised.
    pub nr_open: Option<u64>,
    /// `net.ipv4.ip_local_port_range`.
    pub ip_local_port_range: Option<(u16, u16)>,
    /// `kernel.pid_max`.
    pub pid_max: Option<u64>,
    /// `kernel.threads-max`.
    pub threads_max: Option<u64>,
    /// `RLIMIT_NPROC`; `None` for root, on whom it is not enforced.
    pub user_threads_max: Option<u64>,
    /// The lowest `pids.max` of this cgroup and those above it.
    pub cgroup_pids_max: Option<u64>,
    /// `vm.max_map_count`.
    pub max_map_count: Option<u64>,
    /// `fs.epoll.max_user_watches`: descriptors in all epolls of a user.
    pub epoll_max_user_watches: Option<u64>,
    /// `net.netfilter.nf_conntrack_max`; `None` where connections are not tracked.
    pub conntrack_max: Option<u64>,
    /// The third value of `net.ipv4.tcp_mem`, in pages.
    pub tcp_mem_pages_max: Option<u64>,
}

impl Facts {
    /// Reads them as they are now.
    #[must_use]
    pub fn read() -> Self {
        let limits = MachineLimits::read();
        let setting = |name| sysctl::read_value(name).ok();
        Self {
            open_files_hard: limits::open_files().hard,
            memory_available_bytes: machine::memory_available_bytes(),
            file_max: limits.file_max,
            nr_open: limits.nr_open,
            ip_local_port_range: limits.ip_local_port_range,
            pid_max: limits.pid_max,
            threads_max: limits.threads_max,
            user_threads_max: limits::user_threads_are_bounded().then_some(limits.user_threads_max),
            cgroup_pids_max: limits.cgroup_pids_max,
            max_map_count: limits.max_map_count,
            epoll_max_user_watches: setting("fs.epoll.max_user_watches"),
            conntrack_max: setting("net.netfilter.nf_conntrack_max"),
            tcp_mem_pages_max: limits.tcp_mem_pages.map(|[_, _, most]| most),
        }
    }
}
