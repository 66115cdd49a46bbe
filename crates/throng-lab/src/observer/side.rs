//! One side of a trial: its readings at the borders of the phases, and the record made of them.

use throng_record::{ExchangePhase, MemorySample, SideRecord};
use throng_sys::clock::monotonic_ns;
use throng_sys::open_descriptors::{self, OpenDescriptors};
use throng_sys::process_tree::{ContextSwitches, ProcessTree, ThreadTimes, TreeSample};

use super::{GeneratorFigures, memory};

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
    /// Of several services that are one target: at both ends of the window.
    cpu_ns_each: [Vec<Option<u64>>; 2],
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

/// The measured window, by `CLOCK_MONOTONIC`, and what was done in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) from_ns: u64,
    pub(crate) until_ns: u64,
    /// From then on nothing went on.
    pub(crate) quiet_at_ns: u64,
    pub(crate) replies_per_second: f64,
}

impl Window {
    /// `None`: nothing was measured.
    pub(super) fn of(exchange: &ExchangePhase) -> Option<Self> {
        let from_ns = exchange.started_at_monotonic_ns;
        (from_ns > 0).then_some(Self {
            from_ns,
            until_ns: from_ns.saturating_add(exchange.duration_ns),
            quiet_at_ns: exchange.quiet_at_monotonic_ns,
            replies_per_second: exchange.replies_per_second,
        })
    }

    /// Whether a reading from `from_ns` to `until_ns` covers at least half of it, and of other times no more than a tenth of itself.
    fn is_read_by(&self, from_ns: u64, until_ns: u64) -> bool {
        let within_ns = until_ns
            .min(self.until_ns)
            .saturating_sub(from_ns.max(self.from_ns));
        let besides_ns = until_ns.saturating_sub(from_ns) - within_ns;
        within_ns > 0
            && within_ns * 2 >= self.until_ns - self.from_ns
            && besides_ns * 10 <= until_ns - from_ns
    }
}

impl Side {
    /// Before the first connection.
    pub(super) fn new(tree: ProcessTree, cpus: Vec<u32>) -> Self {
        let mut side = Self {
            memory_before: memory::sample(&tree),
            tree,
            cpus,
            memory_connected: MemorySample::default(),
            memory_measured: MemorySample::default(),
            begin: None,
            end: None,
            threads_before: None,
            busiest_thread_ns: None,
            cpu_ns_each: Default::default(),
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
        let fullest = tables
            .filter_map(|pid| open_descriptors::of(pid).ok())
            .min_by_key(|table| table.limit.saturating_sub(table.open));
        // Of one that has gone, what was last seen.
        self.descriptors = fullest.or(self.descriptors);
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
        self.cpu_ns_each[0] = of_each(&self.tree);
        self.threads_before = complete(&self.tree, &mut self.begin);
    }

    /// The same at the end, and the memory: of a generator that has left already, what was last seen of it.
    pub(super) fn after_window_ends(&mut self) {
        self.cpu_ns_each[1] = of_each(&self.tree);
        let threads = complete(&self.tree, &mut self.end);
        let both = self.threads_before.take().zip(threads);
        self.busiest_thread_ns = both.and_then(|(before, after)| after.most_since(&before));
        self.memory_measured = memory::sample_or(&self.tree, self.rss_seen_bytes);
    }

    /// `connections`: those that its memory is divided by.
    pub(super) fn record(self, connections: u32, measured: &GeneratorFigures) -> SideRecord {
        let mut record = SideRecord {
            memory_before: self.memory_before,
            memory_connected: self.memory_connected,
            memory_measured: self.memory_measured,
            processes_max: self.processes_max as u32,
            threads_max: self.threads_max as u32,
            ..SideRecord::default()
        };
        if connections > 0 && self.memory_connected.rss_bytes > 0 {
            let grown = growth(&self.memory_before, &self.memory_connected);
            record.memory_per_connection_bytes = Some(grown / f64::from(connections));
        }
        if let (Some(begin), Some(end)) = (self.begin, self.end) {
            fill_in_window(&mut record, &begin, &end, self.cpus.len(), measured);
            record.busiest_thread_ns = self.busiest_thread_ns;
            record.cpu_ns_each = differences(&self.cpu_ns_each);
        }
        record.cpus = self.cpus;
        record
    }
}

/// Nothing of a single one: it is the whole, and has been read.
fn of_each(tree: &ProcessTree) -> Vec<Option<u64>> {
    let several = tree.is_of_several().then(|| tree.cpu_ns_of_each());
    several.and_then(Result::ok).unwrap_or_default()
}

/// Of several services each; nothing where one of them was not there at both ends.
fn differences([before, after]: &[Vec<Option<u64>>; 2]) -> Vec<u64> {
    let of_one = |(before, after): (&Option<u64>, &Option<u64>)| {
        Some(after.as_ref()?.saturating_sub(*before.as_ref()?))
    };
    let each: Option<Vec<u64>> = before.iter().zip(after).map(of_one).collect();
    each.unwrap_or_default()
}

/// What was read is a rate, to be divided by the rate of the replies; of phases, all that was read is divided by all that came.
fn cpu_per_message_ns(record: &SideRecord, measured: &GeneratorFigures) -> Option<f64> {
    let cpu_ns = record.cpu_ns as f64;
    match measured.window {
        None => (measured.replies > 0).then(|| cpu_ns / measured.replies as f64),
        Some(_) if record.is_of_other_window || record.window_ns == 0 => None,
        Some(window) => {
            let per_second_ns = cpu_ns / (record.window_ns as f64 / 1e9);
            (window.replies_per_second > 0.0).then(|| per_second_ns / window.replies_per_second)
        }
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
    measured: &GeneratorFigures,
) {
    let (first, last) = (&begin.sample, &end.sample);
    // A late reading is of the time until nothing went on any more.
    let quiet_at_ns = measured
        .window
        .map_or(u64::MAX, |window| window.quiet_at_ns);
    let until_ns = end.at_ns.min(quiet_at_ns);
    record.window_ns = until_ns.saturating_sub(begin.at_ns);
    let is_read = |window: Window| window.is_read_by(begin.at_ns, until_ns);
    record.is_of_other_window =
        begin.took_ns * 10 > record.window_ns || !measured.window.is_none_or(is_read);
    record.cpu_ns = last.cpu_ns.saturating_sub(first.cpu_ns);
    record.user_ns = last.user_ticks_ns.saturating_sub(first.user_ticks_ns);
    record.system_ns = last.system_ticks_ns.saturating_sub(first.system_ticks_ns);
    if record.window_ns > 0 && cpus > 0 {
        record.utilisation = record.cpu_ns as f64 / (record.window_ns as f64 * cpus as f64);
    }
    record.cpu_per_message_ns = cpu_per_message_ns(record, measured);
    record.run_delay_ns = begin
        .run_delay_ns
        .zip(end.run_delay_ns)
        .map(|(first, last)| last.saturating_sub(first));
    if let (Some(first), Some(last)) = (begin.switches, end.switches) {
        record.voluntary_switches = last.voluntary.saturating_sub(first.voluntary);
        record.involuntary_switches = last.involuntary.saturating_sub(first.involuntary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Of a window from 1,000 to 2,000 ms, after which the last replies take 50 ms.
    fn recorded(from_ms: u64, until_ms: u64, cpu_ms: u64) -> SideRecord {
        let at = |at_ms: u64, cpu_ms: u64| {
            let mut reading = Reading {
                at_ns: at_ms * MS,
                ..Reading::default()
            };
            reading.sample.cpu_ns = cpu_ms * MS;
            reading
        };
        let measured = GeneratorFigures {
            window: Some(Window {
                from_ns: 1_000 * MS,
                until_ns: 2_000 * MS,
                quiet_at_ns: 2_050 * MS,
                replies_per_second: 100_000.0,
            }),
            ..GeneratorFigures::default()
        };
        let mut record = SideRecord::default();
        let (begin, end) = (at(from_ms, 0), at(until_ms, cpu_ms));
        fill_in_window(&mut record, &begin, &end, 1, &measured);
        record
    }

    #[test]
    fn a_late_reading_at_the_end_is_of_the_time_until_nothing_went_on() {
        for until_ms in [2_000, 2_030, 2_050, 9_000] {
            let busy_ms = until_ms.min(2_050) - 1_000;
            let record = recorded(1_000, until_ms, busy_ms);
            assert_eq!(record.window_ns, busy_ms * MS, "{until_ms}");
            assert_eq!(record.cpu_per_message_ns, Some(10_000.0), "{until_ms}");
            assert!(!record.is_of_other_window && record.utilisation == 1.0);
        }
    }

    #[test]
    fn a_late_reading_at_the_begin_leaves_a_rate_while_it_has_half_of_the_window() {
        let late = recorded(1_500, 2_000, 250);
        assert_eq!((late.utilisation, late.is_of_other_window), (0.5, false));
        assert_eq!(late.cpu_per_message_ns, Some(5_000.0));
        for (from_ms, until_ms) in [
            (1_501, 2_000),
            (1_000, 1_499),
            (2_040, 9_000),
            (9_000, 9_001),
        ] {
            let record = recorded(from_ms, until_ms, 1);
            assert!(record.is_of_other_window, "{from_ms} {until_ms}");
            assert_eq!(record.cpu_per_message_ns, None);
        }
        assert!(
            recorded(880, 2_000, 1_000).is_of_other_window,
            "a tenth besides"
        );
        assert!(!recorded(890, 2_000, 1_000).is_of_other_window);
    }
}
