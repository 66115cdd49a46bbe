//! CPU time that neither side had: what the hypervisor took, and what other programs used.
//!
//! The kernel tells both in whole ticks, cut off: between two readings one tick of each CPU may be chance.

use crate::lost::Lost;

/// `USER_HZ` is 100 (`time(7)`).
pub const TICK_NS: u64 = 10_000_000;

/// Steal of some CPUs between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stolen {
    /// Stolen of it.
    pub stolen_ns: u64,
    /// All the time of these CPUs.
    pub all_ns: u64,
    /// How many.
    pub cpus: u64,
}

/// What of it cannot be chance.
pub(crate) fn certain_ns(stolen_ns: u64, cpus: u64) -> u64 {
    stolen_ns.saturating_sub(TICK_NS * cpus)
}

/// What others used of some CPUs between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// Whose CPUs these are, in words.
    pub whose: &'static str,
    /// What they used.
    pub used_ns: u64,
    /// All the time of these CPUs.
    pub all_ns: u64,
    /// How many.
    pub cpus: u64,
    /// How long the sides that these CPUs are of waited for one, all their threads together; absent where that cannot be told.
    pub waited_ns: Option<u64>,
}

/// Whether so much of the time of some CPUs is more than may be gone, and more than chance.
pub(crate) fn is_too_much(gone_ns: u64, all_ns: u64, cpus: u64, lost: Lost) -> bool {
    certain_ns(gone_ns, cpus) as f64 > lost.share_max(cpus) * all_ns as f64
}

impl Others {
    /// Whether it is more than the bound and more than chance, and one of the sides waited for as long.
    pub(crate) fn are_too_many(&self, lost: Lost) -> bool {
        let most_ns = lost.share_max(self.cpus) * self.all_ns as f64;
        let have_waited = self.waited_ns.is_none_or(|waited| waited as f64 > most_ns);
        have_waited && is_too_much(self.used_ns, self.all_ns, self.cpus, lost)
    }

    pub(crate) fn share(&self) -> f64 {
        self.used_ns as f64 / self.all_ns as f64
    }
}
