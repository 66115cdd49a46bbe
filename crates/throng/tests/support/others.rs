//! What others used of the CPUs while a test measured: a finding about who used them is not to be had where somebody else did.

use std::time::Instant;

use throng_sys::process_tree::ProcessTree;
use throng_sys::steal::CpuTimes;

/// From a moment on.
pub(crate) struct OthersWatch {
    began: Instant,
    cpus: CpuTimes,
    tree: ProcessTree,
    own_ns: u64,
}

impl OthersWatch {
    /// Of a binary with one test: whatever it and its processes use is its own.
    pub(crate) fn begin() -> Self {
        let tree = ProcessTree::of(std::process::id()).expect("it lives");
        Self {
            began: Instant::now(),
            cpus: CpuTimes::read().expect("/proc/stat"),
            own_ns: used_ns(&tree),
            tree,
        }
    }

    /// How many CPUs others used until now: what was neither idle, nor stolen, nor used by this test and the processes that it
    /// waited for, ÷ the time. On which CPUs they did is not known.
    pub(crate) fn cores(&self) -> f64 {
        let passed = CpuTimes::read()
            .expect("/proc/stat")
            .delta_since(&self.cpus);
        let own_ns = used_ns(&self.tree) - self.own_ns;
        let not_used_ns = passed.total.idle_ns + passed.total.iowait_ns + passed.total.steal_ns;
        let not_theirs_ns = (not_used_ns + own_ns) as f64;
        passed.per_cpu.len() as f64 - not_theirs_ns / self.began.elapsed().as_nanos() as f64
    }

    /// How many CPUs the hypervisor took until now, by its own account.
    pub(crate) fn stolen_cores(&self) -> f64 {
        let now = CpuTimes::read().expect("/proc/stat");
        let stolen_ns = now.delta_since(&self.cpus).total.steal_ns;
        stolen_ns as f64 / self.began.elapsed().as_nanos() as f64
    }
}

fn used_ns(tree: &ProcessTree) -> u64 {
    let sample = tree.sample().expect("/proc").expect("it lives");
    sample.cpu_ns
}
