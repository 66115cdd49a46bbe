//! The machine as the record describes it, out of what the kernel tells.

use throng_findings::Limits;
use throng_record::Machine;
use throng_sys::affinity::{CpuList, allowed_cpus};
use throng_sys::capability_probe::{self, Availability};
use throng_sys::{limits, machine, sysctl};

/// Settings that change how connections are opened, queued and buffered.
const SYSCTLS: &[&str] = &[
    "kernel.io_uring_disabled",
    "kernel.pid_max",
    "kernel.threads-max",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_max_orphans",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syn_linear_timeouts",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
    "vm.max_map_count",
];

/// Describes this machine as it is now. Takes some milliseconds.
#[must_use]
pub fn describe() -> Machine {
    let seen = throng_sys::machine::Machine::read();
    let open_files = limits::open_files();
    let mut frequency_governors: Vec<String> = seen
        .frequency_governors
        .unwrap_or_default()
        .into_values()
        .collect();
    frequency_governors.sort();
    frequency_governors.dedup();
    Machine {
        cpu_model: seen.cpu_model.unwrap_or_else(|| seen.architecture.clone()),
        cpus_online: seen.cpus_online.len() as u32,
        cpus_allowed: allowed_cpus(),
        memory_bytes: seen.memory_total_bytes.unwrap_or(0),
        kernel: seen.kernel_release,
        virtual_machine: seen.hypervisor,
        clocksource: seen.clocksource.unwrap_or_default(),
        frequency_governors,
        isolated_cpus: CpuList::from(seen.cpus_isolated).to_string(),
        mitigations: seen.mitigations,
        open_files_soft: open_files.soft,
        open_files_hard: open_files.hard,
        sysctls: SYSCTLS
            .iter()
            .filter_map(|&name| Some((name.to_owned(), sysctl::read(name).ok()?)))
            .collect(),
    }
}

/// What bounds the number of connections, in this thread's network namespace.
#[must_use]
pub fn limits() -> Limits {
    let setting = |name| sysctl::read_value(name).ok();
    let port_range = sysctl::read_values("net.ipv4.ip_local_port_range");
    let tcp_mem: Option<Vec<u64>> = sysctl::read_values("net.ipv4.tcp_mem").ok();
    Limits {
        open_files_hard: limits::open_files().hard,
        memory_available_bytes: machine::memory_available_bytes(),
        file_max: setting("fs.file-max"),
        nr_open: setting("fs.nr_open"),
        ip_local_port_range: port_range.ok().and_then(|range: Vec<u16>| match range[..] {
            [first, last] => Some((first, last)),
            _ => None,
        }),
        somaxconn: setting("net.core.somaxconn"),
        pid_max: setting("kernel.pid_max"),
        threads_max: setting("kernel.threads-max"),
        user_threads_max: limits::user_threads_max(),
        cgroup_pids_max: throng_sys::cgroup::pids_max(),
        max_map_count: setting("vm.max_map_count"),
        epoll_max_user_watches: setting("fs.epoll.max_user_watches"),
        conntrack_max: setting("net.netfilter.nf_conntrack_count")
            .filter(|&tracked| tracked > 0)
            .and_then(|_| setting("net.netfilter.nf_conntrack_max")),
        tcp_mem_pages_max: tcp_mem.and_then(|pages| pages.last().copied()),
    }
}

/// Why the generator cannot use `io_uring` here, and what to do about it; `None` where it can.
pub(crate) fn io_uring_obstacle() -> Option<String> {
    match capability_probe::io_uring() {
        Availability::Usable => None,
        Availability::Unusable(obstacle) => Some(match obstacle.remedy() {
            Some(remedy) => format!("{obstacle} (remedy: {remedy})"),
            None => obstacle.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_limits() {
        let limits = limits();
        assert!(limits.open_files_hard > 0);
        assert!(limits.memory_available_bytes.is_some_and(|bytes| bytes > 0));
        assert!(limits.pid_max > Some(300) && limits.nr_open >= Some(1024));
        assert!(limits.somaxconn > Some(0) && limits.tcp_mem_pages_max > Some(0));
        let (first, last) = limits.ip_local_port_range.expect("a range");
        assert!(first < last);
    }

    #[test]
    fn this_machine_is_described() {
        let machine = describe();
        assert!(machine.cpus_online >= 1);
        assert!(!machine.cpus_allowed.is_empty());
        assert!(machine.memory_bytes > 0 && !machine.kernel.is_empty());
        assert!(machine.sysctls.contains_key("net.core.somaxconn"));
    }
}
