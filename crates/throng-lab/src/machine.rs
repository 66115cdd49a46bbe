//! The machine as the record describes it, out of what the kernel tells.

use throng_record::Machine;
use throng_sys::affinity::{CpuList, allowed_cpus};
use throng_sys::capability_probe::{self, Availability};
use throng_sys::{limits, sysctl};

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
    fn this_machine_is_described() {
        let machine = describe();
        assert!(machine.cpus_online >= 1);
        assert!(!machine.cpus_allowed.is_empty());
        assert!(machine.memory_bytes > 0 && !machine.kernel.is_empty());
        assert!(machine.sysctls.contains_key("net.core.somaxconn"));
    }
}
