//! A station: it waits for orders, does its part of each job with a generator of its own, and observes that.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use throng_child::guard::Guard;
use throng_record::{LoadJob, PhaseName, SourceAddresses};
use throng_sys::affinity::allowed_cpus;
use throng_sys::clock::monotonic_ns;
use throng_sys::limits;
use throng_sys::namespace::Network;

use super::message::{self, Done, Order, Report};
use super::{Link, StationsError, Waiting, pair, sources, wait};
use crate::generator::Generator;
use crate::machine;
use crate::observer::{GeneratorFigures, Observations, Observer};
use crate::plan::{GeneratorHost, Interface};
use crate::series::Series;
use crate::trial::follow::{Following, follow};

/// The lab.
const LAB: u32 = 0;
/// As often it looks whether it is interrupted.
const GLANCE: Duration = Duration::from_millis(100);
/// A tick follows a tick.
const TICK_MAX: Duration = Duration::from_secs(5);

/// Does what the lab orders until it lets go. Must be called from a thread that lives until it returns, as generators are bound to it.
///
/// # Errors
/// [`StationsError`] where the lab falls silent or says what is no order.
pub fn attend(
    link: &dyn Link,
    throng_program: &Path,
    (name, version): (&str, &str),
    interrupted: &AtomicBool,
) -> Result<(), StationsError> {
    let _ = limits::raise_open_files();
    let _guard = Guard::post(throng_program);
    let station = Station {
        link,
        throng_program,
        interrupted,
        is_stopped: Cell::new(false),
    };
    loop {
        let Some(order) = station.next_order()? else {
            return Ok(());
        };
        match order {
            Order::Describe => station.report(&Report::Host {
                version: version.to_owned(),
                generator: Box::new(GeneratorHost::here(name)),
                machine: Box::new(machine::describe()),
            }),
            Order::Clocks { ticks } => station.tell_time(ticks)?,
            Order::Work { job } => {
                let done = station.work(*job);
                station.report(&Report::Done(Box::new(done)));
            }
            Order::Answer { to, number } => {
                station.report(&Report::Answers);
                pair::answer(link, to, number)?;
            }
            Order::Exchange {
                with,
                number,
                bytes,
            } => {
                let took = pair::exchange(link, with, number, bytes)?;
                station.report(&Report::Exchanged {
                    shortest_ns: took.shortest_ns,
                    all_ns: took.all_ns,
                });
            }
            // Of an order that is over.
            Order::Tick { .. } | Order::Begin { .. } | Order::Stop => {}
            Order::Leave => return Ok(()),
        }
    }
}

struct Station<'a> {
    link: &'a dyn Link,
    throng_program: &'a Path,
    interrupted: &'a AtomicBool,
    /// Whether the lab has ended the job under way.
    is_stopped: Cell<bool>,
}

impl Station<'_> {
    /// `None` where it is interrupted.
    fn next_order(&self) -> Result<Option<Order>, StationsError> {
        // For as long as it takes: mpirun ends this process where the lab's is gone.
        while !self.is_interrupted() {
            if let Some((from, bytes)) = wait(self.link, GLANCE, Waiting::Lazy) {
                return message::read(from, &bytes).map(Some);
            }
        }
        Ok(None)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn order(&self, patience: Duration, waiting: Waiting) -> Result<Order, StationsError> {
        let (from, bytes) = wait(self.link, patience, waiting).ok_or_else(silent)?;
        message::read(from, &bytes)
    }

    fn report(&self, report: &Report) {
        message::send(self.link, LAB, report);
    }

    fn tell_time(&self, ticks: u32) -> Result<(), StationsError> {
        for _ in 0..ticks {
            let Order::Tick { number } = self.order(TICK_MAX, Waiting::Eager)? else {
                // The lab has given up.
                return Ok(());
            };
            let at_monotonic_ns = monotonic_ns();
            self.report(&Report::Clock {
                number,
                at_monotonic_ns,
            });
        }
        Ok(())
    }

    fn work(&self, mut job: LoadJob) -> Done {
        let failed = |failure: String| Done {
            failure: Some(failure),
            ..Done::default()
        };
        if let Err(failure) = sources::fit(&mut job.fleet, &Interface::own()) {
            return failed(failure);
        }
        let job = &job;
        self.is_stopped.set(false);
        let started_at_ns = monotonic_ns();
        let network = Network::own();
        let cpus = &job.fleet.cpus;
        let generator = match Generator::start(self.throng_program, cpus, &network) {
            Ok(generator) => generator,
            Err(error) => return failed(error.to_string()),
        };
        let mut observer = Observer::new(None, network.clone());
        observer.expect(job, None);
        observer.stands_alone();
        let all = if cpus.is_empty() {
            allowed_cpus()
        } else {
            cpus.clone()
        };
        observer.generator_started(generator.tree.clone(), all);
        generator.begin(job);
        let series = Series::new(started_at_ns, network, None, Some(generator.pid()));
        let following = Following {
            is_interrupted: &|| self.is_interrupted() || self.is_stopped.get(),
            fleet: &job.fleet,
            started_at_ns,
        };
        let before = &mut |phase| self.before(phase);
        let ended = follow(
            &following,
            Box::new(generator),
            &mut observer,
            series,
            before,
            &mut |_, _, _| {},
        );
        let measured = ended
            .record
            .as_ref()
            .map_or_else(GeneratorFigures::default, GeneratorFigures::of);
        let failure = ended.failure().map(str::to_owned);
        let seen = observer.finish(&measured);
        Done {
            failure,
            record: ended.record.map(|mut record| {
                record.phases.add_costs(seen.phase_costs.clone());
                record
            }),
            source_addresses: match &job.fleet.source {
                SourceAddresses::List(list) => list.len() as u32,
                SourceAddresses::Spread | SourceAddresses::Kernel => 1,
            },
            series: ended.series,
            started_at_monotonic_ns: started_at_ns,
            ..shares(seen)
        }
    }

    /// Waits until all have come to this phase; when it begins.
    fn before(&self, phase: PhaseName) -> Option<u64> {
        self.report(&Report::Waits { phase });
        loop {
            if self.is_interrupted() {
                return None;
            }
            match self.order(GLANCE, Waiting::Lazy) {
                Ok(Order::Begin { at_monotonic_ns }) => return Some(at_monotonic_ns),
                Ok(Order::Stop) => {
                    self.is_stopped.set(true);
                    return None;
                }
                // The lab has ended.
                Ok(Order::Leave) => self.interrupted.store(true, Ordering::Relaxed),
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// The lab says nothing.
fn silent() -> StationsError {
    StationsError::Silent("the lab (rank 0)".to_owned())
}

/// What the host saw of its generator.
fn shares(seen: Observations) -> Done {
    let share = |taken_ns: u64, all_ns: u64| (all_ns > 0).then(|| taken_ns as f64 / all_ns as f64);
    let window_ns = seen
        .generator
        .as_ref()
        .map_or(0, |side| side.window_ns * side.cpus.len() as u64);
    let others_ns = seen.generator.as_ref().and_then(|side| side.others_ns);
    Done {
        stolen_share: seen
            .stolen
            .and_then(|stolen| share(stolen.stolen_ns, stolen.all_ns)),
        throttled_share: seen.throttled_share,
        others_share: others_ns.and_then(|others_ns| share(others_ns, window_ns)),
        generator: seen.generator,
        kernel_counters: seen.kernel_counters,
        ..Done::default()
    }
}
