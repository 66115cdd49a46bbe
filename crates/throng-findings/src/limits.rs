//! The limits of a machine that bound how many connections, threads and processes there can be: what each is called, what it bounds, and how it is
//! raised.
//!
//! One table for all that speak of them: `throng doctor`, what is foreseen before a run, and the findings after it. Only the values are read
//! elsewhere, by the lab.

/// What there is of each at one moment. `None`: no such limit here, or it cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// `net.netfilter.nf_conntrack_max`; `None` where connections are not tracked.
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
    /// What raises it; `{}` stands for the value.
    raise: &'static str,
    /// Its value.
    pub value: fn(&Limits) -> Option<u64>,
}

impl Bound {
    /// What raises it to a value, which may also be one to fill in (`…`).
    #[must_use]
    pub fn raised_to(&self, value: impl ToString) -> String {
        self.raise.replace("{}", &value.to_string())
    }
}

/// A table of descriptors.
pub const OPEN_FILES: Bound = Bound {
    name: "RLIMIT_NOFILE",
    of_what: "descriptors of a table",
    raise: "sudo prlimit --pid $$ --nofile={}:{}",
    value: |limits| Some(limits.open_files_hard),
};
/// Open files.
pub const FILE_MAX: Bound = Bound {
    name: "fs.file-max",
    of_what: "open files on the whole machine",
    raise: "sudo sysctl -w fs.file-max={}",
    value: |limits| limits.file_max,
};
/// What every backlog is lowered to.
pub const SOMAXCONN: Bound = Bound {
    name: "net.core.somaxconn",
    of_what: "connections of an accept queue",
    raise: "sudo sysctl -w net.core.somaxconn={}",
    value: |limits| limits.somaxconn,
};
/// Descriptors that are waited for.
pub const EPOLL_WATCHES: Bound = Bound {
    name: "fs.epoll.max_user_watches",
    of_what: "descriptors in all epolls of a user",
    raise: "sudo sysctl -w fs.epoll.max_user_watches={}",
    value: |limits| limits.epoll_max_user_watches,
};
/// Entries of the connection tracker. A new network namespace has no rule that would track anything.
pub const CONNTRACK: Bound = Bound {
    name: "net.netfilter.nf_conntrack_max",
    of_what: "connections that are tracked",
    raise: "--net private, where nothing is tracked, or sudo sysctl -w net.netfilter.nf_conntrack_max={}",
    value: |limits| limits.conntrack_max,
};
/// Memory of all TCP buffers.
pub const TCP_MEM: Bound = Bound {
    name: "net.ipv4.tcp_mem (pages)",
    of_what: "memory of all TCP buffers together",
    raise: "a third value of net.ipv4.tcp_mem above {}, as root",
    value: |limits| limits.tcp_mem_pages_max,
};
/// Mappings, of which a thread takes several.
pub const MAPPINGS: Bound = Bound {
    name: "vm.max_map_count",
    of_what: "memory maps of one process, four for each thread of a built-in server",
    raise: "sudo sysctl -w vm.max_map_count={}",
    value: |limits| limits.max_map_count,
};
/// What counts threads and processes one by one.
pub const OF_THREADS: [Bound; 4] = [
    Bound {
        name: "kernel.pid_max",
        of_what: "ids of threads and processes, on the whole machine",
        raise: "sudo sysctl -w kernel.pid_max={}",
        value: |limits| limits.pid_max,
    },
    Bound {
        name: "kernel.threads-max",
        of_what: "threads on the whole machine",
        raise: "sudo sysctl -w kernel.threads-max={}",
        value: |limits| limits.threads_max,
    },
    Bound {
        name: "RLIMIT_NPROC",
        of_what: "threads of all processes of this user; root is exempt",
        raise: "sudo prlimit --pid $$ --nproc={}:{}",
        value: |limits| limits.user_threads_max,
    },
    Bound {
        name: "pids.max",
        of_what: "threads in this container or service, a cgroup",
        raise: "systemd-run --scope -p TasksMax={} throng …, or the container's limit on pids",
        value: |limits| limits.cgroup_pids_max,
    },
];

/// Mappings of a built-in server's thread: its stack and its signal stack, each with a guard page.
pub const MAPPINGS_OF_BUILT_IN_THREAD: u64 = 4;
/// The same of any other's, which has its stack alone.
pub const MAPPINGS_OF_THREAD: u64 = 2;

/// The limit on threads of that name.
pub(crate) fn of_threads(name: &str) -> Option<&'static Bound> {
    const ALL: [&Bound; 5] = [
        &OF_THREADS[0],
        &OF_THREADS[1],
        &OF_THREADS[2],
        &OF_THREADS[3],
        &MAPPINGS,
    ];
    ALL.into_iter().find(|bound| bound.name == name)
}
