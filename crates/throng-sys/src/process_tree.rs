//! One sample of everything that a launched command consists of, or several: each process and all its descendants.
//!
//! Method: one pass over `/proc/*/stat`. A process belongs to the tree if its chain of parents leads to a root,
//! or if it is in a root's process group, where that leads one: so a child whose parent has exited is not
//! lost. (`/proc/PID/task/TID/children` would be direct but is an optional part of the kernel, and costs one read
//! per thread.) CPU time comes from the processes' CPU clocks, see [`crate::process`], so that 10 ms windows can
//! be told apart; what is tick-based says so.
//!
//! What a sample costs grows with three things: one read of about 10 µs for each process on the *machine*; inside
//! that read a quarter of a microsecond for each thread of the process; and, only while the tree has at most
//! [`THREADS_WITH_SWITCHES_MAX`] threads, one read of 10 to 20 µs for each thread, for the context switches. A
//! server of 1,000 threads beside 75 other processes took 1 ms: 2 % of a core at 20 samples a second.
//!
//! Left out: a daemon that leaves both its parents and the process group; children reaped by the kernel because
//! their parent ignores SIGCHLD, whose CPU time the kernel itself forgets.

use std::collections::{BTreeSet, HashMap};
use std::io;

use procfs::process::Stat;

use crate::process;

/// Up to so many threads [`ProcessTree::sample`] reads their context switches; above, they would cost more than
/// all the rest, and only [`ProcessTree::context_switches`] reads them.
pub const THREADS_WITH_SWITCHES_MAX: u64 = 256;

/// Processes, by id and start, and their descendants, found anew at each sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessTree {
    /// At least one.
    roots: Vec<Root>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Root {
    pid: u32,
    /// Clock ticks from boot to its start: tells it from a later process of the same id.
    start_ticks: u64,
    leads_group: bool,
}

/// What a process tree has used so far, and what it holds now. Figures "so far" include living processes and
/// those that have been waited for; they can fall when a process leaves the tree without being waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TreeSample {
    /// Processes now; zombies are not counted, so 0 means that the command has ended.
    pub processes: u64,
    /// Threads of these processes now.
    pub threads: u64,
    /// CPU time so far: the living processes' CPU clocks, and the tick-based time (to 10 ms, once per parent) of
    /// the children that they have waited for.
    pub cpu_ns: u64,
    /// The part of the CPU time spent in user mode, so far. The kernel divides the exact time by what it saw at
    /// each tick: differences below 50 ms are noise.
    pub user_ticks_ns: u64,
    /// The part of the CPU time spent in the kernel, so far; as inexact as `user_ticks_ns`.
    pub system_ticks_ns: u64,
    /// Resident memory now, shared pages counted for each process that maps them. From `/proc/PID/stat`: cheap,
    /// and off by up to some hundred KiB per process (`proc_pid_stat(5)`); [`ProcessTree::sample_memory`] is exact.
    pub rss_bytes: u64,
    /// Context switches so far because a thread waited for something; of living threads only. `None` above
    /// [`THREADS_WITH_SWITCHES_MAX`] threads.
    pub voluntary_switches: Option<u64>,
    /// Context switches so far because the scheduler took the CPU away; of living threads only. `None` above
    /// [`THREADS_WITH_SWITCHES_MAX`] threads.
    pub involuntary_switches: Option<u64>,
}

/// Resident memory of a process tree, exact, from `/proc/PID/smaps_rollup`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemorySample {
    /// Sum of the resident sets: pages shared between processes count once for each.
    pub rss_bytes: u64,
    /// Sum of the proportional sets: pages shared with n processes count 1/n.
    pub pss_bytes: u64,
    /// The part of that which is no file's.
    pub anonymous_pss_bytes: u64,
    /// The processes that these sums cover.
    pub processes: u64,
}

/// Context switches of all living threads of a process tree, since each thread started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextSwitches {
    /// The thread waited for something.
    pub voluntary: u64,
    /// The scheduler took the CPU away.
    pub involuntary: u64,
}

/// What the scheduler has given the living threads of a process tree, since each thread started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreadTimes {
    /// How long they, together, have waited for a CPU though they could have run.
    pub run_delay_ns: u64,
    /// How long each has run, by its id.
    pub ran_ns: HashMap<u32, u64>,
}

impl ThreadTimes {
    /// The most that one thread has run since `earlier`, of those that lived then. `None` where one of them has ended: it may have been that one.
    pub fn most_since(&self, earlier: &Self) -> Option<u64> {
        let ran_since = |(thread, before_ns): (&u32, &u64)| {
            let ran_ns = self.ran_ns.get(thread)?;
            Some(ran_ns.saturating_sub(*before_ns))
        };
        let each: Option<Vec<u64>> = earlier.ran_ns.iter().map(ran_since).collect();
        each?.into_iter().max()
    }
}

impl ProcessTree {
    /// The tree below (and with) the running process `root_pid`.
    ///
    /// # Errors
    /// [`process::is_gone`] if there is no such process.
    pub fn of(root_pid: u32) -> io::Result<Self> {
        Ok(Self {
            roots: vec![Root::of(root_pid)?],
        })
    }

    /// These trees as one; where there is none, nothing can be observed.
    pub fn joined(trees: impl IntoIterator<Item = Self>) -> Option<Self> {
        let roots: Vec<Root> = trees.into_iter().flat_map(|tree| tree.roots).collect();
        (!roots.is_empty()).then_some(Self { roots })
    }

    /// The id of the process at its root, the first where it has several.
    pub fn root_pid(&self) -> u32 {
        self.roots[0].pid
    }

    /// Whether it has several roots.
    pub fn is_of_several(&self) -> bool {
        self.roots.len() > 1
    }

    /// Whether a process at a root has not ended yet; one that nobody has waited for has. Costs one read for each root.
    pub fn root_lives(&self) -> bool {
        self.roots.iter().any(Root::lives)
    }

    /// One sample, cheap enough for 20 a second with 1,000 threads (see the module). Processes that vanish
    /// meanwhile drop out. `None`: every root is gone, that is, it has ended and has been waited for.
    ///
    /// # Errors
    /// Only if `/proc` itself cannot be read.
    pub fn sample(&self) -> io::Result<Option<TreeSample>> {
        let Some(members) = self.members()? else {
            return Ok(None);
        };
        let mut sample = TreeSample::default();
        for member in &members {
            sample.add(member);
        }
        if sample.threads <= THREADS_WITH_SWITCHES_MAX {
            let switches = switches_of(&members)?;
            sample.voluntary_switches = Some(switches.voluntary);
            sample.involuntary_switches = Some(switches.involuntary);
        }
        Ok(Some(sample))
    }

    /// The exact resident memory. Costs about 10 ms per gigabyte and briefly holds each process's memory
    /// map: for the borders of a phase, not for a series. `None`: every root is gone.
    ///
    /// # Errors
    /// `PermissionDenied` if one of the processes may not be looked into: a partial sum is not given.
    pub fn sample_memory(&self) -> io::Result<Option<MemorySample>> {
        let Some(members) = self.members()? else {
            return Ok(None);
        };
        let mut sample = MemorySample::default();
        for member in living(&members) {
            let Some(memory) = unless_gone(process::memory(member.pid as u32))? else {
                continue;
            };
            sample.rss_bytes += memory.rss_bytes;
            sample.pss_bytes += memory.pss_bytes;
            sample.anonymous_pss_bytes += memory.anonymous_pss_bytes;
            sample.processes += 1;
        }
        Ok(Some(sample))
    }

    /// The context switches of all threads, however many; 10 to 20 µs for each. `None`: every root is gone.
    ///
    /// # Errors
    /// Only if `/proc` itself cannot be read.
    pub fn context_switches(&self) -> io::Result<Option<ContextSwitches>> {
        self.members()?
            .map(|members| switches_of(&members))
            .transpose()
    }

    /// What the scheduler has given its threads so far (`/proc/PID/task/TID/schedstat`), 10 µs for each. `None`: every root is gone, or the kernel
    /// does not count that.
    ///
    /// # Errors
    /// Only if `/proc` itself cannot be read.
    pub fn thread_times(&self) -> io::Result<Option<ThreadTimes>> {
        let mut times = ThreadTimes::default();
        for member in living(&self.members()?.unwrap_or_default()) {
            let pid = member.pid as u32;
            for thread in unless_gone(process::threads(pid))?.unwrap_or_default() {
                if let Some(time) = unless_gone(process::thread_time(pid, thread))?.flatten() {
                    times.run_delay_ns += time.waited_ns;
                    times.ran_ns.insert(thread, time.ran_ns);
                }
            }
        }
        Ok((!times.ran_ns.is_empty()).then_some(times))
    }

    /// The ids of its processes now, ascending, zombies left out. `None`: every root is gone.
    ///
    /// # Errors
    /// Only if `/proc` itself cannot be read.
    pub fn pids(&self) -> io::Result<Option<Vec<u32>>> {
        let pids = |members: Vec<Stat>| {
            let set: BTreeSet<u32> = living(&members).map(|member| member.pid as u32).collect();
            set.into_iter().collect()
        };
        Ok(self.members()?.map(pids))
    }

    /// The CPU time so far of each root with its descendants, in the order of the roots, as [`TreeSample::cpu_ns`] has it of all; `None` for one that
    /// is gone.
    ///
    /// # Errors
    /// Only if `/proc` itself cannot be read.
    pub fn cpu_ns_of_each(&self) -> io::Result<Vec<Option<u64>>> {
        let everyone = everyone()?;
        let of_root = |root: &Root| {
            root.is_among(&everyone).then(|| {
                let mut sample = TreeSample::default();
                for pid in descendants(&everyone, &[*root]) {
                    everyone
                        .get(&pid)
                        .into_iter()
                        .for_each(|stat| sample.add(stat));
                }
                sample.cpu_ns
            })
        };
        Ok(self.roots.iter().map(of_root).collect())
    }

    fn members(&self) -> io::Result<Option<Vec<Stat>>> {
        let mut everyone = everyone()?;
        let roots = self.roots.iter().filter(|root| root.is_among(&everyone));
        let roots: Vec<Root> = roots.copied().collect();
        if roots.is_empty() {
            return Ok(None);
        }
        let inside = descendants(&everyone, &roots);
        everyone.retain(|pid, _| inside.contains(pid));
        Ok(Some(everyone.into_values().collect()))
    }
}

impl Root {
    fn of(pid: u32) -> io::Result<Self> {
        let root = process::stat(pid, &mut Vec::new())?;
        Ok(Self {
            pid,
            start_ticks: root.starttime,
            leads_group: root.pgrp == root.pid,
        })
    }

    fn lives(&self) -> bool {
        process::stat(self.pid, &mut Vec::new())
            .is_ok_and(|root| root.starttime == self.start_ticks && !is_zombie(&root))
    }

    fn is_among(&self, everyone: &HashMap<i32, Stat>) -> bool {
        let own = everyone.get(&(self.pid as i32));
        own.is_some_and(|stat| stat.starttime == self.start_ticks)
    }
}

/// All processes that can be seen.
fn everyone() -> io::Result<HashMap<i32, Stat>> {
    let mut buffer = Vec::with_capacity(512);
    let mut everyone = HashMap::new();
    for pid in process::numbers_in("/proc")? {
        // Gone meanwhile, or hidden from this user (`hidepid`), and then not a process of ours.
        if let Ok(stat) = process::stat(pid, &mut buffer) {
            everyone.insert(stat.pid, stat);
        }
    }
    Ok(everyone)
}

impl TreeSample {
    fn add(&mut self, member: &Stat) {
        if !is_zombie(member) {
            self.processes += 1;
            self.threads += member.num_threads as u64;
            self.rss_bytes += member.rss * rustix::param::page_size() as u64;
        }
        let own_ns = ticks_ns(member.utime + member.stime);
        let children_user_ns = ticks_ns(member.cutime as u64);
        let children_system_ns = ticks_ns(member.cstime as u64);
        // A process that vanished since its line was read: that line is the last that is known of it.
        let own_exact_ns = process::cpu_time_ns(member.pid as u32).unwrap_or(own_ns);
        self.cpu_ns += own_exact_ns + children_user_ns + children_system_ns;
        self.user_ticks_ns += ticks_ns(member.utime) + children_user_ns;
        self.system_ticks_ns += ticks_ns(member.stime) + children_system_ns;
    }
}

/// The roots and all processes whose chain of parents leads to one of them, or to a member of a process group that one leads.
fn descendants(everyone: &HashMap<i32, Stat>, roots: &[Root]) -> BTreeSet<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let mut open: Vec<i32> = roots.iter().map(|root| root.pid as i32).collect();
    let leaders = roots.iter().filter(|root| root.leads_group);
    let groups: BTreeSet<i32> = leaders.map(|root| root.pid as i32).collect();
    for stat in everyone.values() {
        children.entry(stat.ppid).or_default().push(stat.pid);
        if groups.contains(&stat.pgrp) {
            open.push(stat.pid);
        }
    }
    let mut inside = BTreeSet::new();
    while let Some(pid) = open.pop() {
        if inside.insert(pid) {
            open.extend(children.get(&pid).into_iter().flatten());
        }
    }
    inside
}

fn switches_of(members: &[Stat]) -> io::Result<ContextSwitches> {
    let mut sum = ContextSwitches::default();
    for member in living(members) {
        let pid = member.pid as u32;
        for thread in unless_gone(process::threads(pid))?.unwrap_or_default() {
            if let Some((voluntary, involuntary)) =
                unless_gone(process::context_switches(pid, thread))?
            {
                sum.voluntary += voluntary;
                sum.involuntary += involuntary;
            }
        }
    }
    Ok(sum)
}

fn living(members: &[Stat]) -> impl Iterator<Item = &Stat> {
    members.iter().filter(|member| !is_zombie(member))
}

fn is_zombie(stat: &Stat) -> bool {
    matches!(stat.state, 'Z' | 'X')
}

fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if process::is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn ticks_ns(ticks: u64) -> u64 {
    ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second())
}

#[cfg(test)]
mod tests;
