//! A shard: one thread with its own descriptor table, event loop, recorder and slice of the fleet's connections. It waits
//! for the phase it is told, does it, answers with what it measured, and waits for the next.

mod close;
mod connect;
pub(crate) mod errors;
pub(crate) mod exchange;
pub(crate) mod fanout;
mod hold;
mod outstanding;
mod overdue;
mod ping;
mod queue_full;
mod requests;
mod stage;
mod tls;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use throng_record::{
    Arrivals, Backend as BackendName, ClosePhase, ConnectionUse, ExchangeSpec, FleetSpec,
    Pacing as PacingSpec, TasksSpec,
};
use throng_sys::{affinity, clock, descriptor_table};

use crate::addresses::Addresses;
use crate::backend::Backend;
use crate::backend::epoll::EpollBackend;
use crate::backend::io_uring::{UringBackend, Usage};
use crate::backend::tls::TlsBackend;
use crate::connection::Connection;
use crate::control::{Interrupt, Orders, Progress, Relay, ShardStage};
use crate::error::{LoadError, MAKE_RING, PIN};
use crate::messages::Messages;
use crate::pacing::{Closed, Lockstep, Open, Tasks};
use crate::protocol::Replies;
use crate::script::Script;
use crate::source::Sources;
use crate::tls::Tls;

pub(crate) use connect::ShardConnect;
pub(crate) use exchange::{SILENCE_LEAST_NS, ShardExchange, ShardSilence, Window, waits_for_all};
pub(crate) use hold::ShardHold;
pub(crate) use ping::{Pings, Sample, ShardPings};
pub(crate) use requests::{RequestLog, ShardConnections, ShardRequests};
pub(crate) use tls::{ShardHandshakes, ShardTls};

/// What a shard is told to do next.
pub(crate) enum Phase {
    Connect,
    Tls,
    Exchange(Box<ExchangeSpec>),
    /// Until this monotonic time.
    Hold {
        until_ns: u64,
    },
    /// Tell how many connections are open.
    Count,
    Ping(Box<Pings>),
    Fanout(fanout::Part),
    Close,
}

/// What it answers.
pub(crate) enum Answer {
    Ready,
    /// Before the answer to an exchange: a stage has been reached.
    Reached(ShardStage),
    /// Before the answer to what shards do in turns: the next may begin.
    TurnOver,
    Connected(Box<ShardConnect>),
    Secured(Box<ShardTls>),
    Exchanged(Box<ShardExchange>),
    Requested(Box<ShardRequests>),
    Held(Box<ShardHold>),
    Open {
        shard: u32,
        connections: u32,
    },
    Pinged(Box<ShardPings>),
    /// The connection of this shard that would speak.
    Candidate(Option<u32>),
    Line(Box<fanout::ShardLine>),
    Sustained(Box<fanout::ShardSustained>),
    Closed(Box<ClosePhase>),
}

/// Everything a shard's thread starts with.
pub(crate) struct Assignment {
    pub(crate) shard: u32,
    /// Index within the fleet of the first of its connections.
    pub(crate) first: u32,
    pub(crate) connections: u32,
    pub(crate) spec: Arc<FleetSpec>,
    pub(crate) addresses: Addresses,
    pub(crate) sources: Sources,
    pub(crate) messages: Messages,
    pub(crate) usage: Usage,
    /// Absent: what is sent and received is plain.
    pub(crate) tls: Option<Tls>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) orders: Arc<Orders>,
    /// Where there is a fan-out: what is heard on each connection, and what shards tell each other of it.
    pub(crate) fanout: Option<(Arc<Script>, Arc<Relay>)>,
    pub(crate) interrupt: Interrupt,
}

/// A shard at work, over one back end.
pub(crate) struct Shard<B> {
    pub(crate) assignment: Assignment,
    pub(crate) backend: B,
    pub(crate) connections: Vec<Connection>,
    answers: Answers,
}

/// The one channel to the coordinator, each answer with its shard's number.
pub(crate) type Answers = Sender<(u32, Result<Answer, LoadError>)>;

/// The body of a shard's thread.
pub(crate) fn run(assignment: Assignment, phases: &Receiver<Phase>, answers: Answers) {
    let (shard, last_words) = (assignment.shard, answers.clone());
    let failed = |operation, error| LoadError::shard(shard, operation, error);
    let outcome = prepare_thread(&assignment).and_then(|()| {
        let slots = assignment.connections as usize;
        let shared = match &assignment.fanout {
            Some((script, _)) => script.shared(),
            None => assignment.messages.shared(),
        };
        match assignment.spec.backend {
            BackendName::Epoll => {
                let backend = EpollBackend::new(slots, Arc::clone(&shared))
                    .map_err(|error| failed("make an epoll", error))?;
                serve_over(assignment, backend, shared, phases, answers)
            }
            BackendName::IoUring => {
                let backend = UringBackend::new(slots, Arc::clone(&shared), assignment.usage)
                    .map_err(|error| failed(MAKE_RING, error))?;
                serve_over(assignment, backend, shared, phases, answers)
            }
        }
    });
    if let Err(error) = outcome {
        // Nobody listens only where the fleet is already being dropped.
        let _ = last_words.send((shard, Err(error)));
    }
}

/// Works over this back end, or over TLS over it.
fn serve_over<B: Backend>(
    assignment: Assignment,
    backend: B,
    shared: Arc<[u8]>,
    phases: &Receiver<Phase>,
    answers: Answers,
) -> Result<(), LoadError> {
    match &assignment.tls {
        None => Shard::new(assignment, backend, answers).serve(phases),
        Some(tls) => {
            let slots = assignment.connections as usize;
            let backend = TlsBackend::new(backend, tls.client()?, slots, shared);
            Shard::new(assignment, backend, answers).serve(phases)
        }
    }
}

/// The first act of the thread: from here on its descriptors are its own.
fn prepare_thread(assignment: &Assignment) -> Result<(), LoadError> {
    let failed = |operation, error| LoadError::shard(assignment.shard, operation, error);
    descriptor_table::make_private(&[])
        .map_err(|error| failed("unshare its descriptor table", error))?;
    let cpus = &assignment.spec.cpus;
    if !cpus.is_empty() {
        let own = cpus[assignment.shard as usize % cpus.len()];
        affinity::set_current_thread(&[own]).map_err(|error| failed(PIN, error))?;
    }
    clock::drop_timer_slack().map_err(|error| failed("drop its timer slack", error))
}

impl<B: Backend> Shard<B> {
    fn new(assignment: Assignment, backend: B, answers: Answers) -> Self {
        let connections = vec![Connection::default(); assignment.connections as usize];
        Self {
            assignment,
            backend,
            connections,
            answers,
        }
    }

    fn serve(mut self, phases: &Receiver<Phase>) -> Result<(), LoadError> {
        let connections = self.assignment.connections;
        let fanout = self.assignment.fanout.clone();
        let mut fanout =
            fanout.map(|(script, relay)| (fanout::ScriptProgress::new(script, connections), relay));
        self.answer(Answer::Ready);
        while let Ok(phase) = phases.recv() {
            let answer = match phase {
                Phase::Connect => Answer::Connected(Box::new(match &mut fanout {
                    Some((script_progress, _)) => connect::run(&mut self, script_progress)?,
                    None => connect::run(&mut self, &mut connect::Silence)?,
                })),
                Phase::Tls => Answer::Secured(Box::new(tls::run(&mut self)?)),
                Phase::Exchange(spec) => self.work(&spec)?,
                Phase::Hold { until_ns } => Answer::Held(Box::new(hold::run(&mut self, until_ns)?)),
                Phase::Count => Answer::Open {
                    shard: self.assignment.shard,
                    connections: self.usable(),
                },
                Phase::Ping(pings) => Answer::Pinged(Box::new(ping::run(&mut self, &pings)?)),
                Phase::Close => {
                    let closed = close::run(&mut self)?;
                    self.answer(Answer::TurnOver);
                    Answer::Closed(Box::new(closed))
                }
                Phase::Fanout(part) => match &mut fanout {
                    Some((script_progress, relay)) => {
                        fanout::run(&mut self, script_progress, relay, part)?
                    }
                    None => Answer::Candidate(None),
                },
            };
            self.answer(answer);
        }
        Ok(())
    }

    /// A coordinator that no longer listens is about to end the channel of phases too.
    fn answer(&self, answer: Answer) {
        let _ = self.answers.send((self.assignment.shard, Ok(answer)));
    }

    fn work(&mut self, spec: &ExchangeSpec) -> Result<Answer, LoadError> {
        Ok(match spec.connection {
            ConnectionUse::Kept => Answer::Exchanged(Box::new(self.exchange(spec)?)),
            ConnectionUse::PerMessage {
                slow_first_byte_ns,
                tells_every_request,
            } => {
                let log = RequestLog::new(tells_every_request, slow_first_byte_ns);
                Answer::Requested(Box::new(self.requests(spec, log)?))
            }
        })
    }

    fn exchange(&mut self, spec: &ExchangeSpec) -> Result<ShardExchange, LoadError> {
        let replies = Replies::of(&spec.protocol, &self.assignment.messages, spec.verify);
        match spec.pacing {
            PacingSpec::Closed { outstanding } => {
                exchange::run(self, spec, replies, Closed::new(outstanding))
            }
            PacingSpec::Lockstep { group } => {
                exchange::run(self, spec, replies, Lockstep::new(group))
            }
            PacingSpec::Tasks(tasks) => {
                let pacing = self.tasks(tasks, tasks.choices, spec);
                exchange::run(self, spec, replies, pacing)
            }
            PacingSpec::Open {
                rate_per_second,
                arrivals,
                outstanding,
                spin,
            } => {
                let pacing = self.open_loop(rate_per_second, arrivals, outstanding, spin);
                exchange::run(self, spec, replies, pacing)
            }
        }
    }

    fn requests(
        &mut self,
        spec: &ExchangeSpec,
        log: RequestLog,
    ) -> Result<ShardRequests, LoadError> {
        match spec.pacing {
            PacingSpec::Open {
                rate_per_second,
                arrivals,
                outstanding,
                spin,
            } => {
                let pacing = self.open_loop(rate_per_second, arrivals, outstanding, spin);
                requests::run(self, spec, log, pacing)
            }
            PacingSpec::Tasks(tasks) => {
                let pacing = self.tasks(tasks, 1, spec);
                requests::run(self, spec, log, pacing)
            }
            PacingSpec::Closed { .. } | PacingSpec::Lockstep { .. } => {
                requests::run(self, spec, log, Closed::new(1))
            }
        }
    }

    /// This shard's clients with tasks, each of so many connections.
    fn tasks(&self, tasks: TasksSpec, slots_of_task: u32, spec: &ExchangeSpec) -> Tasks {
        let addresses = self.assignment.addresses.number();
        Tasks::new(
            tasks,
            slots_of_task,
            spec.stop.each(),
            addresses,
            self.seed(),
        )
    }

    /// This shard's part of an open loop.
    fn open_loop(
        &self,
        rate_per_second: f64,
        arrivals: Arrivals,
        outstanding: u32,
        spin: bool,
    ) -> Open {
        let (shard, shards) = (self.assignment.shard, self.assignment.spec.shards);
        let (offset, shards) = (f64::from(shard) / f64::from(shards), f64::from(shards));
        let rate_per_second = rate_per_second / shards;
        Open::new(
            rate_per_second,
            offset,
            arrivals,
            outstanding,
            spin,
            self.seed(),
        )
    }

    /// The fleet's, made another for each shard, of whichever generator.
    fn seed(&self) -> u64 {
        let salt = (u64::from(self.assignment.first) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.assignment.spec.seed ^ salt
    }

    /// Which address a kept connection of this shard goes to.
    #[inline]
    pub(crate) fn address(&self, slot: u32) -> usize {
        self.assignment.addresses.place(self.index(slot))
    }

    /// The index within the fleet of a slot of this shard.
    pub(crate) fn index(&self, slot: u32) -> u32 {
        self.assignment.first + slot
    }

    pub(crate) fn fault(&self, operation: &'static str, error: std::io::Error) -> LoadError {
        LoadError::shard(self.assignment.shard, operation, error)
    }
}
