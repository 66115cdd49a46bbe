//! One side of a trial, server or generator, as the observers saw it; and the samples over time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Memory of a process tree at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MemorySample {
    /// Resident set, summed over processes: shared pages count once for each.
    pub rss_bytes: u64,
    /// Proportional set, summed over processes: shared pages are divided. Absent where the kernel does not tell.
    pub pss_bytes: Option<u64>,
    /// The part of the proportional set that is no file's: heap, stacks, buffers.
    pub anonymous_pss_bytes: Option<u64>,
}

/// CPU, memory, threads and switches of one side. CPU figures are of the measured window alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SideRecord {
    /// CPUs this side was allowed to run on.
    pub cpus: Vec<u32>,
    /// Length of the stretch between the two CPU readings. What lies after the last reply is not in it: nothing is used then.
    pub window_ns: u64,
    /// CPU time used in the window by all processes of the tree, from the scheduler's nanosecond account.
    pub cpu_ns: u64,
    /// The CPU time of each process that was launched, with those that it started, where several are one target, in the order of their numbers;
    /// empty otherwise, and where one of them had ended.
    pub cpu_ns_each: Vec<u64>,
    /// Time that its threads, together, could have run in the window and waited for a CPU: what others on the same CPUs took from it. Of
    /// threads that lived to its end, hence at least so much; absent where it could not be read.
    pub run_delay_ns: Option<u64>,
    /// CPU time in the window of the thread that used most, from the scheduler's account; absent where it could not be read, and where a thread
    /// that lived at the window's begin had ended before its end was read.
    pub busiest_thread_ns: Option<u64>,
    /// Time of the CPUs it was allowed, together, that the hypervisor took in the window: whole ticks, of which one of each CPU may be
    /// chance. Neither CPU time nor waiting for a CPU has it in. Absent where it could not be read.
    pub stolen_ns: Option<u64>,
    /// CPU time that other programs used in the window of the CPUs it was allowed; of those of both sides, where they share any. At least so
    /// much: see the check `other_programs`. Absent where it could not be told.
    pub others_ns: Option<u64>,
    /// The user part, tick based: below 50 ms it is noise.
    pub user_ns: u64,
    /// The system part, tick based: below 50 ms it is noise.
    pub system_ns: u64,
    /// CPU time ÷ (window × CPUs allowed).
    pub utilisation: f64,
    /// The readings came so late that they cover less than half of the measured window, or more than a tenth besides; or the first took longer
    /// than a tenth of it. CPU time and utilisation are then of another stretch.
    pub is_of_other_window: bool,
    /// CPU time per second ÷ replies per second; absent where the window is another one.
    pub cpu_per_message_ns: Option<f64>,
    /// Memory before the first connection.
    pub memory_before: MemorySample,
    /// Memory with every connection open: idle, in a fan-out greeted, and when holding after the hold. In an exchange on kept connections
    /// after the measured window, when the last reply had come. Nothing where each message has a connection of its own.
    pub memory_connected: MemorySample,
    /// Memory at the end of the measured window.
    pub memory_measured: MemorySample,
    /// Of a server: growth of the anonymous proportional set from before the first connection to `memory_connected` ÷ connections that it
    /// accepted, in an exchange those that got a reply. Pages that forked processes share count once, and the program's text not at all. Of the
    /// resident set where that cannot be read. Of the generator: what it tells of itself, from before it made its fleet to all connections open.
    pub memory_per_connection_bytes: Option<f64>,
    /// Most processes seen at once.
    pub processes_max: u32,
    /// Most threads seen at once, over all processes.
    pub threads_max: u32,
    /// Voluntary context switches in the window: waits.
    pub voluntary_switches: u64,
    /// Involuntary context switches in the window: preemptions.
    pub involuntary_switches: u64,
}

impl SideRecord {
    /// Several generators as one: what they used adds up. CPUs, window, and whatever bounds a generator are those of the busiest; memory is of
    /// machines that have nothing in common, and is not told. Nothing where one of them was not seen.
    #[must_use]
    pub fn together(sides: &[Option<&Self>]) -> Option<Self> {
        let sides: Vec<&Self> = sides.iter().copied().collect::<Option<_>>()?;
        let busiest = *sides
            .iter()
            .max_by(|one, other| one.utilisation.total_cmp(&other.utilisation))?;
        let sum = |figure: fn(&Self) -> u64| sides.iter().map(|side| figure(side)).sum();
        let total = |figure: fn(&Self) -> u32| sides.iter().map(|side| figure(side)).sum();
        Some(Self {
            cpu_ns: sum(|side| side.cpu_ns),
            cpu_ns_each: sides.iter().map(|side| side.cpu_ns).collect(),
            user_ns: sum(|side| side.user_ns),
            system_ns: sum(|side| side.system_ns),
            is_of_other_window: sides.iter().any(|side| side.is_of_other_window),
            cpu_per_message_ns: None,
            memory_before: MemorySample::default(),
            memory_connected: MemorySample::default(),
            memory_measured: MemorySample::default(),
            memory_per_connection_bytes: None,
            processes_max: total(|side| side.processes_max),
            threads_max: total(|side| side.threads_max),
            voluntary_switches: sum(|side| side.voluntary_switches),
            involuntary_switches: sum(|side| side.involuntary_switches),
            ..busiest.clone()
        })
    }
}

/// One sample of the series of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeriesSample {
    /// Since the trial's start.
    pub at_ns: u64,
    /// Connections in the listener's accept queue; absent where there is no TCP listener on this host.
    pub accept_queue: Option<u32>,
    /// Sockets in `TIME_WAIT` in the trial's network (`/proc/net/sockstat`); absent where it could not be read.
    pub time_wait: Option<u32>,
    /// Resident set of the server.
    pub server_rss_bytes: u64,
    /// Threads of the server.
    pub server_threads: u32,
    /// CPU time of the server since the last sample.
    pub server_cpu_ns: u64,
    /// CPU time of the generator since the last sample.
    pub generator_cpu_ns: u64,
    /// Context switches of the server since the last sample.
    pub server_switches: u64,
    /// Share of the machine's CPU time stolen by the hypervisor since the last sample, 0 to 1.
    pub steal_share: f64,
    /// Replies counted by the generator so far; where it works in phases, what the phase under way counts, from 0 on.
    pub replies: u64,
}

/// Kernel counters (`/proc/net/snmp`, `/proc/net/netstat`) that changed, and by how much; and as `Sockstat.TimeWait` by how many the
/// sockets in `TIME_WAIT` (`/proc/net/sockstat`) did.
pub type CounterDeltas = BTreeMap<String, i64>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_together_use_what_all_do_and_are_as_busy_as_the_busiest() {
        let side = |cpu_ns, utilisation| SideRecord {
            cpu_ns,
            utilisation,
            busiest_thread_ns: Some(cpu_ns),
            threads_max: 2,
            ..SideRecord::default()
        };
        let (idle, busy) = (side(10, 0.1), side(90, 0.9));
        let both = SideRecord::together(&[Some(&busy), Some(&idle)]).expect("both are seen");
        assert_eq!(
            (both.cpu_ns, both.threads_max, both.busiest_thread_ns),
            (100, 4, Some(90))
        );
        assert!((both.utilisation - 0.9).abs() < f64::EPSILON);
        assert_eq!(both.cpu_ns_each, [90, 10]);
        assert_eq!(SideRecord::together(&[Some(&busy), None]), None);
        assert_eq!(SideRecord::together(&[]), None);
    }
}
