//! Several hosts in one run: who they are, whose clock is how far off, and what each generated.

use serde::{Deserialize, Serialize};

use crate::side::CounterDeltas;
use crate::{ErrorCounts, Histogram, Machine, SideRecord};

/// A host that generates load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Host {
    /// Its number among all, the lab being 0.
    pub rank: u32,
    /// What it calls itself.
    pub name: String,
    /// What it is.
    pub machine: Machine,
}

/// How far a host's monotonic clock is from that of the lab, by round trips of which the shortest counts (F. Cristian, "Probabilistic clock
/// synchronization", Distributed Computing 3, 1989).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClockOffset {
    /// Its clock − the lab's.
    pub offset_ns: i64,
    /// The offset errs by no more than this: half of the shortest round trip, and whatever the clocks drifted apart meanwhile.
    pub uncertainty_ns: u64,
}

/// What one of several generators did in a trial, and what that cost it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HostPart {
    /// Which host.
    pub rank: u32,
    /// What it calls itself.
    pub name: String,
    /// Index of its first connection.
    pub first_connection: u32,
    /// Its connections, or clients where each message has a connection of its own.
    pub connections: u32,
    /// Of these, those that opened; 0 where each message has a connection of its own.
    pub connected: u32,
    /// How its connections failed, in all phases.
    pub errors: ErrorCounts,
    /// Addresses that its connections come from, at least 1; 0 where that is not known.
    pub source_addresses: u32,
    /// Local ports that its kernel gives to connections of one address (`net.ipv4.ip_local_port_range`); absent where that could not be read.
    pub local_ports: Option<u32>,
    /// Descriptors that a table of its generator holds (`RLIMIT_NOFILE`, hard); absent where that could not be read.
    pub open_files_hard: Option<u64>,
    /// Its clock, from before the trial to after it.
    pub clock: ClockOffset,
    /// How much later than the first of all it began its phases; the longest of them, by the lab's clock.
    pub start_skew_ns: u64,
    /// How much later than the first of all it began to measure; absent where no phase has such a window.
    pub window_skew_ns: Option<u64>,
    /// Messages that it had answered in the window.
    pub replies: u64,
    /// Latencies of those, of which all hosts' are the trial's; absent where no phase has such a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Histogram>,
    /// Its generator.
    pub generator: Option<SideRecord>,
    /// Share of the time of its generator's CPUs that the hypervisor took in the window; absent where it could not be read.
    pub stolen_share: Option<f64>,
    /// The same of what other programs used.
    pub others_share: Option<f64>,
    /// Share of the time of its generator's CPUs, in the window, for which the quota of its control group (`cpu.max`) held it up; absent where there is none.
    pub throttled_share: Option<f64>,
    /// Kernel counters of its network that changed during the trial.
    pub kernel_counters: CounterDeltas,
}

impl HostPart {
    /// Its name; with its rank where another of `all` has the same name, as two generators of one machine have.
    #[must_use]
    pub fn in_words(&self, all: &[Self]) -> String {
        let is_namesake = |other: &Self| other.name == self.name && other.rank != self.rank;
        if all.iter().any(is_namesake) {
            format!("{} (rank {})", self.name, self.rank)
        } else {
            self.name.clone()
        }
    }

    /// How much later than the first of all it began to measure, or, where no phase has a window, a phase.
    #[must_use]
    pub fn skew_ns(&self) -> u64 {
        self.window_skew_ns.unwrap_or(self.start_skew_ns)
    }
}

impl ClockOffset {
    /// From before and after a stretch of time: the middle of both, which errs by as much as they differ.
    #[must_use]
    pub fn around(before: Self, after: Self) -> Self {
        let apart_ns = after.offset_ns.abs_diff(before.offset_ns);
        Self {
            offset_ns: before.offset_ns + (after.offset_ns - before.offset_ns) / 2,
            uncertainty_ns: before.uncertainty_ns.max(after.uncertainty_ns) + apart_ns / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namesakes_are_told_apart_by_their_ranks() {
        let host = |rank, name: &str| HostPart {
            rank,
            name: name.to_owned(),
            ..HostPart::default()
        };
        let all = [host(1, "gen1"), host(2, "gen2"), host(3, "gen1")];
        let names = all.each_ref().map(|host| host.in_words(&all));
        assert_eq!(names, ["gen1 (rank 1)", "gen2", "gen1 (rank 3)"]);
    }

    #[test]
    fn clocks_that_drift_apart_are_known_the_less() {
        let read = |offset_ns, uncertainty_ns| ClockOffset {
            offset_ns,
            uncertainty_ns,
        };
        let both = ClockOffset::around(read(-1_000, 20), read(-1_300, 30));
        assert_eq!(both, read(-1_150, 180));
    }
}
