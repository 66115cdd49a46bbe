//! The series of a trial: one sample about every tenth of a second.
//!
//! Taken by the thread that waits for the generator's events, in between: no thread of its own. The server costs one pass
//! over `/proc` for a sample; the generator, being one process, only a look at its CPU clock.

use std::net::SocketAddr;

use throng_record::SeriesSample;
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};
use throng_sys::namespace::Network;
use throng_sys::process;
use throng_sys::process_tree::TreeSample;
use throng_sys::steal::CpuTimes;

use crate::observer::Observer;

/// Between two samples.
const INTERVAL_NS: u64 = 100 * MILLISECOND_NS;

/// A reading of tens of thousands of threads takes tens of milliseconds; so much longer is the time to the next.
const SPARING: u64 = 20;

/// The series as it grows.
pub(crate) struct Series {
    pub(crate) samples: Vec<SeriesSample>,
    started_at_ns: u64,
    due_at_ns: u64,
    network: Network,
    listener: Option<SocketAddr>,
    /// Absent where it is elsewhere.
    generator_pid: Option<u32>,
    server_before: Option<TreeSample>,
    generator_cpu_before_ns: Option<u64>,
    cpus_before: Option<CpuTimes>,
}

impl Series {
    /// A series from now on. `listener`: where in `network` the server's accept queue can be seen.
    pub(crate) fn new(
        started_at_ns: u64,
        network: Network,
        listener: Option<SocketAddr>,
        generator_pid: Option<u32>,
    ) -> Self {
        Self {
            samples: Vec::new(),
            started_at_ns,
            due_at_ns: monotonic_ns(),
            network,
            listener,
            generator_pid,
            server_before: None,
            generator_cpu_before_ns: None,
            cpus_before: None,
        }
    }

    /// Until the next sample is due.
    pub(crate) fn due_in_ns(&self) -> u64 {
        self.due_at_ns.saturating_sub(monotonic_ns())
    }

    /// Takes a sample if one is due. After a pause the missed ones are not made up for.
    pub(crate) fn sample_if_due(&mut self, observer: &mut Observer, replies: u64) {
        let now_ns = monotonic_ns();
        if now_ns < self.due_at_ns {
            return;
        }
        let server = observer.server.as_mut().and_then(|side| side.sample());
        let took_ns = monotonic_ns().saturating_sub(now_ns);
        self.due_at_ns = (self.due_at_ns + INTERVAL_NS)
            .max(now_ns)
            .max(now_ns + took_ns.saturating_mul(SPARING));
        let generator_cpu_ns = self
            .generator_pid
            .and_then(|pid| process::cpu_time_ns(pid).ok());
        let cpus = CpuTimes::read().ok();
        let mut sample = SeriesSample {
            at_ns: now_ns.saturating_sub(self.started_at_ns),
            accept_queue: self.accept_queue(),
            time_wait: self.time_wait(),
            replies,
            generator_cpu_ns: since(generator_cpu_ns, self.generator_cpu_before_ns),
            ..SeriesSample::default()
        };
        if let Some(now) = &server {
            let before = self.server_before.unwrap_or(*now);
            sample.server_rss_bytes = now.rss_bytes;
            sample.server_threads = now.threads as u32;
            sample.server_cpu_ns = now.cpu_ns.saturating_sub(before.cpu_ns);
            sample.server_switches = since(switches(now), switches(&before));
        }
        if let (Some(now), Some(before)) = (&cpus, &self.cpus_before) {
            sample.steal_share = now.delta_since(before).steal_share().unwrap_or(0.0);
        }
        self.samples.push(sample);
        self.server_before = server;
        self.generator_cpu_before_ns = generator_cpu_ns;
        self.cpus_before = cpus;
    }

    /// What generators on other hosts told when they had ended, by the monotonic clock here: replies as of the last that is known, CPU time to the sample
    /// that comes next.
    pub(crate) fn add_generators(&mut self, told: &[SeriesSample]) {
        let mut told = told.iter().peekable();
        let mut replies = 0;
        for sample in &mut self.samples {
            let at_ns = self.started_at_ns + sample.at_ns;
            while let Some(one) = told.next_if(|one| one.at_ns <= at_ns) {
                replies = one.replies;
                sample.generator_cpu_ns += one.generator_cpu_ns;
            }
            sample.replies = sample.replies.max(replies);
        }
    }

    fn accept_queue(&self) -> Option<u32> {
        let listener = self.network.find_listener(self.listener?).ok()??;
        Some(listener.accept_queue)
    }

    fn time_wait(&self) -> Option<u32> {
        u32::try_from(self.network.time_wait().ok()??).ok()
    }
}

fn switches(sample: &TreeSample) -> Option<u64> {
    Some(sample.voluntary_switches? + sample.involuntary_switches?)
}

/// The growth since the last reading; 0 for the first, and where something is not known.
fn since(now: Option<u64>, before: Option<u64>) -> u64 {
    match (now, before) {
        (Some(now), Some(before)) => now.saturating_sub(before),
        _ => 0,
    }
}
