//! The limits of a machine that bound how many connections, threads and processes there can be: what each is called, what it bounds, and how it is
//! raised.
//!
//! One table for all that speak of them: `throng doctor`, what is foreseen before a run, and the findings after it. Only the values are read
//! elsewhere, by the lab.

use serde::{Deserialize, Serialize};
use throng_record::TargetKind;

/// What there is of each at one moment. `None`: no such limit here, or it cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// `RLIMIT_NOFILE`, hard, to which throng raises its own; `u64::MAX`: any number.
    pub open_files_hard: u64,
    /// `MemAvailable` of `/proc/meminfo`. A cgroup's limit on memory is not looked at.
    pub memory_available_bytes: Option<u64>,
    /// `fs.file-max`.
    pub file_max: Option<u64>,
    /// `fs.nr_open`: how far `RLIMIT_NOFILE` can be raised.
    pub nr_open: Option<u64>,
    /// `net.ipv4.ip_local_port_range`: the first and the last.
    pub ip_local_port_range: Option<(u16, u16)>,
    /// `net.core.somaxconn`.
    pub somaxconn: Option<u64>,
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
    /// `fs.epoll.max_user_watches`.
    pub epoll_max_user_watches: Option<u64>,
    /// `net.netfilter.nf_conntrack_max`; `None` where no connection is tracked at the moment (`nf_conntrack_count`), as there is no rule that asks for it.
    pub conntrack_max: Option<u64>,
    /// The third value of `net.ipv4.tcp_mem`, in pages.
    pub tcp_mem_pages_max: Option<u64>,
}

/// A limit in words.
#[derive(Debug)]
pub struct Bound {
    /// The kernel's own name.
    pub name: &'static str,
    /// What it bounds.
    pub of_what: &'static str,
    /// What raises it, where it is no setting of the kernel's; `{}` stands for the value.
    raise: Option<&'static str>,
    /// Its value.
    pub value: fn(&Limits) -> Option<u64>,
}

impl Bound {
    /// What raises it to a value, which may also be one to fill in (`…`).
    #[must_use]
    pub fn raised_to(&self, value: impl ToString) -> String {
        let value = value.to_string();
        match self.raise {
            Some(words) => words.replace("{}", &value),
            None => format!("sudo sysctl -w {}={value}", self.name),
        }
    }
}

/// A setting of the kernel's.
const fn setting(
    name: &'static str,
    of_what: &'static str,
    value: fn(&Limits) -> Option<u64>,
) -> Bound {
    let raise = None;
    Bound {
        name,
        of_what,
        raise,
        value,
    }
}

/// A table of descriptors.
pub static OPEN_FILES: Bound = Bound {
    name: "RLIMIT_NOFILE",
    of_what: "descriptors of a table",
    raise: Some("sudo prlimit --pid $$ --nofile={}:{}"),
    value: |limits| Some(limits.open_files_hard),
};
/// Open files.
pub static FILE_MAX: Bound = setting("fs.file-max", "open files on the whole machine", |limits| {
    limits.file_max
});
/// What every backlog is lowered to.
pub static SOMAXCONN: Bound = setting(
    "net.core.somaxconn",
    "connections of an accept queue",
    |limits| limits.somaxconn,
);
/// Descriptors that are waited for.
pub static EPOLL_WATCHES: Bound = setting(
    "fs.epoll.max_user_watches",
    "descriptors in all epolls of a user",
    |limits| limits.epoll_max_user_watches,
);
/// Entries of the connection tracker. A new network namespace has no rule that would track anything.
pub static CONNTRACK: Bound = setting(
    "net.netfilter.nf_conntrack_max",
    "connections that are tracked",
    |limits| limits.conntrack_max,
);
/// Memory of all TCP buffers.
pub static TCP_MEM: Bound = Bound {
    name: "net.ipv4.tcp_mem (pages)",
    of_what: "memory of all TCP buffers together",
    raise: Some("a third value of net.ipv4.tcp_mem above {}, as root"),
    value: |limits| limits.tcp_mem_pages_max,
};
/// Mappings, of which a thread takes several.
pub static MAPPINGS: Bound = setting(
    "vm.max_map_count",
    "memory maps of one process, four for each thread of a built-in server",
    |limits| limits.max_map_count,
);
/// What counts threads and processes one by one.
pub static OF_THREADS: [Bound; 4] = [
    setting(
        "kernel.pid_max",
        "ids of threads and processes, on the whole machine",
        |limits| limits.pid_max,
    ),
    setting(
        "kernel.threads-max",
        "threads on the whole machine",
        |limits| limits.threads_max,
    ),
    Bound {
        name: "RLIMIT_NPROC",
        of_what: "threads of all processes of this user; root is exempt",
        raise: Some("sudo prlimit --pid $$ --nproc={}:{}"),
        value: |limits| limits.user_threads_max,
    },
    Bound {
        name: "pids.max",
        of_what: "threads in this container or service, a cgroup",
        raise: Some(
            "systemd-run --scope -p TasksMax={} throng …, or the container's limit on pids",
        ),
        value: |limits| limits.cgroup_pids_max,
    },
];

/// Mappings of a built-in server's thread: its stack and its signal stack, each with a guard page.
pub const MAPPINGS_OF_BUILT_IN_THREAD: u64 = 4;
/// The same of any other's, which has its stack alone.
const MAPPINGS_OF_THREAD: u64 = 2;

/// Mappings of one thread of such a server.
#[must_use]
pub fn mappings_of_thread(server: TargetKind) -> u64 {
    match server {
        TargetKind::BuiltIn => MAPPINGS_OF_BUILT_IN_THREAD,
        _ => MAPPINGS_OF_THREAD,
    }
}

/// The limit on threads of that name.
pub(crate) fn of_threads(name: &str) -> Option<&'static Bound> {
    let mut all = OF_THREADS.iter().chain([&MAPPINGS]);
    all.find(|bound| bound.name == name)
}
