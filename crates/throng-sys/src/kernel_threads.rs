//! CPU time of the kernel's own threads: work that no process is charged for, such as the memory of closed sockets (`kvfree_rcu` in mm/slab_common.c) and
//! soft interrupts that came too fast to be done where they came (`ksoftirqd`).

use std::collections::BTreeMap;
use std::fs;

use procfs::process::StatFlags;

use crate::process;

/// `kthreadd`, the parent of all of them, in the first PID namespace.
const KTHREADD: u32 = 2;

/// What each thread has used since it began, in nanoseconds, by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelThreads(BTreeMap<u32, u64>);

impl KernelThreads {
    /// As of now; none where they cannot be seen: in a PID namespace of one's own, or without `CONFIG_PROC_CHILDREN`.
    #[must_use]
    pub fn read() -> Self {
        if !is_kernel_thread(KTHREADD) {
            return Self::default();
        }
        let children = fs::read_to_string(format!("/proc/{KTHREADD}/task/{KTHREADD}/children"));
        let children = children.unwrap_or_default();
        let numbers = children
            .split_whitespace()
            .filter_map(|one| one.parse().ok());
        // Those that have ended since are left out.
        Self::of(numbers.filter_map(|pid| Some((pid, process::cpu_time_ns(pid).ok()?))))
    }

    /// Of threads by their numbers, each with its time.
    pub fn of(times_ns: impl IntoIterator<Item = (u32, u64)>) -> Self {
        Self(times_ns.into_iter().collect())
    }

    /// What all of them have used since, in nanoseconds. Of those that have ended meanwhile it is not known.
    #[must_use]
    pub fn used_since_ns(&self, begin: &Self) -> u64 {
        let used = self.0.iter().map(|(pid, ns)| {
            let before = begin.0.get(pid).copied().unwrap_or(0);
            ns.saturating_sub(before)
        });
        used.sum()
    }
}

fn is_kernel_thread(pid: u32) -> bool {
    let stat = process::stat(pid, &mut Vec::new());
    let flags = stat.ok().and_then(|stat| stat.flags().ok());
    flags.is_some_and(|flags| flags.contains(StatFlags::PF_KTHREAD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_used_since_counts_also_of_new_threads() {
        let begin = KernelThreads::of([(3, 100), (4, 50)]);
        let end = KernelThreads::of([(3, 130), (9, 7)]);
        assert_eq!(end.used_since_ns(&begin), 37);
    }

    #[test]
    fn a_process_is_none_of_them() {
        assert!(!is_kernel_thread(std::process::id()));
        let threads = KernelThreads::read();
        assert!(!threads.0.contains_key(&std::process::id()));
        assert_eq!(threads.0.is_empty(), !is_kernel_thread(KTHREADD));
    }
}
