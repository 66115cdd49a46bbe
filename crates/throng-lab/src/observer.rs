//! Observing both sides of a trial from outside: CPU, memory, threads, switches, steal, kernel counters.
//!
//! Readings are taken when the generator says that a phase begins or ends, so the figures of the measured window are
//! differences between two readings, and the window is the time between those. The generator waits once the last reply has come, so that a late
//! reading at the end is of the same work; a late one at the begin shortens the stretch. CPU time is read first, being what matters
//! most; it comes from the processes' own clocks in nanoseconds. Nothing that can fail here fails a trial: what
//! cannot be read is absent.

pub(crate) mod accept_queue;
pub(crate) mod capture;
pub(crate) mod handshakes;
mod kernel_account;
mod kernel_memory;
mod memory;
mod others;
mod periodic;
mod phases;
mod running;
mod side;
mod waiting;

use std::collections::BTreeSet;
use std::net::SocketAddr;

use throng_findings::{Others, Stolen, TICK_NS};
use throng_record::side::CounterDeltas;
use throng_record::{LoadJob, LoadRecord, PhaseCost, PhaseName, PhaseSpec, Phases, SideRecord};
use throng_sys::clock::monotonic_ns;
use throng_sys::kernel_counters::KernelCounters;
use throng_sys::namespace::Network;
use throng_sys::open_descriptors::OpenDescriptors;
use throng_sys::process_tree::ProcessTree;

pub(crate) use kernel_account::{KernelAccount, KernelAccountSeen};
use kernel_memory::KernelMemoryWatch;
use others::Moment;
use phases::{Border, Borders};
pub(crate) use running::{Observed, find_running, is_local};
use side::Side;
pub(crate) use side::Window;
use waiting::Waiting;

/// The observers of one trial.
#[derive(Debug)]
pub(crate) struct Observer {
    pub(crate) server: Option<Side>,
    pub(crate) generator: Option<Side>,
    network: Network,
    counters_before: Option<KernelCounters>,
    window: [Option<Moment>; 2],
    throttled: Throttled,
    borders: Borders,
    expected: Expected,
    /// Where it is asked about and both ends are here.
    kernel_memory: Option<KernelMemoryWatch>,
    /// Where connections are what is asked about.
    waiting: Option<Waiting>,
}

/// What the generator measured, as far as the sides are judged by it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GeneratorFigures {
    /// Connections that opened.
    pub(crate) connected: u32,
    /// Of these, those that got a reply; absent where nothing was sent on all.
    pub(crate) served: Option<u32>,
    /// In the window.
    pub(crate) replies: u64,
    /// Absent where the generator works in phases, which it begins and ends while both sides are read.
    pub(crate) window: Option<Window>,
}

/// What they saw.
#[derive(Debug)]
pub(crate) struct Observations {
    pub(crate) server: Option<SideRecord>,
    pub(crate) generator: Option<SideRecord>,
    pub(crate) stolen: Option<Stolen>,
    /// Of the CPUs of each side, or of both together; empty where it cannot be told whose time it was.
    pub(crate) others: Vec<Others>,
    /// Share of the time of the generator's CPUs, in the measured window, for which the quota of this process's control group held it up; absent where there is
    /// none.
    pub(crate) throttled_share: Option<f64>,
    /// Cores of the server's CPUs on which nobody ran in the measured window; absent where it cannot be told.
    pub(crate) cores_idle: Option<f64>,
    pub(crate) kernel_counters: CounterDeltas,
    /// Of the phases, in their order.
    pub(crate) phase_costs: Vec<(PhaseName, PhaseCost)>,
    /// To be asked when both sides have ended.
    pub(crate) kernel_memory: Option<KernelMemoryWatch>,
    /// Of the server, with every connection open.
    pub(crate) descriptors: Option<OpenDescriptors>,
    /// Connections left in the accept queue to the end; absent where that was not looked at.
    pub(crate) unaccepted: Option<u32>,
}

impl Observer {
    /// Starts with the server and the network of both sides, before the generator is there. `None`: its processes are not visible from here.
    pub(crate) fn new(server: Option<Observed>, network: Network) -> Self {
        Self {
            server: server.map(|server| Side::new(server.tree, server.cpus)),
            generator: None,
            counters_before: network.counters().ok(),
            network,
            window: [None, None],
            throttled: Throttled::default(),
            borders: Borders::default(),
            expected: Expected::default(),
            kernel_memory: None,
            waiting: None,
        }
    }

    /// What the generator will do. Where no message is exchanged, the kernel's memory is asked about, and what `listener` has not accepted.
    pub(crate) fn expect(&mut self, job: &LoadJob, listener: Option<SocketAddr>) {
        self.expected = Expected::of(job);
        let is_about_connections =
            job.phases.has(PhaseName::Connect) && job.phases.exchange().is_none();
        if is_about_connections && self.server.is_some() {
            self.kernel_memory = Some(KernelMemoryWatch::default());
            self.waiting = listener.and_then(|at| Waiting::at(at, &self.network));
        }
    }

    /// There is no server here whose CPU time could be taken for that of other programs: it is on another host.
    pub(crate) fn stands_alone(&mut self) {
        self.expected.is_alone = true;
    }

    /// The generator has been started.
    pub(crate) fn generator_started(&mut self, tree: ProcessTree, cpus: Vec<u32>) {
        self.generator = Some(Side::new(tree, cpus));
    }

    fn count_descriptors(&mut self) {
        if let Some(server) = &mut self.server {
            server.count_descriptors();
        }
    }

    /// Every connection is open and accepted.
    fn connected(&mut self) {
        for side in self.sides() {
            side.connected();
        }
        self.count_descriptors();
        if let Some(kernel) = &mut self.kernel_memory {
            kernel.connected();
        }
    }

    /// The generator waits, or has ended: the phase under way is over, and `next` begins when it goes on. What is read of the connections
    /// meanwhile is in neither.
    pub(crate) fn border(&mut self, next: Option<PhaseName>) {
        let border = self.read_border();
        let ended = self.borders.border(border, None);
        if ended.is_some() && ended == self.expected.window {
            self.window_ended_with(&border);
        }
        let is_still = self.look_at_connections(ended);
        if next == Some(PhaseName::Connect)
            && let Some(kernel) = &mut self.kernel_memory
        {
            kernel.before();
        }
        let Some(next) = next else { return };
        let border = if is_still { border } else { self.read_border() };
        self.borders.border(border, Some(next));
        if Some(next) == self.expected.window {
            self.window_begins_after(&border);
        }
    }

    /// What is to be read of the connections when this phase has ended; whether that was nothing.
    fn look_at_connections(&mut self, ended: Option<PhaseName>) -> bool {
        if let Some(waiting) = &mut self.waiting {
            match ended {
                // Nothing is being timed.
                Some(PhaseName::Hold) => waiting.settle(),
                None | Some(PhaseName::Close) => {}
                Some(_) => waiting.look(),
            }
        }
        let Some(ended) = ended else { return true };
        if self.expected.are_settled_after(ended) {
            self.connected();
        } else if ended == PhaseName::Connect {
            // The server may still be accepting.
            self.count_descriptors();
        } else {
            return self.waiting.is_none();
        }
        false
    }

    /// One phase has turned into the next while the generator goes on: the time of the reading is the next one's.
    pub(crate) fn border_in_passing(&mut self, next: PhaseName) {
        let border = self.read_border();
        let in_passing = Border {
            ended_at_ns: border.begun_at_ns,
            ..border
        };
        self.borders.border(in_passing, Some(next));
    }

    fn read_border(&mut self) -> Border {
        let begun_at_ns = monotonic_ns();
        let generator = self.generator.as_mut().and_then(Side::reading);
        let server = self.server.as_mut().and_then(Side::reading);
        Border {
            begun_at_ns,
            ended_at_ns: monotonic_ns(),
            generator,
            server,
        }
    }

    fn window_begins_after(&mut self, border: &Border) {
        if let Some(side) = &mut self.generator {
            side.window_begins_after(border.generator);
        }
        if let Some(side) = &mut self.server {
            side.window_begins_after(border.server);
        }
        for side in self.sides() {
            side.after_window_begins();
        }
        self.moment(0);
    }

    /// One end of the window, for what both sides have in common.
    fn moment(&mut self, end: usize) {
        self.window[end] = Moment::now();
        // Whose server is elsewhere has a whole group for its generator.
        if self.expected.is_alone {
            self.throttled.0[end] = throng_sys::cgroup::throttled_ns();
        }
    }

    fn window_ended_with(&mut self, border: &Border) {
        self.moment(1);
        if let Some(side) = &mut self.generator {
            side.window_ended_with(border.generator);
        }
        if let Some(side) = &mut self.server {
            side.window_ended_with(border.server);
        }
        for side in self.sides() {
            side.after_window_ends();
        }
    }

    /// The measured window begins.
    pub(crate) fn measuring(&mut self) {
        for side in self.sides() {
            side.window_begins();
        }
        self.moment(0);
        for side in self.sides() {
            side.after_window_begins();
        }
    }

    /// The measured window ends.
    pub(crate) fn measured(&mut self) {
        for side in self.sides() {
            side.window_ends();
        }
        self.moment(1);
        for side in self.sides() {
            side.after_window_ends();
        }
    }

    /// The record of what was seen.
    pub(crate) fn finish(self, measured: &GeneratorFigures) -> Observations {
        let counters = self.counters_before.and_then(|before| {
            let now = self.network.counters().ok()?;
            Some(now.delta_since(&before).values)
        });
        let unaccepted = self.waiting.as_ref().and_then(|seen| seen.connections);
        let accepted = measured.connected.saturating_sub(unaccepted.unwrap_or(0));
        let accepted = measured.served.unwrap_or(accepted);
        let descriptors = self.server.as_ref().and_then(|side| side.descriptors);
        let cores_idle = self
            .server
            .as_ref()
            .and_then(|side| cores_idle(&self.window, &side.cpus));
        let of_both = [&self.server, &self.generator].into_iter().flatten();
        let cpus: BTreeSet<u32> = of_both.flat_map(|side| side.cpus.clone()).collect();
        let record = |side: Side, connections| {
            let taken = stolen(&self.window, side.cpus.iter().copied());
            SideRecord {
                stolen_ns: taken.map(|taken| taken.stolen_ns),
                ..side.record(connections, measured)
            }
        };
        let cpus_of_generator = self.generator.as_ref().map_or(0, |side| side.cpus.len());
        let mut server = self.server.map(|side| record(side, accepted));
        let mut generator = self.generator.map(|side| record(side, measured.connected));
        let others = if server.is_some() || self.expected.is_alone {
            others::of_sides(&self.window, [server.as_ref(), generator.as_ref()])
        } else {
            vec![]
        };
        // Of both together where they share CPUs; otherwise the server's first.
        for (side, others) in [
            (&mut server, others.first()),
            (&mut generator, others.last()),
        ] {
            if let Some((side, others)) = side.as_mut().zip(others) {
                side.others_ns = Some(others.used_ns);
            }
        }
        Observations {
            descriptors,
            phase_costs: self.borders.costs,
            kernel_memory: self.kernel_memory,
            server,
            generator,
            others,
            stolen: stolen(&self.window, cpus),
            throttled_share: self.throttled.share(&self.window, cpus_of_generator),
            cores_idle,
            kernel_counters: counters.unwrap_or_default(),
            unaccepted,
        }
    }

    /// The generator first: at the end of the window the server stays, and the generator is about to leave.
    fn sides(&mut self) -> impl Iterator<Item = &mut Side> {
        self.generator.iter_mut().chain(self.server.iter_mut())
    }
}

/// For how long quotas had held this process's control group up at both ends of the window; absent where there is no quota, or nobody asks.
#[derive(Debug, Default)]
struct Throttled([Option<u64>; 2]);

impl Throttled {
    /// Of the time of so many CPUs in the window, over which it is summed.
    fn share(&self, window: &[Option<Moment>; 2], cpus: usize) -> Option<f64> {
        let ([Some(before), Some(after)], [Some(begin), Some(end)]) = (self.0, window) else {
            return None;
        };
        let window_ns = end.at_ns.saturating_sub(begin.at_ns) * cpus as u64;
        let held_up_ns = after.saturating_sub(before);
        (window_ns > 0).then(|| (held_up_ns as f64 / window_ns as f64).min(1.0))
    }
}

/// What the generator's phases mean for observing them.
#[derive(Debug, Default)]
struct Expected {
    phases: Vec<PhaseName>,
    /// The phase that is the measured window; absent where messages are, and the generator tells when it begins and ends.
    window: Option<PhaseName>,
    /// There is no server here.
    is_alone: bool,
}

impl Expected {
    fn of(job: &LoadJob) -> Self {
        let has_window = job.phases.exchange().is_some();
        Self {
            phases: job.phases.0.iter().map(PhaseSpec::name).collect(),
            window: job.phases.window().filter(|_| !has_window),
            is_alone: job.phases.has(PhaseName::Multiplex),
        }
    }

    /// Whether every connection is open and accepted by the end of this phase, if it ever will be. After an exchange each that got a reply was; a
    /// greeting says the same; and while connections were held, whatever opening them left unsettled has settled.
    fn are_settled_after(&self, phase: PhaseName) -> bool {
        let is_followed_by =
            |names: &[PhaseName]| self.phases.iter().any(|next| names.contains(next));
        match phase {
            PhaseName::Exchange | PhaseName::Acknowledge | PhaseName::Hold => true,
            PhaseName::Connect | PhaseName::Tls => {
                !is_followed_by(&[PhaseName::Exchange, PhaseName::Acknowledge])
            }
            _ => false,
        }
    }
}

impl GeneratorFigures {
    /// Of this record.
    pub(crate) fn of(record: &LoadRecord) -> Self {
        let phases = &record.phases;
        let is_kept = phases.connections().is_none();
        let exchange = phases.exchange();
        Self {
            connected: phases.kept(),
            served: exchange
                .filter(|_| is_kept)
                .map(|exchange| exchange.connections_served),
            replies: in_window(phases),
            window: exchange.and_then(Window::of),
        }
    }
}

/// Messages that the server answered or delivered in the measured window.
fn in_window(phases: &Phases) -> u64 {
    let exchanged = phases.exchange().map(|exchange| exchange.replies);
    let sustained = phases.sustained().map(|phase| phase.deliveries);
    let got = phases.put().map(|phase| phase.line.received.into());
    exchanged.or(sustained).or(got).unwrap_or(0)
}

/// The steal of these CPUs, those that a side was allowed to use. (Of all CPUs together, one that is stolen wholly would be
/// lost among sixty-three that are not.)
fn stolen(window: &[Option<Moment>; 2], cpus: impl IntoIterator<Item = u32>) -> Option<Stolen> {
    let [Some(begin), Some(end)] = window else {
        return None;
    };
    let passed = end.cpus.delta_since(&begin.cpus).per_cpu;
    let mut sum = Stolen::default();
    for time in cpus.into_iter().filter_map(|cpu| passed.get(&cpu)) {
        sum.stolen_ns += time.steal_ns;
        sum.all_ns += time.all_ns();
        sum.cpus += 1;
    }
    Some(sum)
}

/// The idle time of these CPUs ÷ the window. The kernel tells it in whole ticks: one of each CPU may be chance, and is not counted.
fn cores_idle(window: &[Option<Moment>; 2], cpus: &[u32]) -> Option<f64> {
    let [Some(begin), Some(end)] = window else {
        return None;
    };
    let passed = end.cpus.delta_since(&begin.cpus);
    let of_cpu = |cpu: &u32| {
        let time = passed.per_cpu.get(cpu)?;
        let idle_ns = (time.idle_ns + time.iowait_ns).saturating_sub(TICK_NS);
        (time.all_ns() > 0).then(|| idle_ns as f64 / time.all_ns() as f64)
    };
    cpus.iter().map(of_cpu).sum()
}

#[cfg(test)]
mod tests;
