//! The machine a run was made on, as far as its figures depend on it. Names and addresses of the machine are left out on purpose.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Facts of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Machine {
    /// CPU model as the kernel names it.
    pub cpu_model: String,
    /// CPUs online.
    pub cpus_online: u32,
    /// CPUs this process may use.
    pub cpus_allowed: Vec<u32>,
    /// Main memory.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// Whether it is a virtual machine.
    pub virtual_machine: bool,
    /// Clock source of the kernel.
    pub clocksource: String,
    /// Frequency governors in use; empty where frequency is not the guest's to scale.
    pub frequency_governors: Vec<String>,
    /// CPUs isolated from the scheduler.
    pub isolated_cpus: String,
    /// Mitigations by vulnerability, those not affected left out.
    pub mitigations: BTreeMap<String, String>,
    /// Soft and hard limit of open files.
    pub open_files_soft: u64,
    /// Hard limit of open files.
    pub open_files_hard: u64,
    /// Sysctls that matter to connections, by dotted name.
    pub sysctls: BTreeMap<String, String>,
}
