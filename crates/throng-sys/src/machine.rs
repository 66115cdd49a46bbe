//! Facts about the machine without which a measured number means little: CPU, kernel, memory, and the settings
//! that change how fast or how steadily it runs.
//!
//! From `/proc` and `/sys`. What a machine lacks (a virtual one has no frequency scaling) or a container hides is
//! `None`. Nothing that identifies the machine or its user is read: no host name, serial number or address.

use std::collections::BTreeMap;

use procfs::prelude::*;
use procfs::{CpuInfo, Meminfo};

use crate::affinity::{CpuList, online_cpus};
use crate::kernel_file::read_if_present;

/// The machine as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Machine {
    /// The CPU's name as it gives it itself; ARM machines give none.
    pub cpu_model: Option<String>,
    /// Instruction set, as `uname -m` prints it.
    pub architecture: String,
    /// `uname -r`.
    pub kernel_release: String,
    /// Numbers of the CPUs that are online.
    pub cpus_online: Vec<u32>,
    /// Those that the scheduler leaves to pinned tasks (`isolcpus=`).
    pub cpus_isolated: Vec<u32>,
    /// Whether two or more online CPUs share a core (hyper-threading).
    pub smt_active: Option<bool>,
    /// Memory that the kernel can use.
    pub memory_total_bytes: Option<u64>,
    /// Whether the CPU says that it is a hypervisor's (x86 only; elsewhere false).
    pub hypervisor: bool,
    /// Where `clock_gettime` takes its time: `tsc` costs some 20 ns, `hpet` or `acpi_pm` a microsecond.
    pub clocksource: Option<String>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// The frequency governor of each CPU (`performance`, `schedutil`, …). `None`: no frequency scaling.
    pub frequency_governors: Option<BTreeMap<u32, String>>,
    /// Whether CPUs may exceed their nominal frequency (turbo, boost) while they are cool. `None`: not told.
    pub frequency_boost: Option<bool>,
    /// For each known flaw of CPUs, what the kernel does about it; those that do not affect this one left out.
    pub mitigations: BTreeMap<String, String>,
}

const CPUS: &str = "/sys/devices/system/cpu";

impl Machine {
    /// Reads the facts. Takes some milliseconds.
    pub fn read() -> Self {
        let system = rustix::system::uname();
        let cpu = CpuInfo::current().ok();
        let cpus_online = online_cpus();
        Self {
            cpu_model: cpu
                .as_ref()
                .and_then(|cpu| cpu.model_name(0))
                .map(str::to_owned),
            architecture: system.machine().to_string_lossy().into_owned(),
            kernel_release: system.release().to_string_lossy().into_owned(),
            cpus_isolated: cpus_isolated(),
            smt_active: read_if_present(format!("{CPUS}/smt/active")).and_then(|text| flag(&text)),
            memory_total_bytes: Meminfo::current().ok().map(|memory| memory.mem_total),
            hypervisor: cpu
                .and_then(|cpu| Some(cpu.flags(0)?.contains(&"hypervisor")))
                .unwrap_or(false),
            clocksource: read_if_present(
                "/sys/devices/system/clocksource/clocksource0/current_clocksource",
            ),
            transparent_huge_pages: read_if_present("/sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|text| chosen(&text)),
            frequency_governors: frequency_governors(&cpus_online),
            frequency_boost: frequency_boost(),
            mitigations: mitigations(),
            cpus_online,
        }
    }
}

/// Memory that can be had without swapping: `MemAvailable` of `/proc/meminfo` (`proc_meminfo(5)`).
#[must_use]
pub fn memory_available_bytes() -> Option<u64> {
    Meminfo::current().ok()?.mem_available
}

/// Memory that nothing uses, not even a cache that would make way: `MemFree` of `/proc/meminfo`.
#[must_use]
pub fn memory_free_bytes() -> Option<u64> {
    Some(Meminfo::current().ok()?.mem_free)
}

fn cpus_isolated() -> Vec<u32> {
    let list =
        read_if_present(format!("{CPUS}/isolated")).and_then(|text| CpuList::parse(&text).ok());
    list.unwrap_or_default().cpus
}

fn frequency_governors(cpus: &[u32]) -> Option<BTreeMap<u32, String>> {
    let governor_of = |&cpu: &u32| {
        Some((
            cpu,
            read_if_present(format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor"))?,
        ))
    };
    let governors: BTreeMap<u32, String> = cpus.iter().filter_map(governor_of).collect();
    (!governors.is_empty()).then_some(governors)
}

fn frequency_boost() -> Option<bool> {
    let boost = || read_if_present(format!("{CPUS}/cpufreq/boost")).and_then(|text| flag(&text));
    // Intel's own driver has the same switch, the other way round.
    let no_turbo =
        || read_if_present(format!("{CPUS}/intel_pstate/no_turbo")).and_then(|text| flag(&text));
    boost().or_else(|| no_turbo().map(|is_off| !is_off))
}

fn mitigations() -> BTreeMap<String, String> {
    let Ok(directory) = std::fs::read_dir(format!("{CPUS}/vulnerabilities")) else {
        return BTreeMap::new();
    };
    directory
        .flatten()
        .filter_map(|entry| {
            let flaw = entry.file_name().into_string().ok()?;
            let answer = read_if_present(entry.path()).filter(|answer| answer != "Not affected")?;
            Some((flaw, answer))
        })
        .collect()
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// The word in brackets of a list of choices: `madvise` of `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let word = text
        .split_whitespace()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    word.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_what_every_machine_has() {
        let machine = Machine::read();
        assert!(!machine.kernel_release.is_empty() && !machine.architecture.is_empty());
        assert!(!machine.cpus_online.is_empty());
        assert!(machine.memory_total_bytes.unwrap() > 16 << 20);
        assert!(
            machine
                .mitigations
                .values()
                .all(|answer| answer != "Not affected")
        );
        assert!(
            machine
                .cpus_isolated
                .iter()
                .all(|cpu| machine.cpus_online.contains(cpu))
        );
    }

    #[test]
    fn the_choice_is_in_brackets() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("always madvise never"), None);
    }

    #[test]
    fn flags_are_zero_or_one() {
        assert_eq!(
            (flag("0"), flag("1"), flag("notsupported")),
            (Some(false), Some(true), None)
        );
    }
}
