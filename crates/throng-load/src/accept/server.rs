//! The timed end: a thread with a descriptor table of its own that has a listener, a multiplexer and the accepted connections, and has
//! the client make one thing ready at a time.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, SyncSender};

use throng_record::{AcceptPhase, AcceptSpec, FleetSpec, Multiplexer};
use throng_sys::address::Address;
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};
use throng_sys::{affinity, descriptor_table, socket};

use super::client::{self, Client, Order};
use super::cost::idle_cost;
use super::stop::{Step, in_words};
use super::wait::{Ends, EpollWait, PollWait, SelectWait, UringWait, Wait};
use crate::control::Interrupt;
use crate::error::{LoadError, MAKE_RING, PIN};
use crate::source::Sources;

/// One client at a time connects; no queue is involved.
const BACKLOG: u32 = 16;
/// How often it is told how far the measurement is.
const REPORT_NS: u64 = 100 * MILLISECOND_NS;

/// To the thread that speaks to the lab, and back when it has spoken: meanwhile nothing is timed that it could disturb.
pub(super) struct Reports {
    pub(super) accepted: SyncSender<u32>,
    pub(super) told: Receiver<()>,
    pub(super) due_at_ns: u64,
}

impl Reports {
    fn report(&mut self, accepted: usize) {
        if monotonic_ns() < self.due_at_ns {
            return;
        }
        // Who no longer listens has no time to lose either.
        if self.accepted.send(accepted as u32).is_ok() {
            let _ = self.told.recv();
        }
        self.due_at_ns = monotonic_ns() + REPORT_NS;
    }
}

/// One measurement of each kind for each number of idle connections, from none on.
#[derive(Default)]
struct Samples {
    accept_ns: Vec<u64>,
    data_ns: Vec<u64>,
}

/// The body of the thread.
pub(super) fn run(
    spec: &AcceptSpec,
    fleet: &FleetSpec,
    interrupt: &Interrupt,
    reports: Reports,
) -> Result<AcceptPhase, LoadError> {
    prepare_thread(fleet)?;
    let (listener, address) = listen()?;
    std::thread::scope(|scope| {
        let assignment = client::Assignment {
            sources: Sources::here(&fleet.source, &address),
            address,
            cpu: fleet.cpus.get(1).or(fleet.cpus.first()).copied(),
            connect_timeout_ns: fleet.connect_timeout_ns,
        };
        let client =
            Client::start(scope, assignment).map_err(failed("start the client's thread"))?;
        let measurement = Measurement {
            client,
            spec,
            interrupt,
            reports,
            samples: Samples::default(),
        };
        measurement.with(Ends::new(listener))
    })
}

/// The first act of the thread: from here on its descriptors are its own.
fn prepare_thread(fleet: &FleetSpec) -> Result<(), LoadError> {
    descriptor_table::make_private(&[]).map_err(failed("unshare its descriptor table"))?;
    match fleet.cpus.first() {
        Some(&cpu) => affinity::set_current_thread(&[cpu]).map_err(failed(PIN)),
        None => Ok(()),
    }
}

fn listen() -> Result<(OwnedFd, Address), LoadError> {
    let any: Address = "127.0.0.1:0".parse()?;
    socket::listen(&any, BACKLOG)
        .map_err(io::Error::other)
        .map_err(failed("listen"))
}

fn failed(operation: &'static str) -> impl Fn(io::Error) -> LoadError {
    move |error| LoadError::multiplexer(operation, error)
}

struct Measurement<'a> {
    client: Client,
    spec: &'a AcceptSpec,
    interrupt: &'a Interrupt,
    reports: Reports,
    samples: Samples,
}

impl Measurement<'_> {
    fn with(self, ends: Ends) -> Result<AcceptPhase, LoadError> {
        let connections = self.spec.connections;
        Ok(match self.spec.multiplexer {
            Multiplexer::Select => {
                self.run(SelectWait::new(ends).map_err(failed("make a set of descriptors"))?)
            }
            Multiplexer::Poll if self.spec.published => self.run(
                PollWait::published(ends, connections)
                    .map_err(failed("replace its standard input"))?,
            ),
            Multiplexer::Poll => self.run(PollWait::new(ends)),
            Multiplexer::EpollLevel => {
                self.run(EpollWait::level(ends).map_err(failed("make an epoll"))?)
            }
            Multiplexer::EpollEdge => {
                self.run(EpollWait::edge(ends).map_err(failed("make an epoll"))?)
            }
            Multiplexer::IoUring => self.run(UringWait::new(ends).map_err(failed(MAKE_RING))?),
        })
    }

    fn run(mut self, mut wait: impl Wait) -> AcceptPhase {
        let stopped_by = self.grow(&mut wait).err();
        AcceptPhase {
            accepted: self.samples.accept_ns.len() as u32,
            stopped_by,
            accept: idle_cost(&self.samples.accept_ns),
            data: idle_cost(&self.samples.data_ns),
        }
    }

    /// Until all are there, or, in words, until what ended it before.
    fn grow(&mut self, wait: &mut impl Wait) -> Result<(), String> {
        for number in 1..=self.spec.connections {
            if self.interrupt.is_raised() {
                return Err("it was interrupted".to_owned());
            }
            self.round(wait)
                .map_err(|(step, error)| in_words(number, step, &error))?;
            self.reports.report(self.samples.accept_ns.len());
        }
        Ok(())
    }

    /// One more connection, then one byte on it.
    fn round(&mut self, wait: &mut impl Wait) -> Result<(), (Step, io::Error)> {
        let at = |step| move |error| (step, error);
        self.client.ask(Order::Connect).map_err(at(Step::Connect))?;
        let (cost_ns, connection) = timed(|| wait.accept()).map_err(at(Step::Accept))?;
        self.samples.accept_ns.push(cost_ns);
        wait.join(connection).map_err(at(Step::Join))?;
        self.client.ask(Order::Send).map_err(at(Step::Send))?;
        let (cost_ns, length) = timed(|| wait.receive()).map_err(at(Step::Receive))?;
        if length != 1 {
            let error = io::Error::other(format!("{length} bytes came instead of one"));
            return Err((Step::Receive, error));
        }
        self.samples.data_ns.push(cost_ns);
        Ok(())
    }
}

fn timed<T>(action: impl FnOnce() -> io::Result<T>) -> io::Result<(u64, T)> {
    let started_at_ns = monotonic_ns();
    let result = action()?;
    Ok((monotonic_ns() - started_at_ns, result))
}
