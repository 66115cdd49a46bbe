//! A fleet: N connections over shards, worked in phases. Each phase starts every shard, watches, and merges what they
//! measured: a barrier, a run, a merge.

mod connections;
mod connects;
mod fairness;
mod fanout;
mod hold;
mod merge;
mod payload;
mod silences;
mod tls;
mod turns;
mod validate;
mod watch;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use throng_record::{
    ClosePhase, ConnectPhase, ConnectionUse, ConnectionsPhase, ExchangePhase, ExchangeSpec,
    FleetSpec, LoadJob, Measured, PhaseSpec,
};
use throng_sys::clock::monotonic_ns;

use crate::addresses::Addresses;
use crate::control::{Interrupt, Orders, Progress, ProgressReading, Relay, ShardStage};
use crate::error::LoadError;
use crate::script::{Lines, Script};
use crate::shard::{Answer, Answers, Assignment, Phase, ShardExchange, run, waits_for_all};
use crate::source::Sources;
use crate::tls::Tls;
use payload::Payload;
use validate::validate;
use watch::Watch;

/// How often the coordinator looks at the shards. Rarely: it may share a core with one.
const LOOK: Duration = Duration::from_millis(20);

/// How far an exchange is, as told to an [`Observer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Every shard has finished its warm-up.
    Measuring,
    /// Work goes on: replies so far, warm-up included.
    Progress(u64),
    /// A shard has sent its last message: the window in which all are active is over. Where each message has a connection of its
    /// own, the last one of all shards has ended.
    Measured,
}

/// Told of the stages of an exchange while it runs, on the coordinator's thread.
pub type Observer<'a> = &'a mut dyn FnMut(Stage);

/// Connections at work. Dropping it ends its threads and closes every connection.
pub struct Fleet {
    spec: Arc<FleetSpec>,
    shards: Vec<ShardHandle>,
    answers: Receiver<(u32, Result<Answer, LoadError>)>,
    orders: Arc<Orders>,
    interrupt: Interrupt,
    /// When the last connect had ended.
    connected_at_ns: u64,
    /// Where there is a fan-out.
    fanout: Option<(Arc<Script>, Arc<Relay>)>,
}

struct ShardHandle {
    phases: Option<Sender<Phase>>,
    progress: Arc<Progress>,
    thread: Option<JoinHandle<()>>,
}

impl Fleet {
    /// Starts the shards of a fleet for these phases. Nothing is connected yet.
    ///
    /// # Errors
    /// [`LoadError`] where the job contradicts itself or a shard cannot be made.
    pub fn assemble(job: &LoadJob, interrupt: Interrupt) -> Result<Self, LoadError> {
        let addresses = Addresses::of(&job.fleet)?;
        validate(job)?;
        let tls = job.fleet.tls.as_ref().map(Tls::of).transpose()?;
        let seed = job.fleet.seed;
        let payload = match Lines::of(&job.phases) {
            Some(lines) => Payload::script(Script::of(&lines, seed)),
            None => Payload::messages(&job.phases.0, seed),
        };
        let clients = job.phases.clients(job.fleet.connections);
        Self::start(&job.fleet, (addresses, clients), payload, tls, interrupt)
    }

    /// Starts the shards of a fleet that has been found valid.
    fn start(
        spec: &FleetSpec,
        (addresses, clients): (Addresses, u32),
        payload: Payload,
        tls: Option<Tls>,
        interrupt: Interrupt,
    ) -> Result<Self, LoadError> {
        let spec = Arc::new(spec.clone());
        let orders = Arc::new(Orders::default());
        let (answer, answers) = channel();
        let mut fleet = Self {
            spec: Arc::clone(&spec),
            shards: Vec::new(),
            answers,
            orders: Arc::clone(&orders),
            interrupt,
            connected_at_ns: 0,
            fanout: payload.fanout,
        };
        let sources = Sources::here(&spec.source, addresses.first());
        let mut first = spec.first_connection;
        for shard in 0..spec.shards {
            let own = clients / spec.shards + u32::from(shard < clients % spec.shards);
            let connections = own * (spec.connections / clients);
            let progress = Arc::new(Progress::default());
            let assignment = Assignment {
                shard,
                first,
                connections,
                spec: Arc::clone(&spec),
                addresses: addresses.clone(),
                sources: sources.clone(),
                messages: payload.messages.clone(),
                usage: payload.usage,
                tls: tls.clone(),
                progress: Arc::clone(&progress),
                orders: Arc::clone(&orders),
                fanout: fleet.fanout.clone(),
                interrupt: fleet.interrupt.clone(),
            };
            fleet
                .shards
                .push(ShardHandle::start(assignment, progress, answer.clone())?);
            first += connections;
        }
        for answer in fleet.gather()? {
            debug_assert!(matches!(answer, Answer::Ready));
        }
        Ok(fleet)
    }

    /// Does a phase.
    ///
    /// # Errors
    /// [`LoadError`] where a shard's event loop fails; what happens to connections is counted in the record.
    pub fn run(&mut self, spec: &PhaseSpec, observer: Observer<'_>) -> Result<Measured, LoadError> {
        Ok(match spec {
            PhaseSpec::Connect => Measured::Connect(self.connect(observer)?),
            PhaseSpec::Tls => Measured::Tls(self.secure(observer)?),
            PhaseSpec::Acknowledge { .. } => Measured::Acknowledge(self.hear_greeting(observer)?),
            PhaseSpec::Get(spec) => Measured::Get(self.put_and_hear(spec.speaker, observer)?),
            PhaseSpec::Sustain(spec) => {
                Measured::Sustain(self.put_at_rate(spec.put.speaker, observer)?)
            }
            PhaseSpec::Exchange(spec) if spec.connection == ConnectionUse::Kept => {
                Measured::Exchange(self.exchange(spec, observer)?)
            }
            PhaseSpec::Exchange(spec) => {
                let (exchange, connections) = self.request(spec, observer)?;
                Measured::Request {
                    exchange,
                    connections,
                }
            }
            PhaseSpec::Hold { duration_ns } => Measured::Hold(self.hold(*duration_ns, observer)?),
            PhaseSpec::Ping(spec) => Measured::Ping(self.ping(spec, observer)?),
            PhaseSpec::Close => Measured::Close(self.close(observer)?),
            PhaseSpec::Multiplex(_) => unreachable!("refused before a shard is made"),
        })
    }

    /// Opens every connection, telling how many are open so far. As many shards are at work at a time as the generator has CPUs; only one
    /// where one connect is in flight at a time, so that connection follows connection in the order of their indices.
    fn connect(&mut self, observer: Observer<'_>) -> Result<ConnectPhase, LoadError> {
        let answers = self.in_turns(self.connecting(), || Phase::Connect, observer)?;
        let shards = answers.into_iter().filter_map(|answer| match answer {
            Answer::Connected(connect) => Some(*connect),
            _ => None,
        });
        let shards: Vec<_> = shards.collect();
        self.connected_at_ns = shards
            .iter()
            .map(|shard| shard.ended_at_ns)
            .max()
            .unwrap_or_else(monotonic_ns);
        Ok(connects::connects(shards, self.spec.connections))
    }

    /// Exchanges messages on the open connections until the stop condition or the interrupt.
    fn exchange(
        &mut self,
        spec: &ExchangeSpec,
        observer: Observer<'_>,
    ) -> Result<ExchangePhase, LoadError> {
        let mut watch = Watch::new(spec);
        let unanswered = if waits_for_all(spec, &self.spec) {
            self.count_open()?.iter().sum()
        } else {
            0
        };
        let answers = self.work(spec, unanswered, &mut watch, observer)?;
        let shards = answers.into_iter().filter_map(|answer| match answer {
            Answer::Exchanged(exchange) => Some(*exchange),
            _ => None,
        });
        Ok(self.exchanged(shards, spec, &watch))
    }

    /// Sends messages that each have a connection of their own, until the stop condition or the interrupt: what was exchanged, and
    /// what became of the connections. The fleet's connections are then clients, of which none is connected before.
    fn request(
        &mut self,
        spec: &ExchangeSpec,
        observer: Observer<'_>,
    ) -> Result<(ExchangePhase, ConnectionsPhase), LoadError> {
        let mut watch = Watch::new(spec);
        let answers = self.work(spec, 0, &mut watch, observer)?;
        let shards = answers.into_iter().filter_map(|answer| match answer {
            Answer::Requested(requests) => Some((requests.exchange, requests.connections)),
            _ => None,
        });
        let (exchanges, connections): (Vec<_>, Vec<_>) = shards.unzip();
        let phase = self.exchanged(exchanges.into_iter(), spec, &watch);
        Ok((phase, connections::connections(connections)))
    }

    /// Has every shard do the exchange, in whichever way its messages use connections. The warm-up waits for so many first replies.
    fn work(
        &mut self,
        spec: &ExchangeSpec,
        unanswered: u32,
        watch: &mut Watch,
        observer: Observer<'_>,
    ) -> Result<Vec<Answer>, LoadError> {
        self.orders.reset(unanswered);
        self.shards.iter().for_each(|shard| shard.progress.reset());
        self.tell(|| Phase::Exchange(Box::new(spec.clone())));
        let answers = self.gather_watching(&mut |readings, stage| {
            watch.look(readings, stage, &self.orders, observer);
        })?;
        watch.finish(observer);
        Ok(answers)
    }

    fn exchanged(
        &self,
        shards: impl Iterator<Item = ShardExchange>,
        spec: &ExchangeSpec,
        watch: &Watch,
    ) -> ExchangePhase {
        let mut phase = merge::exchanges(shards, spec, self.spec.connections);
        watch.complete(&mut phase);
        phase
    }

    /// Ends our output on every connection and awaits the peer's end, telling how many are closed so far. As many shards are at work at a
    /// time as the generator has CPUs.
    fn close(&mut self, observer: Observer<'_>) -> Result<ClosePhase, LoadError> {
        let started_at_ns = monotonic_ns();
        let answers = self.in_turns(self.at_work(), || Phase::Close, observer)?;
        let shards = answers.into_iter().filter_map(|answer| match answer {
            Answer::Closed(close) => Some(*close),
            _ => None,
        });
        let mut phase = merge::closes(shards);
        phase.duration_ns = monotonic_ns() - started_at_ns;
        Ok(phase)
    }

    fn tell(&self, phase: impl Fn() -> Phase) {
        self.shards.iter().for_each(|shard| shard.tell(phase()));
    }

    fn gather(&self) -> Result<Vec<Answer>, LoadError> {
        self.gather_watching(&mut |_, _| {})
    }

    /// One answer of each shard; while waiting, `look` is told of the progress and of the stage that all have reached.
    fn gather_watching(
        &self,
        look: &mut dyn FnMut(&[ProgressReading], ShardStage),
    ) -> Result<Vec<Answer>, LoadError> {
        self.gather_following(&mut || {}, look)
    }

    /// The same, and `turn_over` is called each time that a shard's turn is over.
    fn gather_following(
        &self,
        turn_over: &mut dyn FnMut(),
        look: &mut dyn FnMut(&[ProgressReading], ShardStage),
    ) -> Result<Vec<Answer>, LoadError> {
        let mut stages = vec![ShardStage::default(); self.shards.len()];
        let mut answers = Vec::new();
        while answers.len() < self.shards.len() {
            match self.answers.recv_timeout(LOOK) {
                Ok((shard, Ok(Answer::Reached(stage)))) => stages[shard as usize] = stage,
                Ok((_, Ok(Answer::TurnOver))) => turn_over(),
                Ok((_, answer)) => answers.push(answer?),
                Err(_) => self.find_lost_shard()?,
            }
            let readings: Vec<_> = self
                .shards
                .iter()
                .map(|shard| shard.progress.read())
                .collect();
            look(&readings, common_stage(&stages));
        }
        Ok(answers)
    }

    /// A thread that has ended while an answer is owed has panicked, or its reason is still in the channel.
    fn find_lost_shard(&self) -> Result<(), LoadError> {
        let ended =
            |shard: &ShardHandle| shard.thread.as_ref().is_some_and(JoinHandle::is_finished);
        let Some(lost) = self.shards.iter().position(ended) else {
            return Ok(());
        };
        match self.answers.try_recv() {
            Ok((_, Err(reason))) => Err(reason),
            _ => Err(LoadError::ShardLost(lost as u32)),
        }
    }
}

/// Measuring once all do, draining once one does.
fn common_stage(stages: &[ShardStage]) -> ShardStage {
    if stages.contains(&ShardStage::Draining) {
        return ShardStage::Draining;
    }
    stages.iter().min().copied().unwrap_or_default()
}

impl ShardHandle {
    /// A shard that is gone has left its reason, which is found when its answer is awaited.
    fn tell(&self, phase: Phase) {
        if let Some(phases) = &self.phases {
            let _ = phases.send(phase);
        }
    }

    fn start(
        assignment: Assignment,
        progress: Arc<Progress>,
        answers: Answers,
    ) -> Result<Self, LoadError> {
        let shard = assignment.shard;
        let (phases, told) = channel();
        let thread = std::thread::Builder::new()
            .name(format!("shard-{shard}"))
            .spawn(move || run(assignment, &told, answers))
            .map_err(|error| LoadError::shard(shard, "start its thread", error))?;
        Ok(Self {
            phases: Some(phases),
            progress,
            thread: Some(thread),
        })
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.shards
            .iter_mut()
            .for_each(|shard| drop(shard.phases.take()));
        for shard in &mut self.shards {
            if let Some(thread) = shard.thread.take() {
                // A panic of the thread was already seen as a lost shard.
                let _ = thread.join();
            }
        }
    }
}
