//! A job under way on all stations: one generator, as far as the lab's trial can tell.

use std::collections::VecDeque;
use std::time::Duration;

use throng_record::{
    Amount, ClockOffset, FleetSpec, HostPart, LoadEvent, LoadJob, PhaseName, PhaseSpec,
    SeriesSample, Stop,
};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::merged::merged;
use super::message::{self, Done, Order, Report};
use super::{LOOK, Stations, StationsError, unexpected};
use crate::generator::{Generating, GeneratorError};

/// From the order to begin to the instant named: it has to arrive first, wherever it goes.
const LEAD_NS: u64 = 30 * MILLISECOND_NS;
/// Between two looks while a phase is under way of which nobody knows how long it lasts. A look is a call into the message layer, which sends nothing.
const LOOK_UNDER_WAY: Duration = Duration::from_millis(20);

/// One station's part.
pub(super) struct Post {
    pub(super) rank: u32,
    pub(super) fleet: FleetSpec,
    pub(super) clock: ClockOffset,
    state: State,
}

impl Post {
    fn has_failed(&self) -> bool {
        matches!(&self.state, State::Done(done) if done.failure.is_some())
    }
}

enum State {
    Working,
    Waits(PhaseName),
    Done(Box<Done>),
}

/// The phase under way.
struct UnderWay {
    /// Its measured window, where it is known: to be told of, and not to be disturbed.
    window: Option<(u64, u64)>,
    /// Its end, where that is known; 0 otherwise.
    quiet_until_ns: u64,
    told: Told,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Measuring,
    Measured,
}

/// A job on all stations.
pub(crate) struct Conducted<'a> {
    stations: &'a Stations<'a>,
    asked: Vec<PhaseSpec>,
    posts: Vec<Post>,
    events: VecDeque<LoadEvent>,
    /// The phase that all wait before.
    next: Option<PhaseName>,
    under_way: Option<UnderWay>,
    outcome: Outcome,
}

/// What came of the stations' parts.
#[derive(Default)]
struct Outcome {
    hosts: Vec<HostPart>,
    series: Vec<SeriesSample>,
}

impl<'a> Conducted<'a> {
    /// Divides a job, and hands each station its part.
    pub(crate) fn begin(stations: &'a Stations<'a>, job: &LoadJob) -> Result<Self, GeneratorError> {
        let number = stations.link.number() - 1;
        let parts = job
            .parts(number)
            .map_err(|error| GeneratorError::Failed(error.to_string()))?;
        let mut posts = Vec::new();
        for (rank, part) in stations.ranks().zip(&parts) {
            posts.push(Post {
                rank,
                fleet: part.fleet.clone(),
                clock: stations
                    .clock(rank)
                    .map_err(|error| lost(stations, error))?,
                state: State::Working,
            });
        }
        for (post, part) in posts.iter().zip(parts) {
            let job = Box::new(part);
            message::send(stations.link, post.rank, &Order::Work { job });
        }
        Ok(Self {
            stations,
            asked: job.phases.0.clone(),
            posts,
            events: VecDeque::new(),
            next: None,
            under_way: None,
            outcome: Outcome::default(),
        })
    }

    /// What a station has to say.
    fn note(&mut self, rank: u32, bytes: &[u8]) -> Result<(), GeneratorError> {
        let report: Report =
            message::read(rank, bytes).map_err(|error| lost(self.stations, error))?;
        let Some(post) = self.posts.iter_mut().find(|post| post.rank == rank) else {
            return Err(lost(self.stations, unexpected(rank, &report)));
        };
        post.state = match report {
            Report::Waits { phase } => State::Waits(phase),
            Report::Done(done) => State::Done(done),
            other => return Err(lost(self.stations, unexpected(rank, &other))),
        };
        let is_working = |post: &Post| matches!(post.state, State::Working);
        if !self.posts.iter().any(is_working) {
            self.gathered()?;
        }
        Ok(())
    }

    /// All have come to the end of what they did.
    fn gathered(&mut self) -> Result<(), GeneratorError> {
        if let Some(under_way) = self.under_way.take() {
            self.events.extend(under_way.rest());
        }
        if self.posts.iter().any(Post::has_failed) && self.stop_those_that_wait() {
            return Ok(());
        }
        let waiting = self.posts.iter().filter_map(|post| match post.state {
            State::Waits(phase) => Some(phase),
            _ => None,
        });
        // Some leave a phase out, as where none of their connections opened: the others go first.
        let place = |phase: &PhaseName| self.asked.iter().position(|asked| asked.name() == *phase);
        self.next = waiting.min_by_key(|phase| place(phase));
        match self.next {
            Some(phase) => self.events.push_back(LoadEvent::Phase { phase }),
            None => self.finish()?,
        }
        Ok(())
    }

    /// Where one has failed the others' figures are of no job that was asked for. Whether there were any that waited.
    fn stop_those_that_wait(&mut self) -> bool {
        let mut have_waited = false;
        for post in &mut self.posts {
            if matches!(post.state, State::Waits(_)) {
                message::send(self.stations.link, post.rank, &Order::Stop);
                post.state = State::Working;
                have_waited = true;
            }
        }
        have_waited
    }

    fn finish(&mut self) -> Result<(), GeneratorError> {
        let mut parts = Vec::new();
        for mut post in std::mem::take(&mut self.posts) {
            let after = self.stations.clock(post.rank);
            let after = after.map_err(|error| lost(self.stations, error))?;
            post.clock = ClockOffset::around(post.clock, after);
            match std::mem::replace(&mut post.state, State::Working) {
                State::Done(done) => parts.push((post, *done)),
                State::Working | State::Waits(_) => {}
            }
        }
        if let Some((post, failure)) = parts
            .iter()
            .find_map(|(post, done)| Some((post, done.failure.as_ref()?)))
        {
            let name = self.stations.name(post.rank);
            return Err(GeneratorError::Failed(format!("{name}: {failure}")));
        }
        let (record, hosts, series) =
            merged(parts, (self.stations.hosts(), self.stations.generators()))?;
        self.outcome = Outcome { hosts, series };
        let record = Box::new(record);
        self.events.push_back(LoadEvent::Finished { record });
        Ok(())
    }

    /// Until when nobody is to be spoken to.
    fn quiet_until_ns(&self) -> u64 {
        let under_way = self.under_way.as_ref();
        under_way.map_or(0, |under_way| under_way.quiet_until_ns)
    }
}

impl UnderWay {
    /// A phase that begins then.
    fn of(spec: Option<&PhaseSpec>, begun_at_ns: u64) -> Self {
        let window = spec.and_then(|spec| window(spec, begun_at_ns));
        let end_ns = match spec {
            Some(PhaseSpec::Hold { duration_ns }) => begun_at_ns.saturating_add(*duration_ns),
            _ => window.map_or(0, |(_, until_ns)| until_ns),
        };
        Self {
            window,
            quiet_until_ns: if end_ns == u64::MAX { 0 } else { end_ns },
            told: Told::Nothing,
        }
    }

    /// Until the next look: not before something is due to be told or the phase is over, where that is known.
    fn pause(&self, now_ns: u64) -> Duration {
        let until_ns = match (self.told, self.window) {
            (Told::Nothing, Some((from_ns, _))) => from_ns,
            _ => self.quiet_until_ns,
        };
        match until_ns.checked_sub(now_ns) {
            Some(left_ns @ 1..) => Duration::from_nanos(left_ns),
            _ => LOOK_UNDER_WAY,
        }
    }

    /// What is due to be told by now.
    fn due(&mut self, now_ns: u64) -> Option<LoadEvent> {
        let (from_ns, until_ns) = self.window?;
        match self.told {
            Told::Nothing if now_ns >= from_ns => {
                self.told = Told::Measuring;
                Some(LoadEvent::Measuring)
            }
            Told::Measuring if now_ns >= until_ns => {
                self.told = Told::Measured;
                Some(LoadEvent::Measured)
            }
            _ => None,
        }
    }

    /// What has not been told when all have ended.
    fn rest(self) -> Vec<LoadEvent> {
        match (self.window, self.told) {
            (None, _) | (Some(_), Told::Measured) => vec![],
            (Some(_), Told::Measuring) => vec![LoadEvent::Measured],
            (Some(_), Told::Nothing) => vec![LoadEvent::Measuring, LoadEvent::Measured],
        }
    }
}

/// The measured window of an exchange that begins then: by the clock where the clock ends it, else from its begin on.
fn window(spec: &PhaseSpec, begun_at_ns: u64) -> Option<(u64, u64)> {
    let PhaseSpec::Exchange(spec) = spec else {
        return None;
    };
    let warmup_ns = match spec.warmup {
        Amount::DurationNs(duration_ns) => duration_ns,
        Amount::Messages(_) => 0,
    };
    let from_ns = begun_at_ns.saturating_add(warmup_ns);
    let length_ns = match spec.stop {
        Stop::DurationNs(duration_ns) => duration_ns,
        Stop::Messages(_) | Stop::MessagesEach(_) | Stop::Confidence { .. } => u64::MAX,
    };
    Some((from_ns, from_ns.saturating_add(length_ns)))
}

impl Generating for Conducted<'_> {
    fn go_on(&mut self, _: Option<u64>) {
        let Some(phase) = self.next.take() else {
            return;
        };
        let at_ns = monotonic_ns() + LEAD_NS;
        let mut waiting: Vec<&mut Post> = self.posts.iter_mut().collect();
        waiting.retain(|post| matches!(post.state, State::Waits(own) if own == phase));
        for post in waiting {
            post.state = State::Working;
            let at_monotonic_ns = at_ns.saturating_add_signed(post.clock.offset_ns);
            message::send(
                self.stations.link,
                post.rank,
                &Order::Begin { at_monotonic_ns },
            );
        }
        let spec = self.asked.iter().find(|spec| spec.name() == phase);
        self.under_way = Some(UnderWay::of(spec, at_ns));
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<LoadEvent>, GeneratorError> {
        let until_ns =
            monotonic_ns().saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            let now_ns = monotonic_ns();
            if let Some(event) = self
                .under_way
                .as_mut()
                .and_then(|under_way| under_way.due(now_ns))
            {
                return Ok(Some(event));
            }
            if now_ns >= self.quiet_until_ns() {
                while let Some((rank, bytes)) = self.stations.link.poll() {
                    self.note(rank, &bytes)?;
                }
            }
            if !self.events.is_empty() {
                continue;
            }
            if now_ns >= until_ns {
                return Ok(None);
            }
            let pause = match &self.under_way {
                None => LOOK,
                Some(under_way) => under_way.pause(now_ns),
            };
            std::thread::sleep(pause.min(Duration::from_nanos(until_ns - now_ns)));
        }
    }

    /// Stations at work do not listen, and what interrupts the lab interrupts them too: mpirun sends its signal to all, and kills all a second later.
    fn interrupt(&mut self) -> Duration {
        Duration::ZERO
    }

    fn is_silent_while_at_work(&self) -> bool {
        true
    }

    fn end(self: Box<Self>) -> (Vec<HostPart>, Vec<SeriesSample>) {
        (self.outcome.hosts, self.outcome.series)
    }
}

/// Nobody knows any more where that station is in its job: the run ends.
fn lost(stations: &Stations<'_>, error: StationsError) -> GeneratorError {
    stations.is_lost.set(true);
    GeneratorError::Failed(error.to_string())
}
