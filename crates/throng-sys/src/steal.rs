//! Where the machine's CPUs spent their time, and how much of it the hypervisor took away (steal).
//!
//! From `/proc/stat` (`proc_stat(5)`), which counts in clock ticks, almost always 10 ms: shares over less than half
//! a second are coarse. Steal is what the hypervisor reports; one that reports none reads as 0.

use std::collections::BTreeMap;
use std::io;

use crate::kernel_file::{self, unexpected_content};

/// Time spent by one CPU, or by all together, in nanoseconds by whole ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTime {
    /// In user mode; includes the time of guests of this machine.
    pub user_ns: u64,
    /// In user mode at lowered priority.
    pub nice_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
    /// With nothing to do.
    pub idle_ns: u64,
    /// With nothing to do while a task of this CPU waits for a disk.
    pub iowait_ns: u64,
    /// Serving interrupts; most kernels count this as part of what was interrupted.
    pub irq_ns: u64,
    /// Serving soft interrupts, which is where packets are received.
    pub softirq_ns: u64,
    /// With something to do, but the hypervisor ran something else.
    pub steal_ns: u64,
}

/// All CPUs at one moment, counted since boot, or between two moments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// All CPUs together.
    pub total: CpuTime,
    /// Each CPU that is online, by its number.
    pub per_cpu: BTreeMap<u32, CpuTime>,
}

impl CpuTimes {
    /// The times since boot.
    ///
    /// # Errors
    /// What reading says; `InvalidData` if the file is not as documented.
    pub fn read() -> io::Result<Self> {
        let path = "/proc/stat";
        Self::parse(&kernel_file::read(path)?)
            .ok_or_else(|| unexpected_content(path, "no CPU times"))
    }

    /// What has passed since `earlier`. A CPU that was not online then is left out; idle and iowait, which the
    /// kernel may set back, never fall below 0.
    pub fn delta_since(&self, earlier: &Self) -> Self {
        let per_cpu = self
            .per_cpu
            .iter()
            .filter_map(|(cpu, now)| Some((*cpu, now.delta_since(earlier.per_cpu.get(cpu)?))));
        Self {
            total: self.total.delta_since(&earlier.total),
            per_cpu: per_cpu.collect(),
        }
    }

    /// The share of all CPUs' time that the hypervisor took away, 0 to 1. `None` if no tick has passed.
    pub fn steal_share(&self) -> Option<f64> {
        share(self.total.steal_ns, self.total.all_ns())
    }

    /// The share of the time of `cpus` in which they executed anything, of any process, 0 to 1. Idle, iowait and
    /// steal are not busy. `None` if no tick has passed, or none of `cpus` is there.
    pub fn busy_share(&self, cpus: &[u32]) -> Option<f64> {
        let times = || cpus.iter().filter_map(|cpu| self.per_cpu.get(cpu));
        share(
            times().map(CpuTime::busy_ns).sum(),
            times().map(CpuTime::all_ns).sum(),
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let mut times = Self::default();
        let mut has_total = false;
        for line in text.lines() {
            let Some((cpu, ticks)) = line
                .strip_prefix("cpu")
                .and_then(|line| line.split_once(' '))
            else {
                continue;
            };
            let time = CpuTime::parse(ticks)?;
            if cpu.is_empty() {
                times.total = time;
                has_total = true;
            } else {
                times.per_cpu.insert(cpu.parse().ok()?, time);
            }
        }
        has_total.then_some(times)
    }
}

impl CpuTime {
    /// All of it.
    pub fn all_ns(&self) -> u64 {
        self.busy_ns() + self.idle_ns + self.iowait_ns + self.steal_ns
    }

    /// The part in which something was executed.
    pub fn busy_ns(&self) -> u64 {
        self.user_ns + self.nice_ns + self.system_ns + self.irq_ns + self.softirq_ns
    }

    fn parse(ticks: &str) -> Option<Self> {
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        let mut values = ticks
            .split_whitespace()
            .map(|ticks| Some(ticks.parse::<u64>().ok()? * tick_ns));
        let mut next = || values.next()?;
        Some(Self {
            user_ns: next()?,
            nice_ns: next()?,
            system_ns: next()?,
            idle_ns: next()?,
            iowait_ns: next()?,
            irq_ns: next()?,
            softirq_ns: next()?,
            steal_ns: next()?,
        })
    }

    fn delta_since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            nice_ns: self.nice_ns.saturating_sub(earlier.nice_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            idle_ns: self.idle_ns.saturating_sub(earlier.idle_ns),
            iowait_ns: self.iowait_ns.saturating_sub(earlier.iowait_ns),
            irq_ns: self.irq_ns.saturating_sub(earlier.irq_ns),
            softirq_ns: self.softirq_ns.saturating_sub(earlier.softirq_ns),
            steal_ns: self.steal_ns.saturating_sub(earlier.steal_ns),
        }
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLIER: &str = "cpu  10 0 10 100 0 0 0 0 0 0\ncpu0 5 0 5 50 0 0 0 0 0 0\ncpu2 5 0 5 50 9 0 0 0 0 0\nctxt 1\n";
    const LATER: &str = "cpu  20 1 12 110 0 3 4 10 0 0\ncpu0 15 1 7 50 0 3 4 10 0 0\ncpu2 5 0 5 60 8 0 0 0 0 0\ncpu3 9 9 9 9 9 9 9 9 0 0\n";

    #[test]
    fn shares_of_a_window() {
        let delta = CpuTimes::parse(LATER)
            .unwrap()
            .delta_since(&CpuTimes::parse(EARLIER).unwrap());
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        assert_eq!(delta.total.user_ns, 10 * tick_ns);
        assert_eq!(delta.steal_share(), Some(10.0 / 40.0));
        assert_eq!(delta.busy_share(&[0]), Some(20.0 / 30.0));
        assert_eq!(
            delta.busy_share(&[2]),
            Some(0.0),
            "a counter set back counts as 0"
        );
        assert_eq!(delta.busy_share(&[0, 2]), Some(20.0 / 40.0));
        assert_eq!(delta.per_cpu.keys().copied().collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn no_time_has_no_shares() {
        let times = CpuTimes::parse(EARLIER).unwrap();
        let nothing = times.delta_since(&times);
        assert_eq!(nothing.steal_share(), None);
        assert_eq!(nothing.busy_share(&[0]), None);
        assert_eq!(times.busy_share(&[7]), None);
    }

    #[test]
    fn other_content_is_refused() {
        for text in ["", "ctxt 1", "cpu  1 2 3", "cpu  1 2 3 4 5 6 7 x"] {
            assert_eq!(CpuTimes::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn this_machine_has_spent_time() {
        let times = CpuTimes::read().unwrap();
        assert!(times.total.busy_ns() > 0);
        assert_eq!(
            times.per_cpu.keys().copied().collect::<Vec<_>>(),
            crate::affinity::online_cpus()
        );
    }
}
