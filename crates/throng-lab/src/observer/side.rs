//! One side of a trial: its readings at the borders of the phases, and the record made of them.

use throng_record::{MemorySample, SideRecord};
use throng_sys::clock::monotonic_ns;
use throng_sys::open_descriptors::{self, OpenDescriptors};
use throng_sys::process_tree::{ContextSwitches, ProcessTree, ThreadTimes, TreeSample};

use super::memory;

/// A process tree under observation.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) tree: ProcessTree,
    /// CPUs that it may use.
    pub(crate) cpus: Vec<u32>,
    memory_before: MemorySample,
    memory_connected: MemorySample,
    memory_measured: MemorySample,
    begin: Option<Reading>,
    end: Option<Reading>,
    /// When the window began.
    threads_before: Option<ThreadTimes>,
    /// What the thread that ran most ran in the window.
    busiest_thread_ns: Option<u64>,
    processes_max: u64,
    threads_max: u64,
    /// Resident set when there last was one.
    rss_seen_bytes: u64,
    /// Of the process that has least left, with every connection open.
    pub(super) descriptors: Option<OpenDescriptors>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    at_ns: u64,
    /// How long it took: many processes on busy CPUs are read one after another.
    took_ns: u64,
    pub(super) sample: TreeSample,
    switches: Option<ContextSwitches>,
    run_delay_ns: Option<u64>,
}

impl Side {
    /// Before the first connection.
    pub(super) fn new(tree: ProcessTree, cpus: Vec<u32>) -> Self {
        let mut side = Self {
            tree,
            cpus,
            memory_before: memory::sample(&tree),
            memory_connected: MemorySample::default(),
            memory_measured: MemorySample::default(),
            begin: None,
            end: None,
            threads_before: None,
            busiest_thread_ns: None,
            processes_max: 0,
            threads_max: 0,
            rss_seen_bytes: 0,
            descriptors: None,
        };
        side.sample();
        side
    }

    /// One cheap reading, for the series and the maxima; `None` if the tree is gone.
    pub(crate) fn sample(&mut self) -> Option<TreeSample> {
        let sample = self.tree.sample().ok().flatten()?;
        self.processes_max = self.processes_max.max(sample.processes);
        self.threads_max = self.threads_max.max(sample.threads);
        if sample.rss_bytes > 0 {
            self.rss_seen_bytes = sample.rss_bytes;
        }
        Some(sample)
    }

    pub(super) fn connected(&mut self) {
        self.memory_connected = memory::sample(&self.tree);
        self.sample();
    }

    /// How far its descriptor tables are filled. Of many processes some are looked at: where one is full, its like are.
    pub(super) fn count_descriptors(&mut self) {
        const PROCESSES_MAX: usize = 64;
        let pids = self.tree.pids().ok().flatten().unwrap_or_default();
        let tables = pids.into_iter().take(PROCESSES_MAX);
        self.descriptors = tables
            .filter_map(|pid| open_descriptors::of(pid).ok())
            .min_by_key(|table| table.limit.saturating_sub(table.open));
    }

    pub(super) fn window_begins(&mut self) {
        self.begin = self.reading();
    }

    pub(super) fn window_ends(&mut self) {
        self.end = self.reading();
    }

    /// The window begins with a reading that was made while the generator waited: it goes on after it.
    pub(super) fn window_begins_after(&mut self, reading: Option<Reading>) {
        self.begin = reading.map(|reading| Reading {
            at_ns: reading.at_ns + reading.took_ns,
            took_ns: 0,
            ..reading
        });
    }

    /// The window has ended with a reading that was made since.
    pub(super) fn window_ended_with(&mut self, reading: Option<Reading>) {
        self.end = reading;
    }

    /// A process that has just left still answers for its CPU time, until it has been waited for; its threads do not.
    pub(super) fn reading(&mut self) -> Option<Reading> {
        let at_ns = monotonic_ns();
        let sample = self.sample()?;
        let few_threads = sample
            .voluntary_switches
            .zip(sample.involuntary_switches)
            .filter(|_| sample.processes > 0)
            .map(|(voluntary, involuntary)| ContextSwitches {
                voluntary,
                involuntary,
            });
        Some(Reading {
            at_ns,
            took_ns: monotonic_ns().saturating_sub(at_ns),
            sample,
            switches: few_threads,
            run_delay_ns: None,
        })
    }

    /// What is left to be read after the CPU times of both sides: with many threads it takes its time.
    pub(super) fn after_window_begins(&mut self) {
        self.threads_before = complete(&self.tree, &mut self.begin);
    }

    /// The same at the end, and the memory: of a generator that has left already, what was last seen of it.
    pub(super) fn after_window_ends(&mut self) {
        let threads = complete(&self.tree, &mut self.end);
        let both = self.threads_before.take().zip(threads);
        self.busiest_thread_ns = both.and_then(|(before, after)| after.most_since(&before));
        self.memory_measured = memory::sample_or(&self.tree, self.rss_seen_bytes);
    }

    pub(super) fn record(self, connected: u32, replies: u64) -> SideRecord {
        let mut record = SideRecord {
            memory_before: self.memory_before,
            memory_connected: self.memory_connected,
            memory_measured: self.memory_measured,
            processes_max: self.processes_max as u32,
            threads_max: self.threads_max as u32,
            ..SideRecord::default()
        };
        if connected > 0 && self.memory_connected.rss_bytes > 0 {
            let grown = growth(&self.memory_before, &self.memory_connected);
            record.memory_per_connection_bytes = Some(grown / f64::from(connected));
        }
        if let (Some(begin), Some(end)) = (self.begin, self.end) {
            fill_in_window(&mut record, &begin, &end, self.cpus.len(), replies);
            record.busiest_thread_ns = self.busiest_thread_ns;
        }
        record.cpus = self.cpus;
        record
    }
}

/// Proportional, so that the pages which a hundred forked processes share are not counted a hundred times; and without
/// files, since the program's text is divided with the generator, which comes and goes.
fn growth(before: &MemorySample, after: &MemorySample) -> f64 {
    match (before.anonymous_pss_bytes, after.anonymous_pss_bytes) {
        (Some(before), Some(after)) => after as f64 - before as f64,
        _ => after.rss_bytes as f64 - before.rss_bytes as f64,
    }
}

/// The run delay of a reading, and its context switches where there were too many threads to take them along. What each thread has had is
/// handed back: it is compared and not kept.
fn complete(tree: &ProcessTree, reading: &mut Option<Reading>) -> Option<ThreadTimes> {
    let reading = reading.as_mut()?;
    if reading.switches.is_none() && reading.sample.processes > 0 {
        reading.switches = tree.context_switches().ok().flatten();
    }
    let threads = tree.thread_times().ok().flatten();
    reading.run_delay_ns = threads.as_ref().map(|threads| threads.run_delay_ns);
    threads
}

/// The differences between two readings. A process that left without being waited for takes its figures along, hence saturating.
fn fill_in_window(
    record: &mut SideRecord,
    begin: &Reading,
    end: &Reading,
    cpus: usize,
    replies: u64,
) {
    const SHARE_READING_MAX: f64 = 0.1;
    let (first, last) = (&begin.sample, &end.sample);
    record.window_ns = end.at_ns.saturating_sub(begin.at_ns);
    let reading_ns = (begin.took_ns + end.took_ns) as f64;
    record.is_of_other_window = reading_ns > record.window_ns as f64 * SHARE_READING_MAX;
    record.cpu_ns = last.cpu_ns.saturating_sub(first.cpu_ns);
    record.user_ns = last.user_ticks_ns.saturating_sub(first.user_ticks_ns);
    record.system_ns = last.system_ticks_ns.saturating_sub(first.system_ticks_ns);
    if record.window_ns > 0 && cpus > 0 {
        record.utilisation = record.cpu_ns as f64 / (record.window_ns as f64 * cpus as f64);
    }
    if replies > 0 {
        record.cpu_per_message_ns = Some(record.cpu_ns as f64 / replies as f64);
    }
    record.run_delay_ns = begin
        .run_delay_ns
        .zip(end.run_delay_ns)
        .map(|(first, last)| last.saturating_sub(first));
    if let (Some(first), Some(last)) = (begin.switches, end.switches) {
        record.voluntary_switches = last.voluntary.saturating_sub(first.voluntary);
        record.involuntary_switches = last.involuntary.saturating_sub(first.involuntary);
    }
}
